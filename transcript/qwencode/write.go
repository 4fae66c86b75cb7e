package qwencode

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// written is the version of the tool whose sessions ours are written as.
const written = "0.24.4"

// IsSessionID reports whether the tool takes a word for the id of a session.
func IsSessionID(id string) bool { return sessionShape().MatchString(id) }

var sessionShape = lazyregexp.New(`^[0-9a-fA-F-]{32,36}$`)

// Write implements [transcript.Exporter]: a session of JSON lines, whose id is the conversation's. The tool looks for
// it by the name ID.jsonl in its folder of the project. Reasoning is not sent to another model, so it stands only
// beside the answer.
func (Tool) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &sessionWriter{w: bufio.NewWriterSize(w, 64<<10), c: c, folder: "/", ids: sessionlog.IDs{Conversation: c.ID}}
	if len(c.Roots) > 0 {
		out.folder = c.Roots[0]
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
	if c.Title != "" { // the tool looks for it at the end
		r := out.newRow("system", "title", c.UpdatedAt)
		r.Provenance = "system"
		r.Subtype = "custom_title"
		r.Payload = fields{"customTitle": c.Title, "titleSource": "manual"}
		if err := out.writeRow(r); err != nil {
			return err
		}
	}
	return out.w.Flush()
}

// sessionWriter is a session while it is written.
type sessionWriter struct {
	w      *bufio.Writer
	c      scrollback.Conversation
	folder string
	last   string                         // the record that the next one hangs on
	open   map[string]scrollback.ToolCall // calls of the newest answer without a result, by their ids
	ids    sessionlog.IDs
}

// fields are those of an object of the file.
type fields map[string]any

// row is a record of the file. The order of the fields is that of the tool.
type row struct {
	ID         string          `json:"uuid"`
	Parent     *string         `json:"parentUuid"`
	Session    string          `json:"sessionId"`
	Timestamp  string          `json:"timestamp"`
	Type       string          `json:"type"`
	Provenance string          `json:"provenance,omitempty"`
	Subtype    string          `json:"subtype,omitempty"`
	Folder     string          `json:"cwd"`
	Version    string          `json:"version"`
	Model      string          `json:"model,omitempty"`
	Message    fields          `json:"message,omitempty"`
	Usage      fields          `json:"usageMetadata,omitempty"`
	Result     fields          `json:"toolCallResult,omitempty"`
	Payload    fields          `json:"systemPayload,omitempty"`
	Own        *sessionlog.Own `json:"scrollback,omitempty"`
}

// newRow returns a record that hangs on the last one.
func (w *sessionWriter) newRow(kind, id string, at int64) *row {
	id = w.ids.Take(id)
	r := &row{ID: id, Session: string(w.c.ID), Type: kind, Folder: w.folder, Version: written,
		Timestamp: time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z")}
	if w.last != "" {
		last := w.last
		r.Parent = &last
	}
	w.last = id
	return r
}

func (w *sessionWriter) writeRow(r *row) error {
	b, err := plainjson.Marshal(r)
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	return err
}

// writeMessage writes a message as one or several records, and beside the first what they do not say.
func (w *sessionWriter) writeMessage(e transcript.Entry) error {
	rows := w.messageRows(e)
	got, err := readRows(rows)
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
	for _, r := range rows {
		if err := w.writeRow(r); err != nil {
			return err
		}
	}
	return nil
}

// readRows returns the message that records are read as.
func readRows(rows []*row) (out transcript.Entry, err error) {
	r := &talkReader{Talk: &sessionlog.Talk{}, calls: map[string]bool{}}
	for i, one := range rows {
		raw, err := plainjson.Marshal(one)
		if err != nil {
			return out, err
		}
		var rec record
		if err := json.Unmarshal(raw, &rec); err != nil {
			return out, err
		}
		e := transcript.Entry{}
		r.fillEntry(&e, &rec)
		if i == 0 {
			out = e
			continue
		}
		sessionlog.AddParts(&out, e)
	}
	return out, nil
}

// messageRows returns the records of a message, at least one.
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
		r := w.newRow("user", string(m.ID), m.CreatedAt)
		r.Provenance = "system"
		r.Subtype = "notification"
		r.Message = fields{"role": "user", "parts": saidParts(m.Parts, nil)}
		return []*row{r}
	case scrollback.RoleUser:
	}
	r := w.newRow("user", string(m.ID), m.CreatedAt)
	r.Provenance = "real_user"
	r.Message = fields{"role": "user", "parts": saidParts(m.Parts, e.Bytes)}
	return []*row{r}
}

// saidParts returns what a person or a tool said as the tool has it.
func saidParts(parts scrollback.Parts, bytes map[int][]byte) []fields {
	out := []fields{}
	say := func(text string) { out = append(out, fields{"text": text}) }
	attach := func(media, name, otherwise string, b []byte) {
		if b == nil {
			say(otherwise)
			return
		}
		data := fields{"mimeType": media, "data": base64.StdEncoding.EncodeToString(b)}
		if name != "" {
			data["displayName"] = name
		}
		out = append(out, fields{"inlineData": data})
	}
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				say(p.Text)
			}
		case scrollback.Image:
			attach(p.MediaType, p.Name, fmt.Sprintf("[image: %s]", cmp.Or(p.URL, p.Name)), bytes[i])
		case scrollback.File:
			attach(p.MediaType, p.Name, fmt.Sprintf("[file: %s, %s]", p.Name, p.MediaType), bytes[i])
		case scrollback.ToolResult:
			say(p.Text)
		case scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return out
}

// answerRow returns what a model said.
func (w *sessionWriter) answerRow(e transcript.Entry) *row {
	m := &e.Message
	r := w.newRow("assistant", string(m.ID), m.CreatedAt)
	parts := []fields{}
	w.open = map[string]scrollback.ToolCall{}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				parts = append(parts, fields{"text": p.Text})
			}
		case scrollback.ToolCall:
			var object map[string]any
			var args any = p.Arguments
			if json.Unmarshal(p.Arguments, &object) != nil {
				args = fields{"arguments": string(p.Arguments)}
			}
			parts = append(parts, fields{"functionCall": fields{"id": p.ID, "name": p.Name, "args": args}})
			w.open[p.ID] = p
		case scrollback.Reasoning, scrollback.Image, scrollback.File, scrollback.ToolResult:
		}
	}
	r.Provenance = "assistant_output"
	r.Model = m.Model
	if len(parts) > 0 && m.Status != scrollback.StatusFailed { // what failed is not sent again
		r.Message = fields{"role": "model", "parts": parts}
	}
	if u := m.Usage; u != nil {
		r.Usage = fields{"promptTokenCount": u.InputTokens, "candidatesTokenCount": u.OutputTokens,
			"cachedContentTokenCount": u.CachedTokens, "totalTokenCount": u.TotalTokens}
	}
	return r
}

// resultRows returns a record for each result, with what came behind it; nil if a result answers no open call, which
// no model takes.
func (w *sessionWriter) resultRows(e transcript.Entry) (rows []*row) {
	m := &e.Message
	answered := map[string]bool{}
	for _, r := range m.Parts.Results() {
		if _, open := w.open[r.CallID]; !open || answered[r.CallID] {
			return nil
		}
		answered[r.CallID] = true
	}
	if len(m.Parts) == 0 {
		return nil
	}
	if _, first := m.Parts[0].(scrollback.ToolResult); !first {
		return nil
	}
	for i := 0; i < len(m.Parts); {
		result := m.Parts[i].(scrollback.ToolResult)
		response := fields{"output": result.Text}
		status := "success"
		if result.IsError {
			response = fields{"error": result.Text}
			status = "error"
		}
		parts := []fields{{"functionResponse": fields{"id": result.CallID,
			"name": cmp.Or(result.Name, w.open[result.CallID].Name), "response": response}}}
		for i++; i < len(m.Parts); i++ {
			if _, next := m.Parts[i].(scrollback.ToolResult); next {
				break
			}
			parts = append(parts, saidParts(m.Parts[i:i+1], map[int][]byte{0: e.Bytes[i]})...)
		}
		r := w.newRow("tool_result", string(m.ID), m.CreatedAt)
		r.Provenance = "tool_result"
		r.Message = fields{"role": "user", "parts": parts}
		r.Result = fields{"callId": result.CallID, "status": status, "resultDisplay": result.Text}
		rows = append(rows, r)
		delete(w.open, result.CallID)
	}
	return rows
}
