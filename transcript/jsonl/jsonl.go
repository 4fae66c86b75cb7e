// Package jsonl reads and writes generic JSONL: one message per line,
//
//	{"role", "content": text | parts, "id"?, "created_at"?, "name"?, "model"?, "usage"?, "status"?, "meta"?, "turns"?}
//
// after an optional first line {"conversation": {"id"?, "title"?, "project"?,
// "model"?, "instructions"?, "meta"?}}. Several conversations in one file carry
// "conversation_id" on each line. An image or file part may carry its bytes as
// base64 in "data"; a tool result carries its whole text. The forms in which others write
// messages as JSON are read too: lists of messages, objects with "messages" as they are sent to
// a model or trained on, ShareGPT's "conversations", and OpenAI's and Anthropic's parts. An export says in "turns"
// which turns after a message failed, and why; nobody reads that in again.
//
// It may not know the store or the network.
package jsonl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return "jsonl" }

// Sniff implements transcript.Importer: a first line that is an object, or the
// beginning of a long one.
func (Format) Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(transcript.DecodeUTF8Head(head), []byte("\uFEFF")), " \t\r\n\x00")
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if transcript.IsForeign(head) {
		return false
	}
	if sniffForms(head) {
		return true
	}
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) == nil {
		return object["role"] != nil || object["conversation"] != nil
	}
	return !whole || bytes.Contains(line, []byte(`"role"`)) || bytes.Contains(head, []byte(`"role"`))
}

// fileRow is a line of the file.
type fileRow struct {
	Conversation   *header           `json:"conversation,omitempty"`
	ConversationID string            `json:"conversation_id,omitempty"`
	ID             string            `json:"id,omitempty"`
	Role           string            `json:"role,omitempty"`
	From           string            `json:"from,omitempty"` // read, and not written
	Name           string            `json:"name,omitempty"`
	Content        json.RawMessage   `json:"content,omitempty"`
	Model          string            `json:"model,omitempty"`
	Usage          *scrollback.Usage `json:"usage,omitempty"`
	Status         scrollback.Status `json:"status,omitempty"`
	CreatedAt      json.RawMessage   `json:"created_at,omitempty"`
	Meta           json.RawMessage   `json:"meta,omitempty"`

	otherTimes // read, and not written

	Turns []scrollback.TurnEntry `json:"turns,omitempty"` // written, and not read
}

// otherTimes are what others call the time of a message.
type otherTimes struct {
	Timestamp  json.RawMessage `json:"timestamp,omitempty"`
	CreateTime json.RawMessage `json:"create_time,omitempty"`
	Created    json.RawMessage `json:"createdAt,omitempty"`
	Time       json.RawMessage `json:"time,omitempty"`
	Date       json.RawMessage `json:"date,omitempty"`
}

// firstTime returns the first of them that is a time. Other programs may mean something else by these
// names, which is passed over.
func (t otherTimes) firstTime() json.RawMessage {
	for _, raw := range []json.RawMessage{t.Timestamp, t.CreateTime, t.Created, t.Time, t.Date} {
		if ms, err := parseTime(raw); err == nil && ms > 0 {
			return raw
		}
	}
	return nil
}

// messageTime returns when a message was said, by its own name or another's.
func (w *fileRow) messageTime() json.RawMessage {
	if len(w.CreatedAt) > 0 && string(w.CreatedAt) != "null" {
		return w.CreatedAt
	}
	return w.firstTime()
}

type header struct {
	ID           string          `json:"id,omitempty"`
	Title        string          `json:"title,omitempty"`
	Project      string          `json:"project,omitempty"`
	Model        string          `json:"model,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Meta         json.RawMessage `json:"meta,omitempty"`
}

// Read implements transcript.Importer.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		in := transcript.NewRecords(r)
		source := ""
		talks := 0
		for {
			rec, err := in.Next()
			if transcript.IsEnd(err) {
				return
			}
			if err != nil {
				yield(transcript.Entry{}, err)
				return
			}
			if rec.JSON == nil {
				if !yield(transcript.Entry{Bad: &transcript.Bad{Line: rec.Line, Reason: rec.Reason}}, nil) {
					return
				}
				continue
			}
			for _, f := range readForms(rec.JSON, &talks) {
				e := f.entry
				if f.message != nil {
					if e = parseLine(f.message, rec.Line, &source); e.Bad == nil && e.Conversation == nil && e.Source == "" {
						e.Source = f.source
					}
				}
				if e.Line = rec.Line; !yield(e, nil) {
					return
				}
			}
		}
	}
}

func parseLine(line []byte, n int, source *string) transcript.Entry {
	bad := func(format string, args ...any) transcript.Entry {
		return transcript.Entry{Bad: &transcript.Bad{Line: n, Reason: fmt.Sprintf(format, args...)}}
	}
	if !utf8.Valid(line) {
		return bad("not UTF-8")
	}
	var w fileRow
	if err := json.Unmarshal(line, &w); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return bad("malformed JSON at byte %d: %v", syntax.Offset, syntax)
		}
		return bad("a message of the wrong shape")
	}
	if w.Conversation != nil && w.Role == "" {
		*source = w.Conversation.ID
		h := w.Conversation
		return transcript.Entry{Source: h.ID, Conversation: &scrollback.Conversation{Title: h.Title, Project: h.Project,
			Model: h.Model, Instructions: h.Instructions, Meta: h.Meta}}
	}
	e := transcript.Entry{Line: n, Source: *source}
	if w.ConversationID != "" {
		e.Source = w.ConversationID
	}
	w.Role = cmp.Or(w.Role, w.From)
	w.Role = strings.ToLower(strings.TrimSpace(w.Role))
	if called := roles[w.Role]; called != "" {
		w.Role = string(called)
	}
	role, err := scrollback.ParseRole(w.Role)
	if err != nil {
		return bad("%v", err)
	}
	e.Message = scrollback.Message{ID: scrollback.MessageID(w.ID), Role: role, Name: w.Name, Model: w.Model,
		Usage: w.Usage, Status: w.Status, Meta: w.Meta}
	if e.Message.CreatedAt, err = parseTime(w.messageTime()); err != nil || e.Message.CreatedAt < 0 {
		return bad("created_at: %v", cmp.Or(err, errors.New("before 1970")))
	}
	if w.Status != "" && !w.Status.Known() {
		return bad("unknown status %q (complete, interrupted or failed)", w.Status)
	}
	if w.Content, err = readContent(line, w.Content, role); err != nil {
		return bad("%v", err)
	}
	if err := json.Unmarshal(w.Content, &e.Message.Parts); err != nil {
		return bad("content: %v", err)
	}
	if e.Bytes, err = transcript.DecodeAttached(w.Content, e.Message.Parts); err != nil {
		return bad("content: %v", err)
	}
	// An answer of ours that was cut off before its first word says so; what else is empty is nothing.
	if isBlank(e.Message.Parts) && (role != scrollback.RoleAssistant || w.Status == "") {
		return bad("a message without content")
	}
	return e
}

// isBlank reports whether parts say nothing.
func isBlank(parts scrollback.Parts) bool {
	for _, p := range parts {
		if t, ok := p.(scrollback.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

// leastSeconds and mostSeconds bound numbers that are Unix seconds: as ms they would be days of early 1970.
const leastSeconds, mostSeconds = 1e9, 1e11

// parseTime reads Unix ms, Unix seconds or RFC 3339.
func parseTime(b json.RawMessage) (int64, error) {
	if len(b) == 0 || string(b) == "null" {
		return 0, nil
	}
	var ms int64
	var number float64
	if json.Unmarshal(b, &number) == nil {
		if number >= leastSeconds && number < mostSeconds {
			return int64(number * 1000), nil
		}
		if json.Unmarshal(b, &ms) == nil {
			return ms, nil
		}
		return int64(number), nil
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return 0, fmt.Errorf("neither Unix ms nor a time")
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not an RFC 3339 time", s)
	}
	return t.UnixMilli(), nil
}
