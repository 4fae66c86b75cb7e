package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// slow is a model that chats at once, and writes summaries only when it is let, whatever
// becomes of the context.
type slow struct {
	asked chan struct{} // receives for each request for a summary
	let   chan struct{}
}

func newSlow() *slow { return &slow{asked: make(chan struct{}, 100), let: make(chan struct{})} }

func (s *slow) step() modeltest.Step {
	return modeltest.Step{Reply: func(q model.Request) []model.Delta {
		if len(q.Tools) > 0 {
			return []model.Delta{{Text: "It was noted."}}
		}
		s.asked <- struct{}{}
		<-s.let
		return []model.Delta{{Text: asked(q, "noted")}}
	}}
}

// talked makes a conversation of n messages.
func talked(r *enginetest.Rig, n int) scrollback.ConversationID {
	r.T.Helper()
	c, _, err := r.Create(context.Background(), scrollback.Conversation{}, history(n)...)
	if err != nil {
		r.T.Fatal(err)
	}
	return c.ID
}

// kinds lists the types of events, deltas and meta left out.
func kinds(e enginetest.Outcome) string {
	var out []string
	for _, ev := range e.Events {
		switch ev.(type) {
		case scrollback.DeltaEvent, scrollback.MetaEvent, scrollback.UsageEvent:
		default:
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", ev), "scrollback."), "Event"))
		}
	}
	return strings.Join(out, " ")
}

// A request that fits is answered while the summary is being written; what comes of it
// is in the next window. No second compaction begins meanwhile.
func TestRequestThatFitsDoesNotWait(t *testing.T) {
	s := newSlow()
	r := enginetest.New(t, enginetest.Options{Summaries: true, Limit: 64_000, Policy: compact.Rolling}, s.step())
	id := talked(r, 20)
	for range 3 {
		e := r.Ask(id, "what was number 3?")
		e.WantDone(t, scrollback.TurnComplete, "stop")
		if got := kinds(e); got != "Turn Message Done" {
			t.Errorf("the events are %s", got)
		}
	}
	<-s.asked
	if v := view(r, id); v.Boundary != 0 || len(s.asked) != 0 {
		t.Fatalf("all up to #%d is compacted without its summary, or %d more were asked for", v.Boundary, len(s.asked))
	}
	close(s.let)
	r.Engine.Rest()
	if v := view(r, id); v.Boundary == 0 || v.Summary == nil {
		t.Fatalf("the view is %+v", v)
	}
	e := r.Ask(id, "and number 4?")
	reqs := r.Script.Requests()
	if got := kinds(e); got != "Turn Message Done" ||
		!strings.Contains(folded(reqs[len(reqs)-1]), "Summary of messages #1–#") {
		t.Errorf("after %s the window shows\n%s", got, folded(reqs[len(reqs)-1]))
	}
	enginetest.CheckViews(t, r, id)
}

// What is compacted beside a turn while it runs is reported between its steps.
func TestCompactionBesideIsReported(t *testing.T) {
	var r *enginetest.Rig
	var id scrollback.ConversationID
	n := 0
	var once sync.Once
	beside := make(chan struct{}) // closed when the compaction beside asks for its summary
	r = enginetest.New(t, enginetest.Options{Summaries: true, Limit: 64_000, Policy: compact.Rolling},
		modeltest.Step{Reply: func(q model.Request) []model.Delta {
			if len(q.Tools) == 0 {
				once.Do(func() { close(beside) })
				return []model.Delta{{Text: asked(q, "noted")}}
			}
			if n++; n > 1 {
				return []model.Delta{{Text: "It was noted."}}
			}
			<-beside
			if _, err := r.Compact(context.Background(), id, engine.CompactRequest{}); err != nil { // waits for it
				t.Error(err)
			}
			c := enginetest.Call("c", "context_list", `{}`)
			return []model.Delta{{Text: "let me see"}, {Call: &c}}
		}})
	id = talked(r, 20)
	e := r.Ask(id, "what was number 3?")
	e.WantDone(t, scrollback.TurnComplete, "stop")
	if got := kinds(e); strings.Count(got, "Compaction") != 1 || strings.Contains(got, "Compacting") ||
		!strings.HasPrefix(got,
			"Turn ToolCall") {
		t.Errorf("the events are %s", got)
	}
	reqs := r.Script.Requests()
	if last := reqs[len(reqs)-1]; folded(last) == "" || !slices.ContainsFunc(last.Items, func(it scrollback.Item) bool {
		return strings.Contains(it.Parts.Text(), "what was number 3?")
	}) {
		t.Error("the second step shows the old window, or lost its question")
	}
	enginetest.CheckViews(t, r, id)
}

// A request that does not fit says so at once, waits for the summary as long as is set,
// and continues without it; reading the turn again shows the same.
func TestRequestThatDoesNotFitWaits(t *testing.T) {
	s := newSlow()
	defer close(s.let)
	r := enginetest.New(t, enginetest.Options{Summaries: true, Wait: 10 * time.Second}, s.step())
	id := talked(r, 60)
	e := r.Ask(id, "what was number 3?")
	e.WantDone(t, scrollback.TurnComplete, "stop")
	if got := kinds(e); got != "Turn Compacting Compaction Message Done" {
		t.Fatalf("the events are %s", got)
	}
	c, _ := enginetest.Last[scrollback.CompactingEvent](e)
	receipt, _ := enginetest.Last[scrollback.CompactionEvent](e)
	if c.Tokens <= c.Budget || c.Budget != 6000 || receipt.SummaryBy != scrollback.SummaryExtractive ||
		receipt.Calls != 1 ||
		receipt.SummaryResult != scrollback.ResultModelError || receipt.SummaryWhy != "no summary came in time" {
		t.Errorf("%+v, then %+v", c, receipt)
	}
	if v := view(r, id); v.Failures != 1 || len(s.asked) != 1 {
		t.Errorf("%d calls, of which %d failures are remembered", len(s.asked), v.Failures)
	}
	turn := e.Events[0].(scrollback.TurnEvent).TurnID
	for n, err := range r.Turns().Attach(context.Background(), id, turn, 1) {
		if _, ok := n.Event.(scrollback.CompactingEvent); err != nil || n.N != 2 || !ok {
			t.Errorf("the second event is %+v (%v)", n, err)
		}
		break
	}
}

// With no time for summaries the extract stands at once; a later fold beside asks.
func TestNoTimeForSummaries(t *testing.T) {
	s := newSlow()
	close(s.let)
	r := enginetest.New(t, enginetest.Options{Summaries: true, Wait: -1, Policy: compact.Rolling}, s.step())
	id := talked(r, 60)
	r.Ask(id, "what was number 3?").WantDone(t, scrollback.TurnComplete, "stop")
	if len(s.asked) != 0 || view(r, id).Failures != 0 {
		t.Errorf("%d summaries were asked for, %d failures", len(s.asked), view(r, id).Failures)
	}
	r.Engine.Rest()
	for range 12 {
		r.Ask(id, "and then? "+strings.Repeat("go on please ", 40)).WantDone(t, scrollback.TurnComplete, "stop")
		r.Engine.Rest()
	}
	if len(s.asked) == 0 {
		t.Error("no summary was asked for beside the path")
	}
}

// A request that does not fit does not wait for a fold beside longer than for its own,
// and neither do others; starting afresh does not wait at all.
func TestFoldBesideIsHurried(t *testing.T) {
	s := newSlow()
	defer close(s.let)
	r := enginetest.New(t, enginetest.Options{Summaries: true, Wait: 20 * time.Millisecond, Policy: compact.Rolling},
		s.step())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			id := talked(r, 14)
			r.Ask(id, "short").WantDone(t, scrollback.TurnComplete, "stop")
			e := r.Ask(id, strings.Repeat("more words than fit. ", 580))
			e.WantDone(t, scrollback.TurnComplete, "stop")
			if got := kinds(e); !strings.HasPrefix(got, "Turn Compacting ") || view(r, id).Boundary == 0 {
				t.Errorf("the events are %s", got)
			}
		})
	}
	all.Wait()
	id := talked(r, 14)
	r.Ask(id, "short").WantDone(t, scrollback.TurnComplete, "stop")
	if got, err := r.Compact(context.Background(), id, engine.CompactRequest{Clear: true}); err != nil ||
		got.Result != scrollback.ResultCompacted {
		t.Errorf("cleared as %+v (%v)", got, err)
	}
}

// A turn that waits for a summary can be stopped, and loses its lease like any other.
func TestWaitingTurnEnds(t *testing.T) {
	for name, end := range map[string]func(r *enginetest.Rig, id scrollback.ConversationID, turn scrollback.TurnID) error{
		"stopped": func(r *enginetest.Rig, id scrollback.ConversationID, turn scrollback.TurnID) error {
			return r.Turns().Cancel(context.Background(), id, turn)
		},
		"taken over": func(r *enginetest.Rig, id scrollback.ConversationID, _ scrollback.TurnID) error {
			other := enginetest.New(r.T, enginetest.Options{Driver: r.Driver, Clock: r.Clock, Archive: r.Archive},
				modeltest.Say("mine"))
			for { // the turn may just have renewed its lease
				r.Clock.Add(60_000)
				if err := other.Ask(id, "short").Err; scrollback.CodeOf(err) != scrollback.Conflict {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlow()
			defer close(s.let)
			r := enginetest.New(t, enginetest.Options{Summaries: true, Wait: time.Hour, SaveEvery: 5 * time.Millisecond},
				s.step())
			id := talked(r, 60)
			turn, events, err := r.Begin(context.Background(),
				engine.TurnRequest{Conversation: id, Message: enginetest.Say("what was number 3?")})
			if err != nil {
				t.Fatal(err)
			}
			<-s.asked
			if err := end(r, id, turn); err != nil {
				t.Fatal(err)
			}
			var last scrollback.Event
			for n, err := range events {
				if last = n.Event; err != nil {
					t.Fatal(err)
				}
			}
			if d, ok := last.(scrollback.DoneEvent); !ok || d.Status != scrollback.TurnInterrupted {
				t.Errorf("the turn ends with %+v", last)
			}
		})
	}
}

// A summariser that hangs does not delay closing, and what it was to write leaves nothing
// behind: the next program goes on.
func TestCloseDoesNotWaitForSummaries(t *testing.T) {
	s := newSlow()
	defer close(s.let)
	r := enginetest.New(t, enginetest.Options{Summaries: true, Limit: 64_000, Policy: compact.Rolling}, s.step())
	id := talked(r, 20)
	r.Ask(id, "what was number 3?").WantDone(t, scrollback.TurnComplete, "stop")
	<-s.asked
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if v := view(r, id); v.Boundary != 0 || v.Failures != 0 {
		t.Errorf("broken off it leaves %+v", v)
	}
	w := briefly(func(int) string { return "again" })
	next := enginetest.New(t, enginetest.Options{Driver: r.Driver, Clock: r.Clock, Archive: r.Archive, Summaries: true,
		Limit:  64_000,
		Policy: compact.Rolling}, w.step())
	next.Ask(id, "short").WantDone(t, scrollback.TurnComplete, "stop")
	next.Engine.Rest()
	if v := view(next, id); v.Boundary == 0 || v.Summary == nil {
		t.Errorf("the next program leaves %+v", v)
	}
}

// A dead model is asked until it has failed three times in a row, and then ever less
// often, in this program and the next.
func TestDeadModelIsAskedLessAndLess(t *testing.T) {
	w := &writer{}
	down := &noSummaries{}
	wrap := func(m model.Model) model.Model { down.Model = m; return down }
	r := enginetest.New(t, enginetest.Options{Summaries: true, Wrap: wrap}, w.step())
	id := r.NewConversation()
	var folds []scrollback.Receipt
	for len(folds) < 9 {
		talk(r, id, 1, wordy)
		var err error
		if folds, err = r.Receipts(context.Background(), id, scrollback.ListMax); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(folds) // the oldest first
	failed := 0
	rested := 0
	asking := false // the fold before asked
	for _, fold := range folds {
		// How much is said between two folds depends on how quick this machine is; after five
		// failures a model rests for longer than any fold takes.
		if asking && fold.Calls > 0 && failed >= 5 {
			t.Errorf("a model that failed %d times is asked for one fold after the other", failed)
		}
		if asking = fold.Calls > 0; !asking {
			rested++
		}
		failed += fold.Calls
	}
	if failed < 3 || rested < 2 || int64(failed) > down.asked.Load() {
		t.Errorf("%d calls, %d of them in 9 folds; %d folds asked nobody", down.asked.Load(), failed, rested)
	}
	v := view(r, id)
	before := down.asked.Load()
	r = enginetest.New(t, enginetest.Options{Driver: r.Driver, Clock: r.Clock, Archive: r.Archive, Summaries: true,
		Wrap: wrap}, w.step())
	for range 3 {
		talk(r, id, 1, func(int) string { return "short" })
		if _, err := r.Compact(context.Background(), id, engine.CompactRequest{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	if n := down.asked.Load(); n != before || view(r, id).Failures != v.Failures {
		t.Errorf("after a restart there are %d calls more", n-before)
	}
}

// An import asks models for summaries if that is wanted, and says what it took; a dead
// model is left alone. Without it the window does not call a summary what is none.
func TestImportSummarizes(t *testing.T) {
	var file strings.Builder
	long := testlength.Choose(200, 600, 600)
	for _, m := range history(long) {
		fmt.Fprintf(&file, "{\"role\":%q,\"content\":%q}\n", m.Role, m.Parts.Text())
	}
	load := func(r *enginetest.Rig, summarize bool) (*engine.Asked, string) {
		t.Helper()
		out, err := r.Import(context.Background(), strings.NewReader(file.String()),
			transfer.ImportRequest{Summarize: summarize})
		if err != nil {
			t.Fatal(err)
		}
		// The first turn waits only a moment for what is compacted then.
		r.Ask(out.Conversations[0].ID, "short").WantDone(t, scrollback.TurnComplete, "stop")
		if err := r.Engine.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Ask(out.Conversations[0].ID, "short").WantDone(t, scrollback.TurnComplete, "stop")
		shown := ""
		for _, q := range r.Script.Requests() {
			if len(q.Tools) > 0 {
				shown = folded(q)
			}
		}
		return out.Asked, shown
	}
	w := briefly(func(n int) string { return fmt.Sprint("round ", n) })
	a, shown := load(enginetest.New(t, enginetest.Options{Summaries: true}, w.step()), true)
	if a == nil || a.Calls == 0 || a.Summaries != a.Calls || !strings.Contains(shown, "Summary of messages #1–#") {
		t.Errorf("it took %+v, and shows\n%s", a, shown)
	}
	down := &noSummaries{}
	a, _ = load(enginetest.New(t, enginetest.Options{Summaries: true,
		Wrap: func(m model.Model) model.Model { down.Model = m; return down }},
		briefly(nil).step()), true)
	if n := down.asked.Load(); a == nil || a.Summaries != 0 || int64(a.Calls) != n || n > 5 {
		t.Errorf("of a dead model it took %+v, %d calls", a, n)
	}
	a, shown = load(enginetest.New(t, enginetest.Options{Summaries: true}, w.step()), false)
	if a != nil || strings.Contains(shown, "Summary of messages") || !strings.Contains(shown, "Said in messages #1–#") {
		t.Errorf("without, it took %+v, and shows\n%s", a, shown)
	}
}
