package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// foldsMost bounds how many folds of a branch are looked through.
const foldsMost = 10_000

// listRedoable lists the undone folds of a head that can be done again, in that order: each puts
// back what its undoing replaced, if the branch shows now what it showed before the fold.
func (p Views) listRedoable(ctx context.Context, h Head) (out []driver.Fold, some bool, err error) {
	undone, err := p.s.d.Views.ListFolds(ctx, driver.FoldQuery{Branch: h.Branch.ID, Undone: true, Limit: foldsMost})
	some = len(undone) > 0
	slices.SortStableFunc(undone, func(a, b driver.Fold) int { return cmp.Compare(b.UndoneAt, a.UndoneAt) })
	for view := h.Branch.View; ; view = out[len(out)-1].After {
		i := slices.IndexFunc(undone, func(f driver.Fold) bool {
			return sameView(f.Before, view) && f.After.Boundary <= h.Branch.HeadSeq
		})
		if i < 0 {
			return out, some, err
		}
		out = append(out, undone[i])
		undone = slices.Delete(undone, i, i+1)
	}
}

// sameView reports whether two views show the same, whatever they remember of attempts and
// leave out.
func sameView(a, b scrollback.View) bool {
	x, err := json.Marshal(a.WithFailuresOf(b).WithLeftOut(b.Without))
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// findRedo returns the folds to be done again: the one that was undone last, or with a segment
// all up to the one that made it.
func (p Views) findRedo(ctx context.Context, h Head, segment scrollback.SegmentID) ([]driver.Fold, error) {
	const op = "store.Views.Refold"
	folds, some, err := p.listRedoable(ctx, h)
	switch {
	case err != nil:
		return nil, err
	case !some:
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoCompactionToRedo)
	case len(folds) == 0:
		return nil, scrollback.Errorf(scrollback.Conflict, op,
			i18n.UndoneCompactionsNoLongerFit)
	case segment == "":
		return folds[:1], nil
	}
	i := slices.IndexFunc(folds, func(f driver.Fold) bool { return slices.Contains(f.Receipt.Segments, segment) })
	if i < 0 {
		return nil, scrollback.Errorf(scrollback.Conflict, op, i18n.NoUndoneCompactionMadeSegment,
			segment)
	}
	return folds[:i+1], nil
}

// RedoFolds does folds of a conversation's current branch again that were undone: the one that
// was undone last, or with a segment all up to the one that made it. No model is asked, and
// no segment is made: those that were there come back.
func (p Views) RedoFolds(ctx context.Context, id scrollback.ConversationID,
	segment scrollback.SegmentID) (scrollback.Receipt, error) {
	h, err := p.s.ReadHead(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	folds, err := p.findRedo(ctx, h, segment)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var out scrollback.Receipt
	for i, f := range folds {
		r, err := p.s.d.Views.RedoFold(ctx, driver.FoldRedo{Branch: h.Branch.ID, Number: f.Number, Now: p.s.Now(),
			IfViewVersion: h.Branch.ViewVersion + int64(i)})
		if err != nil {
			return out, err
		}
		out = joinReceipts(out, r)
	}
	return out, nil
}

// joinReceipts returns one receipt of two folds that followed each other.
func joinReceipts(a, b scrollback.Receipt) scrollback.Receipt {
	switch {
	case a.Result == "":
		return b
	case b.Result == "":
		return a
	}
	b.Segments = slices.Concat(a.Segments, b.Segments)
	b.Refs = slices.Concat(a.Refs, b.Refs)
	b.FirstSeq = min(a.FirstSeq, b.FirstSeq)
	return b
}

// PreviewRedo returns what the branch of a head would show after RedoFolds, and its receipt.
func (p Views) PreviewRedo(ctx context.Context, h Head,
	segment scrollback.SegmentID) (scrollback.View, scrollback.Receipt, error) {
	folds, err := p.findRedo(ctx, h, segment)
	if err != nil {
		return h.Branch.View, scrollback.Receipt{}, err
	}
	var out scrollback.Receipt
	for _, f := range folds {
		out = joinReceipts(out, f.Receipt)
	}
	return folds[len(folds)-1].After.WithLeftOut(h.Branch.View.Without), out, nil
}

// PreviewUndo returns what the branch of a head would show after UndoFolds, and its receipt.
func (p Views) PreviewUndo(ctx context.Context, h Head,
	segment scrollback.SegmentID) (scrollback.View, scrollback.Receipt, error) {
	var out scrollback.Receipt
	seq, err := p.foldedAt(ctx, h.Branch.View, segment)
	if err != nil {
		return h.Branch.View, out, err
	}
	folds, err := p.s.d.Views.ListFolds(ctx, driver.FoldQuery{Branch: h.Branch.ID, Limit: foldsMost})
	if err != nil {
		return h.Branch.View, out, err
	}
	b := h.Branch
	for undone := 0; undone == 0 || segment != "" && b.View.Boundary >= seq; undone++ {
		switch {
		case undone < len(folds):
			out = joinReceipts(folds[undone].Receipt, out)
			b.View = folds[undone].Before.WithLeftOut(b.View.Without)
		case seq > 0 && b.View.Boundary >= seq:
			if b.View, err = p.cutView(ctx, b, seq-1); err != nil {
				return b.View, out, err
			}
		default:
			return b.View, out, scrollback.Errorf(scrollback.NotFound, "store.Views.Unfold", i18n.NoCompactionToUndo)
		}
	}
	out.Result = scrollback.ResultCompacted
	out.FirstSeq = b.View.Boundary + 1
	out.LastSeq = h.Branch.View.Boundary
	return b.View, out, nil
}
