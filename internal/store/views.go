package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// CommitFold stores a fold; a view that changed meanwhile is a conflict. What is not as it was stored
// is not sealed with a hash that would make it look right: that is internal.
func (p Views) CommitFold(ctx context.Context, c FoldCommit) error {
	if err := p.checkCovered(ctx, c.Segments); err != nil {
		return err
	}
	c.Now = p.s.Now()
	c.Usage = boundRecords(c.Usage)
	cost, _ := scrollback.Usage{Cost: c.Receipt.Cost}.Checked()
	c.Receipt.Cost = cost.Cost
	return p.s.d.Views.CommitFold(ctx, c)
}

// LeaveOut replaces which messages of its path the requests of a branch leave out, ascending. A
// view that changed since the branch was read is a conflict.
func (p Views) LeaveOut(ctx context.Context, b scrollback.Branch, without []int64) error {
	return p.s.Audit.Repair(ctx, Repair{View: &driver.ViewRepair{Branch: b.ID, IfViewVersion: b.ViewVersion,
		View: b.View.WithLeftOut(without)}})
}

// checkCovered checks the messages that new leaves cover.
func (p Views) checkCovered(ctx context.Context, segments []scrollback.Segment) error {
	for _, s := range segments {
		if len(s.Children) > 0 {
			continue // its leaves were checked, or have hashes of their own
		}
		damaged, err := p.s.Hashes.FindDamaged(ctx, s.Branch, s.FirstSeq, s.LastSeq)
		if err != nil {
			return err
		}
		if err := damageIn("store.Commit", damaged); err != nil {
			return err
		}
	}
	return nil
}

// ListReceipts lists the compactions of a conversation, newest first, and behind them those of
// its ancestors, nearest first, whose segments its view still shows.
func (p Views) ListReceipts(ctx context.Context, h Head, limit int) ([]scrollback.Receipt, error) {
	n, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	out, err := p.s.d.Views.ListReceipts(ctx, h.ID, n)
	if err == nil {
		err = p.markRedoable(ctx, h, out)
	}
	if err != nil || len(h.Ancestors) == 0 || len(h.Branch.View.Segments) == 0 {
		return out, err
	}
	shown, err := p.listLeaves(ctx, h.Branch.View)
	for _, id := range h.Ancestors {
		if err != nil || len(out) >= n {
			break
		}
		var theirs []scrollback.Receipt
		theirs, err = p.s.d.Views.ListReceipts(ctx, id, inheritedMost)
		for _, r := range theirs {
			if len(out) < n && !r.Undone && slices.ContainsFunc(r.Segments,
				func(s scrollback.SegmentID) bool { return shown[s] }) {
				r.Inherited = true
				out = append(out, r)
			}
		}
	}
	return out, err
}

// markRedoable marks the receipts of folds that can be done again.
func (p Views) markRedoable(ctx context.Context, h Head, rs []scrollback.Receipt) error {
	if !slices.ContainsFunc(rs, func(r scrollback.Receipt) bool { return r.Undone }) {
		return nil
	}
	folds, _, err := p.listRedoable(ctx, h)
	for _, f := range folds {
		for i := range rs {
			if rs[i].Undone && slices.Equal(rs[i].Segments, f.Receipt.Segments) {
				rs[i].Redo = true
			}
		}
	}
	return err
}

// inheritedMost bounds how many of an ancestor's receipts are looked through.
const inheritedMost = 1000

// listLeaves returns the segments that a view shows, and those inside its roll-ups, at most
// inheritedMost of them, newest first.
func (p Views) listLeaves(ctx context.Context, v scrollback.View) (map[scrollback.SegmentID]bool, error) {
	out := map[scrollback.SegmentID]bool{}
	for stack := slices.Clone(v.Segments); len(stack) > 0 && len(out) < inheritedMost; {
		item := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out[item.ID] = true
		if item.Level > 0 {
			inside, err := p.openRollUp(ctx, item)
			if err != nil {
				return nil, err
			}
			stack = append(stack, inside...)
		}
	}
	return out, nil
}

// UndoFolds undoes folds of a conversation's current branch: the newest, or with a
// segment all those back to the one that folded it. What was folded before the
// branch began, and so has no receipt on it, is unfolded as far as requested.
func (p Views) UndoFolds(ctx context.Context, id scrollback.ConversationID,
	segment scrollback.SegmentID) (scrollback.Receipt, error) {
	const op = "store.Views.Unfold"
	h, err := p.s.ReadHead(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	id = h.ID
	seq, err := readNow(ctx, p.s, AliasSegment, segment, func(ctx context.Context, s scrollback.SegmentID) (int64, error) {
		return p.foldedAt(ctx, h.Branch.View, s)
	})
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var out scrollback.Receipt
	for undone := 0; undone == 0 || h.Branch.View.Boundary >= seq; undone++ {
		u := driver.FoldUndo{Branch: h.Branch.ID, Now: p.s.Now(), IfViewVersion: h.Branch.ViewVersion}
		if seq > 0 && h.Branch.View.Boundary >= seq {
			v, err := p.cutView(ctx, h.Branch, seq-1)
			if err != nil {
				return out, err
			}
			u.View = &v
		}
		boundary := h.Branch.View.Boundary
		r, err := p.s.d.Views.UndoFold(ctx, u)
		if err != nil {
			return out, err
		}
		if h, err = p.s.d.Log.ReadHead(ctx, id); err != nil {
			return out, err
		}
		if undone == 0 {
			out = r
			out.Result = scrollback.ResultCompacted
			out.LastSeq = boundary
		} else {
			out.Segments = append(slices.Clone(r.Segments), out.Segments...)
			out.Refs = append(slices.Clone(r.Refs), out.Refs...)
		}
		out.FirstSeq = h.Branch.View.Boundary + 1
		if segment == "" {
			break
		}
		if undone == maxUndone {
			return out, scrollback.Errorf(scrollback.Internal, op, i18n.CompactionsDoNotEnd, h.Branch.ID)
		}
	}
	return out, nil
}

// maxUndone bounds how many folds are undone at once.
const maxUndone = 100_000

// foldedAt is the first seq that a segment of a view hides; with no segment given, it is
// that of the newest leaf, or 0.
func (p Views) foldedAt(ctx context.Context, v scrollback.View, segment scrollback.SegmentID) (int64, error) {
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
			inside, err := p.openRollUp(ctx, item)
			if err != nil {
				return 0, err
			}
			stack = append(stack, inside...)
		}
	}
	return 0, scrollback.Errorf(scrollback.NotFound, "store.Views.Unfold",
		i18n.SegmentNotCompactedHere, segment)
}

// cutView returns what is left of a branch's view when its path ends with message seq: the
// leaf that holds it is unfolded, and the roll-ups around that leaf are opened. A
// summary that covers what is gone is replaced by the one before it.
func (p Views) cutView(ctx context.Context, b scrollback.Branch, seq int64) (scrollback.View, error) {
	was := b.View
	if was.Boundary <= seq {
		return was, nil
	}
	v := scrollback.View{Without: was.Without, Language: was.Language}
	for items := was.Segments; len(items) > 0; {
		item := items[0]
		items = items[1:]
		if item.LastSeq <= seq {
			v.Segments = append(v.Segments, item)
			v.Boundary = item.LastSeq
			continue
		}
		if item.FirstSeq > seq || item.Level == 0 {
			break
		}
		inside, err := p.openRollUp(ctx, item)
		if err != nil {
			return v, err
		}
		items = inside
	}
	if v.Boundary == 0 {
		return v, nil
	}
	v.Head = min(was.Head, seq)
	last, err := p.s.ReadMessageAt(ctx, b, v.Boundary)
	if err != nil {
		return v, err
	}
	v.Sum = last.Sum
	for _, at := range was.Carried {
		if at > v.Boundary {
			continue
		}
		m, err := p.s.ReadMessageAt(ctx, b, at)
		if err != nil {
			return v, err
		}
		v.Carried = append(v.Carried, at)
		v.Sum = v.Sum.Sub(m.Weight)
	}
	v.Summary, err = p.summaryBefore(ctx, was.Summary, v)
	return v, err
}

// openRollUp returns the children of a roll-up as items of a view.
func (p Views) openRollUp(ctx context.Context, item scrollback.ViewItem) ([]scrollback.ViewItem, error) {
	rollup, err := p.s.d.Views.ReadSegments(ctx, []scrollback.SegmentID{item.ID})
	if err != nil {
		return nil, err
	}
	children, err := p.s.d.Views.ReadSegments(ctx, rollup[0].Children)
	var out []scrollback.ViewItem
	for _, c := range children {
		out = append(out, scrollback.ViewItem{ID: c.ID, FirstSeq: c.FirstSeq, LastSeq: c.LastSeq, Level: c.Level})
	}
	return out, err
}

// summaryBefore is the newest summary of the same chain as was that covers nothing
// behind a view's boundary, or nil.
func (p Views) summaryBefore(ctx context.Context, was *scrollback.ViewSummary,
	v scrollback.View) (*scrollback.ViewSummary, error) {
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
			inside, err := p.openRollUp(ctx, item)
			if err != nil {
				return nil, err
			}
			stack = append(stack, inside...)
			continue
		}
		leaf, err := p.s.d.Views.ReadSegments(ctx, []scrollback.SegmentID{item.ID})
		if err != nil {
			return nil, err
		}
		if g := leaf[0]; g.PromptVersion != 0 {
			return &scrollback.ViewSummary{Segment: g.ID, FirstSeq: g.SummaryOf, LastSeq: g.LastSeq,
				Tokens: int64(p.s.count(g.Summary))}, nil
		}
	}
	return nil, nil
}
