package engine

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// maxLeftOut bounds how many messages one request may name to be left out.
const maxLeftOut = 1000

// LeavingOut returns what the current branch of a conversation leaves out of its requests if
// more messages are left out and others taken back, for [TurnRequest.Without]. A call is left
// out and taken back together with its results.
func (v *View) LeavingOut(ctx context.Context, id scrollback.ConversationID, more, back []int64) ([]int64, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return nil, err
	}
	x := leftOutFinder{ctx: ctx, store: v.e.store, branch: head.Branch}
	out := x.addPartners("without", append(slices.Clone(head.Branch.View.Without), more...))
	taken := x.addPartners("with", back)
	for _, seq := range back {
		if x.err == nil && !slices.Contains(out, seq) {
			x.err = scrollback.ParamErrorf("engine.LeavingOut", "with", i18n.MessageIsNotLeftOut, seq)
		}
	}
	out = slices.DeleteFunc(out, func(seq int64) bool { return slices.Contains(taken, seq) })
	return append([]int64{}, out...), x.err
}

// leftOutFinder finds what goes together on the path of a branch. Its first error stays.
type leftOutFinder struct {
	ctx    context.Context
	store  *store.Store
	branch scrollback.Branch
	err    error
}

func (x *leftOutFinder) messageAt(seq int64) (m scrollback.Message) {
	if x.err == nil {
		m, x.err = x.store.ReadMessageAt(x.ctx, x.branch, seq)
	}
	return m
}

// addPartners returns messages, ascending, each call with its results and each result with its
// call. param is the field that names them.
func (x *leftOutFinder) addPartners(param string, seqs []int64) []int64 {
	const op = "engine.Turn"
	if len(seqs) > maxLeftOut && x.err == nil {
		x.err = scrollback.ParamErrorf(op, param, i18n.TooManyMessagesNamed,
			maxLeftOut).WithReason(scrollback.ErrTooLarge)
	}
	all := map[int64]bool{}
	for _, seq := range seqs {
		if x.err == nil && (seq < 1 || seq > x.branch.HeadSeq) {
			x.err = scrollback.ParamErrorf(op, param, i18n.NoMessageNumberedOnPath, seq,
				x.branch.HeadSeq)
		}
		if all[seq] {
			continue
		}
		first := seq
		for first > 1 && x.messageAt(first).Role == scrollback.RoleTool {
			first--
		}
		calls := first
		if first < seq && len(x.messageAt(first).Parts.Calls()) == 0 { // results of no call
			calls = seq
		}
		all[seq] = true
		all[calls] = true
		if x.err == nil && len(x.messageAt(calls).Parts.Calls()) == 0 {
			continue
		}
		for next := calls + 1; x.err == nil && next <= x.branch.HeadSeq &&
			x.messageAt(next).Role == scrollback.RoleTool; next++ {
			all[next] = true
		}
	}
	var out []int64
	for seq := range all {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out
}

// maxSuspects bounds how far back the last answer is looked for.
const maxSuspects = 200

// findSuspect returns the first message since the last answer that is not left out: the model's
// provider took those before it. It is 0 if that is not found.
func (lt *liveTurn) findSuspect() (found int64) {
	lt.mu.Lock()
	b := lt.head.Branch
	lt.mu.Unlock()
	ms, err := lt.e.store.ReadMessages(context.Background(), b.ID, max(1, b.HeadSeq-maxSuspects), b.HeadSeq)
	if err != nil {
		return 0 // only the advice lacks
	}
	for _, m := range slices.Backward(ms) {
		switch {
		case m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusComplete && !b.View.LeavesOut(m.Seq):
			return found
		case (m.Role == scrollback.RoleUser || m.Role == scrollback.RoleTool) && !b.View.LeavesOut(m.Seq):
			found = m.Seq
		}
	}
	return found
}

// completeLeftOut returns the whole list of what a request leaves out that names some messages.
func completeLeftOut(ctx context.Context, s *store.Store, b scrollback.Branch, seqs []int64) ([]int64, error) {
	x := leftOutFinder{ctx: ctx, store: s, branch: b}
	out := x.addPartners("without", seqs)
	return out, x.err
}

// applyLeftOut makes the list of what a request leaves out whole, checks that something is left
// to be answered, and has the head show it.
func (d access) applyLeftOut(ctx context.Context, s *store.Store, head *store.Head, r *TurnRequest) error {
	out := head.Branch.View.Without
	if r.Without != nil {
		var err error
		if out, err = completeLeftOut(ctx, s, head.Branch, *r.Without); err != nil {
			return err
		}
	}
	if len(r.Message) == 0 && len(out) > 0 { // the end of the path is answered
		x := leftOutFinder{ctx: ctx, store: s, branch: head.Branch}
		for seq := head.Branch.HeadSeq; seq > 0; seq-- {
			m := x.messageAt(seq)
			if x.err != nil {
				return x.err
			}
			asked := m.Role == scrollback.RoleUser || len(r.ToolResults) > 0 && len(m.Parts.Calls()) > 0
			if asked && slices.Contains(out, seq) {
				return scrollback.ParamErrorf("engine.Turn", "without",
					i18n.MessageIsToBeAnswered, seq)
			}
			if asked {
				break
			}
		}
	}
	head.Branch.View = head.Branch.View.WithLeftOut(out)
	return nil
}
