package bundle

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// conversationPart is what later records of a conversation in the bundle are checked against.
type conversationPart struct {
	ID         scrollback.ConversationID
	Branch     scrollback.BranchID
	PinnedSeqs []int64
	Inherited  bool
	Draft      *scrollback.Turn
	mentions   map[scrollback.ArtifactID]bool
	order      []*branchState
	leaves     map[scrollback.BranchID][]*scrollback.Segment // until the branches are there
	rollups    []*scrollback.Segment
	met        *conversationPart // the newest conversation found to come from it
}

// branchState is a branch in the bundle, the leaves on it, and how far its messages have
// come.
type branchState struct {
	scrollback.Branch
	of     *conversationPart
	up     *branchState // its parent
	jump   *branchState // one further up, so that a long way takes few steps
	depth  int
	exit   *branchState      // the nearest one above that belongs to another conversation
	met    *conversationPart // the newest conversation whose way up came by
	left   int64             // the last seq that another branch leaves it at
	leaves []*scrollback.Segment
	seq    int64
}

// addBranch returns a branch that continues parent, or none.
func (p *conversationPart) addBranch(b scrollback.Branch, parent *branchState) *branchState {
	out := &branchState{Branch: b, of: p, up: parent, jump: parent, seq: b.AtSeq}
	if parent == nil {
		return out
	}
	parent.left = max(parent.left, b.AtSeq)
	out.depth = parent.depth + 1
	out.exit = parent
	if parent.of == p {
		out.exit = parent.exit
	}
	// Two jumps of the same length join into one: any way up then takes a number of
	// steps in the order of the logarithm of its length.
	if far := parent.jump; far != nil && far.jump != nil && parent.depth-far.depth == far.depth-far.jump.depth {
		out.jump = far.jump
	}
	return out
}

// ownerOf returns the branch that owns message seq, from 1 to HeadSeq, of the path of b.
func (b *branchState) ownerOf(seq int64) *branchState {
	for b.AtSeq >= seq {
		if b.jump.AtSeq >= seq {
			b = b.jump
		} else {
			b = b.up
		}
	}
	return b
}

func passRecord[T any](each func(T) error, v T) error {
	if each == nil {
		return nil
	}
	return each(v)
}

func (c *checker) checkBranch(b Branch) error {
	wrong := func(what i18n.ID) error { return newDamageError("branch %q %s", clipText(string(b.ID)), what) }
	switch parent := c.branches[b.Parent]; {
	case !isID(string(b.ID)):
		return wrong(i18n.RecordHasMalformedID)
	case c.branches[b.ID] != nil:
		return wrong(i18n.RecordIsListedTwice)
	case b.Conversation != c.at.ID:
		return wrong(i18n.RecordBelongsElsewhere)
	case b.AtSeq < 0 || b.HeadSeq < b.AtSeq:
		return wrong(i18n.BranchEndsBeforeBeginning)
	case b.Parent == "" && b.AtSeq != 0, b.Parent != "" && parent == nil:
		return wrong(i18n.BranchHasNoParent)
	case parent != nil && (b.AtSeq <= parent.AtSeq || b.AtSeq > parent.HeadSeq):
		return wrong(i18n.BranchLeavesNowhere)
	}
	kept := c.at.addBranch(b.Branch, c.branches[b.Parent])
	c.branches[b.ID] = kept
	c.at.order = append(c.at.order, kept)
	if err := c.checkView(b.ID, b.View); err != nil {
		return err
	}
	c.currentCount().Branches++
	if err := c.countRecord(); err != nil {
		return err
	}
	return passRecord(c.also.Branch, b)
}

// checkView checks that what a branch shows is its path from the first message on.
func (c *checker) checkView(id scrollback.BranchID, v scrollback.View) error {
	wrong := newDamageError("branch %s has an impossible view", id)
	if v.Boundary < 0 || v.Boundary > c.branches[id].HeadSeq || len(v.Carried) > 10_000 {
		return wrong
	}
	next := int64(1)
	for _, item := range v.Segments {
		s := c.segments[item.ID]
		if s == nil || item.FirstSeq != next || s.FirstSeq != item.FirstSeq || s.LastSeq != item.LastSeq ||
			s.Level != item.Level || !c.isOnPath(id, s) {
			return wrong
		}
		next = item.LastSeq + 1
	}
	if next != v.Boundary+1 {
		return wrong
	}
	for _, seq := range v.Carried {
		if seq < 1 || seq > v.Boundary {
			return wrong
		}
	}
	if !c.mayLeaveOut(id, v.Without) || v.Summary != nil && !c.mayLeaveOut(id, v.Summary.Without) {
		return wrong
	}
	if s := v.Summary; s != nil && (c.segments[s.Segment] == nil || s.LastSeq > v.Boundary || s.Tokens < 0) {
		return wrong
	}
	return nil
}

// mayLeaveOut reports whether a view may leave out these messages: ascending, and on its path.
func (c *checker) mayLeaveOut(id scrollback.BranchID, seqs []int64) bool {
	last := int64(0)
	for _, seq := range seqs {
		if seq <= last || seq > c.branches[id].HeadSeq {
			return false
		}
		last = seq
	}
	return true
}

// isOnPath reports whether the last message of a segment is on the path of a branch.
func (c *checker) isOnPath(id scrollback.BranchID, s *scrollback.Segment) bool {
	b := c.branches[id]
	return s.LastSeq <= b.HeadSeq && b.ownerOf(s.LastSeq).ID == s.Branch
}
