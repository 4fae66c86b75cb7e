package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A request that is refused changes nothing, its tools and its title included.
func TestRefusedRequestsWriteNothing(t *testing.T) {
	step, gate := gated("one")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	turn := started(r, id, gate)
	before, _ := r.Get(context.Background(), id)
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("me"),
		Tools: enginetest.ClockTool}).Err,
		scrollback.Conflict, "")
	after, _ := r.Get(context.Background(), id)
	if len(after.Settings.Tools) != 0 || after.Version != before.Version {
		t.Errorf("a conflict changed the conversation: %+v", after)
	}
	close(gate)
	attach(r, id, turn, 0).WantDone(t, scrollback.TurnComplete, "stop")
	if after, _ := r.Get(context.Background(), id); after.Title != "q" {
		t.Errorf("the title is %q, want the first prompt", after.Title)
	}
}

// Starting afresh while a question is being answered would hide the question.
func TestClearWhileAnswering(t *testing.T) {
	step, gate := gated("one")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	turn := started(r, id, gate)
	_, err := r.Compact(context.Background(), id, engine.CompactRequest{Clear: true})
	enginetest.WantCode(t, err, scrollback.Conflict, "being answered")
	close(gate)
	attach(r, id, turn, 0).WantDone(t, scrollback.TurnComplete, "stop")
}

func TestClosedEngineWritesNothing(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	id := r.NewConversation()
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	enginetest.WantCode(t, r.Ask(id, "late").Err, scrollback.Unavailable, "closed")
	if got := r.LogOutline(id); got != "" {
		t.Errorf("the refused request left %q", got)
	}
}

// A model that gives two calls one id still gets each answered by itself.
func TestCallsWithOneID(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{},
		modeltest.Call(enginetest.Call("c", "clock", `{}`), enginetest.Call("c", "clock", `{"z":1}`),
			enginetest.Call("", "clock", `not json`)),
		modeltest.Say("ok"))
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("time?"), Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting,
		"tool_calls")
	calls := r.Log(id)[1].Parts.Calls()
	req := engine.TurnRequest{Conversation: id}
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] || !json.Valid(c.Arguments) {
			t.Errorf("call %+v", c)
		}
		seen[c.ID] = true
		req.ToolResults = append(req.ToolResults, engine.ToolResult{CallID: c.ID, Text: "noon"})
	}
	r.Run(req).WantDone(t, scrollback.TurnComplete, "stop")
}

// An interrupted answer that is asked for again is not put before the model as
// its own last word.
func TestRetryAfterInterruption(t *testing.T) {
	cut := modeltest.Say("half")
	cut.NoFinish = true
	r := enginetest.New(t, enginetest.Options{}, cut, modeltest.Say("whole"))
	id := r.NewConversation()
	r.Ask(id, "q").WantDone(t, scrollback.TurnInterrupted, scrollback.FinishTruncated)
	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	items := r.Script.Requests()[1].Items
	if last := items[len(items)-1]; last.Role != scrollback.RoleUser {
		t.Errorf("the request ends with %s %q", last.Role, last.Parts.Text())
	}
	r.WantOutline(id, "u:q", "a(interrupted):half", "a:whole")
}

// Both kinds of call in one step: the client is shown the message that calls.
func TestMixedCalls(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{},
		modeltest.Call(enginetest.Call("a", "clock", `{}`), enginetest.Call("b", "context_list",
			`{}`)), modeltest.Say("ok"))
	id := r.NewConversation()
	e := r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("time?"), Tools: enginetest.ClockTool})
	e.WantDone(t, scrollback.TurnWaiting, "tool_calls")
	d, _ := enginetest.Last[scrollback.DoneEvent](e)
	if m := r.Log(id)[1]; d.MessageID != m.ID {
		t.Errorf("done names %s, the calls are in %s", d.MessageID, m.ID)
	}
	if turn, err := r.Turns().Get(context.Background(), id, d.TurnID); err != nil || turn.Reply != d.MessageID {
		t.Errorf("the stored turn names %s (%v)", turn.Reply, err)
	}
	r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "a", Text: "noon"}}}).WantDone(t,
		scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:time?", "a:→a→b", "t:←b", "t:←a", "a:ok")
}
