package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// draft is the answer of a step while it is written. Growing it costs what is
// added, however long it is.
type draft struct {
	content, reasoning strings.Builder
	contentAt, thinkAt int // characters so far
	calls              []scrollback.ToolCall

	// parts are the finished parts; the one being written is of kind and in text.
	parts scrollback.Parts
	kind  draftKind
	text  strings.Builder
}

type draftKind int

const (
	noText draftKind = iota
	speaking
	thinking
)

// add takes a delta in and answers the events that tell of it. A piece joins the
// part before it when that is of its kind; an opaque payload ends its part.
func (d *draft) add(delta model.Delta) (evs []scrollback.Event) {
	if delta.Reasoning != "" {
		evs = append(evs, scrollback.ReasoningEvent{Content: delta.Reasoning, At: d.thinkAt})
		d.reasoning.WriteString(delta.Reasoning)
		d.thinkAt += utf8.RuneCountInString(delta.Reasoning)
		d.turnTo(thinking).WriteString(delta.Reasoning)
	}
	if delta.Text != "" {
		evs = append(evs, scrollback.DeltaEvent{Content: delta.Text, At: d.contentAt})
		d.content.WriteString(delta.Text)
		d.contentAt += utf8.RuneCountInString(delta.Text)
		d.turnTo(speaking).WriteString(delta.Text)
	}
	switch {
	case delta.Call != nil:
		c := *delta.Call
		c.Arguments = model.Arguments(string(c.Arguments))
		c.ID = d.freshID(c.ID)
		if delta.Opaque != nil {
			c.Opaque = delta.Opaque
		}
		d.end(nil)
		d.parts = append(d.parts, c)
		d.calls = append(d.calls, c)
		evs = append(evs, scrollback.ToolCallEvent{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	case delta.Opaque != nil:
		if d.kind == noText {
			d.kind = thinking // a payload alone is a thought that is not shown
		}
		d.end(delta.Opaque)
	}
	return evs
}

// freshID is id, or one like it that no call of this step has: each must be
// answered by itself.
func (d *draft) freshID(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(d.calls, func(c scrollback.ToolCall) bool { return c.ID == id })
	}
	for fresh, n := id, len(d.calls)+1; ; n++ {
		if fresh != "" && !taken(fresh) {
			return fresh
		}
		fresh = fmt.Sprintf("%s_%d", nonEmpty(id, "call"), n)
	}
}

// turnTo ends the part being written if it is of another kind.
func (d *draft) turnTo(k draftKind) *strings.Builder {
	if d.kind != k {
		d.end(nil)
		d.kind = k
	}
	return &d.text
}

// end finishes the part being written.
func (d *draft) end(opaque scrollback.Opaque) {
	switch d.kind {
	case speaking:
		d.parts = append(d.parts, scrollback.Text{Text: d.text.String(), Opaque: opaque})
	case thinking:
		d.parts = append(d.parts, scrollback.Reasoning{Text: d.text.String(), Opaque: opaque})
	case noText:
	}
	d.kind = noText
	d.text.Reset()
}

// whole is the answer as parts; nothing more is written after.
func (d *draft) whole() scrollback.Parts {
	d.end(nil)
	return d.parts
}

// saved is the draft as the store keeps it.
func (d *draft) saved(model string) scrollback.Draft {
	return scrollback.Draft{Content: d.content.String(), Reasoning: d.reasoning.String(), ToolCalls: d.calls, Model: model}
}
