package compact

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of looking for a cut that keeps more.
const (
	mostTrials = 8    // folds that are made only to be weighed
	slackShare = 0.05 // of the budget; estimates that are off by no more are good enough
	rounding   = 8    // tokens by which a text may differ from the sum of its lines
)

// settling looks for a cut that leaves enough of the conversation in sight.
type settling struct {
	j      *job
	before *weights
	after  func(cut) scrollback.Weight // an upper bound
	most   int64                       // tokens of the window after the fold
	trials int
}

// settle moves the policy's cut back where it leaves too little in sight: less than the
// policy's least share, or not the last exchange. The window may then weigh more than
// the policy's own share, and what stands for the folded messages is counted as it is.
// It returns the most tokens that a model's summary may have, so that this holds.
func (j *job) settle(before *weights) (room int64, err error) {
	if j.More || j.Reason == Everything {
		return j.summaryRoom(), nil
	}
	s := settling{j: j, before: before, after: j.afterCut(before.fixed), most: j.Policy.most(j.Window.Budget),
		trials: mostTrials}
	for _, c := range s.wanted() {
		if room, fits, err := s.fits(c); err != nil || fits {
			j.cut = c
			return room, err
		}
	}
	room, _, err = s.fits(j.cut)
	return room, err
}

// wanted lists the cuts that would leave more in sight than the one that is chosen, the
// best first; none if that leaves enough. The last exchange comes first, then the least
// share: from the cut that leaves just as much on, then as much as there is room for.
func (s *settling) wanted() []cut {
	live := s.j.Window.Live
	rest := suffixWeights(live)
	last := exchange(live)
	least := s.j.Policy.least(s.j.budget())
	if rest[0].Tokens < least {
		least = 0
	}
	atUser, earlier, inTurn := legalCuts(live, s.j.Window.Carried)
	all := slices.DeleteFunc(slices.Concat(atUser, earlier, inTurn),
		func(c cut) bool { return c.messages >= s.j.cut.messages })
	slices.SortStableFunc(all, func(a, b cut) int { return cmp.Compare(a.messages, b.messages) })
	enough := func(c cut) bool { return rest[c.messages].Tokens >= least }
	if s.j.Reason == Forced {
		// A person who compacts by hand wants room: what frees none is not done.
		all = slices.DeleteFunc(all, func(c cut) bool { return rest[0].Tokens-rest[c.messages].Tokens < s.worth() })
		if !slices.ContainsFunc(all, enough) {
			least = 0
		}
	}
	if s.j.cut.messages <= last && enough(s.j.cut) {
		return nil
	}
	var out []cut
	for _, whole := range []bool{true, false} {
		var some []cut
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

// worth returns how many tokens of messages a fold must hide to shrink the window.
func (s *settling) worth() int64 {
	stands := s.j.Policy.placeholderBound(s.j.budget())
	if s.j.carries() {
		stands += s.leastSummary()
	}
	return stands + int64((1-s.j.Policy.ShrinkShare)*float64(s.before.total()))
}

// leastSummary returns the tokens that a summary is given at least.
func (s *settling) leastSummary() int64 {
	least := int64(smallestBlock)
	if len(s.j.writers) > 0 {
		least = smallestSummary
	}
	return min(s.j.summaryRoom(), least)
}

// fits says whether the window is small enough after a cut, and how many tokens that
// leaves for a model's summary. Where an upper bound does not tell, the fold is made.
func (s *settling) fits(c cut) (room int64, ok bool, err error) {
	share := max(s.j.Policy.AfterShare, s.j.Policy.MostShare)
	bound := s.j.summaryRoom()
	w := s.after(c)
	b := s.j.Window.Budget
	leaves := split(s.j.all().Live[:c.messages])
	for range leaves[1:] { // after counts one placeholder
		w.Tokens += s.j.Policy.placeholderBound(s.j.budget())
	}
	if float64(w.Bytes) > share*float64(b.Bytes) || float64(w.Images) > share*float64(b.Images) {
		return bound, false, nil
	}
	if w.Tokens <= s.most {
		return bound, true, nil
	}
	slack := s.j.Policy.placeholderBound(s.j.budget()) * int64(len(leaves))
	if s.j.carries() {
		slack += bound
	}
	for i := range s.j.Window.Segments {
		slack += s.j.Window.Segments[i].TokensAfter
	}
	if s.trials == 0 || float64(slack) < slackShare*float64(b.Tokens) || w.Tokens-slack > s.most {
		return max(s.most-w.Tokens+bound, s.leastSummary()), false, nil
	}
	s.trials--
	tokens, summary, needed, err := s.try(c)
	room = min(s.most-tokens+summary-rounding, bound)
	return max(room, s.leastSummary()), room >= needed, err
}

// try makes the fold of a cut, without a model. It returns the tokens of the window, of
// the summary in it, and how many a summary needs there at least.
func (s *settling) try(c cut) (tokens, summary, needed int64, err error) {
	trial := *s.j
	r := s.j.record(c)
	trial.cut = c
	if text := s.j.keep(&r, s.j.summaryRoom()); text != "" {
		trial.summary = &outcome{text: text, by: scrollback.SummaryExtractive}
		summary = int64(s.j.Count(text))
	}
	made, err := trial.build()
	s.j.ids = trial.ids
	if err != nil {
		return 0, 0, 0, err
	}
	switch needed = s.leastSummary(); {
	case r.hasMinutes() && len(s.j.writers) > 0: // they stay if the model fails
		needed = max(summary, needed)
	case r.hasMinutes():
		needed = summary
	case len(s.j.writers) == 0:
		needed = min(summary, needed)
	}
	return window.Assemble(trial.Shown.after(&made)).Weight.Tokens, summary, needed, nil
}

// exchange returns the index of the message with which the last exchange begins: the
// newest question that was answered, whether or not another one follows it. Where there
// is none, it is the newest question.
func exchange(live []scrollback.Message) int {
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
