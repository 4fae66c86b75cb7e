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
	Pinned  []int64 // seqs that stay in sight when they are folded
	Forced  bool    // by hand: something is to be folded, though nothing asks for it
	More    bool    // Live is only the oldest piece of what is live
	All     bool    // fold everything, the newest user message too ("start afresh")
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

// Plan chooses the cut, or none when there is no legal one, or none that is wanted:
// while all that is live fits in the policy's share, its least number of messages
// stays.
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
	after := s.after()
	fits := func(c Cut) bool {
		w, share := after(c), s.Policy.AfterShare
		return float64(w.Tokens) <= share*float64(s.Budget.Tokens) &&
			float64(w.Bytes) <= share*float64(s.Budget.Bytes) && float64(w.Images) <= share*float64(s.Budget.Images)
	}
	if c, ok := s.keeping(atUser, fits); ok {
		return c, true
	}
	if fits(Cut{}) && !s.Forced {
		return Cut{}, false
	}
	for _, c := range append(atUser, inTurn...) {
		if fits(c) {
			return c, true
		}
	}
	return lastOf(atUser, inTurn)
}

// keeping is the first of the cuts that fits and keeps no more than the policy says,
// or else the last that keeps the least it wants.
func (s *Situation) keeping(cuts []Cut, fits func(Cut) bool) (best Cut, ok bool) {
	rest := suffixWeights(s.Live)
	for _, c := range cuts {
		if int64(len(s.Live)-c.Messages) < s.Policy.KeepMessages {
			break
		}
		if fits(c) {
			best, ok = c, true
			if s.Policy.KeepShare == 0 || float64(rest[c.Messages].Tokens) <= s.Policy.KeepShare*float64(rest[0].Tokens) {
				break
			}
		}
	}
	return best, ok
}

// after says what the window weighs after a cut.
func (s *Situation) after() func(Cut) scrollback.Weight {
	rest, environment := suffixWeights(s.Live), newestEnvironment(s.Carried, s.Live)
	told := slices.IndexFunc(s.Live, func(m scrollback.Message) bool { return m.Seq == environment }) // -1: before all that is live
	// Pins are few, and cuts as many as messages: those that are live, by where they are.
	pins := map[int]*scrollback.Message{}
	for i := range s.Live {
		if slices.Contains(s.Pinned, s.Live[i].Seq) {
			pins[i] = &s.Live[i]
		}
	}
	return func(c Cut) scrollback.Weight {
		w := s.Fixed.Add(rest[c.Messages])
		if c.Messages > 0 {
			w.Tokens += s.Policy.placeholderBound(s.Budget.Tokens)
		}
		if c.Carry != 0 {
			w = w.Add(weightOf(c.Carry, s.Carried, s.Live))
		}
		if environment > 0 && told < c.Messages {
			w = w.Add(weightOf(environment, s.Carried, s.Live))
		}
		for at, m := range pins {
			if at < c.Messages && !c.kept(m.Seq, environment) {
				w = w.Add(m.Weight)
			}
		}
		return w
	}
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
