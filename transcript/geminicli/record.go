package geminicli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/told"
	"github.com/scrollback-ai/scrollback/transcript"
)

// record is an entry of a session, and the text it was read from.
type record struct {
	ID        string     `json:"id,omitempty"`
	Timestamp string     `json:"timestamp,omitempty"`
	Type      string     `json:"type"`
	Content   content    `json:"content"`
	Thoughts  []thought  `json:"thoughts,omitempty"`
	Tokens    *tokens    `json:"tokens,omitempty"`
	Model     string     `json:"model,omitempty"`
	ToolCalls []toolCall `json:"toolCalls,omitempty"`
	Ours      []message  `json:"scrollback,omitempty"` // what the other fields cannot express

	raw      json.RawMessage
	line     int
	response []part // the results of its calls, where a resumed session has them in the next record
}

type thought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Timestamp   string `json:"timestamp,omitempty"`
}

type tokens struct {
	Input    int64 `json:"input"`
	Output   int64 `json:"output"`
	Cached   int64 `json:"cached"`
	Thoughts int64 `json:"thoughts"`
	Tool     int64 `json:"tool"`
	Total    int64 `json:"total"`
}

type toolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    content         `json:"result"`
	Status    string          `json:"status"`
	Timestamp string          `json:"timestamp,omitempty"`
}

// content is a text, a part, or a list of either. Plain says that it was, or is
// written as, a bare text; null is content without parts.
type content struct {
	parts []part
	plain bool
}

// part is a piece of content.
type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature json.RawMessage   `json:"thoughtSignature,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *inlineData       `json:"inlineData,omitempty"`
	FileData         *fileData         `json:"fileData,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type inlineData struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type fileData struct {
	MimeType string `json:"mimeType,omitempty"`
	FileURI  string `json:"fileUri"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0 || string(b) == "null":
		return nil
	case b[0] == '"':
		var text string
		err := json.Unmarshal(b, &text)
		c.parts = []part{{Text: &text}}
		c.plain = true
		return err
	case b[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, raw := range list {
			var inner content
			if err := inner.UnmarshalJSON(raw); err != nil {
				return err
			}
			c.parts = append(c.parts, inner.parts...)
		}
		return nil
	}
	var p part
	if err := json.Unmarshal(b, &p); err != nil {
		return errors.New("content is neither a text nor a list of parts")
	}
	c.parts = []part{p}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (c content) MarshalJSON() ([]byte, error) {
	switch {
	case c.plain && len(c.parts) == 1:
		return plainjson.Marshal(c.parts[0].Text)
	case c.plain:
		return []byte(`""`), nil
	case c.parts == nil:
		return []byte("null"), nil
	}
	return plainjson.Marshal(c.parts)
}

// maxParts bounds the parts of a record, and its calls: each is looked for among the others.
const maxParts = 10_000

func parseRecord(raw json.RawMessage) (*record, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	rec := &record{raw: compactJSON(raw)}
	if err := json.Unmarshal(rec.raw, rec); err != nil {
		return nil, fmt.Errorf("a message of the wrong shape: %w", err)
	}
	if rec.Type == "" {
		return nil, errors.New("a record without a type")
	}
	if n := max(len(rec.ToolCalls), len(rec.Content.parts)); n > maxParts {
		return nil, fmt.Errorf("a record with %d parts or calls; at most %d are read", n, maxParts)
	}
	rec.leaveOutTold()
	return rec, nil
}

// leaveOutTold takes what this program told the tool out of what a person said: without a terminal the tool writes
// both as one text, which would count as no part of the conversation.
func (r *record) leaveOutTold() {
	if r.Type != "user" {
		return
	}
	for i, p := range r.Content.parts {
		if p.Text == nil || !told.Has(*p.Text) {
			continue
		}
		rest := told.Without(*p.Text)
		r.Content.parts[i].Text = &rest
	}
}

// isSame reports whether two records are equal.
func (r *record) isSame(o *record) bool {
	return r.ID == o.ID && bytes.Equal(r.raw, o.raw)
}

// ignored are the beginnings of user texts that are not conversation.
var ignored = []string{"/", "?", "<session_context>", "<hook_context>"}

// isIgnored reports whether the tool takes a user's content for no part of the conversation.
func (c content) isIgnored() bool {
	var b strings.Builder
	for _, p := range c.parts {
		if p.Text == nil || p.Thought {
			b.WriteString("[part]")
			continue
		}
		b.WriteString(*p.Text)
	}
	text := strings.TrimFunc(b.String(), func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
	return text == "" || slices.ContainsFunc(ignored, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// isAside reports whether a record is not part of the conversation.
func (r *record) isAside() bool {
	switch r.Type {
	case "gemini":
		return false
	case "user":
		attached := func(p part) bool { return p.Text == nil } // or a result
		return !slices.ContainsFunc(r.Content.parts, attached) && r.Content.isIgnored()
	}
	return true
}

// parseTime returns a time of a file in Unix ms; 0 for none.
func parseTime(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.UnixMilli() < 0 {
		return 0
	}
	return t.UnixMilli()
}

// formatTime returns a time as files hold it.
func formatTime(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// recordUnit is a record, the messages it becomes, and the asides around it. Place is where
// the record stood, for calls without an id.
type recordUnit struct {
	rec           *record
	place         string
	messages      []transcript.Entry
	before, after []json.RawMessage
}

// saysSame reports whether two units say the same. The tool writes all records again when a
// session is resumed: results stand in records of their own, and what a model thought and
// called is repeated in what it said.
func (u recordUnit) saysSame(o recordUnit) bool {
	if u.rec == o.rec {
		return true
	}
	if len(u.messages) != len(o.messages) {
		return false
	}
	for i := range u.messages {
		a, errA := transcript.HashLikeness(u.messages[i])
		b, errB := transcript.HashLikeness(o.messages[i])
		if errA != nil || errB != nil || a != b || u.messages[i].Message.CreatedAt != o.messages[i].Message.CreatedAt {
			return false
		}
	}
	return true
}

func countMessages(units []recordUnit) (n int) {
	for _, u := range units {
		n += len(u.messages)
	}
	return n
}

// makeUnits makes messages of a path. Asides stay with the message that follows, those
// at the end with the last one; they come back when there is no message at all.
func makeUnits(path []*record) (units []recordUnit, asides []json.RawMessage) {
	given := &callAnswers{}
	for i, rec := range path {
		var ms []transcript.Entry
		place := fmt.Sprintf("%d_%s", i, rec.ID)
		if i+1 < len(path) && path[i+1].answersRecord(rec) {
			rec.response = path[i+1].Content.parts
		}
		if (!rec.isAside() || len(rec.Ours) > 0) && (i == 0 || !rec.answersRecord(path[i-1])) {
			ms = rec.toMessages(place, given)
		}
		if len(ms) == 0 {
			asides = append(asides, rec.raw)
			continue
		}
		units = append(units, recordUnit{rec: rec, place: place, messages: ms, before: asides})
		asides = nil
	}
	if n := len(units); n > 0 {
		units[n-1].after = asides
	}
	return units, asides
}

// listEntries returns the messages of a unit, with what only this format knows in their
// meta.
func (u recordUnit) listEntries(source string) []transcript.Entry {
	out := u.messages
	for i := range out {
		out[i].Source = source
		out[i].Line = u.rec.line
	}
	first := &out[0].Message
	last := &out[len(out)-1].Message
	kept := keptMeta{ID: u.rec.ID, Ours: len(u.rec.Ours) > 0, Before: u.before, After: u.after,
		Patch: u.rec.makePatch(out)}
	if u.rec.lacksIDs() {
		kept.Place = u.place
	}
	if first != last && (kept.Patch != nil || kept.Place != "") {
		// A record that grew since it was read first brings its last message only.
		last.Meta = withMeta(last.Meta, keptMeta{Patch: kept.Patch, Place: kept.Place})
		kept.Patch = nil
		kept.Place = ""
	}
	first.Meta = withMeta(first.Meta, kept)
	return out
}

// keptMeta is what a message's meta holds of its record. Patch makes the record that
// we would write the one that was read; it stands at the record's last message, or in
// what was imported earlier at the first. Ours is a record that we wrote. Place is for
// calls without an id.
type keptMeta struct {
	ID     string            `json:"id,omitempty"`
	Ours   bool              `json:"ours,omitempty"`
	Place  string            `json:"place,omitempty"`
	Before []json.RawMessage `json:"before,omitempty"`
	After  []json.RawMessage `json:"after,omitempty"`
	Patch  json.RawMessage   `json:"patch,omitempty"`
}

// withMeta adds what is kept to a message's own meta.
func withMeta(meta json.RawMessage, kept keptMeta) json.RawMessage {
	fields := map[string]json.RawMessage{}
	// A meta that is not an object has no room for more.
	if json.Unmarshal(meta, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields[metaKey] = transcript.MarshalObject(kept)
	return transcript.MarshalObject(fields)
}

// ourMeta splits a message's meta into what is kept for this format and the rest.
func ourMeta(meta json.RawMessage) (kept keptMeta, rest json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(meta, &fields) != nil || fields[metaKey] == nil || json.Unmarshal(fields[metaKey], &kept) != nil {
		return keptMeta{}, meta
	}
	delete(fields, metaKey)
	if len(fields) > 0 {
		rest = transcript.MarshalObject(fields)
	}
	return kept, rest
}

// message is one of ours, unchanged, if a record cannot express it.
type message struct {
	Role      scrollback.Role   `json:"role"`
	Name      string            `json:"name,omitempty"`
	Parts     scrollback.Parts  `json:"parts"`
	Model     string            `json:"model,omitempty"`
	Usage     *scrollback.Usage `json:"usage,omitempty"`
	Status    scrollback.Status `json:"status,omitempty"`
	CreatedAt int64             `json:"created_at,omitempty"`
	Meta      json.RawMessage   `json:"meta,omitempty"`
	Data      map[string][]byte `json:"data,omitempty"` // of attachments, by the index of their part
}
