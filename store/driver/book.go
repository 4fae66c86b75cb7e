package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Book reads what Finish and Commit have entered of models: usage, added up by day,
// and their factors. It also keeps what else is learned of them.
type Book interface {
	// UsageDays lists the sums of the days from first to last, both included, in
	// days since 1970 (UTC): by day, then model, project and currency.
	UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error)

	// Learned is what is known about a model; the zero value for nothing. What is stored
	// and cannot be read counts as nothing: it is learned again.
	Learned(ctx context.Context, model string) (scrollback.Learned, error)

	// Teach lets edit change what is known about a model, in one transaction, and
	// stores the result unless nothing changed. edit is pure.
	Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error
}

// Learn is a model's new factor, from the one so far (0 for none) and a record of
// a call. It is pure: Finish calls it inside its transaction, and leaves whatever else is
// known about the model as it is.
type Learn func(was float64, r scrollback.UsageRecord) float64

// Teaches reports whether there is something to learn from a record: its tokens were
// counted by the provider itself.
func (l Learn) Teaches(r scrollback.UsageRecord) bool {
	return l != nil && !r.Estimated && r.WindowTokens > 0 && r.InputTokens > 0
}
