package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// WithoutMark is the meta of a message without the mark of the import that brought it.
func WithoutMark(meta json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(meta) == 0 || json.Unmarshal(meta, &fields) != nil || fields["source"] == nil {
		return meta
	}
	delete(fields, "source")
	if len(fields) == 0 {
		return nil
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return meta
	}
	return out
}

// Mark is the meta of a message that an entry brings: the file's own, and under
// "source" the file's id of it and a hash that [MarkOf] finds again.
func Mark(entry Entry) (json.RawMessage, error) {
	m := entry.Message
	body, err := json.Marshal([]any{m.Role, m.Name, m.Parts, m.Model, m.CreatedAt})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "transcript.Mark", err)
	}
	h := sha256.New()
	h.Write(body)
	for _, i := range slices.Sorted(maps.Keys(entry.Bytes)) {
		h.Write(entry.Bytes[i])
	}
	meta := map[string]json.RawMessage{}
	if len(m.Meta) > 0 && json.Unmarshal(m.Meta, &meta) != nil {
		meta = map[string]json.RawMessage{"value": m.Meta}
	}
	source, err := json.Marshal(struct {
		ID   scrollback.MessageID `json:"id,omitempty"`
		Hash string               `json:"hash"`
	}{m.ID, hex.EncodeToString(h.Sum(nil)[:12])})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "transcript.Mark", err)
	}
	meta["source"] = source
	return json.Marshal(meta)
}

// MarkOf is the hash in the meta of an imported message, or empty.
func MarkOf(meta json.RawMessage) string {
	var m struct {
		Source struct{ Hash string }
	}
	if json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Source.Hash
}
