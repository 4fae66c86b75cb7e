package engine

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// Context returns the manifest of the window that the next request would begin with.
// It folds nothing and writes nothing.
func (v *View) Context(ctx context.Context, id scrollback.ConversationID) (scrollback.Manifest, error) {
	e := v.e
	head, err := v.door.head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	sh, err := e.resolver.Resolve(ctx, head.Conversation, Overrides{})
	if err != nil {
		// A model that is not set up here must not hide its conversation.
		assumed := Overrides{Model: e.o.Model, Policy: compact.Auto}
		if sh, err = e.resolver.Resolve(ctx, head.Conversation, assumed); err != nil {
			return scrollback.Manifest{}, err
		}
		sh.Facts.Name, sh.Over = cmp.Or(head.Model, sh.Project.Model), Overrides{}
	}
	shown, err := e.folder.Shown(ctx, head, sh)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	var prev *scrollback.WindowMark
	if last, err := e.store.Turns.Last(ctx, id); err == nil {
		prev = last.Window
	} else if scrollback.CodeOf(err) != scrollback.NotFound {
		return scrollback.Manifest{}, err
	}
	w := window.Assemble(shown.Window)
	m := account(head.Conversation, sh, w, prev)
	window.AccountReferences(&m, w, func(text string) int64 { return sh.ModelTokens(int64(token.Count(text))) })
	if shown.More {
		live := shown.Window.Live
		last := live[len(live)-1].Seq
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: last + 1, LastSeq: head.Messages, Reason: "not folded yet"})
	}
	return m, nil
}

// CompactRequest says how to compact by hand. Without Force only what the policy asks
// for is done. Clear folds everything so far without asking a model: a fresh start
// whose past stays readable through refs.
type CompactRequest struct {
	Overrides Overrides
	Force     bool
	Clear     bool
	Quota     *scrollback.Quota // counts it, as [TurnRequest] has it; Clear is not counted
}

// Compact compacts a conversation on request.
func (v *View) Compact(ctx context.Context, id scrollback.ConversationID, q CompactRequest) (scrollback.Receipt, error) {
	head, err := v.door.head(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	if q.Clear {
		running, err := v.Turns().Running(ctx, id)
		if err != nil {
			return scrollback.Receipt{}, err
		}
		if running != nil { // it would lose sight of the question it is answering
			return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, "engine.Compact", "a turn is being answered; stop it first")
		}
		return v.e.folder.ByHand(ctx, head, Overrides{}, compact.Everything)
	}
	reason := compact.WhenDue
	if q.Force {
		reason = compact.Forced
	}
	quota, against, err := v.e.gate.Judge(ctx, v.door.caller.Key, head.Project, q.Quota)
	if err == nil && against == nil && quota != nil {
		against = v.e.store.Books.Count(ctx, quota)
	}
	if err = cmp.Or(err, against); err != nil {
		return scrollback.Receipt{}, err
	}
	q.Overrides.Key = v.door.caller.Key
	return v.e.folder.ByHand(ctx, head, q.Overrides, reason)
}

// Uncompact undoes the newest compaction of the current branch, or with a segment
// all compactions back to the one that holds it.
func (v *View) Uncompact(ctx context.Context, id scrollback.ConversationID, segment scrollback.SegmentID) (scrollback.Receipt, error) {
	if err := v.door.allow(ctx, id, scrollback.AccessWrite); err != nil {
		return scrollback.Receipt{}, err
	}
	before, err := v.Context(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	r, err := v.e.store.Views.Unfold(ctx, id, segment)
	if err != nil {
		return r, err
	}
	after, err := v.Context(ctx, id)
	r.Undone, r.TokensBefore, r.TokensAfter, r.CreatedAt = true, before.Tokens, after.Tokens, v.e.store.Now()
	if r.Segments == nil {
		r.Segments, r.Refs = []scrollback.SegmentID{}, []scrollback.Ref{}
	}
	return r, err
}

// Receipts lists the compactions of a conversation, newest first, and behind them those
// that it inherits: of its ancestors, as far as its path still shows what they made.
func (v *View) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	head, err := v.door.head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return nil, err
	}
	rs, err := v.e.store.Views.Receipts(ctx, head, limit)
	if rs == nil {
		rs = []scrollback.Receipt{}
	}
	return rs, err
}
