package claudecode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// rows are the lines of a message.
func (w *writer) rows(e transcript.Entry) ([]row, error) {
	m := e.Message
	var list []row
	switch {
	case m.Role == scrollback.RoleAssistant && m.Status != scrollback.StatusFailed:
		list = w.answer(e)
	case m.Role == scrollback.RoleTool:
		list = w.results(e)
	case m.Role == scrollback.RoleUser:
		list = w.user(e)
	}
	if len(list) == 0 && len(m.Parts) > 0 {
		list = []row{w.unsent(m)}
	}
	return list, nil
}

// unsent is a line for a message that the tool does not send to a model: the system's, an
// answer that failed, thoughts that nobody signed.
func (w *writer) unsent(m scrollback.Message) row {
	r := w.row("system", w.uuid(m, 0), m.CreatedAt)
	empty := ""
	no := false
	r.Subtype = "scrollback"
	r.Content = &empty
	r.Level = "info"
	r.IsMeta = &no
	return r
}

// answer is a line for each block, and a mark if it was interrupted.
func (w *writer) answer(e transcript.Entry) (list []row) {
	m := e.Message
	w.open = map[string]bool{}
	var blocks []out
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, out{Type: "text", Text: p.Text})
			}
		case scrollback.Reasoning:
			if b, ok := signed(m.Model, p); ok {
				blocks = append(blocks, b)
			}
		case scrollback.ToolCall:
			blocks = append(blocks, out{Type: "tool_use", ID: w.call(p), Name: toolName(p.Name), Input: arguments(p.Arguments)})
		case scrollback.Image, scrollback.File: // a model's words cannot hold them
			blocks = append(blocks, out{Type: "text", Text: mention(p, len(e.Bytes[i]))})
		case scrollback.ToolResult:
		}
	}
	why := "end_turn"
	if len(m.Parts.Calls()) > 0 {
		why = "tool_use"
	}
	var use *spent
	if u := m.Usage; u != nil {
		use = &spent{max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0), u.CacheWriteTokens, u.CachedTokens,
			u.OutputTokens}
	} else {
		use = &spent{}
	}
	id := ""
	model := m.Model
	if model == "" {
		model = "unknown"
	}
	for i, b := range blocks {
		r := w.row("assistant", w.uuid(m, i), m.CreatedAt)
		if i == 0 {
			id = "msg_" + strings.ReplaceAll(r.UUID, "-", "")
		}
		r.Message = &message{ID: id, Type: "message", Role: "assistant", Model: model, Content: []out{b}, Usage: use}
		if m.Status != scrollback.StatusInterrupted {
			r.Message.StopReason = &why
		}
		list = append(list, r)
	}
	if m.Status == scrollback.StatusInterrupted && len(list) > 0 && len(w.open) == 0 {
		r := w.row("user", w.uuid(m, len(list)), m.CreatedAt)
		r.Message = &message{Role: "user", Content: []out{{Type: "text", Text: interruption + "]"}}}
		r.mark = true
		list = append(list, r)
	}
	return list
}

// callShape and nameShape are what the tool's model takes.
var (
	callShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	nameShape = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
)

// call is the id of a call in the file: no two are the same there.
func (w *writer) call(c scrollback.ToolCall) string {
	id := c.ID
	for n := 0; !callShape.MatchString(id) || w.used[id]; n++ {
		id = "toolu_" + digest(w.last, c.ID, strconv.Itoa(n))[:24]
	}
	w.used[id] = true
	w.open[c.ID] = true
	w.ids[c.ID] = id
	w.names[c.ID] = c.Name
	return id
}

func toolName(name string) string {
	if name = nameShape.ReplaceAllString(name, "_"); len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		return "unknown"
	}
	return name
}

// arguments are those of a call as an object.
func arguments(raw json.RawMessage) json.RawMessage {
	if raw = compacted(raw); raw[0] == '{' {
		return raw
	}
	return encode(map[string]json.RawMessage{"value": raw})
}

// results are one line for the results of a message. One whose call is not the newest
// answer's is told as text: a model's server refuses it.
func (w *writer) results(e transcript.Entry) []row {
	m := e.Message
	var given, told []out
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.ToolResult:
			if !w.open[p.CallID] {
				told = append(told, out{Type: "text", Text: fmt.Sprintf("[result of %s]\n%s", toolName(p.Name), shortened(p.Text))})
				continue
			}
			delete(w.open, p.CallID)
			b := out{Type: "tool_result", ToolUseID: w.ids[p.CallID], IsError: p.IsError}
			if p.Text != "" {
				b.Content = []out{{Type: "text", Text: shortened(p.Text)}}
			}
			given = append(given, b)
		case scrollback.Image, scrollback.File:
			b := attached(p, e.Bytes[i])
			if n := len(given); n > 0 && b.Type == "image" {
				inside, _ := given[n-1].Content.([]out)
				given[n-1].Content = append(inside, b)
			} else {
				told = append(told, b)
			}
		case scrollback.Text:
			told = append(told, out{Type: "text", Text: p.Text})
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	if len(given)+len(told) == 0 {
		return nil
	}
	source := w.last
	r := w.row("user", w.uuid(m, 0), m.CreatedAt)
	r.Message = &message{Role: "user", Content: append(given, told...)}
	if len(given) > 0 {
		r.Source = source
	}
	return []row{r}
}

// user is a line for what a user said, or for a summary behind a boundary.
func (w *writer) user(e transcript.Entry) []row {
	m := e.Message
	var blocks []out
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, out{Type: "text", Text: p.Text})
			}
		case scrollback.Image, scrollback.File:
			blocks = append(blocks, attached(p, e.Bytes[i]))
		case scrollback.ToolResult:
			blocks = append(blocks, out{Type: "text",
				Text: fmt.Sprintf("[result of %s]\n%s", toolName(p.Name), shortened(p.Text))})
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	w.open = map[string]bool{} // what comes later comes too late for the tool's model
	kind := marked(m.Meta)
	var list []row
	if kind.Compaction {
		before := w.last
		b := w.row("system", w.uuid(m, 1), m.CreatedAt)
		text := "Conversation compacted"
		no := false
		b.ParentUUID = nil
		b.Subtype = boundary
		b.Content = &text
		b.Level = "info"
		b.IsMeta = &no
		b.LogicalParentUUID = before
		b.mark = true
		b.Compact = map[string]any{"trigger": triggerOf(kind), "preTokens": 0}
		list = append(list, b)
	}
	r := w.row("user", w.uuid(m, 0), m.CreatedAt)
	r.Message = &message{Role: "user", Content: blocks}
	if len(blocks) == 1 && blocks[0].Type == "text" {
		r.Message.Content = tagged(kind.Event, blocks[0].Text)
		w.prompt = clipped(blocks[0].Text)
	}
	r.Summary = kind.Compaction
	r.Transcript = kind.Compaction
	return append(list, r)
}

// marked is what an importer kept of a message, whichever tool it is from.
func marked(meta json.RawMessage) (r remark) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(meta, &fields) != nil {
		return r
	}
	if own := fields[metaKey]; own != nil && json.Unmarshal(own, &r) != nil {
		r = remark{}
	}
	for _, raw := range fields {
		var other struct{ Compaction bool }
		if json.Unmarshal(raw, &other) == nil && other.Compaction {
			r.Compaction = true
		}
	}
	return r
}

// triggerOf is who wanted a compaction.
func triggerOf(r remark) string {
	if r.Trigger == "manual" {
		return r.Trigger
	}
	return "auto"
}
