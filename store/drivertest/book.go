package drivertest

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// UsageDays implements [driver.Book].
func (f *Faulty) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	return faulty(f, "UsageDays", func() ([]scrollback.UsageDay, error) { return f.Driver.UsageDays(ctx, first, last) })
}

// Factor implements [driver.Book].
func (f *Faulty) Factor(ctx context.Context, model string) (float64, error) {
	return faulty(f, "Factor", func() (float64, error) { return f.Driver.Factor(ctx, model) })
}

// learnLast is a factor that is the last report, so that a test can see each.
func learnLast(_ float64, r scrollback.UsageRecord) float64 {
	return float64(r.InputTokens) / float64(r.WindowTokens)
}

// testBooks: calls of turns and of folds are added up by day, model, project and
// currency; what fails enters nothing.
func testBooks(w *bench) {
	c := w.conversation()
	turn := w.begin(c.ID, w.entry(scrollback.RoleUser, "")).Turn
	day := w.now / scrollback.DayMS
	record := func(at, input int64, model, currency string, estimated bool) scrollback.UsageRecord {
		return scrollback.UsageRecord{Conversation: c.ID, Model: model, Purpose: "turn", At: at, Usage: scrollback.Usage{InputTokens: input, CachedTokens: 2,
			CacheWriteTokens: 3, OutputTokens: 4, ReasoningTokens: 5, TotalTokens: input + 4, Cost: 0.25, Currency: currency, Estimated: estimated}}
	}
	records := []scrollback.UsageRecord{record(w.now, 10, "a/x", "USD", false), record(w.now, 20, "a/x", "USD", true),
		record(w.now, 1, "a/x", "EUR", false), record(w.now+scrollback.DayMS, 7, "a/x", "USD", false), record(w.now, 3, "b/y", "USD", false)}
	f := driver.Finish{Turn: turn.ID, Owner: "another", Now: w.tick(), State: scrollback.TurnOpen, LeaseUntil: w.now + lease, Usage: records}
	_, err := w.Finish(w.ctx, f)
	w.code(err, scrollback.Conflict)
	if got, err := w.UsageDays(w.ctx, 0, 1<<40); err != nil || len(got) != 0 {
		w.t.Fatalf("a refused Finish entered %+v (%v)", got, err)
	}
	f.Owner = turn.Owner
	_, err = w.Finish(w.ctx, f)
	w.ok(err)
	b := w.head(c.ID).Branch
	fold := driver.Commit{Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion + 1, View: b.View, Now: w.tick(),
		Receipt: scrollback.Receipt{Result: scrollback.FoldInflated}, Usage: []scrollback.UsageRecord{record(w.now, 100, "a/x", "USD", false)}}
	w.code(w.Commit(w.ctx, fold), scrollback.Conflict)
	fold.IfViewVersion--
	w.ok(w.Commit(w.ctx, fold))

	sum := func(day int64, model, currency string, n, input int64, estimated int64) scrollback.UsageDay {
		return scrollback.UsageDay{Day: day, Model: model, Project: c.Project, Calls: n, EstimatedCalls: estimated, Usage: scrollback.Usage{InputTokens: input,
			CachedTokens: 2 * n, CacheWriteTokens: 3 * n, OutputTokens: 4 * n, ReasoningTokens: 5 * n, TotalTokens: input + 4*n, Cost: 0.25 * float64(n),
			Currency: currency, Estimated: estimated > 0}}
	}
	today := []scrollback.UsageDay{sum(day, "a/x", "EUR", 1, 1, 0), sum(day, "a/x", "USD", 3, 130, 1), sum(day, "b/y", "USD", 1, 3, 0)}
	got, err := w.UsageDays(w.ctx, day, day)
	w.ok(err)
	same(w.t, "the day", today, got)
	got, err = w.UsageDays(w.ctx, day, day+5)
	w.ok(err)
	same(w.t, "both days", append(today, sum(day+1, "a/x", "USD", 1, 7, 0)), got)
	got, err = w.UsageDays(w.ctx, day+2, day+5)
	w.ok(err)
	same(w.t, "no day", []scrollback.UsageDay(nil), got)
}

// testFactor: a report that its provider counted teaches, and no other.
func testFactor(w *bench) {
	c := w.conversation()
	turn := w.begin(c.ID, w.entry(scrollback.RoleUser, "")).Turn
	report := func(sent, input int64, estimated bool) {
		_, err := w.Finish(w.ctx, driver.Finish{Turn: turn.ID, Owner: turn.Owner, Now: w.tick(), State: scrollback.TurnOpen, LeaseUntil: w.now + lease, Learn: learnLast,
			Usage: []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", Purpose: "turn", At: w.now, WindowTokens: sent, Usage: scrollback.Usage{InputTokens: input, Estimated: estimated}}}})
		w.ok(err)
	}
	want := func(f float64) {
		w.t.Helper()
		for model, f := range map[string]float64{"a/x": f, "b/y": 0} {
			if got, err := w.Factor(w.ctx, model); err != nil || got != f {
				w.t.Fatalf("the factor of %s is %v (%v), want %v", model, got, err, f)
			}
		}
	}
	want(0)
	report(1000, 1500, true)
	report(0, 1500, false)
	report(1000, 0, false)
	want(0)
	report(1000, 1500, false)
	want(1.5)
	report(1000, 1250, false)
	want(1.25)
}
