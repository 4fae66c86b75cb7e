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
// what may not stand where it was said, such as a result without its call, is
// shown as text. The log keeps all of it as it was. What is done to a message
// depends only on it and the messages before the next one that speaks, so that a
// longer log begins with the same items.
func curate(live []scrollback.Message, promptSeq int64) ([]scrollback.Item, []scrollback.Excluded) {
	c := curator{promptSeq: promptSeq}
	for i := range live {
		c.take(&live[i])
	}
	c.repair()
	return c.items, c.excluded
}

type curator struct {
	promptSeq int64
	items     []scrollback.Item
	excluded  []scrollback.Excluded
	open      []scrollback.ToolCall // calls of the last assistant item, not yet answered
	openLayer scrollback.Layer
	held      []scrollback.Item // said by tools beside results; they wait for the open calls
}

func (c *curator) take(m *scrollback.Message) {
	item := scrollback.Item{Kind: scrollback.KindMessage, Layer: c.layer(m.Seq), Role: m.Role, Seq: m.Seq,
		Name: m.Name, Model: m.Model, Weight: m.Weight}
	if m.Role == scrollback.RoleTool {
		c.answer(item, m.Parts)
		return
	}
	c.repair()
	if item.Parts = speech(m); len(item.Parts) == 0 {
		c.exclude(m.Seq)
		return
	}
	c.items = append(c.items, item)
	if m.Role == scrollback.RoleAssistant {
		c.open, c.openLayer = item.Parts.Calls(), item.Layer
	}
}

func (c *curator) exclude(seq int64) {
	c.excluded = append(c.excluded, scrollback.Excluded{FirstSeq: seq, LastSeq: seq, Reason: "invalid"})
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
func speech(m *scrollback.Message) scrollback.Parts {
	if m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusFailed {
		return nil
	}
	var out scrollback.Parts
	said := false
	seen := map[string]bool{}
	for _, p := range m.Parts {
		switch q := p.(type) {
		case scrollback.Text:
			if q.Text == "" {
				continue
			}
		case scrollback.ToolCall:
			if m.Role != scrollback.RoleAssistant || q.ID == "" || seen[q.ID] || !json.Valid(q.Arguments) {
				continue
			}
			seen[q.ID] = true
		case scrollback.ToolResult:
			p = strayText(q)
		case scrollback.Image:
			if m.Role != scrollback.RoleUser {
				p = mention("image", q.Name, q.Artifact)
			}
		case scrollback.File:
			if m.Role != scrollback.RoleUser {
				p = mention("file", q.Name, q.Artifact)
			}
		case scrollback.Reasoning:
			if m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusComplete { // cut off: not verbatim, so absent
				out = append(out, p)
			}
			continue
		}
		said = true
		out = append(out, p)
	}
	if !said {
		return nil
	}
	return out
}

// strayText shows a result that answers no call of the window.
func strayText(r scrollback.ToolResult) scrollback.Text {
	return scrollback.Text{Text: "Result of " + r.Name + " (its call is not shown): " + r.Text}
}

// mention names an attachment that may not stand in a message of its role.
func mention(kind, name string, id scrollback.ArtifactID) scrollback.Text {
	text := "[" + kind
	if name != "" {
		text += " " + name
	}
	return scrollback.Text{Text: text + ", " + string(scrollback.ArtifactRef(id)) + "]"}
}

// answer takes a tool's message: the results that answer open calls, once each,
// as they are, and whatever else is in it as a user's words once no call is open.
func (c *curator) answer(item scrollback.Item, parts scrollback.Parts) {
	results, rest := item, item
	rest.Role, rest.Kind = scrollback.RoleUser, scrollback.KindRepair
	for _, p := range parts {
		switch q := p.(type) {
		case scrollback.ToolResult:
			if c.close(q.CallID) {
				results.Parts = append(results.Parts, q)
			} else {
				rest.Parts = append(rest.Parts, strayText(q))
			}
		case scrollback.Text:
			if q.Text != "" {
				rest.Parts = append(rest.Parts, q)
			}
		case scrollback.Image, scrollback.File:
			rest.Parts = append(rest.Parts, q)
		case scrollback.ToolCall, scrollback.Reasoning: // a tool does neither
		}
	}
	if len(results.Parts) > 0 {
		c.items = append(c.items, results)
		rest.Weight = scrollback.Weight{} // the message is weighed once
	}
	if len(rest.Parts) > 0 {
		c.held = append(c.held, rest)
	}
	if len(results.Parts)+len(rest.Parts) == 0 {
		c.exclude(item.Seq)
	}
	if len(c.open) == 0 {
		c.release()
	}
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

func (c *curator) release() {
	c.items = append(c.items, c.held...)
	c.held = nil
}

// repair answers what is still open before anything else is said.
func (c *curator) repair() {
	if len(c.open) > 0 {
		it := scrollback.Item{Kind: scrollback.KindRepair, Layer: c.openLayer, Role: scrollback.RoleTool}
		for _, call := range c.open {
			it.Parts = append(it.Parts, scrollback.ToolResult{CallID: call.ID, Name: call.Name, Text: repairText, IsError: true})
			it.Weight = it.Weight.Add(scrollback.Weight{Tokens: repairTokens, Bytes: int64(len(repairText))})
		}
		c.open = nil
		c.items = append(c.items, it)
	}
	c.release()
}
