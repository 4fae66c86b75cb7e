package store

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Usage answers what a query asks for of the books.
func (s *Store) Usage(ctx context.Context, q scrollback.UsageQuery) ([]scrollback.UsageSum, error) {
	to := q.To
	if to == 0 {
		to = s.Now()
	}
	if q.From < 0 || to < q.From {
		return nil, scrollback.ParamErrorf("store.Usage", "from", "from must be a time before to, in Unix ms")
	}
	days, err := s.d.UsageDays(ctx, scrollback.DayOf(q.From), scrollback.DayOf(to))
	if err != nil {
		return nil, err
	}
	return sumUsage(days, q), nil
}

// Factor is what was learned of a model's tokens an o200k token; 0 for nothing.
func (s *Store) Factor(ctx context.Context, model string) (float64, error) {
	return s.d.Factor(ctx, model)
}

// sumUsage adds days up as a query asks, in the order they come.
func sumUsage(days []scrollback.UsageDay, q scrollback.UsageQuery) []scrollback.UsageSum {
	out := []scrollback.UsageSum{}
	at := map[scrollback.UsageSum]int{}
	estimated := []int64{}
	for _, d := range days {
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
