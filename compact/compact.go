// Package compact decides when to fold, where to cut, how to ask a model for a
// summary, and what stands for the folded messages.
//
// [Plan] is pure: which live messages to fold so that the next window starts
// well under its budget. [Summarize] asks models, in order, and judges what they
// answer. [Build] makes segments, placeholders and the new view, with a summary
// or without. The engine commits what it returns.
//
// Words it adds: cut (the index of the first live message that stays), group (an
// assistant message and the results of its calls), lines (the extract in a
// placeholder), record (what a summariser is given of the history).
//
// Invariants: a cut never parts a call from its result; the newest user message
// stays, verbatim; leaves cover every folded message exactly once and never
// reach across a branch point; summary and placeholders stay within their bounds;
// a fold never depends on what a model answers, or whether it does.
//
// It may not know the store or the clock: ids, times and the token counter
// arrive as arguments.
package compact

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Policy says when to fold and how much. Shares are of the budget.
type Policy struct {
	Name string
	// TriggerShare: fold when tokens, bytes or images are over this share.
	TriggerShare float64
	// TriggerLimitShare: fold when tokens are over this share of the model's whole
	// window; 0 means never for that.
	TriggerLimitShare float64
	// AfterShare: the window right after a fold is at most this.
	AfterShare float64
	// KeepShare: at most this share of the live tokens stays; 0 means no bound.
	KeepShare float64
	// Summarizes: a model is asked for a summary.
	Summarizes bool
}

// The names of policies. Auto chooses by the model at hand.
const (
	Auto     = "auto"
	Segments = "segments"
	Snapshot = "snapshot"
)

// Bounds of what stands for folded messages.
const (
	PlaceholderTokens = 400
	PlaceholderShare  = 0.05 // of the budget, each
	PlaceholdersShare = 0.10 // of the budget, together, before the oldest roll up
	PlaceholdersMax   = 8
	SummaryTokens     = 4000
	SummaryShare      = 0.15 // of the budget
	ShrinkShare       = 0.95 // a fold must bring the window to at most this
	RetryGrowth       = 1.2  // an inflated fold is tried again after this growth
	FailuresMax       = 3    // calls for a summary that fail in a row before models rest
)

// Named is the policy of a name; empty is auto, which asks for summaries where
// some model at hand can write them.
func Named(name string, canSummarize bool) (Policy, error) {
	if name == "" || name == Auto {
		name = Segments
		if canSummarize {
			name = Snapshot
		}
	}
	switch name {
	case Segments:
		return Policy{Name: Segments, TriggerShare: 0.9, AfterShare: 0.5}, nil
	case Snapshot:
		return Policy{Name: Snapshot, TriggerShare: 0.9, TriggerLimitShare: 0.7, AfterShare: 0.4, KeepShare: 0.3, Summarizes: true}, nil
	}
	return Policy{}, scrollback.ParamErrorf("compact.Named", "policy", "unknown policy %q (auto, snapshot or segments)", name)
}

// Triggers says whether a window of weight w calls for a fold.
func (p Policy) Triggers(w scrollback.Weight, b scrollback.Budget) bool {
	return window.Over(w, b, p.TriggerShare) ||
		p.TriggerLimitShare > 0 && float64(w.Tokens) > p.TriggerLimitShare*float64(b.Limit)
}

// SummaryBound is the most that a summary may weigh, in tokens.
func SummaryBound(budget int64) int64 {
	return min(SummaryTokens, int64(SummaryShare*float64(budget)))
}

// Judge says whether a fold that takes a window from before to after tokens is
// worth having. It always is when the request would not fit otherwise.
func Judge(before, after int64, mustFit bool) scrollback.FoldResult {
	if mustFit || float64(after) <= ShrinkShare*float64(before) {
		return scrollback.FoldCompacted
	}
	return scrollback.FoldInflated
}

// MayAsk says whether a model may be asked for a summary: not while the last
// calls have failed and the path, of the given weight, has not grown since.
func MayAsk(v scrollback.View, pathTokens int64) bool {
	return v.Failures < FailuresMax || pathTokens >= v.AskAt
}

// Learn is v after what asking for a summary came to. When it failed, models rest
// until the path, of pathTokens now, has grown by a fifth of the budget.
func Learn(v scrollback.View, o Outcome, pathTokens, budget int64) scrollback.View {
	switch {
	case o.Text != "":
		v.Failures, v.AskAt = 0, 0
	case len(o.Calls) > 0:
		v.Failures += len(o.Calls)
		v.AskAt = pathTokens + int64((RetryGrowth-1)*float64(budget))
	}
	return v
}
