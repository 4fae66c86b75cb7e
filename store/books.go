package store

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Usage returns the usage that a query asks for.
func (p Books) Usage(ctx context.Context, q scrollback.UsageQuery) ([]scrollback.UsageSum, error) {
	to := q.To
	if to == 0 {
		to = p.s.Now()
	}
	if q.From < 0 || to < q.From {
		return nil, scrollback.ParamErrorf("store.Books.Usage", "from", "from must be a time before to, in Unix ms")
	}
	days, err := p.s.d.Book.UsageDays(ctx, scrollback.DayOf(q.From), scrollback.DayOf(to))
	if err != nil {
		return nil, err
	}
	return sumUsage(days, q), nil
}

// Learned returns what is known about a model; the zero value for nothing.
func (p Books) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	return p.s.d.Book.Learned(ctx, model)
}

// Teach lets edit change what is known about a model, in one transaction: nothing that
// others teach at the same time is lost, and nothing is written if nothing changes. edit
// is pure. An impossible figure, such as a negative one, becomes 0: unknown.
func (p Books) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	if model == "" {
		return scrollback.Errorf(scrollback.Invalid, "store.Books.Teach", "a model has a name")
	}
	return p.s.d.Book.Teach(ctx, model, func(l *scrollback.Learned) {
		edit(l)
		for _, n := range []*int64{&l.Limit, &l.LimitAt, &l.MaxOutput, &l.ListedAt} {
			*n = max(*n, 0)
		}
		if !(l.Factor >= 0) || math.IsInf(l.Factor, 0) {
			l.Factor = 0
		}
	})
}

// booked are records whose numbers are possible: whatever a provider reports, the books
// can be added up and read.
func booked(all []scrollback.UsageRecord) []scrollback.UsageRecord {
	all = slices.Clone(all)
	for i := range all {
		all[i].Usage, _ = all[i].Checked()
	}
	return all
}

// sumUsage adds days up as a query asks, in the order they come.
func sumUsage(days []scrollback.UsageDay, q scrollback.UsageQuery) []scrollback.UsageSum {
	out := []scrollback.UsageSum{}
	at := map[scrollback.UsageSum]int{}
	estimated := []int64{}
	for _, d := range days {
		if q.Projects != nil && !slices.Contains(q.Projects, d.Project) {
			continue
		}
		var key scrollback.UsageSum
		if q.ByDay {
			key.Day = time.UnixMilli(d.Day * scrollback.DayMS).UTC().Format(time.DateOnly)
		}
		if q.ByModel {
			key.Model = d.Model
		}
		if q.ByProject {
			key.Project = d.Project
		}
		key.Currency = d.Currency
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out, estimated = append(out, key), append(estimated, 0)
		}
		out[i].Usage = out[i].Usage.Add(d.Usage)
		out[i].Calls += d.Calls
		estimated[i] += d.EstimatedCalls
	}
	for i := range out {
		out[i].Estimated = estimated[i] > 0
		if out[i].Calls > 0 {
			out[i].EstimatedShare = float64(estimated[i]) / float64(out[i].Calls)
		}
	}
	return out
}

// Now returns the time by which the books are kept, in Unix ms.
func (p Books) Now() int64 { return p.s.Now() }
