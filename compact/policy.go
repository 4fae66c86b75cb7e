package compact

import (
	"math"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/window"
)

// The names of policies. Auto chooses by the models that are available.
const (
	Auto     = "auto"
	Snapshot = "snapshot"
	Rolling  = "rolling"
	Segments = "segments"
)

// Policy decides when to fold, how much, and what may replace it. Shares are of the
// budget unless noted otherwise; a trigger of 0 never fires.
type Policy struct {
	Name       string
	Summarizes bool // ask models for a summary

	// Fold when tokens, bytes or images reach TriggerShare, or tokens reach
	// TriggerLimitShare of the model's whole window; or when TriggerMessages or
	// TriggerTokens are live, and NewMessages of them are new since the last fold.
	TriggerShare, TriggerLimitShare             float64
	TriggerMessages, TriggerTokens, NewMessages int64

	// After a fold the window is at most AfterShare; at most KeepShare of the live tokens
	// stay (0: no bound), and at least KeepMessages if they fit.
	AfterShare, KeepShare float64
	KeepMessages          int64

	// LeastShare and the last exchange stay live in any case, as far as the window is
	// then at most MostShare. See [Policy.leastLive] and [Policy.mostAfter].
	LeastShare, MostShare float64

	// Bounds of the summary; SaidShare of it is for what is carried word for word.
	// CheckCalls is how often a model is asked to check it against the record.
	SummaryTokens           int64
	SummaryShare, SaidShare float64
	CheckCalls              int64

	// Bounds of each placeholder, and of all together before the oldest roll up.
	PlaceholderTokens, ExtractLines, PlaceholdersMax int64
	PlaceholderShare, PlaceholdersShare              float64

	PinnedShare float64 // of the budget, for all pinned messages

	// A fold must bring the window to ShrinkShare of what it was. After FailuresMax
	// failed calls in a row, or a fold that did not shrink, nothing is tried until
	// the conversation has grown by a factor of RetryGrowth.
	ShrinkShare, RetryGrowth float64
	FailuresMax              int64
}

// policyPresets are the policies, a row each: whether it summarizes, and its numbers by their names, 0 too. Those that
// a row does not name are the shared ones.
var policyPresets = []policyPreset{
	{Snapshot, true, map[string]float64{"trigger_limit_share": 0.7, "after_share": 0.4, "keep_share": 0.3,
		"extract_lines": 5}},
	{Rolling, true, map[string]float64{"trigger_messages": 12, "trigger_tokens": 3500, "new_messages": 4,
		"after_share": 0.6, "keep_share": 0.5, "keep_messages": 4, "extract_lines": 3}},
	{Segments, false, map[string]float64{"after_share": 0.5, "keep_messages": 4, "extract_lines": 5}},
}

type policyPreset struct {
	name       string
	summarizes bool
	numbers    map[string]float64
}

// sharedPolicy has the numbers of every policy whose row does not name them.
func sharedPolicy() Policy {
	return Policy{TriggerShare: 0.9, LeastShare: 0.25, MostShare: 0.7, SummaryTokens: 4000, SummaryShare: 0.15,
		SaidShare: 0.25, PlaceholderTokens: 400, PlaceholderShare: 0.05, PlaceholdersMax: 8, PlaceholdersShare: 0.10,
		PinnedShare: 0.10, ShrinkShare: 0.95, RetryGrowth: 1.2, FailuresMax: 3}
}

// Names lists the names of the policies, Auto first.
func Names() []string {
	out := []string{Auto}
	for _, p := range policyPresets {
		out = append(out, p.name)
	}
	return out
}

func findPreset(name string) (policyPreset, bool) {
	i := slices.IndexFunc(policyPresets, func(p policyPreset) bool { return p.name == name })
	if i < 0 {
		return policyPreset{}, false
	}
	return policyPresets[i], true
}

// policy returns the policy of a row.
func (row policyPreset) policy() (Policy, error) {
	p := sharedPolicy()
	p.Name = row.name
	p.Summarizes = row.summarizes
	return p, p.setNumbers(row.numbers)
}

// FindPolicy returns the policy with a name; empty means auto, which asks for summaries if
// the model can write them. The numbers replace its own, by the names that
// [Policy.Numbers] lists; later sets override earlier ones. An unknown name and a
// number out of bounds are invalid.
func FindPolicy(name string, canSummarize bool, numbers ...map[string]float64) (Policy, error) {
	if name == "" || name == Auto {
		name = Segments
		if canSummarize {
			name = Snapshot
		}
	}
	row, ok := findPreset(name)
	if !ok {
		return Policy{}, scrollback.ParamErrorf("compact.Named", "policy", i18n.UnknownPolicy, name,
			strings.Join(Names(), ", "))
	}
	p, err := row.policy()
	if err != nil {
		return Policy{}, err
	}
	for _, set := range numbers {
		if err := p.setNumbers(set); err != nil {
			return Policy{}, err
		}
	}
	return p, p.checkNumbers()
}

// requestLoad is the weight of a request, and how much of it could be folded.
type requestLoad struct {
	window   scrollback.Weight // of the whole request
	fixed    int64             // tokens of its instructions, tools and environment
	budget   scrollback.Budget
	tokens   int64 // of the live messages
	messages int64 // how many are live
	fresh    int64 // how many of those are new since the last fold
}

// mustFold reports whether a window is so full that it must be folded.
func (p Policy) mustFold(l requestLoad) bool {
	share, ofLimit := p.triggerShares(l.budget, l.fixed)
	return window.ReachesShare(l.window, l.budget, share) ||
		ofLimit > 0 && window.Reaches(l.window.Tokens, l.budget.Limit, ofLimit)
}

// TriggerWeight returns the weight of a window, in tokens, at which it must be folded; 0 for none.
func (p Policy) TriggerWeight(w scrollback.Window) int64 {
	b := w.Budget
	share, ofLimit := p.triggerShares(b, fixedTokens(w))
	at := share * float64(b.Tokens)
	if own := ofLimit * float64(b.Limit); own > 0 && (at == 0 || own < at) {
		at = own
	}
	return int64(math.Ceil(at))
}

// fixedTokens returns the tokens of what no fold changes: instructions, tools and environment.
func fixedTokens(w scrollback.Window) (tokens int64) {
	for i := range w.Items {
		switch w.Items[i].Kind {
		case scrollback.KindInstructions, scrollback.KindTools, scrollback.KindEnvironment:
			tokens += w.Items[i].Weight.Tokens
		}
	}
	return tokens
}

// standsShare is the share of the budget that what stands for folded messages may take beside
// what stays live at least.
const standsShare = 0.15

// maxShareAfter returns the share of the budget that a window may have after a fold whatever the other
// numbers say: the least that stays live, and what stands for the rest.
func (p Policy) maxShareAfter() float64 { return min(p.LeastShare+standsShare, 0.75) }

// triggerShares returns the shares of the budget and of the limit at which a window must be folded: the
// policy's, but never so low that a fold which leaves enough live, beside what is fixed, is followed by the next.
func (p Policy) triggerShares(b scrollback.Budget, fixed int64) (share, ofLimit float64) {
	least := p.maxShareAfter() / belowTrigger
	if b.Tokens > 0 {
		least = min((p.maxShareAfter()+float64(fixed)/float64(b.Tokens))/belowTrigger, 1)
	}
	share = p.TriggerShare
	ofLimit = p.TriggerLimitShare
	if share > 0 {
		share = max(share, least)
	}
	if ofLimit > 0 && b.Limit > 0 {
		ofLimit = max(ofLimit, least*float64(b.Tokens)/float64(b.Limit))
	}
	return share, ofLimit
}

// isTriggered reports whether a load calls for a fold.
func (p Policy) isTriggered(l requestLoad) bool {
	if p.mustFold(l) {
		return true
	}
	many := p.TriggerMessages > 0 && l.messages >= p.TriggerMessages
	heavy := p.TriggerTokens > 0 && l.tokens >= p.TriggerTokens
	return (many || heavy) && l.fresh >= p.NewMessages && p.leavesEnough(l)
}

// leavesEnough reports whether a fold that no budget calls for leaves enough live: the share that
// the policy keeps must be what stays at least. In a window so big that TriggerTokens
// are reached long before that, it need not be, until that much is live.
func (p Policy) leavesEnough(l requestLoad) bool {
	least := p.leastLive(l.budget.Tokens)
	return p.KeepShare == 0 || p.KeepShare*float64(l.tokens) >= float64(least) ||
		least > p.TriggerTokens && l.tokens < least
}

// leastLive returns how many tokens of live messages a fold leaves, where that many are live.
func (p Policy) leastLive(budget int64) int64 {
	return int64(math.Ceil(p.LeastShare * float64(budget)))
}

// mostAfter returns the most that a window may weigh, in tokens, after a fold that keeps more
// than AfterShare allows. It stays so far below what triggers the next fold that some
// turns pass before it.
func (p Policy) mostAfter(b scrollback.Budget, fixed int64) int64 {
	share, ofLimit := p.triggerShares(b, fixed)
	trigger := share * float64(b.Tokens)
	if ofLimit > 0 {
		trigger = min(trigger, ofLimit*float64(b.Limit))
	}
	return int64(max(p.AfterShare*float64(b.Tokens), p.maxShareAfter()*float64(b.Tokens),
		min(p.MostShare*float64(b.Tokens), belowTrigger*trigger)))
}

// belowTrigger is the share of the trigger that a window reaches after a fold at most.
const belowTrigger = 0.8

// maxSummary returns the most that a summary may weigh, in tokens.
func (p Policy) maxSummary(budget int64) int64 {
	return min(p.SummaryTokens, int64(p.SummaryShare*float64(budget)))
}

// maxPlaceholder returns the most that one placeholder may weigh, in tokens.
func (p Policy) maxPlaceholder(budget int64) int64 {
	return min(p.PlaceholderTokens, int64(p.PlaceholderShare*float64(budget)))
}

// MaxPinned returns the most that pinned messages may weigh together, in tokens.
func (p Policy) MaxPinned(budget int64) int64 {
	return int64(p.PinnedShare * float64(budget))
}

// judgeFold says whether a fold that takes a window from before to after tokens is
// worth having.
func (p Policy) judgeFold(before, after int64) scrollback.CompactionResult {
	if float64(after) <= p.ShrinkShare*float64(before) {
		return scrollback.ResultCompacted
	}
	return scrollback.ResultInflated
}

// mayAsk reports whether a model may be asked for a summary: not while the last
// calls have failed and the path, of the given weight, has not grown since.
func (p Policy) mayAsk(v scrollback.View, pathTokens int64) bool {
	return int64(v.Failures) < p.FailuresMax || pathTokens >= v.AskAt
}

// callsLeft returns how many calls may fail now before models rest: those that are left in a
// row, and after that one at a time.
func (p Policy) callsLeft(v scrollback.View) int {
	return int(max(p.FailuresMax-int64(v.Failures), 1))
}

// learnOutcome returns v with what asking for a summary taught. After failures models rest
// until the path, of pathTokens now, has grown by a factor, and at least by that share of
// the budget. Each further failure doubles the growth, up to 80 % for one of 20, but not past one budget more:
// a long path takes too many turns to grow by a share of it.
func (p Policy) learnOutcome(v scrollback.View, o askOutcome, pathTokens, budget int64) scrollback.View {
	switch {
	case o.text != "":
		v.Failures = 0
		v.AskAt = 0
	case len(o.calls) > 0:
		v.Failures += len(o.calls)
		growth := p.RetryGrowth - 1
		of := float64(max(pathTokens, budget))
		least := growth * of
		for n := int64(v.Failures); n > p.FailuresMax && growth < 0.5; n-- {
			growth *= 2
		}
		v.AskAt = pathTokens + int64(math.Round(max(least, min(growth*of, float64(budget)))))
	}
	return v
}
