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
	r.Ask(id, "one").Done(t, scrollback.TurnComplete, "stop")
	failure := func(q engine.TurnRequest) scrollback.Failure {
		t.Helper()
		q.Conversation = id
		e := r.Run(q)
		e.Done(t, scrollback.TurnFailed, "")
		f, _ := enginetest.Last[scrollback.ErrorEvent](e)
		return f.Failure
	}
	f := failure(engine.TurnRequest{Message: enginetest.Say("the void")})
	if f.Permanent || f.Suspect != 0 || f.Advice == scrollback.AdviceLeaveOut {
		t.Errorf("once: %+v", f)
	}
	for _, q := range []engine.TurnRequest{{}, {Message: enginetest.Say("go on")}, {}} {
		f = failure(q)
		if !f.Permanent || f.Suspect != 3 || f.Advice != scrollback.AdviceLeaveOut || !f.Upstream || !strings.Contains(f.Message, "empty again") {
			t.Errorf("again: %+v", f)
		}
	}
	r.Run(engine.TurnRequest{Conversation: id, Without: &[]int64{3}}).Done(t, scrollback.TurnComplete, "stop")
	if f := failure(engine.TurnRequest{Message: enginetest.Say("another void")}); f.Permanent {
		t.Errorf("empty for the first time since an answer: %+v", f)
	}
}
