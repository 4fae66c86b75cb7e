package pi

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// writtenVersion is the version of the sessions that are written here.
const writtenVersion = 3

// Write implements [transcript.Exporter]: a session of JSON lines, whose id is the conversation's. Reasoning is not
// sent to another model, so it stands only beside the answer; what was cut off is sent as far as it came.
func (t Tool) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &sessionWriter{w: bufio.NewWriterSize(w, 64<<10), tool: t, c: c, ids: sessionlog.IDs{Conversation: c.ID}}
	if err := out.writeHead(); err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		if e.Conversation != nil || e.Bad != nil || e.End != nil || e.Rewind != nil || e.Without != nil {
			continue
		}
		if err := out.writeMessage(e); err != nil {
			return err
		}
	}
	return out.w.Flush()
}

// sessionWriter is a session while it is written.
type sessionWriter struct {
	w    *bufio.Writer
	tool Tool
	c    scrollback.Conversation
	last string                         // the entry that the next one hangs on
	open map[string]scrollback.ToolCall // calls of the newest answer without a result, by their ids
	ids  sessionlog.IDs
}

// fields are those of an object of the file.
type fields map[string]any

// row is an entry of the file. The order of the fields is that of the tool.
type row struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Parent     *string         `json:"parentId"`
	Timestamp  string          `json:"timestamp"`
	Message    fields          `json:"message,omitempty"`
	Name       string          `json:"name,omitempty"`
	CustomType string          `json:"customType,omitempty"`
	Content    string          `json:"content,omitempty"`
	Display    *bool           `json:"display,omitempty"`
	Own        *sessionlog.Own `json:"scrollback,omitempty"`
}

func (w *sessionWriter) writeLine(v any) error {
	b, err := plainjson.Marshal(v)
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	return err
}

// writeHead writes what a session says about itself.
func (w *sessionWriter) writeHead() error {
	folder := "/"
	if len(w.c.Roots) > 0 {
		folder = w.c.Roots[0]
	}
	if err := w.writeLine(struct {
		Type      string `json:"type"`
		Version   int    `json:"version"`
		ID        string `json:"id"`
		Timestamp string `json:"timestamp"`
		Folder    string `json:"cwd"`
	}{"session", writtenVersion, string(w.c.ID), formatTime(w.c.CreatedAt), folder}); err != nil {
		return err
	}
	if w.c.Title == "" {
		return nil
	}
	r := w.newRow("session_info", "title", w.c.CreatedAt)
	r.Name = w.c.Title
	return w.writeRows([]*row{r})
}

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// newRow returns an entry that hangs on the last one.
func (w *sessionWriter) newRow(kind, id string, at int64) *row {
	id = w.ids.Take(id)
	r := &row{Type: kind, ID: id, Timestamp: formatTime(at)}
	if w.last != "" {
		last := w.last
		r.Parent = &last
	}
	w.last = id
	return r
}

func (w *sessionWriter) writeRows(rows []*row) error {
	for _, r := range rows {
		if err := w.writeLine(r); err != nil {
			return err
		}
	}
	return nil
}

// writeMessage writes a message as one or several entries, and beside the first what they do not say.
func (w *sessionWriter) writeMessage(e transcript.Entry) error {
	rows := w.messageRows(e)
	got, err := w.readRows(rows)
	if err != nil {
		return err
	}
	own, err := sessionlog.NewOwn(e, got)
	if err != nil {
		return err
	}
	rows[0].Own = own
	for _, r := range rows[1:] {
		r.Own = &sessionlog.Own{Part: true}
	}
	return w.writeRows(rows)
}

// readRows returns the message that entries are read as.
func (w *sessionWriter) readRows(rows []*row) (out transcript.Entry, err error) {
	r := &talkReader{Talk: &sessionlog.Talk{}, tool: w.tool}
	for i, one := range rows {
		raw, err := plainjson.Marshal(one)
		if err != nil {
			return out, err
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return out, err
		}
		e := transcript.Entry{}
		r.fillEntry(&e, &l)
		if i == 0 {
			out = e
			continue
		}
		sessionlog.AddParts(&out, e)
	}
	return out, nil
}

// messageRows returns the entries of a message, at least one.
func (w *sessionWriter) messageRows(e transcript.Entry) []*row {
	m := &e.Message
	switch m.Role {
	case scrollback.RoleAssistant:
		return []*row{w.answerRow(e)}
	case scrollback.RoleTool:
		if rows := w.resultRows(e); rows != nil {
			return rows
		}
	case scrollback.RoleSystem:
		r := w.newRow("custom_message", string(m.ID), m.CreatedAt)
		hidden := false
		r.CustomType = "scrollback"
		r.Content = m.Parts.Text()
		r.Display = &hidden
		return []*row{r}
	case scrollback.RoleUser:
	}
	r := w.newRow("message", string(m.ID), m.CreatedAt)
	r.Message = fields{"role": "user", "content": contentBlocks(e.Message.Parts, e.Bytes), "timestamp": m.CreatedAt}
	return []*row{r}
}

// contentBlocks returns what a person or a tool said as the tool has it: texts and pictures.
func contentBlocks(parts scrollback.Parts, bytes map[int][]byte) []fields {
	out := []fields{}
	say := func(text string) { out = append(out, fields{"type": "text", "text": text}) }
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				say(p.Text)
			}
		case scrollback.Image:
			switch b := bytes[i]; {
			case b != nil:
				block := fields{"type": "image", "data": base64.StdEncoding.EncodeToString(b), "mimeType": p.MediaType}
				if p.Name != "" {
					block["name"] = p.Name
				}
				out = append(out, block)
			default:
				say(fmt.Sprintf("[image: %s]", cmp.Or(p.URL, p.Name)))
			}
		case scrollback.File:
			if b := bytes[i]; b != nil && strings.HasPrefix(p.MediaType, "text/") {
				say(fmt.Sprintf("<file name=%q>\n%s\n</file>", p.Name, b))
			} else {
				say(fmt.Sprintf("[file: %s, %s]", p.Name, p.MediaType))
			}
		case scrollback.ToolResult:
			say(p.Text)
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return out
}

// splitModel returns the provider and the id in a model's name.
func splitModel(name string) (provider, id string) {
	provider, id, found := strings.Cut(name, "/")
	if !found {
		return "unknown", cmp.Or(name, "unknown")
	}
	return provider, id
}

// answerRow returns what a model said. Answers that are marked as cut off would not be sent again.
func (w *sessionWriter) answerRow(e transcript.Entry) *row {
	m := &e.Message
	r := w.newRow("message", string(m.ID), m.CreatedAt)
	content := []fields{}
	stop := "stop"
	w.open = map[string]scrollback.ToolCall{}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				content = append(content, fields{"type": "text", "text": p.Text})
			}
		case scrollback.ToolCall:
			arguments := map[string]any{}
			var raw any = p.Arguments
			if json.Unmarshal(p.Arguments, &arguments) != nil {
				raw = fields{"arguments": string(p.Arguments)}
			}
			content = append(content, fields{"type": "toolCall", "id": p.ID, "name": p.Name, "arguments": raw})
			stop = "toolUse"
			w.open[p.ID] = p
		case scrollback.Reasoning, scrollback.Image, scrollback.File, scrollback.ToolResult:
		}
	}
	provider, model := splitModel(cmp.Or(m.Model, w.c.Model))
	said := fields{"role": "assistant", "content": content, "api": "unknown", "provider": provider, "model": model,
		"usage": usageFields(m.Usage), "stopReason": stop, "timestamp": m.CreatedAt}
	if m.Status == scrollback.StatusFailed {
		said["stopReason"] = "error"
	}
	r.Message = said
	return r
}

// usageFields returns what a call used, as the tool counts it.
func usageFields(u *scrollback.Usage) fields {
	if u == nil {
		u = &scrollback.Usage{}
	}
	return fields{"input": max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0), "output": u.OutputTokens,
		"cacheRead": u.CachedTokens, "cacheWrite": u.CacheWriteTokens, "reasoning": u.ReasoningTokens,
		"totalTokens": u.TotalTokens,
		"cost":        fields{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": u.Cost}}
}

// resultRows returns an entry for each result, with what came behind it; nil if a result answers no open call, which
// no model takes.
func (w *sessionWriter) resultRows(e transcript.Entry) (rows []*row) {
	m := &e.Message
	results := m.Parts.Results()
	answered := map[string]bool{}
	for _, r := range results {
		if _, open := w.open[r.CallID]; !open || answered[r.CallID] {
			return nil
		}
		answered[r.CallID] = true
	}
	if _, first := firstPart(m.Parts).(scrollback.ToolResult); !first {
		return nil
	}
	for i := 0; i < len(m.Parts); {
		result := m.Parts[i].(scrollback.ToolResult)
		content := []fields{{"type": "text", "text": result.Text}}
		for i++; i < len(m.Parts); i++ {
			if _, next := m.Parts[i].(scrollback.ToolResult); next {
				break
			}
			content = append(content, contentBlocks(m.Parts[i:i+1], map[int][]byte{0: e.Bytes[i]})...)
		}
		r := w.newRow("message", string(m.ID), m.CreatedAt)
		r.Message = fields{"role": "toolResult", "toolCallId": result.CallID,
			"toolName": cmp.Or(result.Name, w.open[result.CallID].Name), "content": content, "isError": result.IsError,
			"timestamp": m.CreatedAt}
		rows = append(rows, r)
		delete(w.open, result.CallID)
	}
	return rows
}

func firstPart(parts scrollback.Parts) scrollback.Part {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}
