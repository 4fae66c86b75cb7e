package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func TestClientTools(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{},
		modeltest.Call(enginetest.Call("c1", "clock", `{}`), enginetest.Call("c2", "clock",
			`{"zone":"UTC"}`)), modeltest.Say("noon"))
	id := r.NewConversation()
	results := func(ids ...string) engine.TurnRequest {
		req := engine.TurnRequest{Conversation: id}
		for _, c := range ids {
			req.ToolResults = append(req.ToolResults, engine.ToolResult{CallID: c, Text: "12:00"})
		}
		return req
	}
	enginetest.WantCode(t, r.Run(results("c1")).Err, scrollback.Invalid, "no call waits")
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("time?"), Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting,
		"tool_calls")
	for _, bad := range [][]string{{"c1"}, {"c1", "c3"}, {"c1", "c1"}, {"c1", "c2", "c3"}} {
		enginetest.WantCode(t, r.Run(results(bad...)).Err, scrollback.Invalid, "open")
	}
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id}).Err, scrollback.Invalid, "waits for the results")
	r.Run(results("c2", "c1")).WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:time?", "a:→c1→c2", "t:←c1←c2", "a:noon")
	enginetest.WantCode(t, r.Run(results("c1", "c2")).Err, scrollback.Invalid, "no call waits")
	if name := r.Log(id)[2].Parts.Results()[0].Name; name != "clock" {
		t.Errorf("a result's tool is %q", name)
	}
}

// Where a conversation is gone back to, or forked, it goes on as it did there: calls
// take their results, and what is answered needs a message.
func TestGoingOnWhereItWasCutOff(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{},
		modeltest.Call(enginetest.Call("a", "clock", `{}`), enginetest.Call("b", "context_list",
			`{}`)), modeltest.Say("noon"),
		modeltest.Say("noon again"))
	id := r.NewConversation()
	result := []engine.ToolResult{{CallID: "a", Text: "12:00"}}
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("time?"), Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting,
		"tool_calls")
	r.Run(engine.TurnRequest{Conversation: id, ToolResults: result}).WantDone(t, scrollback.TurnComplete, "stop")
	r.Ask(id, "thanks")
	fork := func(seq int64) scrollback.ConversationID {
		t.Helper()
		c, err := r.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	for _, seq := range []int64{2, 3} { // behind the calls, and behind what was looked up
		f := fork(seq)
		enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: f}).Err, scrollback.Invalid,
			"waits for the results of a (clock)")
		enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: f,
			ToolResults: []engine.ToolResult{{CallID: "b", Text: "x"}}}).Err,
			scrollback.Invalid, "answers no open call")
		r.Run(engine.TurnRequest{Conversation: f, ToolResults: result}).WantDone(t, scrollback.TurnComplete, "stop")
		if m := r.Log(f); m[len(m)-2].Parts.Results()[0].Name != "clock" {
			t.Errorf("the result is %+v", m[len(m)-2].Parts)
		}
	}
	r.Run(engine.TurnRequest{Conversation: fork(4)}).WantDone(t, scrollback.TurnComplete, "stop")
	answered := fork(5)
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: answered}).Err, scrollback.Invalid, "answered already")
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: answered, ToolResults: result}).Err, scrollback.Invalid,
		"no call waits")
}

// A new message instead of the results leaves the calls repaired, in the window
// and not in the log.
func TestUnansweredCalls(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Call(enginetest.Call("c1", "clock", `{}`)),
		modeltest.Say("never mind"))
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("time?"), Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting,
		"tool_calls")
	r.Ask(id, "forget it").WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:time?", "a:→c1", "u:forget it", "a:never mind")
	items := r.Script.Requests()[1].Items
	repaired := items[len(items)-2]
	if repaired.Kind != scrollback.KindRepair || !repaired.Parts.Results()[0].IsError {
		t.Errorf("the open call is answered by %+v", repaired)
	}
}

func TestToolNames(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	id := r.NewConversation()
	for _, name := range []string{"context_grep", "context_mine", "", strings.Repeat("n", 65), "my tool", "weather.now",
		"2fast", "天气"} {
		err := r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("q"),
			Tools: []scrollback.Tool{{Name: name}}}).Err
		enginetest.WantCode(t, err, scrollback.Invalid, "tool")
	}
	if got := r.LogOutline(id); got != "" {
		t.Fatalf("a refused request left %q", got)
	}
}

// The model looks things up for ever: after eight steps it is told to answer.
func TestRecallEnds(t *testing.T) {
	n := 0
	endless := modeltest.Step{Reply: func(model.Request) []model.Delta {
		n++
		c := enginetest.Call(fmt.Sprint("r", n), "context_search", `{"query":"needle"}`)
		return []model.Delta{{Call: &c}}
	}}
	r := enginetest.New(t, enginetest.Options{}, endless)
	id := r.NewConversation()
	r.Ask(id, "find the needle").WantDone(t, scrollback.TurnComplete, scrollback.FinishMaxSteps)
	if got := brief(page(r, id, scrollback.PageQuery{Limit: 1})); !strings.HasSuffix(got, " (complete/max_steps)") {
		t.Errorf("on a page: %s", got)
	}
	reqs := r.Script.Requests()
	if len(reqs) != 10 || !reqs[9].AnswerOnly || reqs[8].AnswerOnly {
		t.Errorf("%d steps, the last may only answer: %v", len(reqs), reqs[len(reqs)-1].AnswerOnly)
	}
	errs := 0
	for _, m := range r.Log(id) {
		for _, res := range m.Parts.Results() {
			if res.IsError {
				errs++
			}
			if !res.Recall {
				t.Errorf("%s is not marked as recall", res.CallID)
			}
		}
	}
	if errs != 2 {
		t.Errorf("%d look-ups were refused, want 2", errs)
	}
}

func TestOverBudget(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	c, _, err := r.Create(context.Background(),
		scrollback.Conversation{Instructions: strings.Repeat("be kind and brief. ", 2000)})
	if err != nil {
		t.Fatal(err)
	}
	e := r.Ask(c.ID, "q")
	e.WantDone(t, scrollback.TurnOverBudget, "")
	f, _ := enginetest.Last[scrollback.ErrorEvent](e)
	if f.Code != scrollback.OverBudget || !strings.Contains(f.Message, "6000 tokens") {
		t.Errorf("told %+v: the figures are missing", f)
	}
	if len(r.Script.Requests()) != 0 {
		t.Error("a request over budget was sent")
	}
	r.WantOutline(c.ID, "u:q")
	if got := brief(page(r, c.ID, scrollback.PageQuery{})); got != "1 (over_budget raise_limit--limit+)" {
		t.Errorf("on a page: %s", got)
	}
}
