package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A request that no compaction can make fit is refused at once: none is made that leaves the window as
// big as it was, and at most one summary is paid for.
func TestNoFoldWhereNoneHelps(t *testing.T) {
	ctx := context.Background()
	for _, policy := range compact.Names()[1:] {
		for _, words := range []int{5200, 5350, 5500, 9000} { // of instructions, in a budget of 6,000
			w := briefly(func(n int) string { return fmt.Sprint("goal ", n) })
			r := enginetest.New(t, enginetest.Options{Summaries: true, NoFolds: true, Policy: policy}, w.step())
			c, _, err := r.Create(ctx, scrollback.Conversation{}, history(6)...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Patch(ctx, c.ID, 0, func(c *scrollback.Conversation) error {
				c.Instructions = strings.Repeat("word ", words)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			asked := 0
			for range 3 {
				e := r.Ask(c.ID, "what was number 3?")
				_, sums := w.requests()
				if f, ok := enginetest.Last[scrollback.ErrorEvent](e); ok && f.Code != scrollback.OverBudget ||
					words > 5600 && !ok && e.Err == nil || len(sums) > asked+1 || words > 5600 && len(sums) > 0 {
					t.Errorf("%s, %d words: %+v, %v, %d summaries", policy, words, f, e.Err, len(sums)-asked)
				}
				asked = len(sums)
			}
			receipts, err := r.Receipts(ctx, c.ID, scrollback.ListMax)
			if err != nil || words > 5600 && len(receipts) > 0 {
				t.Errorf("%s, %d words: %d receipts, %v", policy, words, len(receipts), err)
			}
			for _, rc := range receipts {
				if rc.Result == scrollback.ResultCompacted && rc.TokensAfter >= rc.TokensBefore {
					t.Errorf("%s, %d words: a compaction takes %d tokens to %d", policy, words, rc.TokensBefore, rc.TokensAfter)
				}
			}
		}
	}
}

// A request that waits for a compaction under way does not make another one if it fits then.
func TestNoSecondFoldBehindAnother(t *testing.T) {
	ctx := context.Background()
	s := newSlow()
	r := enginetest.New(t, enginetest.Options{Summaries: true, Wait: time.Hour, Policy: compact.Rolling}, s.step())
	id := talked(r, 14)
	r.Ask(id, "short").WantDone(t, scrollback.TurnComplete, "stop")
	<-s.asked // beside the turn
	_, events, err := r.Begin(ctx, engine.TurnRequest{Conversation: id,
		Message: enginetest.Say(strings.Repeat("more words than fit. ", 580))})
	if err != nil {
		t.Fatal(err)
	}
	waits := false
	let := sync.OnceFunc(func() { close(s.let) })
	defer let()
	for n, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := n.Event.(scrollback.CompactingEvent); ok {
			waits = true
			let()
		}
	}
	let()
	r.Engine.Rest()
	receipts, err := r.Receipts(ctx, id, scrollback.ListMax)
	if err != nil || !waits || len(receipts) != 1 || receipts[0].Result != scrollback.ResultCompacted {
		t.Errorf("it waited: %v; %d compactions: %+v, %v", waits, len(receipts), receipts, err)
	}
	enginetest.CheckViews(t, r, id)
}

// What a model once wrote of a conversation stays in the window while it fails, in windows of every
// size, and goes on as soon as it writes again.
func TestSummariesStay(t *testing.T) {
	for _, c := range []struct {
		policy string
		limit  int64
		words  int // of a message
	}{{compact.Snapshot, 8000, 180}, {compact.Rolling, 8000, 180}, {compact.Rolling, 32_000, 60}} {
		t.Run(fmt.Sprint(c.policy, " ", c.limit), func(t *testing.T) {
			t.Parallel()
			fails := false
			n := 0
			r := enginetest.New(t, enginetest.Options{Summaries: true, NoFolds: true, Policy: c.policy, Limit: c.limit},
				modeltest.Step{Reply: func(q model.Request) []model.Delta {
					switch {
					case len(q.Tools) > 0:
						n++
						return []model.Delta{{Text: strings.Repeat(fmt.Sprintf("Answer %d goes. ", n), c.words/3)}}
					case fails:
						return []model.Delta{{Text: "Sure!"}}
					}
					return []model.Delta{{Text: asked(q, "the hull is red "+strings.Repeat("and so is the mast ", 8))}}
				}})
			id := r.NewConversation()
			ask := func() {
				r.Ask(id, strings.Repeat("It is long. ", c.words/3)).WantDone(t, scrollback.TurnComplete, "stop")
				if _, err := r.Compact(context.Background(), id, engine.CompactRequest{}); err != nil {
					t.Fatal(err)
				}
			}
			first := 0
			for turn := range 60 {
				ask()
				if first > 0 && !strings.Contains(readSummary(t, r, id), "the hull is red") {
					t.Fatalf("the summary of turn %d is gone at turn %d", first, turn)
				}
				if v := view(r, id); first == 0 && v.Summary != nil {
					first = turn
					fails = true
				}
			}
			if first == 0 {
				t.Fatal("nothing was compacted")
			}
			fails = false
			failures := view(r, id).Failures
			for turn := 0; view(r, id).Failures > 0; turn++ {
				if turn > 100 {
					t.Fatalf("after %d failures no model is asked in %d turns", failures, turn)
				}
				ask()
			}
		})
	}
}

// readSummary returns the text of the summary that a conversation shows.
func readSummary(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	v := view(r, id)
	if v.Summary == nil {
		return ""
	}
	segments, err := r.Store.ReadSegments(context.Background(), []scrollback.SegmentID{v.Summary.Segment})
	if err != nil || len(segments) != 1 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	return segments[0].Summary
}
