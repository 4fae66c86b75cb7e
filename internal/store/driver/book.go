package driver

import (
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// UsagePartsQuery asks for the usage of days First to Last, both included, in days since 1970
// (in Zone, nil for UTC), divided by key, conversation and purpose as it says; only of one
// Conversation if that is named.
type UsagePartsQuery struct {
	Zone                             *time.Location
	First, Last                      int64
	ByKey, ByConversation, ByPurpose bool
	Conversation                     scrollback.ConversationID
}

// SpendingQuery asks what was used on a day: by a key, or in a project if Key is empty.
type SpendingQuery struct {
	Day      int64
	Key      scrollback.KeyID
	Project  string
	Currency string
}

// Tally is what an actor may begin from Start to Until, in Unix ms, Until not included.
type Tally struct {
	Actor        string
	Start, Until int64
	Most         int64

	// Within is a tally of somebody else in which it counts too, or nil: all are counted or none.
	Within *Tally
}

// CollectMadeKeys finds the keys that root has made, and that those have made, by who made which.
func CollectMadeKeys(root scrollback.KeyID, makers map[scrollback.KeyID]scrollback.KeyID) (out []scrollback.KeyID) {
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

// CountOne returns the tally with one more, or rate_limited when there is no room for it.
func (t Tally) CountOne(used int64) (int64, error) {
	if used >= t.Most {
		return used, scrollback.Errorf(scrollback.RateLimited, "store", i18n.WindowLimitReached,
			t.Most, (t.Until-t.Start)/1000)
	}
	return used + 1, nil
}

// FactorUpdate is a model's new factor, from the one so far (0 for none) and a record of
// a call. It is pure: FinishStep calls it inside its transaction, and leaves whatever else is
// known about the model as it is.
type FactorUpdate func(was float64, r scrollback.UsageRecord) float64

// LearnsFrom reports whether there is something to learn from a record: its tokens were
// counted by the provider itself.
func (l FactorUpdate) LearnsFrom(r scrollback.UsageRecord) bool {
	return l != nil && !r.Estimated && r.WindowTokens > 0 && r.InputTokens > 0
}
