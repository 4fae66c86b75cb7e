package compact

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Bounds of looking for a cut that keeps more.
const (
	mostTrials = 8    // folds that are made only to be weighed
	slackShare = 0.05 // of the budget; estimates that are off by no more are good enough
	rounding   = 8    // tokens by which a text may differ from the sum of its lines
)

// cutSearch looks for a cut that leaves enough of the conversation in sight.
type cutSearch struct {
	j      *foldJob
	before *windowWeights
	after  func(foldCut) scrollback.Weight // an upper bound
	most   int64                           // tokens of the window after the fold
	trials int
}

// settleCut moves the policy's cut back where it leaves too little in sight: less than the
// policy's least share, or not the last exchange. The window may then weigh more than
// the policy's own share, and what stands for the folded messages is counted as it is.
// It returns the most tokens that a model's summary may have, so that this holds.
func (j *foldJob) settleCut(before *windowWeights) (room int64, err error) {
	if j.More || !j.choosesCut() {
		return j.summaryRoom(), nil
	}
	s := cutSearch{j: j, before: before, after: j.afterCut(before.fixed),
		most: j.Policy.mostAfter(j.Window.Budget, fixedTokens(before.window)), trials: mostTrials}
	for _, c := range s.betterCuts() {
		if room, fits, err := s.fitsWindow(c); err != nil || fits {
			j.cut = c
			return room, err
		}
	}
	room, _, err = s.fitsWindow(j.cut)
	return room, err
}

// betterCuts lists the cuts that would leave more in sight than the one that is chosen, the
// best first; none if that leaves enough. The last exchange comes first, then the least
// share: from the cut that leaves just as much on, then as much as there is room for.
func (s *cutSearch) betterCuts() []foldCut {
	live := s.j.Window.Live
	rest := suffixWeights(live)
	last := lastExchange(live)
	least := s.j.Policy.leastLive(s.j.budgetTokens())
	if rest[0].Tokens < least {
		least = 0
	}
	atUser, earlier, inTurn := legalCuts(live, s.j.Window.Carried)
	all := slices.DeleteFunc(slices.Concat(atUser, earlier, inTurn),
		func(c foldCut) bool { return c.messages >= s.j.cut.messages })
	slices.SortStableFunc(all, func(a, b foldCut) int { return cmp.Compare(a.messages, b.messages) })
	enough := func(c foldCut) bool { return rest[c.messages].Tokens >= least }
	if s.j.Reason == Forced {
		// A person who compacts by hand wants room: what frees none is not done.
		all = slices.DeleteFunc(all, func(c foldCut) bool { return rest[0].Tokens-rest[c.messages].Tokens < s.leastHidden() })
		if !slices.ContainsFunc(all, enough) {
			least = 0
		}
	}
	if s.j.cut.messages <= last && enough(s.j.cut) {
		return nil
	}
	var out []foldCut
	for _, whole := range []bool{true, false} {
		var some []foldCut
		for _, c := range all {
			if (c.messages <= last) == whole {
				some = append(some, c)
			}
		}
		for _, within := range []bool{false, true} {
			for _, c := range slices.Backward(some) {
				if enough(c) && (c.carry != 0) == within {
					out = append(out, c)
					break
				}
			}
		}
		for _, c := range some {
			if !enough(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// leastHidden returns how many tokens of messages a fold must hide to shrink the window.
func (s *cutSearch) leastHidden() int64 {
	stands := s.j.Policy.maxPlaceholder(s.j.budgetTokens())
	if s.j.hasSummary() {
		stands += s.leastSummary()
	}
	return stands + int64((1-s.j.Policy.ShrinkShare)*float64(s.before.totalTokens()))
}

// leastSummary returns the tokens that a summary is given at least.
func (s *cutSearch) leastSummary() int64 {
	least := int64(smallestBlock)
	if len(s.j.writers) > 0 {
		least = smallestSummary
	}
	return min(s.j.summaryRoom(), least)
}

// fitsWindow says whether the window is small enough after a cut, and how many tokens that
// leaves for a model's summary. Where an upper bound does not tell, the fold is made.
func (s *cutSearch) fitsWindow(c foldCut) (room int64, ok bool, err error) {
	share := max(s.j.Policy.AfterShare, s.j.Policy.MostShare)
	bound := s.j.summaryRoom()
	w := s.after(c)
	b := s.j.Window.Budget
	leaves := splitRun(s.j.fullInput().Live[:c.messages])
	for range leaves[1:] { // after counts one placeholder
		w.Tokens += s.j.Policy.maxPlaceholder(s.j.budgetTokens())
	}
	if float64(w.Bytes) > share*float64(b.Bytes) || float64(w.Images) > share*float64(b.Images) {
		return bound, false, nil
	}
	if w.Tokens <= s.most {
		return bound, true, nil
	}
	slack := s.j.Policy.maxPlaceholder(s.j.budgetTokens()) * int64(len(leaves))
	if s.j.hasSummary() {
		slack += bound
	}
	for i := range s.j.Window.Segments {
		slack += s.j.Window.Segments[i].TokensAfter
	}
	if s.trials == 0 || float64(slack) < slackShare*float64(b.Tokens) || w.Tokens-slack > s.most {
		return max(s.most-w.Tokens+bound, s.leastSummary()), false, nil
	}
	s.trials--
	tokens, summary, needed, err := s.tryCut(c)
	room = min(s.most-tokens+summary-rounding, bound)
	return max(room, s.leastSummary()), room >= needed, err
}

// tryCut makes the fold of a cut, without a model. It returns the tokens of the window, of
// the summary in it, and how many a summary needs there at least.
func (s *cutSearch) tryCut(c foldCut) (tokens, summary, needed int64, err error) {
	trial := *s.j
	r := s.j.collectRecord(c)
	trial.cut = c
	if text := s.j.keepSummary(&r, s.j.summaryRoom()); text != "" {
		trial.summary = &askOutcome{text: text, by: scrollback.SummaryExtractive}
		summary = int64(s.j.Count(text))
	}
	made, err := trial.buildFold()
	s.j.ids = trial.ids
	if err != nil {
		return 0, 0, 0, err
	}
	switch needed = s.leastSummary(); {
	case r.hasModelSummary() && len(s.j.writers) > 0: // they stay if the model fails
		needed = max(summary, needed)
	case r.hasModelSummary():
		needed = summary
	case len(s.j.writers) == 0:
		needed = min(summary, needed)
	}
	return trial.tokensAfter(&made), summary, needed, nil
}

// lastExchange returns the index of the message with which the last exchange begins: the
// newest question that was answered, whether or not another one follows it. Where there
// is none, it is the newest question.
func lastExchange(live []scrollback.Message) int {
	at := func(before int, role scrollback.Role) int {
		for i := before - 1; i >= 0; i-- {
			if live[i].Role == role {
				return i
			}
		}
		return -1
	}
	newest := at(len(live), scrollback.RoleUser)
	end := newest
	if last := at(len(live), scrollback.RoleAssistant); last > newest && len(live[last].Parts.Calls()) == 0 {
		end = len(live) // the newest question is answered
	}
	if asked := at(at(end, scrollback.RoleAssistant), scrollback.RoleUser); asked >= 0 {
		return asked
	}
	return max(newest, 0)
}
