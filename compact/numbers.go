package compact

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/nearest"
)

// policyNumber is one of a policy's numbers: a share, or a count of something.
type policyNumber struct {
	name        string
	least, most float64
	share       func(*Policy) *float64
	count       func(*Policy) *int64
}

// The greatest counts that make sense, so that a typing error is noticed.
const (
	mostTokens   = 10_000_000
	mostMessages = 100_000
)

var numbers = []policyNumber{
	{name: "trigger_share", least: 0.1, most: 1, share: func(p *Policy) *float64 { return &p.TriggerShare }},
	{name: "trigger_limit_share", most: 1, share: func(p *Policy) *float64 { return &p.TriggerLimitShare }},
	{name: "trigger_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.TriggerMessages }},
	{name: "trigger_tokens", most: mostTokens, count: func(p *Policy) *int64 { return &p.TriggerTokens }},
	{name: "new_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.NewMessages }},
	{name: "after_share", least: 0.05, most: 0.95, share: func(p *Policy) *float64 { return &p.AfterShare }},
	{name: "keep_share", most: 1, share: func(p *Policy) *float64 { return &p.KeepShare }},
	{name: "keep_messages", most: mostMessages, count: func(p *Policy) *int64 { return &p.KeepMessages }},
	{name: "least_share", most: 0.6, share: func(p *Policy) *float64 { return &p.LeastShare }},
	{name: "most_share", least: 0.05, most: 0.95, share: func(p *Policy) *float64 { return &p.MostShare }},
	{name: "summary_tokens", least: 100, most: mostTokens, count: func(p *Policy) *int64 { return &p.SummaryTokens }},
	{name: "summary_share", least: 0.01, most: 0.25, share: func(p *Policy) *float64 { return &p.SummaryShare }},
	{name: "said_share", most: 0.9, share: func(p *Policy) *float64 { return &p.SaidShare }},
	{name: "check_calls", most: 3, count: func(p *Policy) *int64 { return &p.CheckCalls }},
	{name: "placeholder_tokens", least: 50, most: mostTokens,
		count: func(p *Policy) *int64 { return &p.PlaceholderTokens }},
	{name: "placeholder_share", least: 0.005, most: 0.25, share: func(p *Policy) *float64 { return &p.PlaceholderShare }},
	{name: "placeholders_max", least: 3, most: 64, count: func(p *Policy) *int64 { return &p.PlaceholdersMax }},
	{name: "placeholders_share", least: 0.01, most: 0.25, share: func(p *Policy) *float64 { return &p.PlaceholdersShare }},
	{name: "extract_lines", most: 50, count: func(p *Policy) *int64 { return &p.ExtractLines }},
	{name: "pinned_share", most: 0.5, share: func(p *Policy) *float64 { return &p.PinnedShare }},
	{name: "shrink_share", least: 0.1, most: 1, share: func(p *Policy) *float64 { return &p.ShrinkShare }},
	{name: "retry_growth", least: 1, most: 10, share: func(p *Policy) *float64 { return &p.RetryGrowth }},
	{name: "failures_max", least: 1, most: 1000, count: func(p *Policy) *int64 { return &p.FailuresMax }},
}

// Number describes one of the numbers that every policy has.
type Number struct {
	Name        string
	Least, Most float64
	Whole       bool // it counts something
}

// Numbers lists the numbers that [FindPolicy] takes, in the order in which they are described.
func Numbers() []Number {
	out := make([]Number, len(numbers))
	for i, n := range numbers {
		out[i] = Number{Name: n.name, Least: n.least, Most: n.most, Whole: n.count != nil}
	}
	return out
}

// Numbers lists a policy's numbers by the names that [FindPolicy] takes.
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

// setNumbers sets numbers by their names, in the order of these.
func (p *Policy) setNumbers(set map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if err := p.setNumber(name, set[name]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Policy) setNumber(name string, v float64) error {
	i := slices.IndexFunc(numbers, func(n policyNumber) bool { return n.name == name })
	if i < 0 {
		var known []string
		for _, n := range numbers {
			known = append(known, n.name)
		}
		var hint scrollback.Sentence
		if near := nearest.FindNearest(name, known); near != "" {
			hint = scrollback.NewSentence(i18n.DidYouMean, near)
		}
		return scrollback.ParamErrorf("compact.Named", "compaction", i18n.UnknownPolicyNumber, name, hint,
			strings.Join(known, ", "))
	}
	n := numbers[i]
	if !(v >= n.least && v <= n.most) || n.count != nil && v != math.Trunc(v) {
		kind := i18n.KindNumber
		if n.count != nil {
			kind = i18n.KindWholeNumber
		}
		return scrollback.ParamErrorf("compact.Named", "compaction", i18n.PolicyNumberOutOfRange, name, kind, n.least,
			strconv.FormatFloat(n.most, 'f', -1, 64), v)
	}
	if n.share != nil {
		*n.share(p) = v
	} else {
		*n.count(p) = int64(v)
	}
	return nil
}

// foldedShare bounds all that stands for folded messages.
const foldedShare = 0.25

// checkNumbers refuses numbers that contradict each other.
func (p *Policy) checkNumbers() error {
	switch {
	case p.AfterShare >= p.TriggerShare:
		return scrollback.ParamErrorf("compact.Named", "compaction",
			i18n.AfterShareAboveTrigger,
			p.AfterShare, p.TriggerShare)
	case p.TriggerLimitShare > 0 && p.TriggerLimitShare < p.AfterShare:
		return scrollback.ParamErrorf("compact.Named", "compaction",
			i18n.TriggerLimitShareBelowAfterShare, p.TriggerLimitShare,
			p.AfterShare)
	case p.SummaryShare+p.PlaceholdersShare > foldedShare+1e-9:
		return scrollback.ParamErrorf("compact.Named", "compaction",
			i18n.SummaryAndPlaceholdersShareTooLarge, p.SummaryShare, p.PlaceholdersShare,
			foldedShare)
	case p.SummaryShare+2*p.PlaceholderShare > foldedShare+1e-9: // two are never joined
		return scrollback.ParamErrorf("compact.Named", "compaction",
			i18n.SummaryAndPlaceholderShareTooLarge, p.SummaryShare,
			p.PlaceholderShare, foldedShare)
	case p.TriggerMessages > 0 && p.KeepMessages+p.NewMessages > p.TriggerMessages:
		return scrollback.ParamErrorf("compact.Named", "compaction",
			i18n.KeptMessagesAboveTrigger, p.KeepMessages+p.NewMessages,
			p.TriggerMessages)
	}
	return nil
}
