package window

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/marks"
)

// repairText stands for a result that the log lacks.
const repairText = "No result: the call was interrupted before it was answered."

// repairTokens is what it weighs.
const repairTokens = 24

// curate turns messages into items that the dialect accepts: empty answers are left
// out, each call is followed by exactly one result, and what may not stand where it was
// said, such as a result without its call, is shown as text. The log itself does not
// change. What becomes of a message depends only on it, on the messages before it, and
// on tools' messages up to the next one by somebody else, so that a longer log begins
// with the same items.
func curate(live []scrollback.Message, in Input) ([]scrollback.Item, []scrollback.Excluded) {
	c := curator{d: in.Dialect, promptSeq: in.PromptSeq, spell: newSpeller(in.Dialect, in.Tools)}
	for i := range live {
		c.take(&live[i])
	}
	c.repair()
	return c.items, c.excluded
}

type curator struct {
	d         scrollback.Dialect
	spell     *speller
	promptSeq int64
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

func (c *curator) take(m *scrollback.Message) {
	if fixed := m.Parts.WellFormed(); len(fixed) > 0 && &fixed[0] != &m.Parts[0] {
		whole := *m
		whole.Parts = fixed
		m = &whole
	}
	item := scrollback.Item{Kind: scrollback.KindMessage, Layer: c.layer(m.Seq), Role: m.Role, Seq: m.Seq,
		Name: m.Name, Model: m.Model, Weight: m.Weight}
	if m.Role == scrollback.RoleTool {
		c.answer(item, m.Parts)
		return
	}
	c.repair()
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil {
		item.Role = scrollback.RoleUser
	}
	item.Name = c.spell.speakerName(strings.ToValidUTF8(item.Name, "\uFFFD"))
	if item.Parts = c.speech(item.Role, m); len(item.Parts) == 0 {
		c.exclude(m.Seq)
		return
	}
	if item.Role == scrollback.RoleAssistant {
		item.Parts = c.calls(item.Parts)
		c.openLayer = item.Layer
	}
	c.items = append(c.items, item)
}

// calls writes the calls among an assistant's parts as the dialect accepts them, and
// leaves them open.
func (c *curator) calls(ps scrollback.Parts) scrollback.Parts {
	c.spell.message()
	for i, p := range ps {
		if call, ok := p.(scrollback.ToolCall); ok {
			o := openCall{call, call.ID, call.Name}
			o.ID = c.spell.callID(call.ID)
			o.Name = c.spell.callName(call.Name)
			if c.d.ObjectArguments && !isObject(call.Arguments) {
				o.Arguments = slices.Concat(json.RawMessage(`{"malformed_arguments":`), call.Arguments, json.RawMessage(`}`))
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

func (c *curator) exclude(seq int64) {
	c.excluded = append(c.excluded, scrollback.Excluded{FirstSeq: seq, LastSeq: seq, Reason: "invalid"})
}

func (c *curator) layer(seq int64) scrollback.Layer {
	if c.promptSeq > 0 && seq >= c.promptSeq {
		return scrollback.LayerPrompt
	}
	return scrollback.LayerMessages
}

// speech returns the parts of a message that is not a tool's, or nothing if it says
// nothing: an empty or failed answer, or one of thoughts only. A call with arguments that
// are not JSON or, in an answer that was cut off, without an id is dropped, and so is one
// that repeats another in every respect.
func (c *curator) speech(role scrollback.Role, m *scrollback.Message) scrollback.Parts {
	if role == scrollback.RoleAssistant && m.Status == scrollback.StatusFailed {
		return nil
	}
	var out scrollback.Parts
	said := false
	seen := map[string]bool{}
	for i, p := range m.Parts {
		switch q := p.(type) {
		case scrollback.Text:
			if q.Text == "" && payload(q.Opaque) && role == scrollback.RoleAssistant {
				out = append(out, p) // it says nothing, and its model wants it back
				continue
			}
			if c.nothing(q.Text) {
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
			p = strayText(q)
		case scrollback.Image:
			p = c.image(role, q)
		case scrollback.File:
			q.Name = marks.Line(q.Name)
			p = q
			if role != scrollback.RoleUser {
				p = mention("file", q.Name, string(scrollback.ArtifactRef(q.Artifact)))
			}
		case scrollback.Reasoning:
			// Reasoning that was cut off is not verbatim, so it is left out. Before a call it
			// was complete, and some servers refuse the call without it.
			whole := m.Status == scrollback.StatusComplete || len(m.Parts[i:].Calls()) > 0
			if role == scrollback.RoleAssistant && whole && (!c.d.SignedReasoning || signed(q)) {
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

// nothing reports whether a text says nothing and cannot be sent.
func (c *curator) nothing(text string) bool {
	return text == "" || c.d.NoBlank && blank(text)
}

// signed reports whether reasoning has the payload that its provider wants back.
func signed(r scrollback.Reasoning) bool { return payload(r.Opaque) }

func payload(o scrollback.Opaque) bool { return len(o) > 0 && string(o) != "null" }

// image returns an image, or its name where the role or the dialect does not allow it.
func (c *curator) image(role scrollback.Role, p scrollback.Image) scrollback.Part {
	p.Name = marks.Line(p.Name)
	if role != scrollback.RoleUser || !takesWhere(c.d, p) || !takesType(c.d, p) || !takesBytes(c.d, p) ||
		!takesSide(c.d, p) {
		return mention("image", p.Name, p.Where())
	}
	return p
}

// takesWhere reports whether an image can be had where it is: of one at an address nothing
// else is known.
func takesWhere(d scrollback.Dialect, p scrollback.Image) bool { return p.URL == "" || d.ImageURLs }

func takesType(d scrollback.Dialect, p scrollback.Image) bool {
	return d.ImageTypes == "" || p.URL != "" || slices.Contains(strings.Fields(d.ImageTypes), p.MediaType)
}

func takesBytes(d scrollback.Dialect, p scrollback.Image) bool {
	return d.MaxImageBytes == 0 || p.Size <= d.MaxImageBytes
}

func takesSide(d scrollback.Dialect, p scrollback.Image) bool {
	return d.MaxImageSide == 0 || max(p.Width, p.Height) <= d.MaxImageSide
}

// strayText shows a result whose call is not in the window.
func strayText(r scrollback.ToolResult) scrollback.Text {
	return scrollback.Text{Text: "Result of " + marks.Line(r.Name) + " (its call is not shown): " + r.Text}
}

// mention names an attachment that may not stand in a message of its role.
func mention(kind, name, where string) scrollback.Text {
	text := "[" + kind
	if name != "" {
		text += " " + name
	}
	return scrollback.Text{Text: text + ", " + where + "]"}
}

// answer takes a tool's message: the results of open calls, one each, as they are, and
// whatever else is in it as a user's words once no call is open.
func (c *curator) answer(item scrollback.Item, parts scrollback.Parts) {
	results := item
	rest := item
	rest.Role = scrollback.RoleUser
	rest.Kind = scrollback.KindRepair
	rest.Name = c.spell.speakerName(item.Name)
	open := slices.Clone(c.open)
	for _, p := range parts {
		switch q := p.(type) {
		case scrollback.ToolResult:
			if call, ok := c.close(q); ok {
				results.Parts = append(results.Parts, c.result(q, call))
			} else {
				rest.Parts = append(rest.Parts, strayText(q))
			}
		case scrollback.Text:
			if !c.nothing(q.Text) {
				rest.Parts = append(rest.Parts, q)
			}
		case scrollback.Image:
			rest.Parts = append(rest.Parts, c.image(rest.Role, q))
		case scrollback.File:
			q.Name = marks.Line(q.Name)
			rest.Parts = append(rest.Parts, q)
		case scrollback.ToolCall, scrollback.Reasoning: // a tool makes neither
		}
	}
	if len(results.Parts) > 0 {
		// some servers insist
		slices.SortStableFunc(results.Parts, func(a, b scrollback.Part) int { return callAt(open, a) - callAt(open, b) })
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

// callAt is the place of a result's call among calls, or -1.
func callAt(calls []openCall, p scrollback.Part) int {
	r, _ := p.(scrollback.ToolResult)
	return slices.IndexFunc(calls, func(c openCall) bool { return c.ID == r.CallID })
}

// result returns a result with the id of its call, and its name where the dialect needs
// it.
func (c *curator) result(r scrollback.ToolResult, call openCall) scrollback.ToolResult {
	r.CallID = call.ID
	if c.d.ResultsAlone || call.Name != call.logName {
		r.Name = call.Name
	}
	return r
}

// close finds the open call of a result: where several have its id, the one of its name,
// and else the first.
func (c *curator) close(r scrollback.ToolResult) (openCall, bool) {
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

func (c *curator) release() {
	c.items = append(c.items, c.held...)
	c.held = nil
}

// repair closes the calls that are still open before anything else is said.
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
