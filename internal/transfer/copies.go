package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/fullcopy"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// Copy is a full copy of a conversation, as one JSON document in the object store. Key is
// its name there, Bytes its size, SHA256 its hash, and CreatedAt in Unix ms. It is
// [archive.Copy].
type Copy = archive.Copy

// Copies writes full copies of conversations and reads them.
type Copies struct{ of *Transfer }

// Copies returns those of all conversations.
func (t *Transfer) Copies() Copies { return Copies{t} }

// Write writes a full copy of a conversation into the object store: all branches, the
// bytes of attachments, settings, receipts and refs. It takes as much memory as one
// message, however long the conversation.
func (t Copies) Write(ctx context.Context, v *engine.View, id scrollback.ConversationID) (Copy, error) {
	now := t.of.store.Now()
	return t.writeAs(ctx, v, id, Copy{Key: archive.CopyKey(now, t.of.store.NewID()), CreatedAt: now})
}

func (t Copies) writeAs(ctx context.Context, v *engine.View, id scrollback.ConversationID,
	as Copy) (Copy, error) {
	c, err := v.Bulk().Head(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return as, err
	}
	if err := t.of.store.Hashes.Check(ctx, c.ID); err != nil {
		return as, err
	}
	made, err := t.of.archive.PutCopy(ctx, c.ID, as,
		func(w io.Writer) error { return t.document(ctx, v, c.Conversation, w, as.CreatedAt, nil) })
	if err != nil {
		return made, err
	}
	if _, err := v.Get(ctx, id); scrollback.CodeOf(err) == scrollback.NotFound { // it was purged meanwhile
		_, _, dropErr := t.of.archive.DeleteConversation(context.WithoutCancel(ctx), id, nil)
		return made, errors.Join(err, dropErr)
	}
	return made, nil
}

// WriteMasked writes a full copy without keys and passwords to w, and none into the object store. It reads the
// conversation twice: what stands in its title may be half of what stands in a message. m counts what was masked.
func (t Copies) WriteMasked(ctx context.Context, v *engine.View, id scrollback.ConversationID, w io.Writer,
	m *mask.Masker) error {
	c, err := v.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := t.of.store.Hashes.Check(ctx, c.ID); err != nil {
		return err
	}
	now := t.of.store.Now()
	var first mask.Masker
	if err := t.document(ctx, v, c, io.Discard, now, &first); err != nil {
		return err
	}
	m.Remember(&first)
	return t.document(ctx, v, c, w, now, m)
}

// List lists the newest copies of a conversation, newest first.
func (t Copies) List(ctx context.Context, v *engine.View, id scrollback.ConversationID,
	limit int) ([]Copy, error) {
	if limit < 0 || limit > scrollback.ListMax {
		return nil, scrollback.ParamErrorf("transfer.Copies", "limit", i18n.LimitOutOfRange, scrollback.ListMax)
	}
	if _, err := v.Get(ctx, id); err != nil {
		return nil, err
	}
	return t.of.archive.Copies(ctx, id, cmp.Or(limit, scrollback.ListDefault))
}

// Open returns a copy of a conversation: the one with a key, or else the newest. What is
// not one of this conversation's copies is not_found.
func (t Copies) Open(ctx context.Context, v *engine.View, id scrollback.ConversationID,
	key string) (Copy, io.ReadCloser, error) {
	if key == "" {
		newest, err := t.List(ctx, v, id, 1)
		if err != nil {
			return Copy{}, nil, err
		}
		if len(newest) == 0 {
			return Copy{}, nil, scrollback.Errorf(scrollback.NotFound, "transfer.Copies",
				i18n.ConversationHasNoCopyYet, id)
		}
		key = newest[0].Key
	} else if _, err := v.Get(ctx, id); err != nil {
		return Copy{}, nil, err
	}
	return t.of.archive.OpenCopy(ctx, id, key)
}

// document writes a conversation as it stands now. A nil m masks nothing.
func (t Copies) document(ctx context.Context, v *engine.View, c scrollback.Conversation, to io.Writer,
	at int64, m *mask.Masker) error {
	branches, err := t.of.store.Move.ListWrittenBranches(ctx, c)
	if err != nil {
		return err
	}
	entries := []scrollback.BranchEntry{}
	for _, b := range branches {
		entries = append(entries, scrollback.BranchEntry{ID: b.ID, Parent: b.Parent, AtSeq: b.AtSeq, HeadSeq: b.HeadSeq,
			Messages: b.HeadSeq - b.AtSeq, UpdatedAt: b.UpdatedAt, Current: b.ID == c.Branch, Without: b.View.Without})
		if b.ID == c.Branch {
			c.Messages = b.HeadSeq
		}
	}
	receipts := t.receipts(ctx, c.ID)
	refs := eachRef(ctx, v, c.ID)
	if m != nil {
		c = m.MaskConversation(c)
		receipts = maskEach(receipts, func(r *scrollback.Receipt) { m.MaskDerived(&r.SummaryWhy) })
		refs = maskEach(refs, func(r *scrollback.RefEntry) { m.MaskDerived(&r.Hint) })
	}
	w := fullcopy.NewWriter(to)
	if err := w.Begin(at, c, entries); err != nil {
		return err
	}
	for _, p := range fullcopy.Pieces(branches, c.Branch) {
		if err := t.piece(ctx, v, c.ID, p, w, m); err != nil {
			return err
		}
	}
	return w.End(receipts, refs)
}

// maskEach masks what is walked.
func maskEach[T any](all iter.Seq2[T, error], mask func(*T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range all {
			mask(&v)
			if !yield(v, err) {
				return
			}
		}
	}
}

// piece writes a run of messages, each with what stands after it.
func (t Copies) piece(ctx context.Context, v *engine.View, id scrollback.ConversationID, p fullcopy.Piece,
	w *fullcopy.Writer, by *mask.Masker) error {
	for after := p.From - 1; after < p.To; {
		before := after
		page, err := v.Turns().Page(ctx, id, scrollback.PageQuery{Branch: p.Branch, After: &before,
			Limit: scrollback.ListMax})
		if err != nil {
			return err
		}
		if len(page.Messages) == 0 {
			return scrollback.Errorf(scrollback.Internal, "transfer.Copies", i18n.BranchEndsBeforeMessage, p.Branch,
				p.To)
		}
		for _, m := range page.Messages {
			if after = m.Seq; m.Seq > p.To {
				break
			}
			failed, drafts := splitTurns(page.TurnsAfter(m.Seq))
			if err := t.message(ctx, m, failed, w, by); err != nil {
				return err
			}
			for _, d := range drafts {
				d.ConversationID = id
				if err := t.message(ctx, d, nil, w, by); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// message writes a message with the bytes that its parts name, as far as there is
// room for them in one message.
func (t Copies) message(ctx context.Context, m scrollback.Message, failed []scrollback.TurnEntry,
	w *fullcopy.Writer, by *mask.Masker) error {
	room := int64(fullcopy.MaxMessage) / 2
	m.Parts = slices.Clone(m.Parts)
	attached := map[int]scrollback.ArtifactID{}
	for i, p := range m.Parts {
		var id scrollback.ArtifactID
		switch p := p.(type) {
		case scrollback.Image:
			id = p.Artifact
		case scrollback.File:
			id = p.Artifact
		case scrollback.ToolResult:
			id = p.Artifact
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
		if id == "" {
			continue
		}
		f, size, err := t.of.archive.OpenArtifact(ctx, id)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return scrollback.Wrap(scrollback.Unavailable, "transfer.Copies", err)
		}
		if size*4/3 > room {
			continue // its name stands
		}
		room -= size*4/3 + 4
		attached[i] = id
		if r, ok := p.(scrollback.ToolResult); ok {
			text, err := readText(ctx, t.of, id)
			if scrollback.CodeOf(err) == scrollback.Invalid {
				continue // its bytes stand beside it
			}
			if err != nil {
				return err
			}
			r.Text = text
			m.Parts[i] = r
			delete(attached, i)
		}
	}
	if by != nil {
		entry := transcript.Entry{Message: m, Turns: failed}
		by.MaskEntry(&entry)
		m = entry.Message
		failed = entry.Turns
	}
	return w.Message(m, failed, func(i int) (io.ReadCloser, error) {
		if attached[i] == "" {
			return nil, nil
		}
		f, _, err := t.of.archive.OpenArtifact(ctx, attached[i])
		if err != nil || by == nil {
			return f, err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			return nil, scrollback.Wrap(scrollback.Unavailable, "transfer.Copies", err)
		}
		return io.NopCloser(bytes.NewReader(by.MaskBytes(text, mediaTypeOf(m.Parts[i])))), nil
	})
}

// mediaTypeOf returns what a part says that its bytes are; a tool's result is text.
func mediaTypeOf(p scrollback.Part) string {
	switch p := p.(type) {
	case scrollback.Image:
		return p.MediaType
	case scrollback.File:
		return p.MediaType
	}
	return "text/plain"
}

// receipts walks the receipts of a conversation, oldest first.
func (t Copies) receipts(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Receipt, error] {
	return func(yield func(scrollback.Receipt, error) bool) {
		for f, err := range t.of.store.Move.WalkReceipts(ctx, id) {
			f.Receipt.Undone = f.Undone
			if !yield(f.Receipt, err) || err != nil {
				return
			}
		}
	}
}

// eachRef walks the refs of a conversation, with those that it inherits.
func eachRef(ctx context.Context, v *engine.View, id scrollback.ConversationID) iter.Seq2[scrollback.RefEntry, error] {
	return func(yield func(scrollback.RefEntry, error) bool) {
		q := scrollback.RefQuery{Limit: scrollback.ListMax}
		for {
			page, next, err := v.Recall().Refs(ctx, id, q)
			if err != nil {
				yield(scrollback.RefEntry{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if q.Cursor = next; next == "" {
				return
			}
		}
	}
}
