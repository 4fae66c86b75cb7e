package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// foldCut says how many of the live messages to fold. carry is the seq of a user message,
// among them or carried already, that must stay verbatim; 0 for none.
type foldCut struct {
	messages int
	carry    int64
}

// keepsShown reports whether a message that a cut folds is still shown verbatim: the one that the
// cut carries, and the newest that reports a changed environment.
func (c foldCut) keepsShown(seq, environment int64) bool { return seq == c.carry || seq == environment }

// splitShown returns which messages stay in sight word for word after a cut that folds them, and
// which were carried until now and no longer are.
func splitShown(in *Input, c foldCut) (stay map[int64]bool, released []scrollback.Message) {
	environment := newestEnvironment(in.Window.Carried, in.Window.Live)
	stay = map[int64]bool{c.carry: true, environment: true}
	for _, m := range in.Window.Carried {
		if !stay[m.Seq] {
			released = append(released, m)
		}
	}
	return stay, released
}

// dropShown returns the messages that are not told elsewhere in the window.
func dropShown(ms []scrollback.Message, told map[int64]bool) []scrollback.Message {
	return slices.DeleteFunc(slices.Clone(ms), func(m scrollback.Message) bool { return told[m.Seq] })
}

// newestEnvironment returns the seq of the newest message that reports a changed
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

// planCut chooses the cut. There is none if no cut is legal, or if none is wanted: while
// everything live fits in the policy's share, the policy's least number of messages
// stays. Fixed is the weight of everything else that the window sends.
//
// The cut is at a user message if that frees enough: the one that keeps most while the
// window comes down to the policy's share and no more is kept than the policy allows.
// Otherwise it is between groups of the last turn (an assistant message and the results
// of its calls), whose user message is carried and whose newest group stays. If nothing
// frees enough, it is the cut that frees most.
func planCut(in *Input, fixed scrollback.Weight) (foldCut, bool) {
	live := in.Window.Live
	budget := in.Window.Budget
	if in.Reason == Everything {
		return foldCut{messages: len(live)}, len(live) > 0
	}
	if in.Reason == Replaced {
		return in.planGiven()
	}
	atUser, _, inTurn := legalCuts(live, in.Window.Carried)
	if in.More {
		return planPiece(in, atUser, inTurn)
	}
	after := in.afterCut(fixed)
	fits := func(c foldCut) bool {
		w := after(c)
		share := in.Policy.AfterShare
		return float64(w.Tokens) <= share*float64(budget.Tokens) &&
			float64(w.Bytes) <= share*float64(budget.Bytes) && float64(w.Images) <= share*float64(budget.Images)
	}
	if c, ok := in.chooseFitting(atUser, fits); ok {
		return c, true
	}
	if fits(foldCut{}) && in.Reason != Forced {
		return foldCut{}, false
	}
	for _, c := range append(atUser, inTurn...) {
		if fits(c) {
			return c, true
		}
	}
	return largestCut(atUser, inTurn)
}

// planGiven returns the largest legal cut of what a given summary stands for. If nobody says anything behind it, the
// newest question is carried.
func (in *Input) planGiven() (foldCut, bool) {
	live := in.Window.Live
	n := slices.IndexFunc(live, func(m scrollback.Message) bool { return m.Seq > in.Given.Through })
	isUser := func(m scrollback.Message) bool { return m.Role == scrollback.RoleUser }
	switch last := len(live) - 1; {
	case n < 0 && last >= 0 && isUser(live[last]):
		n = last
	case n < 0:
		carry := int64(0)
		for _, m := range slices.Concat(in.Window.Carried, live) {
			if isUser(m) {
				carry = max(carry, m.Seq)
			}
		}
		return foldCut{messages: len(live), carry: carry}, len(live) > 0
	}
	var best foldCut
	atUser, earlier, inTurn := legalCuts(live, in.Window.Carried)
	for _, c := range slices.Concat(atUser, earlier, inTurn) {
		if c.messages <= n && c.messages > best.messages {
			best = c
		}
	}
	if slices.ContainsFunc(live[best.messages:], isUser) {
		best.carry = 0
	}
	return best, best.messages > 0
}

// planPiece returns the cut of a piece of a backlog: all of it, but for what stays at least
// should this be the last piece.
func planPiece(in *Input, atUser, inTurn []foldCut) (foldCut, bool) {
	rest := suffixWeights(in.Window.Live)
	least := in.Policy.leastLive(in.budgetTokens())
	for _, c := range slices.Backward(slices.Concat(atUser, inTurn)) {
		if rest[c.messages].Tokens >= least {
			return c, true
		}
	}
	return largestCut(atUser, inTurn)
}

// chooseFitting returns the first of the cuts that fits and keeps no more than the policy
// allows; failing that, the last one that fits and keeps the least that it demands.
func (in *Input) chooseFitting(cuts []foldCut, fits func(foldCut) bool) (best foldCut, ok bool) {
	rest := suffixWeights(in.Window.Live)
	for _, c := range cuts {
		if int64(len(in.Window.Live)-c.messages) < in.Policy.KeepMessages {
			break
		}
		if fits(c) {
			best = c
			ok = true
			if in.Policy.KeepShare == 0 || float64(rest[c.messages].Tokens) <= in.Policy.KeepShare*float64(rest[0].Tokens) {
				break
			}
		}
	}
	return best, ok
}

// afterCut returns a function that says what the window weighs after a cut.
func (in *Input) afterCut(fixed scrollback.Weight) func(foldCut) scrollback.Weight {
	live := in.Window.Live
	carried := in.Window.Carried
	rest := suffixWeights(live)
	environment := newestEnvironment(carried, live)
	// -1: before everything live
	told := slices.IndexFunc(live, func(m scrollback.Message) bool { return m.Seq == environment })
	// There are few pins, and as many cuts as messages: find the live pins once.
	pins := map[int]*scrollback.Message{}
	for i := range live {
		if slices.Contains(in.PinnedSeqs, live[i].Seq) {
			pins[i] = &live[i]
		}
	}
	return func(c foldCut) scrollback.Weight {
		w := fixed.Add(rest[c.messages])
		if c.messages > 0 {
			w.Tokens += in.Policy.maxPlaceholder(in.budgetTokens())
			if len(in.Window.Segments) == 0 {
				w.Tokens += window.FoldTokens
			}
		}
		if c.carry != 0 {
			w = w.Add(findWeight(c.carry, carried, live))
		}
		if environment > 0 && told < c.messages {
			w = w.Add(findWeight(environment, carried, live))
		}
		for at, m := range pins {
			if at < c.messages && !c.keepsShown(m.Seq, environment) {
				w = w.Add(m.Weight)
			}
		}
		return w
	}
}

// largestCut returns the cut that folds most.
func largestCut(atUser, inTurn []foldCut) (foldCut, bool) {
	if n := len(inTurn); n > 0 {
		return inTurn[n-1], true
	}
	if n := len(atUser); n > 0 {
		return atUser[n-1], true
	}
	return foldCut{}, false
}

// legalCuts lists the cuts at user messages, those between groups of earlier turns, and
// those between groups after the newest user message, each in the order of how much
// they fold.
func legalCuts(live, carried []scrollback.Message) (atUser, earlier, inTurn []foldCut) {
	carry := int64(0) // the question of the turn that a message belongs to
	for i := range carried {
		if carried[i].Role == scrollback.RoleUser {
			carry = carried[i].Seq
		}
	}
	// first: of the turn, after its question
	open := map[string]int{}
	first := 0
	for i := range live {
		m := &live[i]
		if m.Role == scrollback.RoleUser {
			earlier = append(earlier, inTurn...)
			inTurn = nil
			if i > 0 {
				atUser = append(atUser, foldCut{messages: i})
			}
			carry = m.Seq
			first = i + 1
			clear(open)
			continue
		}
		if m.Role != scrollback.RoleTool && len(open) == 0 && i > first {
			inTurn = append(inTurn, foldCut{messages: i, carry: carry})
		}
		if m.Role == scrollback.RoleAssistant {
			clear(open) // a call without a result holds nothing together
			for _, c := range m.Parts.Calls() {
				open[c.ID]++ // an id may name two calls
			}
		}
		for _, r := range m.Parts.Results() {
			if open[r.CallID]--; open[r.CallID] <= 0 {
				delete(open, r.CallID)
			}
		}
	}
	return atUser, earlier, inTurn
}

// suffixWeights returns, for each index, the weight of the messages from there on.
func suffixWeights(live []scrollback.Message) []scrollback.Weight {
	out := make([]scrollback.Weight, len(live)+1)
	for i := len(live) - 1; i >= 0; i-- {
		out[i] = out[i+1].Add(live[i].Weight)
	}
	return out
}

// findWeight returns the weight of the message with the given seq.
func findWeight(seq int64, lists ...[]scrollback.Message) scrollback.Weight {
	for _, ms := range lists {
		for i := range ms {
			if ms[i].Seq == seq {
				return ms[i].Weight
			}
		}
	}
	return scrollback.Weight{}
}
