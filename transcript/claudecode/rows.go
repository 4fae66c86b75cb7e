package claudecode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// messageRows returns the lines of a message.
func (w *sessionWriter) messageRows(e transcript.Entry) ([]lineRow, error) {
	m := e.Message
	var list []lineRow
	switch {
	case m.Role == scrollback.RoleAssistant && m.Status != scrollback.StatusFailed:
		list = w.answerRows(e)
	case m.Role == scrollback.RoleTool:
		list = w.resultsRow(e)
	case m.Role == scrollback.RoleUser:
		list = w.userRow(e)
	}
	if len(list) == 0 && len(m.Parts) > 0 {
		list = []lineRow{w.unsentRow(m)}
	}
	return list, nil
}

// unsentRow returns a line for a message that the tool does not send to a model: the system's, an
// answer that failed, thoughts that nobody signed.
func (w *sessionWriter) unsentRow(m scrollback.Message) lineRow {
	r := w.newRow("system", w.lineUUID(m, 0), m.CreatedAt)
	empty := ""
	no := false
	r.Subtype = "scrollback"
	r.Content = &empty
	r.Level = "info"
	r.IsMeta = &no
	return r
}

// answerRows returns a line for each block, and a mark if it was interrupted.
func (w *sessionWriter) answerRows(e transcript.Entry) (list []lineRow) {
	m := e.Message
	w.open = map[string]bool{}
	var blocks []writtenBlock
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, writtenBlock{Type: "text", Text: p.Text})
			}
		case scrollback.Reasoning:
			if b, ok := signedThought(m.Model, p); ok {
				blocks = append(blocks, b)
			}
		case scrollback.ToolCall:
			blocks = append(blocks, writtenBlock{Type: "tool_use", ID: w.callID(p), Name: spellToolName(p.Name),
				Input: objectArguments(p.Arguments)})
		case scrollback.Image, scrollback.File: // a model's words cannot hold them
			blocks = append(blocks, writtenBlock{Type: "text", Text: mentionText(p, len(e.Bytes[i]))})
		case scrollback.ToolResult:
		}
	}
	why := "end_turn"
	if len(m.Parts.Calls()) > 0 {
		why = "tool_use"
	}
	var use *callUsage
	if u := m.Usage; u != nil {
		use = &callUsage{max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0), u.CacheWriteTokens, u.CachedTokens,
			u.OutputTokens}
	} else {
		use = &callUsage{}
	}
	id := ""
	model := m.Model
	if model == "" {
		model = "unknown"
	}
	for i, b := range blocks {
		r := w.newRow("assistant", w.lineUUID(m, i), m.CreatedAt)
		if i == 0 {
			id = "msg_" + strings.ReplaceAll(r.UUID, "-", "")
		}
		r.Message = &message{ID: id, Type: "message", Role: "assistant", Model: model, Content: []writtenBlock{b}, Usage: use}
		if m.Status != scrollback.StatusInterrupted {
			r.Message.StopReason = &why
		}
		list = append(list, r)
	}
	if m.Status == scrollback.StatusInterrupted && len(list) > 0 && len(w.open) == 0 {
		r := w.newRow("user", w.lineUUID(m, len(list)), m.CreatedAt)
		r.Message = &message{Role: "user", Content: []writtenBlock{{Type: "text", Text: interruption + "]"}}}
		r.mark = true
		list = append(list, r)
	}
	return list
}

// callShape and nameShape are what the tool's model takes.
var (
	callShape = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)
	nameShape = lazyregexp.New(`[^a-zA-Z0-9_-]`)
)

// callID returns the id of a call in the file: no two are the same there.
func (w *sessionWriter) callID(c scrollback.ToolCall) string {
	id := c.ID
	for n := 0; !callShape().MatchString(id) || w.used[id]; n++ {
		id = "toolu_" + hashTexts(w.last, c.ID, strconv.Itoa(n))[:24]
	}
	w.used[id] = true
	w.open[c.ID] = true
	w.ids[c.ID] = id
	w.names[c.ID] = c.Name
	return id
}

func spellToolName(name string) string {
	if name = nameShape().ReplaceAllString(name, "_"); len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		return "unknown"
	}
	return name
}

// objectArguments returns those of a call as an object.
func objectArguments(raw json.RawMessage) json.RawMessage {
	if raw = compactJSON(raw); raw[0] == '{' {
		return raw
	}
	return encodePlain(map[string]json.RawMessage{"value": raw})
}

// resultsRow returns one line for the results of a message. One whose call is not the newest
// answer's is told as text: a model's server refuses it.
func (w *sessionWriter) resultsRow(e transcript.Entry) []lineRow {
	m := e.Message
	var given, told []writtenBlock
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.ToolResult:
			if !w.open[p.CallID] {
				told = append(told, writtenBlock{Type: "text",
					Text: fmt.Sprintf("[result of %s]\n%s", spellToolName(p.Name), shortenText(p.Text))})
				continue
			}
			delete(w.open, p.CallID)
			b := writtenBlock{Type: "tool_result", ToolUseID: w.ids[p.CallID], IsError: p.IsError}
			if p.Text != "" {
				b.Content = []writtenBlock{{Type: "text", Text: shortenText(p.Text)}}
			}
			given = append(given, b)
		case scrollback.Image, scrollback.File:
			b := attachmentBlock(p, e.Bytes[i])
			if n := len(given); n > 0 && b.Type == "image" {
				inside, _ := given[n-1].Content.([]writtenBlock)
				given[n-1].Content = append(inside, b)
			} else {
				told = append(told, b)
			}
		case scrollback.Text:
			told = append(told, writtenBlock{Type: "text", Text: p.Text})
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	if len(given)+len(told) == 0 {
		return nil
	}
	source := w.last
	r := w.newRow("user", w.lineUUID(m, 0), m.CreatedAt)
	r.Message = &message{Role: "user", Content: append(given, told...)}
	if len(given) > 0 {
		r.Source = source
	}
	return []lineRow{r}
}

// userRow returns a line for what a user said, or for a summary behind a boundary.
func (w *sessionWriter) userRow(e transcript.Entry) []lineRow {
	m := e.Message
	var blocks []writtenBlock
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, writtenBlock{Type: "text", Text: p.Text})
			}
		case scrollback.Image, scrollback.File:
			blocks = append(blocks, attachmentBlock(p, e.Bytes[i]))
		case scrollback.ToolResult:
			blocks = append(blocks, writtenBlock{Type: "text",
				Text: fmt.Sprintf("[result of %s]\n%s", spellToolName(p.Name), shortenText(p.Text))})
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	w.open = map[string]bool{} // what comes later comes too late for the tool's model
	kind := readRemark(m.Meta)
	var list []lineRow
	if kind.Compaction {
		before := w.last
		b := w.newRow("system", w.lineUUID(m, 1), m.CreatedAt)
		text := "Conversation compacted"
		no := false
		b.ParentUUID = nil
		b.Subtype = boundary
		b.Content = &text
		b.Level = "info"
		b.IsMeta = &no
		b.LogicalParentUUID = before
		b.mark = true
		b.Compact = map[string]any{"trigger": remarkTrigger(kind), "preTokens": 0}
		list = append(list, b)
	}
	r := w.newRow("user", w.lineUUID(m, 0), m.CreatedAt)
	r.Message = &message{Role: "user", Content: blocks}
	if len(blocks) == 1 && blocks[0].Type == "text" {
		r.Message.Content = tagEvent(kind.Event, blocks[0].Text)
		w.prompt = clipPrompt(blocks[0].Text)
	}
	r.Summary = kind.Compaction
	r.Transcript = kind.Compaction
	return append(list, r)
}

// readRemark returns what an importer kept of a message, whichever tool it is from.
func readRemark(meta json.RawMessage) (r messageRemark) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(meta, &fields) != nil {
		return r
	}
	if own := fields[metaKey]; own != nil && json.Unmarshal(own, &r) != nil {
		r = messageRemark{}
	}
	for _, raw := range fields {
		var other struct{ Compaction bool }
		if json.Unmarshal(raw, &other) == nil && other.Compaction {
			r.Compaction = true
		}
	}
	return r
}

// remarkTrigger returns who wanted a compaction.
func remarkTrigger(r messageRemark) string {
	if r.Trigger == "manual" {
		return r.Trigger
	}
	return "auto"
}
