package driver

import (
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Book reads what Finish and Commit have entered of models: usage, added up by day,
// and their factors. It also keeps what else is learned of them.
type Book interface {
	// UsageDays lists the sums of the days from first to last, both included, in
	// days since 1970 (UTC): by day, then model, project and currency.
	UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error)

	// UsageParts is UsageDays, added up again from the records of calls and divided by
	// what a query asks for besides: in the same order, then by key, conversation and purpose.
	UsageParts(ctx context.Context, q UsageParts) ([]scrollback.UsageDay, error)

	// Spent sums what was used on a day: all tokens, and what was paid in the currency.
	Spent(ctx context.Context, q Spending) (scrollback.Usage, error)

	// Learned is what is known about a model; the zero value for nothing. What is stored
	// and cannot be read counts as nothing: it is learned again.
	Learned(ctx context.Context, model string) (scrollback.Learned, error)

	// Teach lets edit change what is known about a model, in one transaction, and
	// stores the result unless nothing changed. edit is pure.
	Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error
}

// UsageParts asks for the usage of days First to Last, both included, in days since 1970
// (in Zone, nil for UTC), divided by key, conversation and purpose as it says; only of one
// Conversation if that is named.
type UsageParts struct {
	Zone                             *time.Location
	First, Last                      int64
	ByKey, ByConversation, ByPurpose bool
	Conversation                     scrollback.ConversationID
}

// Spending asks what was used on a day: by a key, or in a project if Key is empty.
type Spending struct {
	Day      int64
	Key      scrollback.KeyID
	Project  string
	Currency string
}

// Limits counts what actors begin, and keeps what keys may do.
type Limits interface {
	// Count adds one to an actor's tally and returns the tally with it. One that is full
	// stays as it is and is rate_limited; see [Tallied]. Tallies that have ended go.
	Count(ctx context.Context, t Tally) (used int64, err error)

	// Counted is how much an actor has begun in the window of a tally; nothing is written.
	Counted(ctx context.Context, t Tally) (used int64, err error)

	// KeyLimits is what was set for a key; the zero value for nothing.
	KeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.Limits, error)

	// MadeBy are the keys that a key has made, and that those have made, and so on.
	MadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error)

	// SetKeyLimits replaces it; the zero value removes it.
	SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.Limits) error
}

// Tally is what an actor may begin from Start to Until, in Unix ms, Until not included.
type Tally struct {
	Actor        string
	Start, Until int64
	Most         int64

	// Within is a tally of somebody else in which it counts too, or nil: all are counted or none.
	Within *Tally
}

// Made finds the keys that root has made, and that those have made, by who made which.
func Made(root scrollback.KeyID, makers map[scrollback.KeyID]scrollback.KeyID) (out []scrollback.KeyID) {
	for id := range makers {
		at := makers[id]
		for range len(makers) { // nobody makes a key's maker, whatever is stored
			if at == root || at == "" {
				break
			}
			at = makers[at]
		}
		if at == root && id != root {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Tallied is the tally with one more, or rate_limited when there is no room for it.
func (t Tally) Tallied(used int64) (int64, error) {
	if used >= t.Most {
		return used, scrollback.Errorf(scrollback.RateLimited, "store", "the limit of %d in a window of %d s is reached",
			t.Most, (t.Until-t.Start)/1000)
	}
	return used + 1, nil
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
