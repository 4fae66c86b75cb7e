package functions_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/functions"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

type sum struct {
	A    int   `json:"a" jsonschema:"the first"`
	More []int `json:"more,omitempty"`
}

func add(_ context.Context, in sum) (map[string]int, error) {
	for _, n := range in.More {
		in.A += n
	}
	return map[string]int{"sum": in.A}, nil
}

// calls returns a step in which the model makes calls: of a name and arguments each.
func calls(named ...string) modeltest.Step {
	var out []model.Delta
	for i := 0; i < len(named); i += 2 {
		out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: named[i] + string(rune('a'+i)), Name: named[i],
			Arguments: json.RawMessage(named[i+1])}})
	}
	return modeltest.Step{Reply: func(model.Request) []model.Delta {
		return append(out, model.Delta{Finish: scrollback.FinishToolCalls})
	}}
}

// turn has a model that follows steps asked with functions, and returns what it answered.
func turn(t *testing.T, rig *enginetest.Rig,
	all ...functions.Function) (scrollback.ConversationID, iter.Seq2[scrollback.Event, error]) {
	t.Helper()
	c, _, err := rig.Create(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("what is it?")}
	return c.ID, functions.Turn(t.Context(), rig.View, ask, all...)
}

// results returns what tools said in a conversation, in order; an error begins with a mark.
func results(t *testing.T, rig *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	page, err := rig.Turns().Page(t.Context(), id, scrollback.PageQuery{Limit: scrollback.ListMax})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range page.Messages {
		for _, r := range m.Parts.Results() {
			mark := ""
			if r.IsError {
				mark = "! "
			}
			out = append(out, mark+r.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestTurn(t *testing.T) {
	rig := enginetest.New(t, enginetest.Options{},
		calls("add", `{"a":1,"more":[2,3]}`, "greet", `{}`),
		calls("add", `{"b":1}`, "add", `not JSON`, "fail", `{}`, "panic", `{}`),
		modeltest.Say("six"))
	id, events := turn(t, rig,
		functions.New("add", "Adds numbers.", add),
		functions.New("greet", "Greets.", func(context.Context, struct{}) (string, error) { return "good day", nil }),
		functions.New("fail", "Fails.", func(context.Context, struct{}) (string, error) { return "", errors.New("no luck") }),
		functions.New("panic", "Panics.", func(context.Context, struct{}) (string, error) { panic("no sense") }))
	ends := 0
	reply, err := scrollback.ReplyOf(func(yield func(scrollback.Event, error) bool) {
		for ev, err := range events {
			if _, ok := ev.(scrollback.DoneEvent); ok {
				ends++
			}
			if !yield(ev, err) {
				return
			}
		}
	})
	if err != nil || reply != "six" || ends != 1 {
		t.Errorf("the reply is %q, %v, with %d ends", reply, err, ends)
	}
	got := strings.Split(results(t, rig, id), "\n")
	for i, want := range []string{`{"sum":6}`, "good day", "! the arguments do not fit: ", "! the arguments do not fit: ",
		"! no luck",
		"! the function panic panicked: no sense"} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("result %d is not %q: %q", i, want, got)
		}
	}
}

// The schema says what the arguments are; what has none is an error before anything is asked.
func TestOf(t *testing.T) {
	f := functions.New("add", "Adds numbers.", add)
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(f.Parameters, &schema); err != nil || schema.Type != "object" ||
		strings.Join(schema.Required, " ") != "a" ||
		len(schema.Properties) != 2 || schema.Properties["a"].Description != "the first" {
		t.Errorf("the schema is %s, %v", f.Parameters, err)
	}
	rig := enginetest.New(t, enginetest.Options{}, modeltest.Say("never asked"))
	for _, bad := range []functions.Function{
		functions.New("number", "Takes no struct.", func(context.Context, int) (string, error) { return "", nil }),
		functions.New("channel", "Takes what no JSON is.",
			func(context.Context, struct{ C chan int }) (string, error) { return "", nil }),
	} {
		_, events := turn(t, rig, bad)
		_, err := scrollback.ReplyOf(events)
		if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), bad.Name) {
			t.Errorf("%s: %v", bad.Name, err)
		}
	}
}

// A call of a tool that is no function stays open with all others of its step.
func TestCallsOfOthersStayOpen(t *testing.T) {
	rig := enginetest.New(t, enginetest.Options{}, calls("add", `{"a":1}`, "elsewhere", `{}`))
	c, _, err := rig.Create(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("q"),
		Tools: []scrollback.Tool{{Name: "elsewhere"}}}
	var done scrollback.DoneEvent
	for ev, err := range functions.Turn(t.Context(), rig.View, ask, functions.New("add", "Adds.", add)) {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := ev.(scrollback.DoneEvent); ok {
			done = end
		}
	}
	entry, err := rig.Turns().Get(t.Context(), c.ID, done.TurnID)
	if err != nil || done.Status != scrollback.TurnWaiting || len(entry.OpenCalls) != 2 {
		t.Errorf("the turn is %s with %d open calls, %v", done.Status, len(entry.OpenCalls), err)
	}
}

// A model that never stops calling is given up.
func TestRoundsEnd(t *testing.T) {
	var steps []modeltest.Step
	for range functions.MaxRounds + 2 {
		steps = append(steps, calls("add", `{"a":1}`))
	}
	rig := enginetest.New(t, enginetest.Options{}, steps...)
	_, events := turn(t, rig, functions.New("add", "Adds.", add))
	_, err := scrollback.ReplyOf(events)
	if scrollback.CodeOf(err) != scrollback.Unavailable ||
		!strings.Contains(scrollback.PublicMessage(err), "after 50 rounds") {
		t.Errorf("it ends with %v", err)
	}
}
