package archive

import (
	"bytes"
	"context"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
)

// Numbered are messages on the path of a branch, by their numbers. The caller has checked that they
// are there, and not too many.
type Numbered struct {
	Branch scrollback.BranchID
	scrollback.Numbers
}

// heldBytes bounds how much of rendered messages is held at once. What is behind it is rendered again when
// it is read.
const heldBytes = 8 << 20

// ReadNumbered is Read for messages by their numbers, compacted or not: they are rendered as the
// file of a segment shows them.
func (a *Archive) ReadNumbered(ctx context.Context, n Numbered, offset int64, limit int) (scrollback.Page, error) {
	return a.readPage(ctx, scrollback.RefEntry{Ref: n.Ref()}, a.opensNumbered(n), offset, limit)
}

// TailNumbered is Tail for messages by their numbers.
func (a *Archive) TailNumbered(ctx context.Context, n Numbered, lines int) (scrollback.Tail, error) {
	return a.readTail(ctx, scrollback.RefEntry{Ref: n.Ref()}, a.opensNumbered(n), lines)
}

func (a *Archive) opensNumbered(n Numbered) bodyOpener {
	return func(ctx context.Context, _ scrollback.RefEntry) (*refBody, error) {
		var held []byte
		var size int64
		for text, err := range a.renderNumbered(ctx, n) {
			if err != nil {
				return nil, err
			}
			if size == int64(len(held)) && len(held)+len(text) <= heldBytes {
				held = append(held, text...)
			}
			size += int64(len(text))
		}
		b := memoryBody(held)
		b.size = size
		fromHeld := b.at
		b.at = func(ctx context.Context, off int64, count int) ([]byte, error) {
			if off+int64(count) <= int64(len(held)) {
				return fromHeld(ctx, off, count)
			}
			return a.cutNumbered(ctx, n, off, count)
		}
		return b, nil
	}
}

// cutNumbered renders messages again and returns count bytes of them from off.
func (a *Archive) cutNumbered(ctx context.Context, n Numbered, off int64, count int) ([]byte, error) {
	out := make([]byte, 0, count)
	for text, err := range a.renderNumbered(ctx, n) {
		if err != nil {
			return nil, err
		}
		skip := min(off, int64(len(text)))
		off -= skip
		text = text[skip:]
		if out = append(out, text[:min(len(text), count-len(out))]...); len(out) == count {
			return out, nil
		}
	}
	return nil, scrollback.Wrap(scrollback.Internal, "archive.Read", io.ErrUnexpectedEOF) // messages never change
}

// renderNumbered yields messages as they are rendered, one after the other; each is valid until the next.
func (a *Archive) renderNumbered(ctx context.Context, n Numbered) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m := markdown1{plain: true}
		first := true
		for msg, err := range a.src.SiftMessages(ctx, n.Branch, n.First, n.Last, nil) {
			if err != nil {
				yield(nil, scrollback.Wrap(scrollback.Internal, "archive.Read", err))
				return
			}
			m.Reset()
			m.writeMessage(&msg)
			text := m.Bytes()
			if first { // nothing stands before it
				text = bytes.TrimPrefix(text, []byte("\n"))
				first = false
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}
