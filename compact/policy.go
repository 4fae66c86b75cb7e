package compact

import (
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
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
