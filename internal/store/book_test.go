package store_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// hostile is what a provider must not break the books with.
var hostile = []scrollback.Usage{
	{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64, TotalTokens: math.MaxInt64, Cost: math.MaxFloat64,
		Currency: "USD"},
	{InputTokens: math.MaxInt64, CachedTokens: math.MaxInt64, CacheWriteTokens: math.MaxInt64,
		ReasoningTokens: math.MaxInt64,
		Cost:            math.Inf(1), Currency: "USD"},
	{InputTokens: -1, OutputTokens: math.MinInt64, TotalTokens: -3, Cost: math.Inf(-1), Currency: "USD"},
	{InputTokens: 5, Cost: math.NaN(), Currency: "a currency that nobody knows\x00"},
}

// Whatever is reported, of turns and of folds, is stored, can be added up and
// encoded, and is said to be estimated.
func TestHostileUsage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		c := b.create()
		begun := must2(b.Turns.Begin(ctx, store.BeginRequest{Conversation: c.ID, Owner: "o",
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "ask")}}))(t)
		for _, u := range hostile {
			answer := text(scrollback.RoleAssistant, "answer")
			answer.Usage = &u
			asked := u
			got, err := b.Turns.FinishStep(ctx, store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnOpen,
				Messages: []store.IncomingMessage{answer},
				Usage:    []scrollback.UsageRecord{{Usage: u, Conversation: c.ID, Model: "m", Purpose: "turn", At: b.now}}})
			if err != nil {
				t.Fatalf("%+v: %v", u, err)
			}
			want, _ := asked.Checked()
			if kept := got.Messages[0].Usage; *kept != want || !kept.Estimated {
				t.Errorf("a message keeps %+v, want %+v", *kept, want)
			}
			if u.InputTokens != asked.InputTokens || u.Currency != asked.Currency {
				t.Error("the caller's own was changed")
			}
			h := b.head(c.ID)
			err = b.Views.CommitFold(ctx,
				store.FoldCommit{Conversation: c.ID, Branch: h.Branch.ID, IfViewVersion: h.Branch.ViewVersion,
					View:    h.Branch.View,
					Receipt: scrollback.Receipt{Result: scrollback.ResultModelError, Cost: u.Cost},
					Usage:   []scrollback.UsageRecord{{Usage: u, Conversation: c.ID, Model: "m", Purpose: "summary", At: b.now}}})
			if err != nil {
				t.Fatalf("a fold with %+v: %v", u, err)
			}
		}
		sums, err := b.Books.SumUsage(ctx, scrollback.UsageQuery{ByDay: true, ByModel: true})
		if err != nil || len(sums) != 1 {
			t.Fatalf("%+v, %v", sums, err)
		}
		if s := sums[0]; s.Calls != 8 || s.EstimatedShare != 1 || !s.Estimated ||
			s.InputTokens != 4*scrollback.MaxCallTokens+10 ||
			s.Cost != 4*scrollback.MaxCallCost {
			t.Errorf("%+v", s)
		}
		receipts := must2(b.Views.ListReceipts(ctx, b.head(c.ID), 10))(t)
		for _, v := range []any{sums, receipts} {
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
	})
}

// What was taught is known, and a figure that cannot be is none.
func TestTeach(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		for _, edit := range []func(*scrollback.Learned){
			func(l *scrollback.Learned) {
				l.Factor = 1.5
				l.Limit = 100
				l.Dropped = []string{"seed"}
			},
			func(l *scrollback.Learned) {
				l.MaxOutput = -1
				l.LimitAt = -5
			},
			func(l *scrollback.Learned) { l.API = "chat" },
		} {
			if err := b.Books.UpdateLearned(ctx, "m", edit); err != nil {
				t.Fatal(err)
			}
		}
		got := must2(b.Books.ReadLearned(ctx, "m"))(t)
		if got.Factor != 1.5 || got.Limit != 100 || got.MaxOutput != 0 || got.LimitAt != 0 || got.API != "chat" ||
			len(got.Dropped) != 1 {
			t.Errorf("%+v", got)
		}
		for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -2} {
			if err := b.Books.UpdateLearned(ctx, "m", func(l *scrollback.Learned) { l.Factor = f }); err != nil {
				t.Fatal(err)
			}
			if got := must2(b.Books.ReadLearned(ctx, "m"))(t); got.Factor != 0 || got.Limit != 100 {
				t.Errorf("after the factor %v: %+v", f, got)
			}
		}
		wantCode(t, b.Books.UpdateLearned(ctx, "", func(*scrollback.Learned) {}), scrollback.Invalid, "")
	})
}
