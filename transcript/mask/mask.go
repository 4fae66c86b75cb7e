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

// Entry masks an entry, and returns how many secrets were found.
func Entry(e *transcript.Entry) int {
	var m masker
	if e.Conversation != nil {
		c := *e.Conversation
		m.text(&c.Title, &c.Instructions)
		m.json(&c.Meta)
		e.Conversation = &c
	}
	if e.Origin != nil {
		o := *e.Origin
		m.text(&o.Folder, &o.GitBranch)
		e.Origin = &o
	}
	if e.Bad != nil {
		b := *e.Bad
		m.text(&b.Reason)
		e.Bad = &b
	}
	m.text(&e.Message.Name)
	m.json(&e.Message.Meta)
	e.Message.Parts = m.parts(e.Message.Parts)
	e.Bytes = m.attached(e.Bytes, e.Message.Parts)
	e.Turns = m.turns(e.Turns)
	return m.n
}

// masker counts what it masks.
type masker struct{ n int }

func (m *masker) text(all ...*string) {
	for _, s := range all {
		masked, n := secrets.Mask(*s)
		*s = masked
		m.n += n
	}
}

func (m *masker) json(raw *json.RawMessage) {
	masked, n := secrets.MaskJSON(*raw)
	*raw = masked
	m.n += n
}

func (m *masker) parts(ps scrollback.Parts) scrollback.Parts {
	ps = slices.Clone(ps)
	for i, p := range ps {
		ps[i] = m.part(p)
	}
	return ps
}

func (m *masker) part(p scrollback.Part) scrollback.Part {
	switch p := p.(type) {
	case scrollback.Text:
		m.text(&p.Text)
		m.json(&p.Opaque)
		p.Reference = m.reference(p.Reference)
		return p
	case scrollback.Reasoning:
		before := m.n
		m.text(&p.Text)
		if m.json(&p.Opaque); m.n > before {
			p.Opaque = nil // it signs what stood there
		}
		return p
	case scrollback.ToolCall:
		m.json(&p.Arguments)
		m.json(&p.Opaque)
		return p
	case scrollback.ToolResult:
		m.text(&p.Text)
		m.json(&p.Opaque)
		return p
	case scrollback.Image:
		m.text(&p.Name, &p.URL)
		m.json(&p.Opaque)
		return p
	case scrollback.File:
		m.text(&p.Name)
		m.json(&p.Opaque)
		return p
	}
	return p
}

func (m *masker) reference(r *scrollback.Reference) *scrollback.Reference {
	if r == nil {
		return nil
	}
	c := *r
	m.text(&c.Mark, &c.Source, &c.Note, &c.Error)
	return &c
}

// attached masks the attachments that are text, or say that they are.
func (m *masker) attached(all map[int][]byte, parts scrollback.Parts) map[int][]byte {
	out := maps.Clone(all)
	for i, b := range all {
		if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) && !saysText(parts, i) {
			continue
		}
		masked, n := secrets.MaskJSON(b)
		out[i] = masked
		m.n += n
	}
	return out
}

// saysText reports whether a part is a file of text, in whichever encoding.
func saysText(parts scrollback.Parts, i int) bool {
	if i < 0 || i >= len(parts) {
		return false
	}
	f, ok := parts[i].(scrollback.File)
	return ok && strings.HasPrefix(f.MediaType, "text/")
}

func (m *masker) turns(all []scrollback.TurnEntry) []scrollback.TurnEntry {
	out := slices.Clone(all)
	for i := range out {
		t := &out[i]
		m.text(&t.Content, &t.Reasoning)
		t.ToolCalls = slices.Clone(t.ToolCalls)
		for j := range t.ToolCalls {
			m.json(&t.ToolCalls[j].Arguments)
			m.json(&t.ToolCalls[j].Opaque)
		}
		if t.Error != nil {
			f := *t.Error
			m.text(&f.Message, &f.Cause)
			t.Error = &f
		}
	}
	return out
}
