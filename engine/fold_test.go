package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// A hundred turns with tool calls: each request is under budget, passes the lint,
// and begins with the one before, byte for byte, unless a fold lies between.
func TestRequestsBeginAlike(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, enginetest.ChattyStep())
	id := r.NewConversation()
	talk, _ := sample.MakeSample(sample.Options{Seed: 3, Messages: 400})
	folds := map[int]bool{} // requests made after a fold
	for i := range 100 {
		seen := len(r.Script.Requests())
		e := r.Ask(id, talk[i*2].Content[0]["text"].(string)+strings.Repeat(" 更多 words to fill the window with.", 12))
		e.WantDone(t, scrollback.TurnComplete, "stop")
		for _, ev := range e.Events {
			switch ev := ev.(type) {
			case scrollback.CompactionEvent:
				folds[seen] = true
			case scrollback.MetaEvent:
				if ev.Tokens > ev.Budget {
					t.Fatalf("turn %d sends %d tokens, the budget is %d", i, ev.Tokens, ev.Budget)
				}
				seen++
			}
		}
	}
	r.Engine.Rest()
	receipts, err := r.Receipts(context.Background(), id, 200)
	if err != nil {
		t.Fatal(err)
	}
	reqs := r.Script.Requests()
	broken := 0
	for i := 1; i < len(reqs); i++ {
		if err := window.Lint(scrollback.Window{Items: reqs[i].Items}, scrollback.Dialect{}); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if !beginsWith(reqs[i].Items, reqs[i-1].Items) {
			broken++
		}
	}
	if broken == 0 || broken > len(receipts) {
		t.Errorf("%d requests begin otherwise than the one before, after %d folds", broken, len(receipts))
	}
	if len(receipts) < 5 {
		t.Errorf("only %d folds in 100 turns", len(receipts))
	}
}

func beginsWith(items, prefix []scrollback.Item) bool {
	if len(items) < len(prefix) {
		return false
	}
	for i := range prefix {
		a, errA := json.Marshal(items[i].Parts)
		b, errB := json.Marshal(prefix[i].Parts)
		if errA != nil || errB != nil || items[i].Role != prefix[i].Role || string(a) != string(b) {
			return false
		}
	}
	return true
}

// By hand, a backlog of many pieces is folded until its last one is as small as the policy
// wants it.
func TestABacklogIsCompactedByHand(t *testing.T) {
	testlength.SkipShort(t)
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	r.AppendTurns(id, 1300,
		"a word or two about the tide, and the 潮水 of the day; what else is to be said of it, or kept? "+
			strings.Repeat("The lamp went out. ", 5))
	head, err := r.Store.ReadHead(t.Context(), id)
	if err != nil || head.Branch.LiveWeight().Tokens < 1_300_000 {
		t.Fatalf("%+v, %v", head.Branch.LiveWeight(), err)
	}
	got, err := r.Compact(t.Context(), id, engine.CompactRequest{Force: true})
	if err != nil || got.Result != scrollback.ResultCompacted || got.FirstSeq != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	w, err := r.Context(t.Context(), id)
	if err != nil || w.Tokens > w.Budget*7/10 {
		t.Errorf("the window has %d of %d tokens, %v", w.Tokens, w.Budget, err)
	}
	enginetest.CheckViews(t, r, id)
}

func TestFoldClearAndUndo(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	nothing, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
	if err != nil || nothing.Result != scrollback.ResultNoop {
		t.Fatalf("an empty conversation folds as %+v (%v)", nothing, err)
	}
	for i := range 4 {
		r.Ask(id, fmt.Sprintf("question %d ", i)+strings.Repeat("more words here. ", 60))
	}
	before, _ := r.Context(ctx, id)
	if got, err := r.Compact(ctx, id, engine.CompactRequest{}); err != nil || got.Result != scrollback.ResultNoop {
		t.Fatalf("under the trigger it folds as %+v (%v)", got, err)
	}
	folded, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
	if err != nil || folded.Result != scrollback.ResultCompacted || folded.TokensAfter >= folded.TokensBefore ||
		len(folded.Refs) == 0 {
		t.Fatalf("by force it folds as %+v (%v)", folded, err)
	}
	enginetest.CheckViews(t, r, id)
	cleared, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true})
	head, _ := r.Get(ctx, id)
	if err != nil || cleared.Result != scrollback.ResultCompacted || cleared.LastSeq != head.Messages || !cleared.Cleared {
		t.Fatalf("cleared as %+v (%v)", cleared, err)
	}
	enginetest.CheckViews(t, r, id)
	for range 2 {
		if _, err := r.Uncompact(ctx, id, ""); err != nil {
			t.Fatal(err)
		}
		enginetest.CheckViews(t, r, id)
	}
	after, _ := r.Context(ctx, id)
	if after.Tokens != before.Tokens || len(after.Excluded) != 0 {
		t.Errorf("undone, the window has %d tokens, %d before any fold", after.Tokens, before.Tokens)
	}
	_, err = r.Uncompact(ctx, id, "")
	enginetest.WantCode(t, err, scrollback.NotFound, "")
	_, err = r.Compact(ctx, id, engine.CompactRequest{Overrides: engine.Overrides{Policy: "nonsense"}, Force: true})
	enginetest.WantCode(t, err, scrollback.Invalid, "policy")
	if rs, _ := r.Receipts(ctx, id, 10); len(rs) != 2 {
		t.Errorf("%d receipts, want 2: undoing keeps them", len(rs))
	}
}

// One turn with far more tool steps than the window holds folds within itself,
// and its user message stays.
func TestFoldsInsideOneTurn(t *testing.T) {
	n := 0
	step := modeltest.Step{Reply: func(r model.Request) []model.Delta {
		n++
		if n%2 == 1 && n < 60 {
			c := enginetest.Call(fmt.Sprint("c", n), "clock", `{}`)
			return []model.Delta{{Call: &c}}
		}
		return []model.Delta{{Call: &scrollback.ToolCall{ID: fmt.Sprint("c", n), Name: "clock",
			Arguments: json.RawMessage(`{}`)}}}
	}}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, step)
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("the one question: count to forty"),
		Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting, "tool_calls")
	for i := range 40 {
		e := r.Run(engine.TurnRequest{Conversation: id,
			ToolResults: []engine.ToolResult{{CallID: fmt.Sprint("c", i+1), Text: strings.Repeat("tick 嘀 ", 300)}}})
		e.WantDone(t, scrollback.TurnWaiting, "tool_calls")
		items := r.Script.Requests()[i+1].Items
		if !slices.ContainsFunc(items, func(it scrollback.Item) bool {
			return strings.Contains(it.Parts.Text(), "the one question") && it.Seq == 1
		}) {
			t.Fatalf("step %d lost the user's message", i)
		}
	}
	m, _ := r.Context(context.Background(), id)
	if len(m.Excluded) == 0 || m.Excluded[0].Reason != "folded" {
		t.Errorf("nothing was folded: %+v", m.Excluded)
	}
}

// Every driver call of a whole story fails once: the log stays whole, the story
// can be told on, and what was acknowledged is there.
func TestFaults(t *testing.T) {
	for i := int64(0); ; i++ {
		mem := oracle.New()
		faulty := &drivertest.Faulty{At: i}
		r := enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(mem), NoFolds: true}, enginetest.ChattyStep())
		failed := story(r)
		calls := faulty.Calls()
		drivertest.CheckInvariants(t, mem)
		fresh := enginetest.New(t, enginetest.Options{Driver: mem, Clock: r.Clock}, enginetest.ChattyStep())
		fresh.Clock.Add(60_000)
		page, _, err := fresh.List(context.Background(), scrollback.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			if e := fresh.Ask(c.ID, "still there?"); e.Err != nil {
				t.Fatalf("call %d failed, and then the conversation is stuck: %v", i, e.Err)
			}
			enginetest.CheckViews(t, fresh, c.ID)
		}
		fresh.Engine.Rest()
		drivertest.CheckInvariants(t, mem)
		if i >= calls {
			if failed != nil {
				t.Fatalf("nothing failed, and the story ends with %v", failed)
			}
			return
		}
	}
}

// story is a bit of everything.
func story(r *enginetest.Rig) error {
	ctx := context.Background()
	c, _, err := r.Create(ctx, scrollback.Conversation{Title: "s"})
	if err != nil {
		return err
	}
	for i := range 4 {
		e := r.Ask(c.ID, fmt.Sprint("question ", i, strings.Repeat(" and words", 150)))
		if e.Err != nil {
			return e.Err
		}
		if f, ok := enginetest.Last[scrollback.ErrorEvent](e); ok {
			return scrollback.Errorf(f.Code, "story", "%s", f.Message)
		}
	}
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Force: true}); err != nil {
		return err
	}
	if _, err := r.Import(ctx, strings.NewReader(`{"role":"user","content":"imported"}`),
		transfer.ImportRequest{Into: c.ID}); err != nil {
		return err
	}
	_, err = r.Compact(ctx, c.ID, engine.CompactRequest{Clear: true})
	return err
}

// The disk is full: the turn fails as unavailable, and what was acknowledged
// before is still there, also after the file is opened again.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	open := func(pages int) *driver.Driver {
		db, err := sqlite.Open(context.Background(), path, &sqlite.Options{MaxPages: pages})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	r := enginetest.New(t, enginetest.Options{Driver: open(280)}, enginetest.ChattyStep())
	id := r.NewConversation()
	var full error
	said := 0
	for full == nil && said < 500 {
		e := r.Ask(id, fmt.Sprint("note ", said, strings.Repeat(" more of the same", 100)))
		if full = e.Err; full == nil {
			if f, ok := enginetest.Last[scrollback.ErrorEvent](e); ok {
				full = scrollback.Errorf(f.Code, "test", "%s", f.Message)
			} else {
				said++
			}
		}
	}
	enginetest.WantCode(t, full, scrollback.Unavailable, "")
	if said == 0 {
		t.Fatal("the disk was full before anything was said")
	}
	roomy := enginetest.New(t, enginetest.Options{Driver: open(0), Clock: r.Clock}, enginetest.ChattyStep())
	notes := 0
	for _, m := range roomy.Log(id) {
		if m.Role == scrollback.RoleUser && strings.HasPrefix(m.Parts.Text(), fmt.Sprint("note ", notes)) {
			notes++
		}
	}
	if notes < said {
		t.Errorf("%d of %d acknowledged messages are there", notes, said)
	}
	roomy.Clock.Add(60_000)
	roomy.Ask(id, "room again").WantDone(t, scrollback.TurnComplete, "stop")
	r.Engine.Rest()
	roomy.Engine.Rest()
	drivertest.CheckInvariants(t, roomy.Driver)
}
