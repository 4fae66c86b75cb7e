package transfer

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// batchWrite is a batch of a conversation that is being stored, and what no longer fits
// folded, while the file is read on. Nobody else touches its fields before it has ended.
type batchWrite struct {
	of     *importing
	batch  []store.IncomingMessage
	head   store.Head
	done   store.AppendResult
	stored bool // and then not folded, if there is an error
	err    error
	ended  chan struct{}
}

// flushBatch writes a batch and folds what no longer fits.
func (im *importer) flushBatch(ctx context.Context, c *importing) error {
	if err := im.startWrite(ctx, c); err != nil {
		return err
	}
	return im.writing.waitWritten(im)
}

// startWrite begins to write a batch, once the one before is written: the next one is read
// meanwhile.
func (im *importer) startWrite(ctx context.Context, c *importing) error {
	if err := im.writing.waitWritten(im); err != nil || len(c.batch) == 0 {
		return err
	}
	w := &batchWrite{of: c, batch: c.batch, head: c.head, ended: make(chan struct{})}
	im.writing = w
	c.batch = nil
	c.size = 0
	go func() {
		defer close(w.ended)
		// Nobody may have added anything since it was read: two imports at once of the
		// same file would double it.
		add := im.store.AppendForeign
		if im.cells || im.q.Into != "" { // a person's notebook, or what goes on a conversation of theirs
			add = im.store.AppendMessages
		}
		if w.done, w.err = add(ctx, w.head, w.batch); w.err == nil {
			w.stored = true
			w.head = w.done.Head
			w.err = c.backlog.Compact(ctx, &w.head)
		}
	}()
	return nil
}

// waitWritten waits for what is being written, if anything is, and notes what came of it. A batch that could not be
// stored stands before what was read since.
func (w *batchWrite) waitWritten(im *importer) error {
	if w == nil {
		return nil
	}
	<-w.ended
	im.writing = nil
	c := w.of
	if !w.stored {
		c.batch = append(w.batch, c.batch...)
		return w.err
	}
	im.pending -= len(w.batch)
	for _, m := range w.done.Messages {
		c.seqs = append(c.seqs, m.Seq)
		c.gap = 0
	}
	c.Messages += int64(len(w.batch))
	im.count += int64(len(w.batch))
	if im.q.Progress != nil {
		im.q.Progress(im.count)
	}
	c.head = w.head
	if at, was := w.head.Branch, w.done.Head.Branch; at.ID != was.ID || at.HeadSeq != was.HeadSeq {
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import",
			i18n.ContinuedWhileImported, c.ID)
	}
	c.noteHead(c.head)
	c.Total = c.head.Messages
	if scrollback.CodeOf(w.err) == scrollback.OverBudget {
		return nil // what is stored is stored; the next turn judges what it can send
	}
	return w.err
}
