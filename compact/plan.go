package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Situation is what a cut is chosen from.
type Situation struct {
	Live    []scrollback.Message // behind the boundary, oldest first
	Carried []scrollback.Message // folded, and shown verbatim until now
	Fixed   scrollback.Weight    // of everything else the window sends
	Budget  scrollback.Budget
	Policy  Policy
	More    bool // Live is only the oldest piece of what is live
	All     bool // fold everything, the newest user message too ("start afresh")
}

// Cut says how many of the live messages to fold. Carry is the seq of a user
// message, among them or carried already, that must stay verbatim, or 0.
type Cut struct {
	Messages int
	Carry    int64
}

// kept says whether a message that a cut folds is shown verbatim all the same: the
// one that the cut carries, and the newest that tells of a changed environment.
func (c Cut) kept(seq, environment int64) bool { return seq == c.Carry || seq == environment }

// newestEnvironment is the seq of the newest message that tells of a changed
// environment, or 0.
func newestEnvironment(lists ...[]scrollback.Message) (seq int64) {
	for _, ms := range lists {
		for i := range ms {
			if ms[i].Role == scrollback.RoleSystem && ms[i].Name == scrollback.EnvironmentName {
				seq = max(seq, ms[i].Seq)
			}
		}
	}
	return seq
}

// Plan chooses the cut, or none when there is no legal one.
//
// A cut is at a user message if that frees enough: the one that keeps most while
// the window comes down to the policy's share, and no more is kept than it says.
// Otherwise it is between groups of the last turn, whose user message is carried
// and whose newest group stays. If nothing frees enough, the cut that frees most.
func Plan(s Situation) (Cut, bool) {
	if s.All {
		return Cut{Messages: len(s.Live)}, len(s.Live) > 0
	}
	atUser, inTurn := legalCuts(s.Live, s.Carried)
	if s.More {
		return lastOf(atUser, inTurn)
	}
	rest, environment := suffixWeights(s.Live), newestEnvironment(s.Carried, s.Live)
	target := func(c Cut) scrollback.Weight {
		w := s.Fixed.Add(rest[c.Messages])
		w.Tokens += placeholderTokens(s.Budget.Tokens)
		if c.Carry != 0 {
			w = w.Add(weightOf(c.Carry, s.Carried, s.Live))
		}
		if environment > 0 && !slices.ContainsFunc(s.Live[c.Messages:], func(m scrollback.Message) bool { return m.Seq == environment }) {
			w = w.Add(weightOf(environment, s.Carried, s.Live))
		}
		return w
	}
	fits := func(c Cut) bool {
		w, share := target(c), s.Policy.AfterShare
		return float64(w.Tokens) <= share*float64(s.Budget.Tokens) &&
			float64(w.Bytes) <= share*float64(s.Budget.Bytes) && float64(w.Images) <= share*float64(s.Budget.Images)
	}
	keeps := func(c Cut) bool {
		return s.Policy.KeepShare == 0 || float64(rest[c.Messages].Tokens) <= s.Policy.KeepShare*float64(rest[0].Tokens)
	}
	for _, c := range atUser {
		if fits(c) && keeps(c) {
			return c, true
		}
	}
	if n := len(atUser); n > 0 && fits(atUser[n-1]) { // the last turn alone is more than may be kept
		return atUser[n-1], true
	}
	for _, c := range inTurn {
		if fits(c) {
			return c, true
		}
	}
	return lastOf(atUser, inTurn)
}

// lastOf is the cut that folds most.
func lastOf(atUser, inTurn []Cut) (Cut, bool) {
	if n := len(inTurn); n > 0 {
		return inTurn[n-1], true
	}
	if n := len(atUser); n > 0 {
		return atUser[n-1], true
	}
	return Cut{}, false
}

// legalCuts lists the cuts at user messages, and those between groups behind the
// newest user message, both by how much they fold.
func legalCuts(live, carried []scrollback.Message) (atUser, inTurn []Cut) {
	newest := -1
	for i := range live {
		if live[i].Role == scrollback.RoleUser {
			newest = i
			if i > 0 {
				atUser = append(atUser, Cut{Messages: i})
			}
		}
	}
	carry := int64(0)
	if newest >= 0 {
		carry = live[newest].Seq
	} else {
		for i := range carried {
			if carried[i].Role == scrollback.RoleUser {
				carry = carried[i].Seq
			}
		}
	}
	open := map[string]bool{}
	for i := newest + 1; i < len(live); i++ {
		m := &live[i]
		if m.Role != scrollback.RoleTool && len(open) == 0 && i > newest+1 {
			inTurn = append(inTurn, Cut{Messages: i, Carry: carry})
		}
		if m.Role == scrollback.RoleAssistant {
			clear(open) // calls that were never answered hold nothing together
			for _, c := range m.Parts.Calls() {
				open[c.ID] = true
			}
		}
		for _, r := range m.Parts.Results() {
			delete(open, r.CallID)
		}
	}
	return atUser, inTurn
}

// suffixWeights is, for each index, the weight of the messages from there on.
func suffixWeights(live []scrollback.Message) []scrollback.Weight {
	out := make([]scrollback.Weight, len(live)+1)
	for i := len(live) - 1; i >= 0; i-- {
		out[i] = out[i+1].Add(live[i].Weight)
	}
	return out
}

// weightOf is the weight of the message with the given seq.
func weightOf(seq int64, lists ...[]scrollback.Message) scrollback.Weight {
	for _, ms := range lists {
		for i := range ms {
			if ms[i].Seq == seq {
				return ms[i].Weight
			}
		}
	}
	return scrollback.Weight{}
}

// placeholderTokens is the most that one placeholder may weigh.
func placeholderTokens(budget int64) int64 {
	return min(PlaceholderTokens, int64(PlaceholderShare*float64(budget)))
}
