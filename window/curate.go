package window

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// repairText stands for a result that the log lacks.
const repairText = "No result: the call was interrupted before it was answered."

// repairTokens is what it weighs.
const repairTokens = 24

// curateMessages turns messages into items that the dialect accepts: empty answers are left
// out, each call is followed by exactly one result, and what may not stand where it was
// said, such as a result without its call, is shown as text. The log itself does not
// change. What becomes of a message depends only on it, on the messages before it, and
// on tools' messages up to the next one by somebody else, so that a longer log begins
// with the same items.
func curateMessages(live []scrollback.Message, in Input) ([]scrollback.Item, []scrollback.Excluded) {
	c := curator{d: in.Dialect, promptSeq: in.PromptSeq, spell: newSpeller(in.Dialect, in.Tools),
		boundFrom: boundFrom(live, in.FoldedAt)}
	for i := range live {
		c.addMessage(&live[i])
	}
	c.repairOpenCalls()
	return c.items, c.excluded
}

type curator struct {
	d         scrollback.Dialect
	spell     *speller
	promptSeq int64
	boundFrom int64 // what stood before older messages when they were made was folded since
	items     []scrollback.Item
	excluded  []scrollback.Excluded
	open      []openCall // of the last assistant item, not yet answered
	openLayer scrollback.Layer
	held      []scrollback.Item // what tools said besides results; they wait for the open calls
}

// openCall is a call as it is sent, with the id and name it has in the log.
type openCall struct {
	scrollback.ToolCall
	logID, logName string
}

func (c *curator) addMessage(m *scrollback.Message) {
	if fixed := m.Parts.WellFormed(); len(fixed) > 0 && &fixed[0] != &m.Parts[0] {
		whole := *m
		whole.Parts = fixed
		m = &whole
	}
	item := scrollback.Item{Kind: scrollback.KindMessage, Layer: c.layerOf(m.Seq), Role: m.Role, Seq: m.Seq,
		Name: m.Name, Model: m.Model, Weight: m.Weight}
	if m.Role == scrollback.RoleTool {
		c.addAnswer(item, m.Parts)
		return
	}
	c.repairOpenCalls()
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil {
		item.Role = scrollback.RoleUser
	}
	item.Name = c.spell.speakerName(strings.ToValidUTF8(item.Name, "\uFFFD"))
	if item.Parts = c.speechParts(item.Role, m); len(item.Parts) == 0 {
		c.excludeMessage(m.Seq)
		return
	}
	if item.Role == scrollback.RoleAssistant {
		item.Parts = c.openCalls(item.Parts)
		c.openLayer = item.Layer
	}
	c.items = append(c.items, item)
}

// openCalls writes the calls among an assistant's parts as the dialect accepts them, and
// leaves them open.
func (c *curator) openCalls(ps scrollback.Parts) scrollback.Parts {
	c.spell.startMessage()
	for i, p := range ps {
		if call, ok := p.(scrollback.ToolCall); ok {
			o := openCall{call, call.ID, call.Name}
			o.ID = c.spell.callID(call.ID)
			o.Name = c.spell.callName(call.Name)
			o.Arguments = plainjson.Unescape(call.Arguments)
			if c.d.ObjectArguments && !isObject(call.Arguments) {
				o.Arguments = slices.Concat(json.RawMessage(`{"malformed_arguments":`), o.Arguments, json.RawMessage(`}`))
			}
			ps[i] = o.ToolCall
			c.open = append(c.open, o)
		}
	}
	return ps
}

func isObject(arguments json.RawMessage) bool {
	return json.Valid(arguments) && bytes.HasPrefix(bytes.TrimLeft(arguments, " \t\r\n"), []byte("{"))
}

func (c *curator) excludeMessage(seq int64) {
	c.excluded = append(c.excluded, scrollback.Excluded{FirstSeq: seq, LastSeq: seq, Reason: "invalid"})
}

func (c *curator) layerOf(seq int64) scrollback.Layer {
	if c.promptSeq > 0 && seq >= c.promptSeq {
		return scrollback.LayerPrompt
	}
	return scrollback.LayerMessages
}

// speechParts returns the parts of a message that is not a tool's, or nothing if it says
// nothing: an empty or failed answer, or one of thoughts only. A call with arguments that
// are not JSON or, in an answer that was cut off, without an id is dropped, and so is one
// that repeats another in every respect.
func (c *curator) speechParts(role scrollback.Role, m *scrollback.Message) scrollback.Parts {
	if role == scrollback.RoleAssistant && m.Status == scrollback.StatusFailed {
		return nil
	}
	var out scrollback.Parts
	said := false
	seen := map[string]bool{}
	for i, p := range m.Parts {
		switch q := p.(type) {
		case scrollback.Text:
			if q.Text == "" && hasPayload(q.Opaque) && role == scrollback.RoleAssistant {
				out = append(out, p) // it says nothing, and its model wants it back
				continue
			}
			if c.isUnsendable(q.Text) {
				continue
			}
		case scrollback.ToolCall:
			cut := q.ID == "" && m.Status != scrollback.StatusComplete
			whole := q.ID + "\x00" + q.Name + "\x00" + string(q.Arguments)
			if role != scrollback.RoleAssistant || cut || seen[whole] || !json.Valid(q.Arguments) {
				continue
			}
			seen[whole] = q.ID != ""
		case scrollback.ToolResult:
			p = strayResultText(q)
		case scrollback.Image:
			p = c.imagePart(role, q)
		case scrollback.File:
			q.Name = marks.EscapeLine(q.Name)
			p = q
			if role != scrollback.RoleUser {
				p = mentionText("file", q.Name, string(scrollback.ArtifactRef(q.Artifact)))
			}
		case scrollback.Reasoning:
			// Reasoning that was cut off is not verbatim, so it is left out. Before a call it
			// was complete, and some servers refuse the call without it.
			whole := m.Status == scrollback.StatusComplete || len(m.Parts[i:].Calls()) > 0
			if role == scrollback.RoleAssistant && whole && (!c.d.SignedReasoning || signed(q)) &&
				m.Seq >= c.boundFrom {
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

// boundFrom returns the first message whose reasoning may stand behind a fold: what is older was made when something
// else stood before it, and all of it goes, as one run from the oldest. The turn that was in the middle of its calls at
// the fold keeps its own.
func boundFrom(live []scrollback.Message, foldedAt int64) int64 {
	from := foldedAt + 1
	asked := int64(0)
	for i := range live {
		m := &live[i]
		if m.Seq > foldedAt {
			break
		}
		if m.Role == scrollback.RoleUser {
			asked = m.Seq
		}
		if m.Seq == foldedAt && (m.Role == scrollback.RoleTool || len(m.Parts.Calls()) > 0) {
			from = asked
		}
	}
	return from
}

// isUnsendable reports whether a text says nothing and cannot be sent.
func (c *curator) isUnsendable(text string) bool {
	return text == "" || c.d.NoBlank && isBlank(text)
}

// signed reports whether reasoning has the payload that its provider wants back.
func signed(r scrollback.Reasoning) bool { return hasPayload(r.Opaque) }

func hasPayload(o scrollback.Opaque) bool { return len(o) > 0 && string(o) != "null" }

// imagePart returns an image, or its name where the role or the dialect does not allow it.
func (c *curator) imagePart(role scrollback.Role, p scrollback.Image) scrollback.Part {
	p.Name = marks.EscapeLine(p.Name)
	if role != scrollback.RoleUser || !acceptsAddress(c.d, p) || !acceptsType(c.d, p) || !acceptsBytes(c.d, p) ||
		!acceptsSide(c.d, p) {
		return mentionText("image", p.Name, p.Location())
	}
	return p
}

// acceptsAddress reports whether an image can be had where it is: of one at an address nothing
// else is known.
func acceptsAddress(d scrollback.Dialect, p scrollback.Image) bool { return p.URL == "" || d.ImageURLs }

func acceptsType(d scrollback.Dialect, p scrollback.Image) bool {
	return d.ImageTypes == "" || p.URL != "" || slices.Contains(strings.Fields(d.ImageTypes), p.MediaType)
}

func acceptsBytes(d scrollback.Dialect, p scrollback.Image) bool {
	return d.MaxImageBytes == 0 || p.Size <= d.MaxImageBytes
}

func acceptsSide(d scrollback.Dialect, p scrollback.Image) bool {
	return d.MaxImageSide == 0 || max(p.Width, p.Height) <= d.MaxImageSide
}

// strayResultText shows a result whose call is not in the window.
func strayResultText(r scrollback.ToolResult) scrollback.Text {
	return scrollback.Text{Text: "Result of " + marks.EscapeLine(r.Name) + " (its call is not shown): " + r.Text}
}

// mentionText names an attachment that may not stand in a message of its role.
func mentionText(kind, name, where string) scrollback.Text {
	text := "[" + kind
	if name != "" {
		text += " " + name
	}
	return scrollback.Text{Text: text + ", " + where + "]"}
}

// addAnswer takes a tool's message: the results of open calls, one each, as they are, and
// whatever else is in it as a user's words once no call is open.
func (c *curator) addAnswer(item scrollback.Item, parts scrollback.Parts) {
	results := item
	rest := item
	rest.Role = scrollback.RoleUser
	rest.Kind = scrollback.KindRepair
	rest.Name = c.spell.speakerName(item.Name)
	open := slices.Clone(c.open)
	for _, p := range parts {
		switch q := p.(type) {
		case scrollback.ToolResult:
			if call, ok := c.closeCall(q); ok {
				results.Parts = append(results.Parts, c.fitResult(q, call))
			} else {
				rest.Parts = append(rest.Parts, strayResultText(q))
			}
		case scrollback.Text:
			if !c.isUnsendable(q.Text) {
				rest.Parts = append(rest.Parts, q)
			}
		case scrollback.Image:
			rest.Parts = append(rest.Parts, c.imagePart(rest.Role, q))
		case scrollback.File:
			q.Name = marks.EscapeLine(q.Name)
			rest.Parts = append(rest.Parts, q)
		case scrollback.ToolCall, scrollback.Reasoning: // a tool makes neither
		}
	}
	if len(results.Parts) > 0 {
		// some servers insist
		slices.SortStableFunc(results.Parts, func(a, b scrollback.Part) int {
			return callIndexOf(open, a) - callIndexOf(open, b)
		})
		c.items = append(c.items, results)
		rest.Weight = scrollback.Weight{} // the message is weighed once
	}
	if len(rest.Parts) > 0 {
		c.held = append(c.held, rest)
	}
	if len(results.Parts)+len(rest.Parts) == 0 {
		c.excludeMessage(item.Seq)
	}
	if len(c.open) == 0 {
		c.releaseHeld()
	}
}

// callIndexOf returns the place of a result's call among calls, or -1.
func callIndexOf(calls []openCall, p scrollback.Part) int {
	r, _ := p.(scrollback.ToolResult)
	return slices.IndexFunc(calls, func(c openCall) bool { return c.ID == r.CallID })
}

// fitResult returns a result with the id of its call, and its name where the dialect needs
// it.
func (c *curator) fitResult(r scrollback.ToolResult, call openCall) scrollback.ToolResult {
	r.CallID = call.ID
	if c.d.ResultsAlone || call.Name != call.logName {
		r.Name = call.Name
	}
	return r
}

// closeCall finds the open call of a result: where several have its id, the one of its name,
// and else the first.
func (c *curator) closeCall(r scrollback.ToolResult) (openCall, bool) {
	at := -1
	for i, call := range c.open {
		if call.logID == r.CallID && (at < 0 || call.logName == r.Name && c.open[at].logName != r.Name) {
			at = i
		}
	}
	if at < 0 {
		return openCall{}, false
	}
	call := c.open[at]
	c.open = slices.Delete(slices.Clone(c.open), at, at+1)
	return call, true
}

func (c *curator) releaseHeld() {
	c.items = append(c.items, c.held...)
	c.held = nil
}

// repairOpenCalls closes the calls that are still open before anything else is said.
func (c *curator) repairOpenCalls() {
	if len(c.open) > 0 {
		it := scrollback.Item{Kind: scrollback.KindRepair, Layer: c.openLayer, Role: scrollback.RoleTool}
		for _, call := range c.open {
			it.Parts = append(it.Parts, scrollback.ToolResult{CallID: call.ID, Name: call.Name, Text: repairText, IsError: true})
			it.Weight = it.Weight.Add(scrollback.Weight{Tokens: repairTokens, Bytes: int64(len(repairText))})
		}
		c.open = nil
		c.items = append(c.items, it)
	}
	c.releaseHeld()
}
