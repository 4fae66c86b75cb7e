package model_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Each call has an id of its own, whatever ids a model gives, in what readers see, in what
// is saved and in what is stored.
func TestCallsHaveIDsOfTheirOwn(t *testing.T) {
	var a model.Answer
	var seen []string
	for _, id := range []string{"", "x", "x", "call_1", "x_3"} {
		call := scrollback.ToolCall{ID: id, Name: "look", Arguments: json.RawMessage(`{}`)}
		for _, ev := range a.Add(model.Delta{Call: &call}) {
			seen = append(seen, ev.(scrollback.ToolCallEvent).ID)
		}
	}
	var saved, whole []string
	for _, c := range a.SavedDraft("m").ToolCalls {
		saved = append(saved, c.ID)
	}
	for _, c := range a.TakeParts().Calls() {
		whole = append(whole, c.ID)
	}
	want := []string{"call_1", "x", "x_3", "call_1_4", "x_3_5"}
	if !slices.Equal(seen, want) || !slices.Equal(saved, want) || !slices.Equal(whole, want) {
		t.Errorf("readers see %q, saved are %q and stored %q, want %q", seen, saved, whole, want)
	}
}

// A piece says where it stands, in characters.
func TestPiecesSayWhereTheyStand(t *testing.T) {
	var a model.Answer
	a.Add(model.Delta{Reasoning: "想", Text: "船é"})
	evs := a.Add(model.Delta{Reasoning: "b", Text: "c"})
	want := []scrollback.Event{scrollback.ReasoningEvent{Content: "b", At: 1}, scrollback.DeltaEvent{Content: "c", At: 2}}
	if !slices.Equal(evs, want) {
		t.Errorf("the events are %+v, want %+v", evs, want)
	}
	if got := a.SavedDraft("m"); got.Content != "船éc" || got.Reasoning != "想b" || got.Model != "m" {
		t.Errorf("saved is %+v", got)
	}
}

// Thinking is timed from the first thought that is shown, else from the question, until
// the model speaks.
func TestThinkingClock(t *testing.T) {
	shown := scrollback.Usage{}
	hidden := scrollback.Usage{ReasoningTokens: 5}
	for name, c := range map[string]struct {
		deltas []model.Delta // 10 ms apart, the first 10 ms after the question
		usage  scrollback.Usage
		want   int64
	}{
		"shown":      {[]model.Delta{{Reasoning: "a"}, {Reasoning: "b"}, {Text: "c"}, {Text: "d"}}, shown, 20},
		"hidden":     {[]model.Delta{{Text: "c"}, {Finish: "stop"}}, hidden, 10},
		"at once":    {[]model.Delta{{Reasoning: "a", Text: "b"}}, shown, 1},
		"no thought": {[]model.Delta{{Text: "c"}}, shown, 0},
	} {
		clock := model.ThinkingClock{Asked: 1000}
		for i, d := range c.deltas {
			clock.NoteDelta(d, 1010+10*int64(i))
		}
		if got := clock.ThoughtMS(c.usage); got != c.want {
			t.Errorf("%s: %d ms, want %d", name, got, c.want)
		}
	}
}
