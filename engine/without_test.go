package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A message that is left out is in no request from then on, on forks too, is accounted for,
// and stays in the log until it is taken back.
func TestLeavingOut(t *testing.T) {
	ctx := context.Background()
	sent := ""
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		sent = fmt.Sprint(r.Items)
		return []model.Delta{{Text: "noted"}}
	}})
	id := r.NewConversation()
	r.Ask(id, "the herons nest here")
	r.Ask(id, "the tide turns at four")
	ask := func(id scrollback.ConversationID, without *[]int64, said bool) {
		t.Helper()
		r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("go on"), Without: without}).WantDone(t,
			scrollback.TurnComplete, "stop")
		if strings.Contains(sent, "herons") != said || !strings.Contains(sent, "tide turns") {
			t.Errorf("herons should be sent: %v; sent %s", said, sent)
		}
	}
	ask(id, &[]int64{1}, false)
	ask(id, nil, false)
	m, err := r.Context(ctx, id)
	want := scrollback.Excluded{FirstSeq: 1, LastSeq: 1, Reason: "left_out"}
	if err != nil || !slices.Contains(m.Excluded, want) {
		t.Errorf("excluded: %+v, %v", m.Excluded, err)
	}
	page, err := r.Turns().Page(ctx, id, scrollback.PageQuery{})
	if err != nil || page.Messages[0].Parts.Text() != "the herons nest here" || !slices.Equal(page.Without, []int64{1}) {
		t.Errorf("the log: %+v, without %v, %v", page.Messages[0], page.Without, err)
	}
	fork, err := r.Branches().Fork(ctx, id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	ask(fork.ID, nil, false)
	ask(id, &[]int64{}, true)
	_, _, err = r.Begin(ctx, engine.TurnRequest{Conversation: id, Message: enginetest.Say("x"), Without: &[]int64{99}})
	enginetest.WantCode(t, err, scrollback.Invalid, "no message #99")
}

// A call goes with its result, and a result with its call, in both directions.
func TestLeavingOutACall(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true},
		modeltest.Call(enginetest.Call("c1", "clock", `{}`)), enginetest.ChattyStep())
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("what time is it"), Tools: enginetest.ClockTool})
	r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "c1", Text: "four"}}})
	for _, seq := range []int64{2, 3} {
		got, err := r.LeavingOut(ctx, id, []int64{seq}, nil)
		if err != nil || !slices.Equal(got, []int64{2, 3}) {
			t.Errorf("without %d: %v, %v", seq, got, err)
		}
	}
	e := r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("go on"), Without: &[]int64{3}})
	e.WantDone(t, scrollback.TurnComplete, "stop")
	got, err := r.LeavingOut(ctx, id, nil, []int64{2})
	if err != nil || len(got) != 0 {
		t.Errorf("taken back: %v, %v", got, err)
	}
	_, err = r.LeavingOut(ctx, id, nil, []int64{1})
	enginetest.WantCode(t, err, scrollback.Invalid, "not left out")
}

// What is left out is still in the log: the model's look-ups find and read it, compacted or not.
func TestLookUpsFindWhatIsLeftOut(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	r.Ask(id, "the herons nest on the north mole")
	r.Ask(id, "the tide turns at four")
	if _, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("go on"), Without: &[]int64{1}}).WantDone(t,
		scrollback.TurnComplete, "stop")
	head, err := r.Turns().Page(ctx, id, scrollback.PageQuery{})
	if err != nil || !slices.Equal(head.Without, []int64{1}) {
		t.Fatalf("left out: %v, %v", head.Without, err)
	}
	m, err := r.Context(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Excluded, func(x scrollback.Excluded) bool { return x.Reason == scrollback.ExcludedLeftOut })
	if i < 0 || m.Excluded[i].Ref == nil {
		t.Fatalf("excluded: %+v", m.Excluded)
	}
	ref := string(*m.Excluded[i].Ref)
	for name, args := range map[string]string{
		"context_search": `{"query":"herons"}`, "context_grep": `{"pattern":"herons"}`,
		"context_read": `{"ref":"` + ref + `"}`,
	} {
		out, err := r.Recall().RunTool(ctx, id, name, []byte(args), recall.Room{Tokens: 4000, Bytes: 16 << 10})
		if err != nil || !strings.Contains(fmt.Sprint(out), "herons nest on the north mole") {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	out, err := r.Recall().RunTool(ctx, id, "context_list", []byte(`{}`), recall.Room{Tokens: 4000, Bytes: 16 << 10})
	if err != nil || !strings.Contains(fmt.Sprint(out), "#1-4") {
		t.Errorf("context_list: %+v, %v", out, err)
	}
}

// An answer of reasoning alone is kept as such, and one that the rules on content forbid says
// which message to leave out.
func TestOnlyReasoningAndFiltered(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "I ponder"}}},
		modeltest.Step{Deltas: []model.Delta{{Finish: "content_filter"}}}, enginetest.ChattyStep())
	id := r.NewConversation()
	r.Ask(id, "one").WantDone(t, scrollback.TurnComplete, "stop")
	if got := r.Log(id)[1].Parts; len(got) != 1 || got[0].(scrollback.Reasoning).Text != "I ponder" {
		t.Errorf("stored: %+v", got)
	}
	e := r.Ask(id, "two")
	e.WantDone(t, scrollback.TurnFailed, "")
	f, _ := enginetest.Last[scrollback.ErrorEvent](e)
	if !f.Failure.Permanent || f.Failure.Suspect != 3 || f.Failure.Code != scrollback.Refused {
		t.Errorf("failure: %+v", f.Failure)
	}
	e = r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("three"), Without: &[]int64{3}})
	e.WantDone(t, scrollback.TurnComplete, "stop")
}
