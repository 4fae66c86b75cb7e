package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// List lists the branches of a conversation that have messages of their own,
// and the current one, oldest first.
func (p Branches) List(ctx context.Context, id scrollback.ConversationID) ([]scrollback.BranchEntry, error) {
	h, err := p.s.ReadHead(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := p.s.d.Log.ListBranches(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	if all, err = p.withoutLeaves(ctx, h, all); err != nil {
		return nil, err
	}
	out := []scrollback.BranchEntry{}
	for _, b := range all {
		if b.HeadSeq > b.AtSeq || b.ID == h.Branch.ID {
			out = append(out, scrollback.BranchEntry{ID: b.ID, Parent: b.Parent, AtSeq: b.AtSeq, HeadSeq: b.HeadSeq,
				Messages: b.HeadSeq - b.AtSeq, UpdatedAt: b.UpdatedAt, Current: b.ID == h.Branch.ID, Without: b.View.Without})
		}
	}
	return out, err
}

// leafMessages is the most that a leaf is looked for in: the question, what came with it, and an answer in steps.
const leafMessages = 64

// withoutLeaves drops the branches on which nothing goes on but a turn that was none of the conversation's path.
func (p Branches) withoutLeaves(ctx context.Context, h Head, all []scrollback.Branch) ([]scrollback.Branch, error) {
	leaves, err := p.s.d.Threads.ListLeaves(ctx, h.ID)
	if err != nil || len(leaves) == 0 {
		return all, err
	}
	shared := map[scrollback.BranchID]int64{} // how much of a branch others go on from
	for _, b := range all {
		shared[b.Parent] = max(shared[b.Parent], b.AtSeq)
	}
	isLeaf := func(m scrollback.Message) bool { return slices.Contains(leaves, m.TurnID) }
	out := make([]scrollback.Branch, 0, len(all))
	for _, b := range all {
		from := max(b.AtSeq, shared[b.ID]) + 1
		if n := b.HeadSeq - from + 1; b.ID != h.Branch.ID && n > 0 && n <= leafMessages {
			own, err := p.s.ReadMessages(ctx, b.ID, from, b.HeadSeq)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(own, func(m scrollback.Message) bool { return !isLeaf(m) }) {
				continue
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// Find returns a branch of a conversation with its view; an empty id means the current one.
func (p Branches) Find(ctx context.Context, h Head, id scrollback.BranchID) (scrollback.Branch, error) {
	if id == "" || id == h.Branch.ID {
		return h.Branch, nil
	}
	b, err := readNow(ctx, p.s, AliasBranch, id, p.s.d.Log.FindBranch)
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return b, err
	}
	if err != nil || b.Conversation != h.ID {
		return b, scrollback.Errorf(scrollback.NotFound, "store", i18n.NoBranchInConversation, id)
	}
	return b, nil
}

// ReadShape counts the messages of a branch's path, in at most the given number of bins.
func (p Branches) ReadShape(ctx context.Context, b scrollback.Branch, bins int) (scrollback.Shape, error) {
	out := scrollback.Shape{HeadSeq: b.HeadSeq, Bins: []scrollback.ShapeBin{}}
	if b.HeadSeq == 0 {
		return out, nil
	}
	found, err := p.s.d.Log.ReadShape(ctx, driver.ShapeQuery{Branch: b.ID, Head: b.HeadSeq,
		Bins: min(int64(bins), b.HeadSeq)})
	if err != nil || len(found) == 0 {
		return out, err
	}
	out.From = found[0].At
	out.Bins = found
	last, err := p.s.ReadMessageAt(ctx, b, b.HeadSeq)
	out.To = last.CreatedAt
	return out, err
}

// Rewind makes message seq of a branch's path the newest, 0 for none; what is said next
// starts a new branch after it. A seq that is not on the path is invalid. edit may change the conversation's own fields
// in the same transaction.
func (p Branches) Rewind(ctx context.Context, h Head, from scrollback.Branch, seq int64,
	edit func(*scrollback.Conversation)) (Head, error) {
	return p.RewindTo(ctx, h, from, seq, "", edit)
}

// RewindTo is [Branches.Rewind] with the id that a new branch gets, unless it is empty. Another one that stands there
// without a message is not taken instead of it.
func (p Branches) RewindTo(ctx context.Context, h Head, from scrollback.Branch, seq int64, next scrollback.BranchID,
	edit func(*scrollback.Conversation)) (Head, error) {
	to, err := p.newLeavingBranch(ctx, from, seq)
	if err != nil {
		return h, err
	}
	if next != "" {
		to.ID = next
	}
	pins, err := p.pinsOn(ctx, h, from, seq)
	if err != nil {
		return h, err
	}
	return p.s.d.Log.RewindHead(ctx, driver.Rewind{Conversation: h.ID, Now: p.s.Now(), To: to, Named: next != "",
		Salvage: p.s.salvageDraft,
		Edit: func(c *scrollback.Conversation) {
			c.PinnedSeqs = keepPins(c.PinnedSeqs, pins)
			if edit != nil {
				edit(c)
			}
		}})
}

// keepPins returns those of some pins that are to stay.
func keepPins(pins, stay []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(pins), func(pin int64) bool { return !slices.Contains(stay, pin) })
}

// pinsOn are the pins whose messages are also on the path of a branch, up to seq.
func (p Branches) pinsOn(ctx context.Context, h Head, b scrollback.Branch, seq int64) ([]int64, error) {
	out := []int64{}
	for _, pin := range h.PinnedSeqs {
		if pin > seq {
			continue
		}
		here, err := p.s.ReadMessageAt(ctx, h.Branch, pin)
		if err != nil {
			return nil, err
		}
		there, err := p.s.ReadMessageAt(ctx, b, pin)
		if err != nil {
			return nil, err
		}
		if here.ID == there.ID {
			out = append(out, pin)
		}
	}
	return out, nil
}

// Fork makes a conversation that continues another after message seq of one of its
// branches, without copying anything. c carries the new one's own fields; what the log
// decides is filled in; a fork is nobody's sub-agent. It has the id that c has, if any: the
// conversation that has it already is returned as it is. A parent in the trash is not_found.
func (p Branches) Fork(ctx context.Context, h Head, from scrollback.Branch, seq int64,
	c scrollback.Conversation) (scrollback.Conversation, error) {
	const op = "store.Branches.Fork"
	if h.DeletedAt != 0 {
		return c, scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationInTrashRestoreFirst, h.ID)
	}
	b, err := p.newLeavingBranch(ctx, from, seq)
	if err != nil {
		return c, err
	}
	if c.PinnedSeqs, err = p.pinsOn(ctx, h, from, seq); err != nil {
		return c, err
	}
	if c.ID == "" {
		c.ID = scrollback.ConversationID(p.s.newID())
	}
	if err := completeConversation(op, &c); err != nil {
		return c, err
	}
	if ids.IsDerived(c.ID) {
		b.ID = ids.RootBranch(c.ID)
	}
	now := p.s.Now()
	c.Version = 1
	c.CreatedAt = now
	c.UpdatedAt = now
	c.DeletedAt = 0
	c.AgentOf = nil
	c.Parent = &scrollback.ParentRef{ID: h.ID, Branch: from.ID, Seq: seq}
	c.Ancestors = append([]scrollback.ConversationID{h.ID}, h.Ancestors...)
	b.Conversation = c.ID
	b.UpdatedAt = now
	out, _, err := p.s.d.Log.CreateConversation(ctx, c, b)
	return out, err
}

// NewBeside returns a branch that leaves the path of one of a conversation's branches behind a message, and is not
// stored yet.
func (p Branches) NewBeside(ctx context.Context, h Head, at Place) (scrollback.Branch, error) {
	from, err := p.Find(ctx, h, at.Branch)
	if err != nil {
		return from, err
	}
	b, err := p.newLeavingBranch(ctx, from, at.Seq)
	b.Conversation = h.ID
	return b, err
}

// newLeavingBranch returns a new branch that leaves another's path after message seq.
func (p Branches) newLeavingBranch(ctx context.Context, from scrollback.Branch, seq int64) (scrollback.Branch, error) {
	b := scrollback.Branch{ID: scrollback.BranchID(p.s.newID()), AtSeq: seq, HeadSeq: seq}
	if seq < 0 || seq > from.HeadSeq {
		return b, scrollback.ParamErrorf("store", "seq", i18n.NoMessageOnPathOf, seq,
			from.HeadSeq)
	}
	if seq == 0 {
		return b, nil
	}
	m, err := p.s.ReadMessageAt(ctx, from, seq)
	if err != nil {
		return b, err
	}
	b.Parent = m.Branch
	b.Sum = m.Sum
	b.View, err = p.s.Views.cutView(ctx, from, seq)
	b.View = b.View.WithLeftOut(slices.DeleteFunc(slices.Clone(from.View.Without),
		func(out int64) bool { return out > seq }))
	return b, err
}
