package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Compact folds by hand. Without force it does only what the policy asks for.
func (e *Engine) Compact(ctx context.Context, id scrollback.ConversationID, policy string, force bool) (scrollback.Receipt, error) {
	return e.foldByHand(ctx, id, Shape{Policy: policy}, foldWish{force: force})
}

// Clear folds everything so far, without asking a model: a start afresh whose
// past stays readable behind its refs.
func (e *Engine) Clear(ctx context.Context, id scrollback.ConversationID) (scrollback.Receipt, error) {
	running, err := e.Running(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	if running != nil { // it would lose sight of the question it is answering
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, "engine.Clear", "a turn is being answered; stop it first")
	}
	return e.foldByHand(ctx, id, Shape{}, foldWish{all: true})
}

func (e *Engine) foldByHand(ctx context.Context, id scrollback.ConversationID, over Shape, wish foldWish) (scrollback.Receipt, error) {
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	sh, err := e.shape(head.Conversation, over)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var all scrollback.Receipt
	for range maxFolds {
		r, err := e.fold(ctx, &head, sh, wish)
		if err != nil {
			return all, err
		}
		all = joinReceipts(all, r)
		backlog := head.Branch.Sum.Sub(head.Branch.View.Sum).Tokens > max(pieceTokens, snapshotBudgets*sh.budget.Tokens)
		if r.Result != scrollback.FoldCompacted || !backlog && (!wish.all || head.Branch.View.Boundary == head.Branch.HeadSeq) {
			return all, nil
		}
	}
	return all, nil
}

// joinReceipts is one receipt of several folds made in a row.
func joinReceipts(a, b scrollback.Receipt) scrollback.Receipt {
	if a.Result != scrollback.FoldCompacted {
		return b
	}
	if b.Result != scrollback.FoldCompacted {
		return a
	}
	a.Segments, a.Refs = append(a.Segments, b.Segments...), append(a.Refs, b.Refs...)
	a.LastSeq, a.TokensAfter, a.Cost, a.CreatedAt = b.LastSeq, b.TokensAfter, a.Cost+b.Cost, b.CreatedAt
	return a
}

// Uncompact undoes the newest fold of the current branch.
func (e *Engine) Uncompact(ctx context.Context, id scrollback.ConversationID) (scrollback.Receipt, error) {
	before, err := e.Context(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	r, err := e.store.Unfold(ctx, id)
	if err != nil {
		return r, err
	}
	after, err := e.Context(ctx, id)
	r.Undone, r.TokensBefore, r.TokensAfter, r.CreatedAt = true, before.Tokens, after.Tokens, e.store.Now()
	return r, err
}

// Receipts lists the compactions of a conversation, newest first.
func (e *Engine) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	if _, err := e.store.Head(ctx, id); err != nil {
		return nil, err
	}
	rs, err := e.store.Receipts(ctx, id, limit)
	if rs == nil {
		rs = []scrollback.Receipt{}
	}
	return rs, err
}

// Context is the manifest of the window that the next request would begin with.
// It folds nothing and writes nothing.
func (e *Engine) Context(ctx context.Context, id scrollback.ConversationID) (scrollback.Manifest, error) {
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	sh, err := e.shape(head.Conversation, Shape{})
	if err != nil {
		// A model that is not set up here hides nothing of its conversation.
		assumed := head.Conversation
		assumed.Model, assumed.Policy = "", ""
		if sh, err = e.shape(assumed, Shape{}); err != nil {
			return scrollback.Manifest{}, err
		}
		sh.facts.Name = head.Model
	}
	snap, err := e.snapshot(ctx, head, sh)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	var prev *scrollback.WindowMark
	if last, err := e.store.LastTurn(ctx, id); err == nil {
		prev = last.Window
	} else if scrollback.CodeOf(err) != scrollback.NotFound {
		return scrollback.Manifest{}, err
	}
	m := account(head.Conversation, sh, e.assemble(snap, sh, 0), prev)
	if snap.More {
		last := snap.Live[len(snap.Live)-1].Seq
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: last + 1, LastSeq: head.Messages, Reason: "not folded yet"})
	}
	return m, nil
}
