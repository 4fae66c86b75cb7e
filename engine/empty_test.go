package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// An answer that is empty again and again says how to go on, and names the message that a
// request goes without; once it does, the conversation goes on.
func TestEmptyAgain(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		if strings.Contains(fmt.Sprint(r.Items), "void") {
			return []model.Delta{{Finish: "stop"}}
		}
		return []model.Delta{{Text: "noted"}}
	}})
	id := r.NewConversation()
	r.Ask(id, "one").WantDone(t, scrollback.TurnComplete, "stop")
	failure := func(q engine.TurnRequest) scrollback.Failure {
		t.Helper()
		q.Conversation = id
		e := r.Run(q)
		e.WantDone(t, scrollback.TurnFailed, "")
		f, _ := enginetest.Last[scrollback.ErrorEvent](e)
		return f.Failure
	}
	f := failure(engine.TurnRequest{Message: enginetest.Say("the void")})
	if f.Permanent || f.Suspect != 0 || f.Advice == scrollback.AdviceLeaveOut {
		t.Errorf("once: %+v", f)
	}
	for _, q := range []engine.TurnRequest{{}, {Message: enginetest.Say("go on")}, {}} {
		f = failure(q)
		if !f.Permanent || f.Suspect != 3 || f.Advice != scrollback.AdviceLeaveOut || !f.Upstream ||
			!strings.Contains(f.Message, "empty again") {
			t.Errorf("again: %+v", f)
		}
	}
	r.Run(engine.TurnRequest{Conversation: id, Without: &[]int64{3}}).WantDone(t, scrollback.TurnComplete, "stop")
	if f := failure(engine.TurnRequest{Message: enginetest.Say("another void")}); f.Permanent {
		t.Errorf("empty for the first time since an answer: %+v", f)
	}
}

// A server that has the same fault again and again with the same messages will have it again: the
// failure says which message to go without. One that is only overloaded is waited for.
func TestTheSameFaultAgain(t *testing.T) {
	for cause, stuck := range map[string]bool{"cannot identify image": true, "the server is overloaded": false} {
		err := scrollback.Errorf(scrollback.Unavailable, "test",
			"acme could not answer: it has a fault of its own (status 500)")
		err.Cause = cause
		fault := modeltest.Step{Err: err.WithReason(scrollback.ErrUpstream)}
		r := enginetest.New(t, enginetest.Options{NoFolds: true, NoTitleCalls: true}, modeltest.Say("noted"), fault, fault,
			fault, fault,
			modeltest.Say("noted"))
		id := r.NewConversation()
		r.Ask(id, "one").WantDone(t, scrollback.TurnComplete, "stop")
		for i, q := range []engine.TurnRequest{{Message: enginetest.Say("poison")}, {}, {},
			{Message: enginetest.Say("go on")}} {
			q.Conversation = id
			e := r.Run(q)
			e.WantDone(t, scrollback.TurnFailed, "")
			f, _ := enginetest.Last[scrollback.ErrorEvent](e)
			if want := stuck && i >= 2; f.Failure.Permanent != want || (f.Failure.Suspect == 3) != want {
				t.Errorf("%s, turn %d: %+v", cause, i, f.Failure)
			}
		}
		if stuck {
			r.Run(engine.TurnRequest{Conversation: id, Without: &[]int64{3}}).WantDone(t, scrollback.TurnComplete, "stop")
		}
	}
}

// An answer of thoughts that are not shown alone, and one that was cut before it said
// anything, are told as what they are; a call without a name is answered, and the model goes on.
func TestNothingToShow(t *testing.T) {
	hidden := model.Delta{Opaque: scrollback.Opaque(`{"field":"details"}`)}
	for words, reply := range map[string][]model.Delta{
		"thoughts it does not show": {hidden, {Finish: "stop"}},
		"allow a longer answer":     {{Finish: "length"}},
		"or less thinking":          {hidden, {Finish: "length"}},
	} {
		r := enginetest.New(t, enginetest.Options{NoFolds: true},
			modeltest.Step{Reply: func(model.Request) []model.Delta { return reply }})
		e := r.Run(engine.TurnRequest{Conversation: r.NewConversation(), Message: enginetest.Say("go")})
		e.WantDone(t, scrollback.TurnFailed, "")
		f, _ := enginetest.Last[scrollback.ErrorEvent](e)
		if !strings.Contains(f.Failure.Message, words) {
			t.Errorf("%q is not in %q", words, f.Failure.Message)
		}
	}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		if strings.Contains(fmt.Sprint(r.Items), "names no tool") {
			return []model.Delta{{Text: "sorry"}, {Finish: "stop"}}
		}
		call := scrollback.ToolCall{ID: "a", Name: model.Unnamed, Arguments: []byte("{}")}
		return []model.Delta{{Call: &call}, {Finish: "tool_calls"}}
	}})
	r.Ask(r.NewConversation(), "go").WantDone(t, scrollback.TurnComplete, "stop")
}
