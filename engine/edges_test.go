package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A request that is refused changes nothing, its tools and its title included.
func TestRefusedRequestsWriteNothing(t *testing.T) {
	step, gate := gated("one")
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	turn := r.started(id, gate)
	before, _ := r.Get(context.Background(), id)
	wantCode(t, r.turn(engine.TurnRequest{Conversation: id, Message: say("me"), Tools: clock}).err, scrollback.Conflict, "")
	after, _ := r.Get(context.Background(), id)
	if len(after.Settings.Tools) != 0 || after.Version != before.Version {
		t.Errorf("a conflict changed the conversation: %+v", after)
	}
	close(gate)
	r.attach(id, turn, 0).done(t, scrollback.TurnComplete, "stop")
	if after, _ := r.Get(context.Background(), id); after.Title != "q" {
		t.Errorf("the title is %q, want the first prompt", after.Title)
	}
}

// Starting afresh while a question is being answered would hide the question.
func TestClearWhileAnswering(t *testing.T) {
	step, gate := gated("one")
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	turn := r.started(id, gate)
	_, err := r.Compact(context.Background(), id, engine.CompactRequest{Clear: true})
	wantCode(t, err, scrollback.Conflict, "being answered")
	close(gate)
	r.attach(id, turn, 0).done(t, scrollback.TurnComplete, "stop")
}

func TestClosedEngineWritesNothing(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	id := r.conversation()
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.ask(id, "late").err, scrollback.Unavailable, "closed")
	if got := r.shape(id); got != "" {
		t.Errorf("the refused request left %q", got)
	}
}

// The same file imported twice at once comes in once.
func TestImportsAtOnce(t *testing.T) {
	r := newRig(t, rigOptions{noFolds: true}, modeltest.Say("x"))
	var file strings.Builder
	file.WriteString(`{"conversation":{"id":"twice"}}` + "\n")
	for i := range 2000 {
		fmt.Fprintf(&file, `{"role":"user","content":"line %d"}`+"\n", i)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := r.load(file.String()); err != nil && scrollback.CodeOf(err) != scrollback.Conflict {
				t.Errorf("import: %v", err)
			}
		})
	}
	wg.Wait()
	out, err := r.load(file.String())
	if err != nil || out.Conversations[0].Total != 2000 {
		t.Errorf("in the end: %+v, %v", out, err)
	}
}

// One bad attachment is skipped and named; the rest of the file comes in.
func TestImportBadAttachment(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	out, err := r.load(`{"role":"user","content":"one"}` + "\n" +
		`{"role":"user","content":[{"type":"image","data":"bm90IGFuIGltYWdl"}]}` + "\n" +
		`{"role":"user","content":[{"type":"image","artifact":"` + strings.Repeat("0", 64) + `"}]}` + "\n" +
		`{"role":"assistant","content":"two"}`)
	if err != nil || out.Conversations[0].Total != 2 || len(out.Skipped) != 2 || out.Skipped[0].Line != 2 || out.Skipped[1].Line != 3 {
		t.Errorf("%+v, %v", out, err)
	}
}

// A model that gives two calls one id still gets each answered by itself.
func TestCallsWithOneID(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Call(call("c", "clock", `{}`), call("c", "clock", `{"z":1}`), call("", "clock", `not json`)),
		modeltest.Say("ok"))
	id := r.conversation()
	r.turn(engine.TurnRequest{Conversation: id, Message: say("time?"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
	calls := r.log(id)[1].Parts.Calls()
	req := engine.TurnRequest{Conversation: id}
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] || !json.Valid(c.Arguments) {
			t.Errorf("call %+v", c)
		}
		seen[c.ID] = true
		req.ToolResults = append(req.ToolResults, engine.ToolResult{CallID: c.ID, Text: "noon"})
	}
	r.turn(req).done(t, scrollback.TurnComplete, "stop")
}

// An interrupted answer that is asked for again is not put before the model as
// its own last word.
func TestRetryAfterInterruption(t *testing.T) {
	cut := modeltest.Say("half")
	cut.NoFinish = true
	r := newRig(t, rigOptions{}, cut, modeltest.Say("whole"))
	id := r.conversation()
	r.ask(id, "q").done(t, scrollback.TurnInterrupted, scrollback.FinishTruncated)
	r.turn(engine.TurnRequest{Conversation: id}).done(t, scrollback.TurnComplete, "stop")
	items := r.script.Requests()[1].Items
	if last := items[len(items)-1]; last.Role != scrollback.RoleUser {
		t.Errorf("the request ends with %s %q", last.Role, last.Parts.Text())
	}
	r.wantShape(id, "u:q", "a(interrupted):half", "a:whole")
}

// Both kinds of call in one step: the client is shown the message that calls.
func TestMixedCalls(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Call(call("a", "clock", `{}`), call("b", "context_list", `{}`)), modeltest.Say("ok"))
	id := r.conversation()
	e := r.turn(engine.TurnRequest{Conversation: id, Message: say("time?"), Tools: clock})
	e.done(t, scrollback.TurnWaiting, "tool_calls")
	d, _ := last[scrollback.DoneEvent](e)
	if m := r.log(id)[1]; d.MessageID != m.ID {
		t.Errorf("done names %s, the calls are in %s", d.MessageID, m.ID)
	}
	if turn, err := r.Turns().Get(context.Background(), id, d.TurnID); err != nil || turn.Reply != d.MessageID {
		t.Errorf("the stored turn names %s (%v)", turn.Reply, err)
	}
	r.turn(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "a", Text: "noon"}}}).done(t,
		scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:time?", "a:→a→b", "t:←b", "t:←a", "a:ok")
}
