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
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// load is what a request is about to carry, and how much of it could be folded.
type load struct {
	window   scrollback.Weight // of the whole request
	budget   scrollback.Budget
	tokens   int64 // of the messages that are not folded
	messages int64 // that are not folded
	fresh    int64 // of those, since the last fold
}

// triggers says whether a load calls for a fold.
func (p Policy) triggers(l load) bool {
	if window.Over(l.window, l.budget, p.TriggerShare) ||
		p.TriggerLimitShare > 0 && float64(l.window.Tokens) > p.TriggerLimitShare*float64(l.budget.Limit) {
		return true
	}
	many := p.TriggerMessages > 0 && l.messages >= p.TriggerMessages
	heavy := p.TriggerTokens > 0 && l.tokens >= p.TriggerTokens
	return (many || heavy) && l.fresh >= p.NewMessages
}

// summaryBound is the most that a summary may weigh, in tokens.
func (p Policy) summaryBound(budget int64) int64 {
	return min(p.SummaryTokens, int64(p.SummaryShare*float64(budget)))
}

// placeholderBound is the most that one placeholder may weigh, in tokens.
func (p Policy) placeholderBound(budget int64) int64 {
	return min(p.PlaceholderTokens, int64(p.PlaceholderShare*float64(budget)))
}

// PinnedBound is the most that pinned messages may weigh together, in tokens.
func (p Policy) PinnedBound(budget int64) int64 {
	return int64(p.PinnedShare * float64(budget))
}

// judge says whether a fold that takes a window from before to after tokens is
// worth having. It always is when the request would not fit otherwise.
func (p Policy) judge(before, after int64, mustFit bool) scrollback.CompactionResult {
	if mustFit || float64(after) <= p.ShrinkShare*float64(before) {
		return scrollback.ResultCompacted
	}
	return scrollback.ResultInflated
}

// mayAsk says whether a model may be asked for a summary: not while the last
// calls have failed and the path, of the given weight, has not grown since.
func (p Policy) mayAsk(v scrollback.View, pathTokens int64) bool {
	return int64(v.Failures) < p.FailuresMax || pathTokens >= v.AskAt
}

// learn is v after what asking for a summary came to. When it failed, models rest
// until the path, of pathTokens now, has grown by a share of the budget.
func (p Policy) learn(v scrollback.View, o outcome, pathTokens, budget int64) scrollback.View {
	switch {
	case o.text != "":
		v.Failures, v.AskAt = 0, 0
	case len(o.calls) > 0:
		v.Failures += len(o.calls)
		v.AskAt = pathTokens + int64(math.Round((p.RetryGrowth-1)*float64(budget)))
	}
	return v
}
