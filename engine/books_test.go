package engine_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// counting returns a model whose provider counts ratio tokens where o200k counts one.
func counting(ratio float64, seen *[]model.Request) modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		*seen = append(*seen, r)
		var sent int64
		for _, it := range r.Items {
			sent += it.Weight.Tokens
		}
		in := int64(math.Round(ratio * float64(sent)))
		return []model.Delta{{Text: strings.Repeat("so be it. ", 30)},
			{Usage: &scrollback.Usage{InputTokens: in, OutputTokens: 90, TotalTokens: in + 90}}}
	}}
}

// A model that counts more than o200k is soon given less, in step with what it
// reports, and what people are told is in its own tokens. No message leaves the
// window for it without a fold.
func TestCalibration(t *testing.T) {
	ctx := context.Background()
	const ratio = 1.6
	var seen []model.Request
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, counting(ratio, &seen))
	id := r.NewConversation()
	for i := range 60 {
		e := r.Ask(id, wordy(i))
		e.WantDone(t, scrollback.TurnComplete, "stop")
		m, _ := enginetest.Last[scrollback.MetaEvent](e)
		var sent int64
		for _, it := range seen[len(seen)-1].Items {
			sent += it.Weight.Tokens
		}
		if m.Tokens > m.Budget || m.Budget != 6000 {
			t.Fatalf("turn %d: %d tokens of %d", i, m.Tokens, m.Budget)
		}
		if own := ratio * float64(sent); i > 20 && (own > 1.02*6000 || math.Abs(own-float64(m.Tokens)) > 0.05*own) {
			t.Fatalf("turn %d sends %.0f of the model's tokens of 6000, and says %d", i, own, m.Tokens)
		}
		if i > 0 && folded(seen[i]) == folded(seen[i-1]) && !beginsWith(seen[i].Items, seen[i-1].Items) {
			t.Fatalf("turn %d begins otherwise, and nothing was folded", i)
		}
	}
	ms, err := r.Models(ctx)
	if err != nil || len(ms) != 1 || !ms[0].Learned || math.Abs(ms[0].Factor-ratio) > 0.02 || !ms[0].Default {
		t.Errorf("%+v, %v", ms, err)
	}
	receipts, err := r.Receipts(ctx, id, 1)
	if err != nil || len(receipts) == 0 || receipts[0].TokensBefore < 4500 || receipts[0].TokensAfter > 3300 {
		t.Errorf("%+v, %v", receipts, err)
	}
	if m, err := r.Context(ctx, id); err != nil || m.Limit != 8000 || m.Budget != 6000 {
		t.Errorf("%+v, %v", m, err)
	}
}

// The books add up what was reported, estimate what was not, and tell the two
// apart.
func TestBooks(t *testing.T) {
	ctx := context.Background()
	step := func(n int, _ model.Request) modeltest.Step {
		s := modeltest.Say(fmt.Sprint("answer ", n))
		if n%2 == 0 {
			s.Deltas = append(s.Deltas, model.Delta{Usage: &scrollback.Usage{InputTokens: 100, CachedTokens: 40,
				OutputTokens: 10, TotalTokens: 110,
				Cost: 0.5, Currency: "USD"}})
		} else {
			s.Deltas = append(s.Deltas, model.Delta{Finish: scrollback.FinishStop}) // and counts nothing
		}
		return s
	}
	r := enginetest.New(t, enginetest.Options{}, step(0, model.Request{}), step(1, model.Request{}),
		step(2, model.Request{}))
	c, _, err := r.Create(ctx, scrollback.Conversation{Project: "house"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.Ask(c.ID, fmt.Sprint("question ", i)).WantDone(t, scrollback.TurnComplete, "stop")
	}
	sums, err := r.Usage(ctx, scrollback.UsageQuery{ByDay: true, ByModel: true, ByProject: true})
	if err != nil || len(sums) != 2 { // what has no price has no currency
		t.Fatalf("%+v, %v", sums, err)
	}
	free := sums[0]
	paid := sums[1]
	if paid.Calls != 2 || paid.InputTokens != 200 || paid.CachedTokens != 80 || paid.Cost != 1 ||
		paid.EstimatedShare != 0 || paid.Estimated ||
		paid.Model != "script" || paid.Project != "house" || paid.Day != "2026-01-05" || paid.Currency != "USD" {
		t.Errorf("%+v", paid)
	}
	if free.Calls != 1 || free.EstimatedShare != 1 || !free.Estimated || free.InputTokens < 100 || free.OutputTokens < 1 ||
		free.TotalTokens != free.InputTokens+free.OutputTokens {
		t.Errorf("%+v", free)
	}
	if sums, err := r.Usage(ctx, scrollback.UsageQuery{From: 1, To: 2}); err != nil || len(sums) != 0 {
		t.Errorf("another day has %+v, %v", sums, err)
	}
	if _, err := r.Usage(ctx, scrollback.UsageQuery{From: 3, To: 2}); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("%v", err)
	}
	zeros := enginetest.New(t, enginetest.Options{}, modeltest.Step{Deltas: []model.Delta{{Text: "an answer"},
		{Usage: &scrollback.Usage{Cost: 0.5, Currency: "USD"}, Finish: scrollback.FinishStop}}})
	zeros.Ask(zeros.NewConversation(), "a question").WantDone(t, scrollback.TurnComplete, "stop")
	if sums, err := zeros.Usage(ctx, scrollback.UsageQuery{}); err != nil || len(sums) != 1 ||
		sums[0].EstimatedShare != 1 ||
		sums[0].InputTokens < 100 || sums[0].OutputTokens < 1 || sums[0].Cost != 0.5 {
		t.Errorf("a provider that counts nothing but its price: %+v, %v", sums, err)
	}
	if ms, err := r.Models(ctx); err != nil || len(ms) != 1 || ms[0].Name != "script" || ms[0].Limit == 0 ||
		!ms[0].Default ||
		ms[0].Offline || ms[0].Images != nil || len(ms[0].Efforts) != 3 {
		t.Errorf("%+v, %v", ms, err)
	}
}
