package transfer

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// markLeftOut takes what a file says that requests leave out of its path so far. It counts for
// what this import writes: what a person here has left out or taken back stays.
func (im *importer) markLeftOut(ctx context.Context, c *importing, positions []int) error {
	if err := im.flushBatch(ctx, c); err != nil {
		return err
	}
	c.without = &positions
	if !c.fresh {
		return nil // it is there, or will be once the file is past what is there
	}
	return im.applyLeftOut(ctx, c)
}

// applyLeftOut has the branch that the file is on leave out what the file says. What comes next
// is folded without it.
func (im *importer) applyLeftOut(ctx context.Context, c *importing) error {
	if c.without == nil {
		return nil
	}
	was := c.head.Branch.View.Without
	at, _ := slices.BinarySearch(was, c.decided+1)
	out := slices.Clone(was[:at])
	for _, n := range *c.without {
		if n >= 1 && n <= len(c.seqs) && c.seqs[n-1] > c.decided {
			out = append(out, c.seqs[n-1])
		}
	}
	if out = slices.Compact(out); slices.Equal(out, was) {
		return nil
	}
	if err := im.store.Views.LeaveOut(ctx, c.head.Branch, out); err != nil {
		return err
	}
	head, err := im.view.Bulk().Head(ctx, c.ID, scrollback.AccessWrite)
	if err != nil {
		return err
	}
	if head.Branch.ID != c.head.Branch.ID || head.Branch.HeadSeq != c.head.Branch.HeadSeq {
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import",
			i18n.ContinuedWhileImported, c.ID)
	}
	c.noteHead(head)
	return nil
}
