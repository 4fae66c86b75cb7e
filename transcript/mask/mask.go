// Package mask takes what looks like keys, tokens and passwords out of entries: on their way in, before they reach the
// log, the index or an artifact, and on their way out, before they reach a file.
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
	var m Masker
	m.MaskEntry(e)
	return m.Count()
}

// Masker masks the entries of a conversation, and what was made of them. The zero value is ready to use.
type Masker struct{ find secrets.Finder }

// Count returns how many secrets were found.
func (m *Masker) Count() int { return m.find.Count }

// Remember makes m know what another masker has found: pieces of it are masked in titles and summaries too.
func (m *Masker) Remember(of *Masker) { m.find.Remember(&of.find) }

// MaskEntry masks an entry.
func (m *Masker) MaskEntry(e *transcript.Entry) {
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
}

// MaskDerived masks a text that was made of texts that were masked before, such as a title or a summary.
func (m *Masker) MaskDerived(all ...*string) {
	for _, s := range all {
		*s = m.find.MaskDerived(*s)
	}
}

// MaskConversation returns what is told of a conversation, masked. Its messages were masked before.
func (m *Masker) MaskConversation(c scrollback.Conversation) scrollback.Conversation {
	m.MaskDerived(&c.Title)
	m.maskTexts(&c.Instructions)
	m.maskJSON(&c.Meta)
	MaskValue(m, &c.Settings)
	if c.Environment != nil {
		e := *c.Environment
		MaskValue(m, &e)
		c.Environment = &e
	}
	return c
}

// MaskValue masks the texts of a value that is written as JSON.
func MaskValue[T any](m *Masker, v *T) {
	before, err := json.Marshal(v)
	if err != nil {
		return // nothing of it can be written then
	}
	after := m.find.MaskJSON(before)
	if bytes.Equal(before, after) {
		return
	}
	var masked T
	if json.Unmarshal(after, &masked) == nil {
		*v = masked
	}
}

// MaskBytes returns the bytes of an attachment, masked if they are text.
func (m *Masker) MaskBytes(b []byte, mediaType string) []byte {
	if !isText(b, strings.HasPrefix(mediaType, "text/")) {
		return b
	}
	return m.find.MaskJSON(b)
}

func (m *Masker) maskTexts(all ...*string) {
	for _, s := range all {
		*s = m.find.MaskText(*s)
	}
}

func (m *Masker) maskJSON(raw *json.RawMessage) { *raw = m.find.MaskJSON(*raw) }

func (m *Masker) maskParts(ps scrollback.Parts) scrollback.Parts {
	ps = slices.Clone(ps)
	for i, p := range ps {
		ps[i] = m.maskPart(p)
	}
	return ps
}

func (m *Masker) maskPart(p scrollback.Part) scrollback.Part {
	switch p := p.(type) {
	case scrollback.Text:
		m.maskTexts(&p.Text)
		m.maskJSON(&p.Opaque)
		p.Reference = m.maskReference(p.Reference)
		return p
	case scrollback.Reasoning:
		before := m.Count()
		m.maskTexts(&p.Text)
		if m.maskJSON(&p.Opaque); m.Count() > before {
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

func (m *Masker) maskReference(r *scrollback.Reference) *scrollback.Reference {
	if r == nil {
		return nil
	}
	c := *r
	m.maskTexts(&c.Mark, &c.Source, &c.Note, &c.Error)
	return &c
}

// maskAttached masks the attachments that are text, or say that they are.
func (m *Masker) maskAttached(all map[int][]byte, parts scrollback.Parts) map[int][]byte {
	out := maps.Clone(all)
	for i, b := range all {
		if isText(b, isTextFile(parts, i)) {
			out[i] = m.find.MaskJSON(b)
		}
	}
	return out
}

// isText reports whether bytes are text, or said to be, in whichever encoding.
func isText(b []byte, said bool) bool { return bytes.IndexByte(b, 0) < 0 && (utf8.Valid(b) || said) }

// isTextFile reports whether a part is a file of text, in whichever encoding.
func isTextFile(parts scrollback.Parts, i int) bool {
	if i < 0 || i >= len(parts) {
		return false
	}
	f, ok := parts[i].(scrollback.File)
	return ok && strings.HasPrefix(f.MediaType, "text/")
}

func (m *Masker) maskTurns(all []scrollback.TurnEntry) []scrollback.TurnEntry {
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
