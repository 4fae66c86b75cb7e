package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// extremes are numbers at the ends of what is taken.
var extremes = []map[string]float64{
	{},
	{"retry_growth": 1},
	{"retry_growth": 1, "shrink_share": 0.1},
	{"retry_growth": 1, "failures_max": 1000, "summary_tokens": 100, "said_share": 0.9},
	{"shrink_share": 1, "retry_growth": 1, "failures_max": 1},
	{"trigger_messages": 1, "keep_messages": 0, "new_messages": 0},
	{"trigger_messages": 1, "keep_messages": 0, "new_messages": 0, "retry_growth": 1, "shrink_share": 0.1},
	{"trigger_messages": 0, "trigger_tokens": 0, "keep_messages": 100_000},
	{"trigger_messages": 0, "trigger_tokens": 1, "new_messages": 0, "keep_messages": 0, "retry_growth": 1},
	{"after_share": 0.05, "trigger_share": 0.1, "retry_growth": 1},
	{"after_share": 0.05, "trigger_share": 0.1, "trigger_limit_share": 0.05, "shrink_share": 1},
	{"after_share": 0.95, "trigger_share": 1, "trigger_limit_share": 1, "trigger_messages": 0, "trigger_tokens": 0},
	{"trigger_limit_share": 0.6, "keep_share": 1},
	{"summary_tokens": 100, "said_share": 0.9, "check_calls": 3},
	{"placeholder_tokens": 50, "placeholder_share": 0.005, "placeholders_max": 3, "placeholders_share": 0.01,
		"extract_lines": 0},
	{"placeholder_share": 0.005, "placeholder_tokens": 10_000_000, "placeholders_max": 64, "placeholders_share": 0.01,
		"summary_share":  0.24,
		"summary_tokens": 10_000_000},
	{"placeholder_share": 0.12, "placeholder_tokens": 10_000_000, "placeholders_max": 64, "placeholders_share": 0.24,
		"summary_share": 0.01,
		"extract_lines": 50},
	{"pinned_share": 0.5, "check_calls": 3},
}

// Whatever numbers are taken, a conversation is never stuck: each turn is answered by
// requests within the budget, and makes a bounded number of folds and of calls.
func TestExtremeNumbers(t *testing.T) {
	t.Parallel()
	for i, numbers := range extremes {
		if i%6 != 2 && testlength.Choose(true, false, false) {
			continue
		}
		for _, policy := range compact.Names()[1:] {
			for k, writes := range []string{"offline", "good", "bad"} {
				if policy == compact.Segments && writes != "offline" {
					continue // it asks no model
				}
				if policy != compact.Segments && k != i%3 && testlength.Choose(true, true, false) {
					continue // each of the numbers under each policy, with one of the models
				}
				limit := []int64{2000, 8000}[(i+k)%2]
				t.Run(fmt.Sprint(i, " ", policy, " ", writes, " ", limit), func(t *testing.T) {
					t.Parallel()
					extreme(t, numbers, policy, writes, limit)
				})
			}
		}
	}
}

// extreme runs a conversation with a policy's numbers; writes says what its model does
// when it is asked for a summary.
func extreme(t *testing.T, numbers map[string]float64, policy, writes string, limit int64) {
	ctx := context.Background()
	if _, err := compact.FindPolicy(policy, true, numbers); err != nil {
		t.Fatal(err)
	}
	sums := 0
	calls := 0
	j := &enginetest.Judge{T: t, Budget: window.NewBudget(limit, 2000)}
	j.Say = func(n int, q model.Request) []model.Delta {
		if len(q.Tools) == 0 {
			sums++
			if sums%7 == 0 || writes == "bad" {
				return []model.Delta{{Text: "no minutes today"}}
			}
			return []model.Delta{{Text: asked(q, fmt.Sprint("goal ", sums))}}
		}
		if calls++; calls%4 == 1 {
			return []model.Delta{{Call: &scrollback.ToolCall{ID: fmt.Sprint("c", n), Name: "context_search",
				Arguments: json.RawMessage(`{"query":"tide"}`)}}}
		}
		return []model.Delta{{Text: strings.Repeat("the tide table says so. ", 1+calls%9*4)}}
	}
	r := enginetest.New(t, enginetest.Options{Limit: limit, NoFolds: true, Summaries: writes != "offline", Policy: policy,
		Folding: numbers},
		j.Step())
	id := r.NewConversation()
	folds := 0
	for i := range testlength.Choose(8, 8, 16) {
		before := sums
		text := fmt.Sprintf("Remember number %d. ", i) + strings.Repeat("tide ", []int{1, 30, 200, 5}[i%4])
		if i%8 == 7 {
			text = strings.Repeat("a very long message indeed ", 1000)
		}
		r.Ask(id, text).WantDone(t, scrollback.TurnComplete, "stop")
		if _, err := r.Compact(ctx, id, engine.CompactRequest{}); err != nil { // as behind the turn
			t.Fatal(err)
		}
		rs, err := r.Receipts(ctx, id, scrollback.ListMax)
		if err != nil {
			t.Fatal(err)
		}
		if len(rs)-folds > 12 || sums-before > 30 {
			t.Fatalf("turn %d made %d folds and asked for %d summaries", i, len(rs)-folds, sums-before)
		}
		folds = len(rs)
		if i%5 == 3 && limit > 2000 {
			_, _ = r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
				c.PinnedSeqs = append(slices.Clone(c.PinnedSeqs), c.Messages)
				return nil
			})
		}
	}
	enginetest.CheckViews(t, r, id)
}

// A conversation that was folded for a big window goes on in the smallest one: neither
// its summary nor its placeholders, made for the big one, leave it stuck.
func TestSmallerWindowLater(t *testing.T) {
	for _, policy := range compact.Names()[1:] {
		for _, limit := range []int64{2000, 4000, 8000} {
			t.Run(fmt.Sprint(policy, " ", limit), func(t *testing.T) {
				j := &enginetest.Judge{T: t, Budget: window.NewBudget(64_000, 2000)}
				j.Say = func(n int, q model.Request) []model.Delta {
					if len(q.Tools) == 0 {
						return []model.Delta{{Text: asked(q, strings.Repeat("what was agreed, ", 80))}}
					}
					return []model.Delta{{Text: strings.Repeat("the tide table says so and so again. ", 60)}}
				}
				r := enginetest.New(t, enginetest.Options{Limit: 64_000, NoFolds: true, Summaries: policy != compact.Segments,
					Policy: policy},
					j.Step())
				id := r.NewConversation()
				for i := range 20 {
					r.Ask(id, fmt.Sprintf("Remember number %d: %s.", i, strings.Repeat(" the quick tide at noon", 30))).WantDone(t,
						scrollback.TurnComplete,
						"stop")
				}
				if _, err := r.Compact(context.Background(), id, engine.CompactRequest{Force: true}); err != nil {
					t.Fatal(err)
				}
				j.Budget = window.NewBudget(limit, 2000)
				if policy == compact.Snapshot { // a question alone is live, and nothing can be folded
					v := view(r, id)
					question := v.Boundary + 1
					if v.Summary == nil || v.Summary.Tokens < 3000 {
						t.Fatalf("the view is %+v", v)
					}
					if _, err := r.Branches().Rewind(context.Background(), id, engine.Point{Seq: &question}); err != nil {
						t.Fatal(err)
					}
					r.Run(engine.TurnRequest{Conversation: id, Overrides: engine.Overrides{Limit: limit}}).WantDone(t,
						scrollback.TurnComplete, "stop")
					enginetest.CheckViews(t, r, id)
				}
				for i := range 5 {
					r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say(fmt.Sprintf("And then, number %d? ", i) +
						strings.Repeat("go on please ", 60)),
						Overrides: engine.Overrides{Limit: limit}}).WantDone(t, scrollback.TurnComplete, "stop")
					enginetest.CheckViews(t, r, id)
				}
			})
		}
	}
}

// Pinned messages give way to the question, however much of a budget they may take.
func TestPinsLeaveRoomForTheQuestion(t *testing.T) {
	for _, share := range []float64{0.1, 0.5} {
		for _, limit := range []int64{2000, 3000, 8000} {
			t.Run(fmt.Sprint(share, " ", limit), func(t *testing.T) {
				ctx := context.Background()
				j := &enginetest.Judge{T: t, Budget: window.NewBudget(limit, 2000)}
				j.Say = func(n int, q model.Request) []model.Delta {
					if len(q.Tools) == 0 {
						return []model.Delta{{Text: asked(q, "on")}}
					}
					return []model.Delta{{Text: "so be it"}}
				}
				r := enginetest.New(t, enginetest.Options{Limit: limit, NoFolds: true, Summaries: true,
					Folding: map[string]float64{"pinned_share": share}}, j.Step())
				id := r.NewConversation()
				for i := range 12 {
					r.Ask(id, fmt.Sprintf("Note number %d: %s", i, strings.Repeat("tide ", int(limit)/45))).WantDone(t,
						scrollback.TurnComplete, "stop")
				}
				for seq := int64(1); seq < 20; seq += 2 {
					_, _ = r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
						c.PinnedSeqs = append(slices.Clone(c.PinnedSeqs), seq)
						return nil
					})
				}
				c, _ := r.Get(ctx, id)
				if len(c.PinnedSeqs) == 0 {
					t.Fatal("nothing is pinned")
				}
				for i := range 6 {
					r.Ask(id, fmt.Sprint(i)+strings.Repeat(" a question of some length", 2000/(i+1))).WantDone(t,
						scrollback.TurnComplete,
						"stop")
				}
			})
		}
	}
}

// A preview leaves out the pinned messages that sending would leave out, where nothing can be compacted.
func TestPreviewLeavesPinsOut(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t,
		enginetest.Options{Limit: 8000, NoFolds: true, Folding: map[string]float64{"pinned_share": 0.5}},
		modeltest.Say("fine"))
	id := r.NewConversation()
	for range 6 {
		r.Ask(id, strings.Repeat("The tide gauge is at the pier. ", 90))
	}
	r.Ask(id, "Go on.")
	_, err := r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
		c.PinnedSeqs = []int64{1, 3, 5, 7}
		c.Instructions = strings.Repeat("Answer as the harbour master would. ", 350)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.View.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("What follows from it? ", 100)
	m, err := r.Context(ctx, id, engine.ContextRequest{Message: enginetest.Say(text), Sending: true})
	if err != nil || m.Over > 0 {
		t.Errorf("beforehand it is %d over the budget, and compacts %+v (%v)", m.Over, m.Compacts, err)
	}
	r.Ask(id, text).WantDone(t, scrollback.TurnComplete, "stop")
}
