package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Export writes a conversation's path in a format, with everything that stands
// behind artifacts put back in, so that the file is whole by itself.
func (e *Engine) Export(ctx context.Context, id scrollback.ConversationID, format string, w io.Writer) error {
	c, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range e.o.Exporters {
		if f.Name() == format {
			return f.Write(w, c, e.entries(ctx, id))
		}
		names = append(names, f.Name())
	}
	return scrollback.ParamErrorf("engine.Export", "format", "unknown format %q (%v)", format, names)
}

func (e *Engine) entries(ctx context.Context, id scrollback.ConversationID) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for m, err := range e.store.All(ctx, id) {
			var entry transcript.Entry
			if err == nil {
				entry, err = e.whole(ctx, m)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// whole is a message with its artifacts put back in.
func (e *Engine) whole(ctx context.Context, m scrollback.Message) (transcript.Entry, error) {
	entry := transcript.Entry{Message: m}
	entry.Message.Parts = append(scrollback.Parts{}, m.Parts...)
	entry.Message.Meta = sourceOnly(m.Meta)
	attach := func(i int, art scrollback.ArtifactID) error {
		f, _, err := e.archive.OpenArtifact(ctx, art)
		if err != nil {
			return err
		}
		defer f.Close()
		if entry.Bytes == nil {
			entry.Bytes = map[int][]byte{}
		}
		entry.Bytes[i], err = io.ReadAll(f)
		return scrollback.Wrap(scrollback.Unavailable, "engine.Export", err)
	}
	for i, p := range entry.Message.Parts {
		var err error
		switch p := p.(type) {
		case scrollback.Image:
			err = attach(i, p.Artifact)
		case scrollback.File:
			err = attach(i, p.Artifact)
		case scrollback.ToolResult:
			if p.Artifact != "" {
				p.Text, err = e.artifactText(ctx, p.Artifact)
				p.Artifact = ""
				entry.Message.Parts[i] = p
			}
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
		if err != nil {
			return entry, err
		}
	}
	return entry, nil
}

// sourceOnly is a message's meta without the mark of the import that brought it.
func sourceOnly(meta json.RawMessage) json.RawMessage {
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

// sourceMark is the meta of an imported message: the file's own, and under
// "source" the file's id of it and a hash by which it is known again.
func sourceMark(entry transcript.Entry) (json.RawMessage, error) {
	m := entry.Message
	body, err := json.Marshal([]any{m.Role, m.Name, m.Parts, m.Model, m.CreatedAt})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "engine.Import", err)
	}
	h := sha256.New()
	h.Write(body)
	for _, i := range sortedKeys(entry.Bytes) {
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
		return nil, scrollback.Wrap(scrollback.Internal, "engine.Import", err)
	}
	meta["source"] = source
	return json.Marshal(meta)
}

func sortedKeys(m map[int][]byte) []int {
	keys := make([]int, 0, len(m))
	for i := range m {
		keys = append(keys, i)
	}
	slices.Sort(keys)
	return keys
}

func markOf(meta json.RawMessage) string {
	var m struct {
		Source struct{ Hash string }
	}
	if json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Source.Hash
}
