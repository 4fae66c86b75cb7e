package scrollback_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// The reply of a turn is its last message, and a failure that comes as an event is an
// error.
func TestReplyOf(t *testing.T) {
	at := func(ms ...scrollback.Event) []scrollback.Event { return ms }
	say := func(text string) scrollback.Event { return scrollback.DeltaEvent{Content: text} }
	stored := scrollback.MessageEvent{Seq: 2}
	call := scrollback.ToolCallEvent{ID: "c"}
	end := func(s scrollback.TurnState, finish string) scrollback.Event {
		return scrollback.DoneEvent{Status: s, FinishReason: finish}
	}
	broken := scrollback.Errorf(scrollback.Conflict, "x", "busy")
	for name, c := range map[string]struct {
		events []scrollback.Event
		last   error // beside no event
		text   string
		code   scrollback.Code
	}{
		"one message": {at(say("a"), say("b"), stored, end(scrollback.TurnComplete, "stop")), nil, "ab", ""},
		"after a look-up": {at(say("let me see"), call, stored, stored, say("found"), stored,
			end(scrollback.TurnComplete, "stop")),
			nil, "found", ""},
		"waiting, without text": {at(say("let me see"), stored, call, stored, end(scrollback.TurnWaiting, "tool_calls")),
			nil, "", ""},
		"attached late": {at(say("x"), scrollback.SnapshotEvent{Content: "so "}, say("far"), stored), nil, "so far", ""},
		"failed": {at(say("a"), scrollback.ErrorEvent{Failure: scrollback.Failure{Code: scrollback.OverBudget,
			Message: "too long"}}, stored,
			end(scrollback.TurnOverBudget, "")), nil, "a", scrollback.OverBudget},
		"stopped": {at(say("a"), stored, end(scrollback.TurnInterrupted, "")), nil, "a", scrollback.Canceled},
		"broken off": {at(say("a"), stored, end(scrollback.TurnInterrupted, scrollback.FinishTruncated)), nil, "a",
			scrollback.Unavailable},
		"never begun": {nil, broken, "", scrollback.Conflict},
		"cut":         {at(say("a")), broken, "a", scrollback.Conflict},
	} {
		text, err := scrollback.ReplyOf(func(yield func(scrollback.Event, error) bool) {
			for _, ev := range c.events {
				if !yield(ev, nil) {
					return
				}
			}
			if c.last != nil {
				yield(nil, c.last)
			}
		})
		if text != c.text || scrollback.CodeOf(err) != c.code {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
