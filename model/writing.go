package model

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Writing is an answer, in parts, while it is written. A piece joins the part before it
// if that is of its kind; a payload, an end or a call ends the part. Adding costs only
// what is added, however long the answer is. The zero value is ready.
type Writing struct {
	parts scrollback.Parts // finished
	kind  writingKind      // of the one that is being written
	text  strings.Builder
}

type writingKind int

const (
	noText writingKind = iota
	textKind
	reasoningKind
)

// Add adds a piece. A call's payload is that of the delta if it has one.
func (w *Writing) Add(d Delta) {
	w.appendText(reasoningKind, d.Reasoning)
	w.appendText(textKind, d.Text)
	switch {
	case d.Call != nil:
		c := *d.Call
		if d.Opaque != nil {
			c.Opaque = scrollback.WellFormed(d.Opaque)
		}
		c.Arguments = scrollback.WellFormed(c.Arguments)
		w.endPart(nil)
		w.parts = append(w.parts, c)
	case d.Opaque != nil:
		if w.kind == noText {
			w.kind = reasoningKind // a payload alone is a thought that is not shown
		}
		w.endPart(scrollback.WellFormed(d.Opaque))
	case d.End:
		w.endPart(nil)
	}
}

// TakeParts returns the answer as parts; nothing may be added after it.
func (w *Writing) TakeParts() scrollback.Parts {
	w.endPart(nil)
	return w.parts
}

func (w *Writing) appendText(k writingKind, text string) {
	if text == "" {
		return
	}
	if w.kind != k {
		w.endPart(nil)
		w.kind = k
	}
	w.text.WriteString(text)
}

func (w *Writing) endPart(opaque scrollback.Opaque) {
	switch w.kind {
	case textKind:
		w.parts = append(w.parts, scrollback.Text{Text: w.text.String(), Opaque: opaque})
	case reasoningKind:
		w.parts = append(w.parts, scrollback.Reasoning{Text: w.text.String(), Opaque: opaque})
	case noText:
	}
	w.kind = noText
	w.text.Reset()
}
