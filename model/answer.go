package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// Answer is an answer that is being written, as its readers follow it. Adding costs only
// what is added, however long it is. The zero value is ready.
type Answer struct {
	content, reasoning strings.Builder
	contentAt, thinkAt int // characters so far
	calls              []scrollback.ToolCall
	writing            Writing
}

// Add adds a delta and returns its events.
func (a *Answer) Add(delta Delta) (evs []scrollback.Event) {
	if delta.Reasoning != "" {
		evs = append(evs, scrollback.ReasoningEvent{Content: delta.Reasoning, At: a.thinkAt})
		a.reasoning.WriteString(delta.Reasoning)
		a.thinkAt += utf8.RuneCountInString(delta.Reasoning)
	}
	if delta.Text != "" {
		evs = append(evs, scrollback.DeltaEvent{Content: delta.Text, At: a.contentAt})
		a.content.WriteString(delta.Text)
		a.contentAt += utf8.RuneCountInString(delta.Text)
	}
	if delta.Call != nil {
		c := *delta.Call
		c.Arguments = ParseArguments(string(c.Arguments))
		c.ID = a.uniqueID(c.ID)
		if delta.Opaque != nil {
			c.Opaque = delta.Opaque
		}
		delta.Call = &c
		a.calls = append(a.calls, c)
		evs = append(evs, scrollback.ToolCallEvent{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	a.writing.Add(delta)
	return evs
}

// uniqueID returns id, or a variant that no other call of the answer has: each call must have
// a result of its own.
func (a *Answer) uniqueID(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(a.calls, func(c scrollback.ToolCall) bool { return c.ID == id })
	}
	for fresh, n := id, len(a.calls)+1; ; n++ {
		if fresh != "" && !taken(fresh) {
			return fresh
		}
		fresh = fmt.Sprintf("%s_%d", cmp.Or(id, "call"), n)
	}
}

// SavedDraft returns the answer so far as the store keeps it; name is that of its model.
func (a *Answer) SavedDraft(name string) scrollback.Draft {
	return scrollback.Draft{Content: a.content.String(), Reasoning: a.reasoning.String(), ToolCalls: a.calls, Model: name}
}

// TakeParts returns the answer as parts; nothing may be added after it.
func (a *Answer) TakeParts() scrollback.Parts { return a.writing.TakeParts() }
