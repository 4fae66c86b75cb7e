package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Book reads what Finish and Commit have entered: usage, added up by day, and what
// was learned of models. No method of it writes anything.
type Book interface {
	// UsageDays lists the sums of the days from first to last, both included, in
	// days since 1970 (UTC): by day, then model, project and currency.
	UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error)

	// Factor is what was learned of a model's tokens an o200k token; 0 for nothing.
	Factor(ctx context.Context, model string) (float64, error)
}

// Learn is a model's new factor, from the one so far (0 for none) and a record of
// a call. It is pure: the books call it inside their transaction.
type Learn func(was float64, r scrollback.UsageRecord) float64

// Teaches says whether there is something to learn from a record: its tokens were
// counted by the provider itself.
func (l Learn) Teaches(r scrollback.UsageRecord) bool {
	return l != nil && !r.Estimated && r.WindowTokens > 0 && r.InputTokens > 0
}
