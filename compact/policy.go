package compact

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// The names of policies. Auto chooses by the models at hand.
const (
	Auto     = "auto"
	Snapshot = "snapshot"
	Rolling  = "rolling"
	Segments = "segments"
)

// Policy says when to fold, how much, and what may stand for it. Shares are of the
// budget unless they say otherwise; a trigger of 0 is none.
type Policy struct {
	Name       string
	Summarizes bool // models are asked for a summary

	// Fold when tokens, bytes or images are over TriggerShare, or tokens over
	// TriggerLimitShare of the model's whole window; or when TriggerMessages or
	// TriggerTokens are not folded, and NewMessages of them are new since the last fold.
	TriggerShare, TriggerLimitShare             float64
	TriggerMessages, TriggerTokens, NewMessages int64

	// After a fold the window is at most AfterShare; at most KeepShare of the tokens
	// that were live stay (0: no bound), and at least KeepMessages if they fit.
	AfterShare, KeepShare float64
	KeepMessages          int64

	// Bounds of the summary; SaidShare of it is for what is carried word for word.
	// CheckCalls is how often a model is asked to hold it against the record.
	SummaryTokens           int64
	SummaryShare, SaidShare float64
	CheckCalls              int64

	// Bounds of each placeholder, and of all before the oldest roll up.
	PlaceholderTokens, ExtractLines, PlaceholdersMax int64
	PlaceholderShare, PlaceholdersShare              float64

	PinnedShare float64 // of the budget, for all pinned messages

	// A fold must bring the window to ShrinkShare of what it was. After FailuresMax
	// failed calls in a row, or a fold that did not shrink, nothing is tried until
	// the conversation weighs RetryGrowth as much.
	ShrinkShare, RetryGrowth float64
	FailuresMax              int64
}

// presets are the policies. What all share is in [preset].
var presets = map[string]Policy{
	Snapshot: {Summarizes: true, TriggerLimitShare: 0.7, AfterShare: 0.4, KeepShare: 0.3, ExtractLines: 5},
	Rolling: {Summarizes: true, TriggerMessages: 12, TriggerTokens: 3500, NewMessages: 4, AfterShare: 0.6, KeepShare: 0.5,
		KeepMessages: 4, ExtractLines: 3},
	Segments: {AfterShare: 0.5, KeepMessages: 4, ExtractLines: 5},
}

func preset(name string) (Policy, bool) {
	p, ok := presets[name]
	p.Name, p.TriggerShare = name, 0.9
	p.SummaryTokens, p.SummaryShare, p.SaidShare = 4000, 0.15, 0.25
	p.PlaceholderTokens, p.PlaceholderShare, p.PlaceholdersMax, p.PlaceholdersShare = 400, 0.05, 8, 0.10
	p.PinnedShare, p.ShrinkShare, p.RetryGrowth, p.FailuresMax = 0.10, 0.95, 1.2, 3
	return p, ok
}

// carries says that what was said is carried word for word beside the summary, also
// where no model is asked for one.
func (p Policy) carries() bool { return p.Name != Segments }

// Named is the policy of a name; empty is auto, which asks for summaries where
// some model at hand can write them. Numbers replace its own, by the names that
// [Numbers] lists; later ones count over earlier ones.
func Named(name string, canSummarize bool, numbers ...map[string]float64) (Policy, error) {
	if name == "" || name == Auto {
		name = Segments
		if canSummarize {
			name = Snapshot
		}
	}
	p, ok := preset(name)
	if !ok {
		return Policy{}, scrollback.ParamErrorf("compact.Named", "policy", "unknown policy %q (%s)", name, strings.Join([]string{Auto, Snapshot, Rolling, Segments}, ", "))
	}
	for _, set := range numbers {
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if err := p.set(key, set[key]); err != nil {
				return Policy{}, err
			}
		}
	}
	return p, p.check()
}

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
