// Package mask takes what looks like keys, tokens and passwords out of entries on their way
// in, before they reach the log, the index or an artifact.
//
// Invariants: an entry that was masked stays as it is; arguments, meta and payloads stay
// JSON; ids, roles, models and times are not touched, nor are attachments that are not text;
// what a reader still holds is not changed. The bytes of one entry are read once.
//
// It may not know the store.
package mask

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/secrets"
	"github.com/scrollback-ai/scrollback/transcript"
)

// MaskEntry masks an entry, and returns how many secrets were found.
func MaskEntry(e *transcript.Entry) int {
	var m masker
	if e.Conversation != nil {
		c := *e.Conversation
		m.maskTexts(&c.Title, &c.Instructions)
		m.maskJSON(&c.Meta)
		e.Conversation = &c
	}
	if e.Origin != nil {
		o := *e.Origin
		m.maskTexts(&o.Folder, &o.GitBranch)
		e.Origin = &o
	}
	if e.Bad != nil {
		b := *e.Bad
		m.maskTexts(&b.Reason)
		e.Bad = &b
	}
	m.maskTexts(&e.Message.Name)
	m.maskJSON(&e.Message.Meta)
	e.Message.Parts = m.maskParts(e.Message.Parts)
	e.Bytes = m.maskAttached(e.Bytes, e.Message.Parts)
	e.Turns = m.maskTurns(e.Turns)
	return m.n
}

// masker counts what it masks.
type masker struct{ n int }

func (m *masker) maskTexts(all ...*string) {
	for _, s := range all {
		masked, n := secrets.MaskText(*s)
		*s = masked
		m.n += n
	}
}

func (m *masker) maskJSON(raw *json.RawMessage) {
	masked, n := secrets.MaskJSON(*raw)
	*raw = masked
	m.n += n
}

func (m *masker) maskParts(ps scrollback.Parts) scrollback.Parts {
	ps = slices.Clone(ps)
	for i, p := range ps {
		ps[i] = m.maskPart(p)
	}
	return ps
}

func (m *masker) maskPart(p scrollback.Part) scrollback.Part {
	switch p := p.(type) {
	case scrollback.Text:
		m.maskTexts(&p.Text)
		m.maskJSON(&p.Opaque)
		p.Reference = m.maskReference(p.Reference)
		return p
	case scrollback.Reasoning:
		before := m.n
		m.maskTexts(&p.Text)
		if m.maskJSON(&p.Opaque); m.n > before {
			p.Opaque = nil // it signs what stood there
		}
		return p
	case scrollback.ToolCall:
		m.maskJSON(&p.Arguments)
		m.maskJSON(&p.Opaque)
		return p
	case scrollback.ToolResult:
		m.maskTexts(&p.Text)
		m.maskJSON(&p.Opaque)
		return p
	case scrollback.Image:
		m.maskTexts(&p.Name, &p.URL)
		m.maskJSON(&p.Opaque)
		return p
	case scrollback.File:
		m.maskTexts(&p.Name)
		m.maskJSON(&p.Opaque)
		return p
	}
	return p
}

func (m *masker) maskReference(r *scrollback.Reference) *scrollback.Reference {
	if r == nil {
		return nil
	}
	c := *r
	m.maskTexts(&c.Mark, &c.Source, &c.Note, &c.Error)
	return &c
}

// maskAttached masks the attachments that are text, or say that they are.
func (m *masker) maskAttached(all map[int][]byte, parts scrollback.Parts) map[int][]byte {
	out := maps.Clone(all)
	for i, b := range all {
		if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) && !isTextFile(parts, i) {
			continue
		}
		masked, n := secrets.MaskJSON(b)
		out[i] = masked
		m.n += n
	}
	return out
}

// isTextFile reports whether a part is a file of text, in whichever encoding.
func isTextFile(parts scrollback.Parts, i int) bool {
	if i < 0 || i >= len(parts) {
		return false
	}
	f, ok := parts[i].(scrollback.File)
	return ok && strings.HasPrefix(f.MediaType, "text/")
}

func (m *masker) maskTurns(all []scrollback.TurnEntry) []scrollback.TurnEntry {
	out := slices.Clone(all)
	for i := range out {
		t := &out[i]
		m.maskTexts(&t.Content, &t.Reasoning)
		t.ToolCalls = slices.Clone(t.ToolCalls)
		for j := range t.ToolCalls {
			m.maskJSON(&t.ToolCalls[j].Arguments)
			m.maskJSON(&t.ToolCalls[j].Opaque)
		}
		if t.Error != nil {
			f := *t.Error
			m.maskTexts(&f.Message, &f.Cause)
			t.Error = &f
		}
	}
	return out
}
