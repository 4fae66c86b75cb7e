package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// WithoutMark returns the meta of a message without the mark of the import that brought it.
func WithoutMark(meta json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(meta) == 0 || json.Unmarshal(meta, &fields) != nil || fields["source"] == nil {
		return meta
	}
	delete(fields, "source")
	if len(fields) == 0 {
		return nil
	}
	out, err := plainjson.Marshal(fields)
	if err != nil {
		return meta
	}
	return out
}

// ImportMark returns the meta of a message that an entry brings: the file's own, and under
// "source" the file's id of it and a hash that [MarkOf] finds again.
func ImportMark(entry Entry) (json.RawMessage, error) {
	said, err := HashSaid(entry)
	if err != nil {
		return nil, err
	}
	return MarkSaid(entry, said)
}

// HashSaid returns a hash of what an entry says: its role, name, parts, model and time, and the bytes of its
// attachments.
func HashSaid(entry Entry) (said [sha256.Size]byte, err error) {
	body, err := markedText(entry.Message)
	if err != nil {
		return said, scrollback.Wrap(scrollback.Invalid, "transcript.Mark", err)
	}
	h := sha256.New()
	h.Write(body)
	for _, i := range slices.Sorted(maps.Keys(entry.Bytes)) {
		h.Write(entry.Bytes[i])
	}
	h.Sum(said[:0])
	return said, nil
}

// MarkSaid is [ImportMark] of an entry whose hash is known.
func MarkSaid(entry Entry, said [sha256.Size]byte) (json.RawMessage, error) {
	m := entry.Message
	meta := map[string]json.RawMessage{}
	if len(m.Meta) > 0 && json.Unmarshal(m.Meta, &meta) != nil {
		meta = map[string]json.RawMessage{"value": m.Meta}
	}
	source, err := json.Marshal(struct {
		ID   scrollback.MessageID `json:"id,omitempty"`
		Hash string               `json:"hash"`
	}{m.ID, hex.EncodeToString(said[:12])})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "transcript.Mark", err)
	}
	meta["source"] = source
	return plainjson.Marshal(meta)
}

// markedText returns what json.Marshal makes of [m.Role, m.Name, m.Parts, m.Model, m.CreatedAt], which would check the
// parts once more after they were written.
func markedText(m scrollback.Message) ([]byte, error) {
	parts, err := m.Parts.MarshalJSON()
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal([]any{m.Role, m.Name})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal([]any{m.Model, m.CreatedAt})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(before) + len(parts) + len(parts)/16 + len(after))
	b.Write(before[:len(before)-1])
	b.WriteByte(',')
	json.HTMLEscape(&b, parts)
	b.WriteByte(',')
	b.Write(after[1:])
	return b.Bytes(), nil
}

// HashLikeness returns a hash of what an entry says, which stays the same when another tool has
// read the message and written it again: its time, ids of calls, payloads and what only a
// store knows of an attachment are not part of it. Parts must be whole, and attachments
// in Bytes.
func HashLikeness(entry Entry) (string, error) {
	m := entry.Message
	said := []any{m.Role, m.Name, m.Model}
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			said = append(said, "text", p.Text)
		case scrollback.Reasoning:
			said = append(said, "reasoning", p.Text)
		case scrollback.ToolCall:
			said = append(said, "call", p.Name, NormalizeJSON(p.Arguments))
		case scrollback.ToolResult:
			said = append(said, "result", p.Name, NormalizeJSON([]byte(p.Text)), p.IsError)
		case scrollback.Image:
			if p.URL != "" {
				said = append(said, "image", p.URL)
				continue
			}
			said = append(said, "image", p.MediaType, p.Name, sha256.Sum256(entry.Bytes[i]))
		case scrollback.File:
			said = append(said, "file", p.MediaType, p.Name, sha256.Sum256(entry.Bytes[i]))
		}
	}
	body, err := plainjson.Marshal(said)
	if err != nil {
		return "", scrollback.Wrap(scrollback.Invalid, "transcript.Likeness", err)
	}
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:12]), nil
}

// NormalizeJSON is JSON as a program in JavaScript would have it: without the order of keys, the
// spelling of texts and the digits of numbers beyond a double's. What is not an object or
// a list is the text that it is.
func NormalizeJSON(raw []byte) any {
	var v any
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') && json.Unmarshal(raw, &v) == nil {
		return v
	}
	return string(raw)
}

// IDOf returns what the file of an imported message calls it, or empty.
func IDOf(meta json.RawMessage) scrollback.MessageID {
	var m struct {
		Source struct{ ID scrollback.MessageID }
	}
	_ = json.Unmarshal(meta, &m) // what is not ours has none
	return m.Source.ID
}

// MarkOf returns the hash in the meta of an imported message, or empty.
func MarkOf(meta json.RawMessage) string {
	var m struct {
		Source struct{ Hash string }
	}
	if json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Source.Hash
}

// IsBeginning reports whether a message of a file is the beginning of a stored one: some of its
// first parts, of which the last may be cut short in an answer. Tools write answers piece by
// piece, and a copy of their file may have been made in between. Attachments are compared by
// what a file says of them.
//
// Of an entry that is clipped, what results say is not compared.
func IsBeginning(whole scrollback.Message, e Entry) bool {
	part := e.Message
	n := len(part.Parts)
	if whole.Role != part.Role || whole.Name != part.Name || n == 0 || n > len(whole.Parts) {
		return false
	}
	for i, p := range part.Parts {
		if w, ok := whole.Parts[i].(scrollback.ToolResult); ok && e.Clipped {
			if r, ok := p.(scrollback.ToolResult); ok && w.CallID == r.CallID && w.IsError == r.IsError {
				continue
			}
		}
		if partBegins(whole.Parts[i], p, i == n-1 && part.Role == scrollback.RoleAssistant) {
			continue
		}
		return false
	}
	return true
}

// partBegins reports whether a part says what another says, or its beginning if it may be cut.
func partBegins(whole, part scrollback.Part, cut bool) bool {
	text := func(whole, part string) bool {
		return whole == part || cut && part != "" && strings.HasPrefix(whole, part)
	}
	switch p := part.(type) {
	case scrollback.Text:
		w, ok := whole.(scrollback.Text)
		return ok && text(w.Text, p.Text)
	case scrollback.Reasoning:
		w, ok := whole.(scrollback.Reasoning)
		return ok && text(w.Text, p.Text)
	case scrollback.ToolCall:
		w, ok := whole.(scrollback.ToolCall)
		return ok && w.ID == p.ID && w.Name == p.Name &&
			reflect.DeepEqual(NormalizeJSON(w.Arguments), NormalizeJSON(p.Arguments))
	case scrollback.ToolResult:
		w, ok := whole.(scrollback.ToolResult)
		return ok && w.CallID == p.CallID && w.Name == p.Name && w.IsError == p.IsError && w.Text == p.Text
	case scrollback.Image, scrollback.File:
		return false // their bytes are not at hand, and whole ones have the same mark
	}
	return false
}
