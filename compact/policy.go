package compact

import (
	"maps"
	"math"
	"slices"
	"strconv"
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

// number is one of a policy's numbers: a share, or a count of something.
type number struct {
	name        string
	least, most float64
	share       func(*Policy) *float64
	count       func(*Policy) *int64
}

// most counts that make sense, so that a slip of the keyboard is found.
const (
	mostTokens   = 10_000_000
	mostMessages = 100_000
)

var numbers = []number{
	{name: "trigger_share", least: 0.1, most: 1, share: func(p *Policy) *float64 { return &p.TriggerShare }},
	{name: "trigger_limit_share", most: 1, share: func(p *Policy) *float64 { return &p.TriggerLimitShare }},
	{name: "trigger_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.TriggerMessages }},
	{name: "trigger_tokens", most: mostTokens, count: func(p *Policy) *int64 { return &p.TriggerTokens }},
	{name: "new_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.NewMessages }},
	{name: "after_share", least: 0.05, most: 0.95, share: func(p *Policy) *float64 { return &p.AfterShare }},
	{name: "keep_share", most: 1, share: func(p *Policy) *float64 { return &p.KeepShare }},
	{name: "keep_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.KeepMessages }},
	{name: "summary_tokens", least: 100, most: mostTokens, count: func(p *Policy) *int64 { return &p.SummaryTokens }},
	{name: "summary_share", least: 0.01, most: 0.25, share: func(p *Policy) *float64 { return &p.SummaryShare }},
	{name: "said_share", most: 0.9, share: func(p *Policy) *float64 { return &p.SaidShare }},
	{name: "check_calls", most: 3, count: func(p *Policy) *int64 { return &p.CheckCalls }},
	{name: "placeholder_tokens", least: 50, most: mostTokens, count: func(p *Policy) *int64 { return &p.PlaceholderTokens }},
	{name: "placeholder_share", least: 0.005, most: 0.25, share: func(p *Policy) *float64 { return &p.PlaceholderShare }},
	{name: "placeholders_max", least: 3, most: 64, count: func(p *Policy) *int64 { return &p.PlaceholdersMax }},
	{name: "placeholders_share", least: 0.01, most: 0.25, share: func(p *Policy) *float64 { return &p.PlaceholdersShare }},
	{name: "extract_lines", most: 50, count: func(p *Policy) *int64 { return &p.ExtractLines }},
	{name: "pinned_share", most: 0.5, share: func(p *Policy) *float64 { return &p.PinnedShare }},
	{name: "shrink_share", least: 0.1, most: 1, share: func(p *Policy) *float64 { return &p.ShrinkShare }},
	{name: "retry_growth", least: 1, most: 10, share: func(p *Policy) *float64 { return &p.RetryGrowth }},
	{name: "failures_max", least: 1, most: 1000, count: func(p *Policy) *int64 { return &p.FailuresMax }},
}

// Numbers lists a policy's numbers by the names that [Named] takes.
func (p Policy) Numbers() map[string]float64 {
	out := map[string]float64{}
	for _, n := range numbers {
		if n.share != nil {
			out[n.name] = *n.share(&p)
		} else {
			out[n.name] = float64(*n.count(&p))
		}
	}
	return out
}

func (p *Policy) set(name string, v float64) error {
	i := slices.IndexFunc(numbers, func(n number) bool { return n.name == name })
	if i < 0 {
		var known []string
		for _, n := range numbers {
			known = append(known, n.name)
		}
		return scrollback.ParamErrorf("compact.Named", "folding", "unknown number %q (%s)", name, strings.Join(known, ", "))
	}
	n := numbers[i]
	if !(v >= n.least && v <= n.most) || n.count != nil && v != math.Trunc(v) {
		kind := "a number"
		if n.count != nil {
			kind = "a whole number"
		}
		return scrollback.ParamErrorf("compact.Named", "folding", "%s is %s from %v to %s, not %v", name, kind, n.least, strconv.FormatFloat(n.most, 'f', -1, 64), v)
	}
	if n.share != nil {
		*n.share(p) = v
	} else {
		*n.count(p) = int64(v)
	}
	return nil
}

// foldedShare bounds what stands for folded messages, in all.
const foldedShare = 0.25

// check refuses numbers that contradict each other.
func (p *Policy) check() error {
	switch {
	case p.AfterShare >= p.TriggerShare:
		return scrollback.ParamErrorf("compact.Named", "folding", "after_share (%v) must be less than trigger_share (%v): a fold must bring the window under its trigger", p.AfterShare, p.TriggerShare)
	case p.SummaryShare+p.PlaceholdersShare > foldedShare+1e-9:
		return scrollback.ParamErrorf("compact.Named", "folding", "summary_share (%v) and placeholders_share (%v) are at most %v together", p.SummaryShare, p.PlaceholdersShare, foldedShare)
	case p.TriggerMessages > 0 && p.KeepMessages+p.NewMessages > p.TriggerMessages:
		return scrollback.ParamErrorf("compact.Named", "folding", "keep_messages and new_messages (%d) are more than trigger_messages (%d)", p.KeepMessages+p.NewMessages, p.TriggerMessages)
	}
	return nil
}
