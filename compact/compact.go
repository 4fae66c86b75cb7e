// Package compact decides when to fold, where to cut, and what stands for the
// folded messages.
//
// [Plan] is pure: which live messages to fold so that the next window starts
// well under its budget. [Build] makes of them segments, placeholders and the
// new view, without asking a model. The engine commits what it returns.
//
// Words it adds: cut (the index of the first live message that stays), group (an
// assistant message and the results of its calls), lines (the extract in a
// placeholder).
//
// Invariants: a cut never parts a call from its result; the newest user message
// stays, verbatim; leaves cover every folded message exactly once and never
// reach across a branch point; placeholders stay within their bounds.
//
// It may not know the store, models or the clock: ids, times and the token
// counter arrive as arguments.
package compact

import (
	"github.com/scrollback-ai/scrollback"
)

// Policy says when to fold and how much. Shares are of the budget.
type Policy struct {
	Name         string
	TriggerShare float64 // fold when tokens, bytes or images are over this share
	AfterShare   float64 // the window right after a fold is at most this
}

// The names of policies. Auto chooses by the model at hand.
const (
	Auto     = "auto"
	Segments = "segments"
)

// Bounds of what stands for folded messages.
const (
	PlaceholderTokens = 400
	PlaceholderShare  = 0.05 // of the budget, each
	PlaceholdersShare = 0.10 // of the budget, together, before the oldest roll up
	PlaceholdersMax   = 8
	ShrinkShare       = 0.95 // a fold must bring the window to at most this
	RetryGrowth       = 1.2  // an inflated fold is tried again after this growth
)

// Named is the policy of a name; empty is auto.
func Named(name string) (Policy, error) {
	switch name {
	case "", Auto, Segments:
		return Policy{Name: Segments, TriggerShare: 0.9, AfterShare: 0.5}, nil
	}
	return Policy{}, scrollback.ParamErrorf("compact.Named", "policy", "unknown policy %q (auto or segments)", name)
}

// Judge says whether a fold that takes a window from before to after tokens is
// worth having. It always is when the request would not fit otherwise.
func Judge(before, after int64, mustFit bool) scrollback.FoldResult {
	if mustFit || float64(after) <= ShrinkShare*float64(before) {
		return scrollback.FoldCompacted
	}
	return scrollback.FoldInflated
}
