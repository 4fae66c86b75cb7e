package recall

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// resolveNumbers returns the messages that numbers name on the current path of a conversation. Those that
// are not there are an error that says which are.
func (r *Reader) resolveNumbers(ctx context.Context, id scrollback.ConversationID,
	ref scrollback.Ref) (archive.Numbered, error) {
	head, err := r.access.Head(ctx, id)
	if err != nil {
		return archive.Numbered{}, err
	}
	return r.numbersOn(ctx, head, ref)
}

func (r *Reader) numbersOn(ctx context.Context, head store.Head, ref scrollback.Ref) (archive.Numbered, error) {
	const op = "recall.numbers"
	newest := head.Branch.HeadSeq
	n, ok := ref.Numbers()
	switch {
	case !ok:
		return archive.Numbered{}, scrollback.ParamErrorf(op, "ref", i18n.NumbersMalformed, clipRef(ref), newest)
	case n.First > newest:
		return archive.Numbered{}, r.newUnknownNumberError(ctx, head, n.First)
	case n.Last > newest:
		return archive.Numbered{}, r.newUnknownNumberError(ctx, head, n.Last)
	case n.Last-n.First >= scrollback.MaxNumbers:
		return archive.Numbered{}, scrollback.ParamErrorf(op, "ref", i18n.TooManyNumbers, n.Ref(),
			scrollback.MaxNumbers, newest)
	}
	return archive.Numbered{Branch: head.Branch.ID, Numbers: n}, nil
}

// newUnknownNumberError returns the error for a number that is not on the path: one that was taken back has
// its branch named.
func (r *Reader) newUnknownNumberError(ctx context.Context, head store.Head, seq int64) error {
	const op = "recall.numbers"
	newest := head.Branch.HeadSeq
	all, err := r.store.Branches.List(ctx, head.ID)
	if err != nil {
		return err
	}
	for _, b := range all {
		switch {
		case b.HeadSeq < seq:
		case newest == 0:
			return scrollback.Errorf(scrollback.NotFound, op, i18n.AllMessagesRewound, seq, b.ID)
		default:
			return scrollback.Errorf(scrollback.NotFound, op, i18n.MessageWasRewound, seq, b.ID, newest)
		}
	}
	if newest == 0 {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.NoMessagesNumbered, seq)
	}
	return scrollback.Errorf(scrollback.NotFound, op, i18n.NoMessageNumbered, seq, newest)
}

// clipRef bounds how much of a text is repeated that does not name anything.
func clipRef(ref scrollback.Ref) string {
	const most = 80
	if r := []rune(string(ref)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(ref)
}
