package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// branchOf is a branch of a conversation; an empty id is the current one.
func (s *Store) branchOf(ctx context.Context, h driver.Head, id scrollback.BranchID) (scrollback.Branch, error) {
	if id == "" || id == h.Branch.ID {
		return h.Branch, nil
	}
	b, err := s.d.Branch(ctx, id)
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return b, err
	}
	if err != nil || b.Conversation != h.ID {
		return b, scrollback.Errorf(scrollback.NotFound, "store", "no branch %s in this conversation", id)
	}
	return b, nil
}

// Branches lists the branches of a conversation that have messages of their own,
// and the current one, oldest first.
func (s *Store) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.BranchEntry, error) {
	h, err := s.d.Head(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := s.d.Branches(ctx, id)
	out := []scrollback.BranchEntry{}
	for _, b := range all {
		if b.HeadSeq > b.AtSeq || b.ID == h.Branch.ID {
			out = append(out, scrollback.BranchEntry{ID: b.ID, Parent: b.Parent, AtSeq: b.AtSeq, HeadSeq: b.HeadSeq,
				Messages: b.HeadSeq - b.AtSeq, UpdatedAt: b.UpdatedAt, Current: b.ID == h.Branch.ID})
		}
	}
	return out, err
}

// Rewind makes message seq of a branch's path the newest, 0 for none; what is said
// next starts a new branch behind it. An empty branch is the current one. A seq
// that is not on the path is invalid. Edit may change the conversation's own fields
// in the same transaction.
func (s *Store) Rewind(ctx context.Context, id scrollback.ConversationID, branch scrollback.BranchID, seq int64, edit func(*scrollback.Conversation)) (driver.Head, error) {
	h, err := s.d.Head(ctx, id)
	if err != nil {
		return h, err
	}
	from, err := s.branchOf(ctx, h, branch)
	if err != nil {
		return h, err
	}
	to, err := s.leaving(ctx, from, seq)
	if err != nil {
		return h, err
	}
	pins, err := s.pinsOn(ctx, h, from, seq)
	if err != nil {
		return h, err
	}
	return s.d.Rewind(ctx, driver.Rewind{Conversation: id, Now: s.Now(), To: to, Salvage: s.salvage, Edit: func(c *scrollback.Conversation) {
		c.PinnedSeqs = slices.DeleteFunc(slices.Clone(c.PinnedSeqs), func(pin int64) bool { return !slices.Contains(pins, pin) })
		if edit != nil {
			edit(c)
		}
	}})
}

// pinsOn are the pins whose messages are on the path of a branch too, up to seq.
func (s *Store) pinsOn(ctx context.Context, h driver.Head, b scrollback.Branch, seq int64) ([]int64, error) {
	out := []int64{}
	for _, pin := range h.PinnedSeqs {
		if pin > seq {
			continue
		}
		here, err := s.At(ctx, h.Branch, pin)
		if err != nil {
			return nil, err
		}
		there, err := s.At(ctx, b, pin)
		if err != nil {
			return nil, err
		}
		if here.ID == there.ID {
			out = append(out, pin)
		}
	}
	return out, nil
}

// Fork makes a conversation that continues another behind message seq of one of its
// branches, without copying anything. c carries the new one's own fields; what the
// log decides is filled in. A parent in the trash is not_found.
func (s *Store) Fork(ctx context.Context, h driver.Head, from scrollback.Branch, seq int64, c scrollback.Conversation) (scrollback.Conversation, error) {
	const op = "store.Fork"
	if h.DeletedAt != 0 {
		return c, scrollback.Errorf(scrollback.NotFound, op, "conversation %s is in the trash: restore it first", h.ID)
	}
	b, err := s.leaving(ctx, from, seq)
	if err != nil {
		return c, err
	}
	if c.PinnedSeqs, err = s.pinsOn(ctx, h, from, seq); err != nil {
		return c, err
	}
	c.ID = scrollback.ConversationID(s.newID())
	if err := s.complete(op, &c); err != nil {
		return c, err
	}
	now := s.Now()
	c.Version, c.CreatedAt, c.UpdatedAt, c.DeletedAt = 1, now, now, 0
	c.Parent = &scrollback.ParentRef{ID: h.ID, Branch: from.ID, Seq: seq}
	c.Ancestors = append([]scrollback.ConversationID{h.ID}, h.Ancestors...)
	b.Conversation, b.UpdatedAt = c.ID, now
	out, _, err := s.d.Create(ctx, c, b)
	return out, err
}

// Continuations are the other branches of a conversation that go on behind message
// seq of a branch's path: the one that owns the message, and those that leave it
// there.
func (s *Store) Continuations(ctx context.Context, id scrollback.ConversationID, b scrollback.Branch, seq int64) ([]scrollback.Branch, error) {
	var owner scrollback.BranchID
	if seq > 0 {
		m, err := s.At(ctx, b, seq)
		if err != nil {
			return nil, err
		}
		owner = m.Branch
	}
	all, err := s.d.Branches(ctx, id)
	return slices.DeleteFunc(all, func(o scrollback.Branch) bool {
		leaves := o.Parent == owner && o.AtSeq == seq
		return o.ID == b.ID || o.HeadSeq <= seq || o.ID != owner && !leaves
	}), err
}

// BranchOf is a branch of a conversation with its view; an empty id is the current
// one.
func (s *Store) BranchOf(ctx context.Context, id scrollback.ConversationID, branch scrollback.BranchID) (driver.Head, scrollback.Branch, error) {
	h, err := s.d.Head(ctx, id)
	if err != nil {
		return h, h.Branch, err
	}
	b, err := s.branchOf(ctx, h, branch)
	return h, b, err
}

// leaving is a new branch that leaves another's path behind message seq.
func (s *Store) leaving(ctx context.Context, from scrollback.Branch, seq int64) (scrollback.Branch, error) {
	b := scrollback.Branch{ID: scrollback.BranchID(s.newID()), AtSeq: seq, HeadSeq: seq}
	if seq < 0 || seq > from.HeadSeq {
		return b, scrollback.ParamErrorf("store", "seq", "there is no message %d on this path, which has %d", seq, from.HeadSeq)
	}
	if seq == 0 {
		return b, nil
	}
	m, err := s.At(ctx, from, seq)
	if err != nil {
		return b, err
	}
	b.Parent, b.Sum = m.Branch, m.Sum
	b.View, err = s.cut(ctx, from, seq)
	return b, err
}

// cut is what is left of a branch's view when its path ends with message seq: the
// leaf that holds it is unfolded, and the roll-ups around that leaf are opened. A
// summary that speaks of what is gone gives way to the one before it.
func (s *Store) cut(ctx context.Context, b scrollback.Branch, seq int64) (scrollback.View, error) {
	was := b.View
	if was.Boundary <= seq {
		return was, nil
	}
	var v scrollback.View
	for items := was.Segments; len(items) > 0; {
		item := items[0]
		items = items[1:]
		if item.LastSeq <= seq {
			v.Segments, v.Boundary = append(v.Segments, item), item.LastSeq
			continue
		}
		if item.FirstSeq > seq || item.Level == 0 {
			break
		}
		inside, err := s.inside(ctx, item)
		if err != nil {
			return v, err
		}
		items = inside
	}
	if v.Boundary == 0 {
		return v, nil
	}
	v.Head = min(was.Head, seq)
	last, err := s.At(ctx, b, v.Boundary)
	if err != nil {
		return v, err
	}
	v.Sum = last.Sum
	for _, at := range was.Carried {
		if at > v.Boundary {
			continue
		}
		m, err := s.At(ctx, b, at)
		if err != nil {
			return v, err
		}
		v.Carried, v.Sum = append(v.Carried, at), v.Sum.Sub(m.Weight)
	}
	v.Summary, err = s.summaryBefore(ctx, was.Summary, v)
	return v, err
}

// inside are the children of a roll-up as items of a view.
func (s *Store) inside(ctx context.Context, item scrollback.ViewItem) ([]scrollback.ViewItem, error) {
	rollup, err := s.d.Segments(ctx, []scrollback.SegmentID{item.ID})
	if err != nil {
		return nil, err
	}
	children, err := s.d.Segments(ctx, rollup[0].Children)
	var out []scrollback.ViewItem
	for _, c := range children {
		out = append(out, scrollback.ViewItem{ID: c.ID, FirstSeq: c.FirstSeq, LastSeq: c.LastSeq, Level: c.Level})
	}
	return out, err
}

// summaryBefore is the newest summary of the same chain as was that speaks of
// nothing behind a view's boundary, or nil.
func (s *Store) summaryBefore(ctx context.Context, was *scrollback.ViewSummary, v scrollback.View) (*scrollback.ViewSummary, error) {
	if was == nil || was.LastSeq <= v.Boundary {
		return was, nil
	}
	stack := slices.Clone(v.Segments)
	for len(stack) > 0 {
		item := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if item.LastSeq < was.FirstSeq {
			return nil, nil
		}
		if item.Level > 0 {
			inside, err := s.inside(ctx, item)
			if err != nil {
				return nil, err
			}
			stack = append(stack, inside...)
			continue
		}
		leaf, err := s.d.Segments(ctx, []scrollback.SegmentID{item.ID})
		if err != nil {
			return nil, err
		}
		if g := leaf[0]; g.PromptVersion != 0 {
			return &scrollback.ViewSummary{Segment: g.ID, FirstSeq: g.SummaryOf, LastSeq: g.LastSeq, Tokens: int64(s.count(g.Summary))}, nil
		}
	}
	return nil, nil
}

// Unfold undoes folds of a conversation's current branch: the newest, or with a
// segment all those back to the one that folded it. What was folded before the
// branch began, and has no receipt on it, is unfolded as far as asked.
func (s *Store) Unfold(ctx context.Context, id scrollback.ConversationID, segment scrollback.SegmentID) (scrollback.Receipt, error) {
	const op = "store.Unfold"
	h, err := s.d.Head(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	seq, err := s.foldedAt(ctx, h.Branch.View, segment)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var out scrollback.Receipt
	for undone := 0; undone == 0 || h.Branch.View.Boundary >= seq; undone++ {
		u := driver.Unfold{Branch: h.Branch.ID, Now: s.Now(), IfViewVersion: h.Branch.ViewVersion}
		if seq > 0 && h.Branch.View.Boundary >= seq {
			v, err := s.cut(ctx, h.Branch, seq-1)
			if err != nil {
				return out, err
			}
			u.View = &v
		}
		boundary := h.Branch.View.Boundary
		r, err := s.d.Unfold(ctx, u)
		if err != nil {
			return out, err
		}
		if h, err = s.d.Head(ctx, id); err != nil {
			return out, err
		}
		if undone == 0 {
			out = r
			out.Result, out.LastSeq = scrollback.ResultCompacted, boundary
		} else {
			out.Segments, out.Refs = append(slices.Clone(r.Segments), out.Segments...), append(slices.Clone(r.Refs), out.Refs...)
		}
		out.FirstSeq = h.Branch.View.Boundary + 1
		if segment == "" {
			break
		}
		if undone == maxUndone {
			return out, scrollback.Errorf(scrollback.Internal, op, "the folds of branch %s do not end", h.Branch.ID)
		}
	}
	return out, nil
}

// maxUndone bounds how many folds are undone at once.
const maxUndone = 100_000

// foldedAt is the first seq that a segment of a view hides; with no segment given,
// that of its newest leaf, or 0.
func (s *Store) foldedAt(ctx context.Context, v scrollback.View, segment scrollback.SegmentID) (int64, error) {
	if segment == "" && len(v.Segments) == 0 {
		return 0, nil
	}
	for stack := slices.Clone(v.Segments); len(stack) > 0; {
		item := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if item.ID == segment || segment == "" && item.Level == 0 {
			return item.FirstSeq, nil
		}
		if item.Level > 0 {
			inside, err := s.inside(ctx, item)
			if err != nil {
				return 0, err
			}
			stack = append(stack, inside...)
		}
	}
	return 0, scrollback.Errorf(scrollback.NotFound, "store.Unfold", "segment %s is not folded in this conversation", segment)
}

// Purge removes a conversation for good, save what others inherit, and answers what
// stayed and which artifacts nothing mentions any more. With trashedBy, a time in
// ms, one that has not been in the trash since then is conflict.
func (s *Store) Purge(ctx context.Context, id scrollback.ConversationID, trashedBy int64) (driver.Purged, error) {
	var all driver.Purged
	for first := true; id != ""; first = false {
		p, err := s.d.Purge(ctx, driver.Purge{Conversation: id, Now: s.Now(), TrashedBy: trashedBy, Limit: purgeStep})
		if err != nil {
			return all, err
		}
		all.Removed += p.Removed
		all.Loose = append(all.Loose, p.Loose...)
		if p.Done {
			if first || all.Kept == 0 {
				all.Kept = p.Kept
			}
			id = p.Next
		}
	}
	all.Done = true
	return all, nil
}

// purgeStep is how many messages one transaction of a purge removes: others write
// in between.
const purgeStep = 500
