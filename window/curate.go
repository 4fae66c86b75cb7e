package window

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// repairText answers a call whose result the log lacks.
const repairText = "No result: the call was interrupted before it was answered."

// repairTokens is what such an answer weighs.
const repairTokens = 24

// curate turns live messages into items that any model can be sent: answers with
// nothing in them are left out, each call is followed by exactly one result, and
// results without a call are shown as text. The log keeps all of it as it was.
// What is done to a message depends only on it and the messages before the next
// one that speaks, so that a longer log begins with the same items.
func curate(live []scrollback.Message, promptSeq int64) ([]scrollback.Item, []scrollback.Excluded) {
	c := curator{promptSeq: promptSeq}
	for i := range live {
		c.take(&live[i])
	}
	c.repair(len(live) > 0)
	return c.items, c.excluded
}

type curator struct {
	promptSeq int64
	items     []scrollback.Item
	excluded  []scrollback.Excluded
	open      []scrollback.ToolCall // calls of the last assistant item, not yet answered
	openLayer scrollback.Layer
}

func (c *curator) take(m *scrollback.Message) {
	parts := m.Parts
	if m.Role == scrollback.RoleTool {
		parts = c.answers(parts)
	} else {
		c.repair(true)
		parts = speech(m, parts)
	}
	if len(parts) == 0 {
		c.excluded = append(c.excluded, scrollback.Excluded{FirstSeq: m.Seq, LastSeq: m.Seq, Reason: "invalid"})
		return
	}
	it := scrollback.Item{Kind: scrollback.KindMessage, Layer: c.layer(m.Seq), Role: m.Role, Seq: m.Seq,
		Name: m.Name, Model: m.Model, Parts: parts, Weight: m.Weight}
	if m.Role == scrollback.RoleTool && len(parts.Results()) == 0 {
		it.Role, it.Kind = scrollback.RoleUser, scrollback.KindRepair
	}
	c.items = append(c.items, it)
	if m.Role == scrollback.RoleAssistant {
		c.open, c.openLayer = parts.Calls(), it.Layer
	}
}

func (c *curator) layer(seq int64) scrollback.Layer {
	if c.promptSeq > 0 && seq >= c.promptSeq {
		return scrollback.LayerPrompt
	}
	return scrollback.LayerMessages
}

// speech is the parts of a message that is not a tool's, or nothing when there
// is nothing to say: an empty, failed or thought-only answer. A call without an
// id or with arguments that are not JSON, which a cut-off stream leaves, goes.
func speech(m *scrollback.Message, parts scrollback.Parts) scrollback.Parts {
	if m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusFailed {
		return nil
	}
	var out scrollback.Parts
	said := false
	seen := map[string]bool{}
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text == "" {
				continue
			}
			said = true
		case scrollback.ToolCall:
			if m.Role != scrollback.RoleAssistant || p.ID == "" || seen[p.ID] || !json.Valid(p.Arguments) {
				continue
			}
			seen[p.ID] = true
			said = true
		case scrollback.ToolResult:
			continue
		case scrollback.Image, scrollback.File:
			said = true
		case scrollback.Reasoning:
			if m.Status != scrollback.StatusComplete {
				continue // cut off: not verbatim, so absent
			}
		}
		out = append(out, p)
	}
	if !said {
		return nil
	}
	return out
}

// answers keeps the results that answer open calls, once each; one that answers
// nothing becomes text, so that what it says is not lost.
func (c *curator) answers(parts scrollback.Parts) scrollback.Parts {
	var results, strays scrollback.Parts
	for _, p := range parts {
		r, ok := p.(scrollback.ToolResult)
		if !ok {
			if t, ok := p.(scrollback.Text); ok && t.Text != "" {
				strays = append(strays, t)
			}
			continue
		}
		if !c.close(r.CallID) {
			strays = append(strays, scrollback.Text{Text: "Result of " + r.Name + " (its call is not shown): " + r.Text})
			continue
		}
		results = append(results, r)
	}
	if len(results) > 0 {
		return results
	}
	if len(c.open) > 0 {
		c.repair(true) // the strays speak as a user: calls are answered before that
	}
	return strays
}

func (c *curator) close(id string) bool {
	for i, call := range c.open {
		if call.ID == id {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return true
		}
	}
	return false
}

// repair answers what is still open before anything else is said.
func (c *curator) repair(spoken bool) {
	if !spoken || len(c.open) == 0 {
		return
	}
	it := scrollback.Item{Kind: scrollback.KindRepair, Layer: c.openLayer, Role: scrollback.RoleTool}
	for _, call := range c.open {
		it.Parts = append(it.Parts, scrollback.ToolResult{CallID: call.ID, Name: call.Name, Text: repairText, IsError: true})
		it.Weight = it.Weight.Add(scrollback.Weight{Tokens: repairTokens, Bytes: int64(len(repairText))})
	}
	c.open = nil
	c.items = append(c.items, it)
}
