package engine

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/sight"
)

// ContextRequest says what is wanted of the context: with Content what the model reads, and
// with a message that of the request that would send it.
type ContextRequest struct {
	Content   bool
	Message   scrollback.Parts
	Overrides Overrides
}

// Context returns the manifest of the window that the next request would begin with.
// It folds nothing and writes nothing.
func (v *View) Context(ctx context.Context, id scrollback.ConversationID) (scrollback.Manifest, error) {
	return v.Preview(ctx, id, ContextRequest{})
}

// Preview is Context for a request with a draft: what sending it would show, and compact.
func (v *View) Preview(ctx context.Context, id scrollback.ConversationID, q ContextRequest) (scrollback.Manifest, error) {
	e := v.e
	head, err := v.door.head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	next := sight.Next{Head: head, Content: q.Content, Beside: !e.o.NoBackgroundFolds}
	sh, err := e.resolver.Resolve(ctx, head.Conversation, q.Overrides)
	if err != nil && len(q.Message) > 0 {
		return scrollback.Manifest{}, err
	}
	if err != nil {
		// A model that is not set up here must not hide its conversation.
		assumed := Overrides{Model: e.o.Model, Policy: compact.Auto}
		if sh, err = e.resolver.Resolve(ctx, head.Conversation, assumed); err != nil {
			return scrollback.Manifest{}, err
		}
		sh.Facts.Name, sh.Over = cmp.Or(head.Model, sh.Project.Model), Overrides{}
	}
	next.Setting = sh
	if len(q.Message) > 0 {
		a := arriving{v, head, &TurnRequest{Conversation: id, Message: q.Message, Overrides: q.Overrides}, sh, e.intake.Rehearsal()}
		if err := a.rehearse(ctx, &next); err != nil {
			return scrollback.Manifest{}, err
		}
	}
	return e.sight.Manifest(ctx, next)
}

// rehearse adds what sending would add to a conversation.
func (a *arriving) rehearse(ctx context.Context, next *sight.Next) error {
	in, err := a.messages(ctx)
	if err != nil {
		return err
	}
	env, change, err := a.v.e.environment(ctx, a.head.Conversation, a.sh)
	if err != nil {
		return err
	}
	for _, m := range append(change, in...) {
		m.Weight = a.v.e.store.Weigh(m.Parts)
		next.Draft = append(next.Draft, m.Message)
	}
	tell(&next.Head.Conversation, env, len(change) > 0)
	return nil
}

// Past says what is wanted of what a turn sent to its model.
type Past = sight.Past

// Context returns what the steps of a turn sent to its model.
func (t Turns) Context(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID, q Past) (scrollback.TurnContext, error) {
	head, err := t.v.door.head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return scrollback.TurnContext{}, err
	}
	found, err := t.v.e.turn(ctx, id, turn)
	if err != nil {
		return scrollback.TurnContext{}, err
	}
	return t.v.e.sight.Turn(ctx, head.Conversation, found, q)
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
