package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// ContextRequest selects what to return of the context: with Content what the model reads, and
// with a message that of the request that would send it. Sending makes an error of what a turn
// with the same message and settings would refuse.
type ContextRequest struct {
	Content    bool
	Sending    bool
	Message    scrollback.Parts
	WebSearch  bool
	PlainMarks bool
	Zone       *time.Location // as in [TurnRequest]; without a message nil adds nothing that was not told yet
	Without    *[]int64       // as in [TurnRequest]
	Overrides  Overrides
}

// Context returns the manifest of the window that the next request would begin with.
// It folds nothing and writes nothing. At most one request says what is wanted.
func (v *View) Context(ctx context.Context, id scrollback.ConversationID,
	q ...ContextRequest) (scrollback.Manifest, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	return previewNext(ctx, v, head, append(q, ContextRequest{})[0])
}

// previewNext returns the manifest of the next request of a conversation.
func previewNext(ctx context.Context, v *View, head store.Head, q ContextRequest) (scrollback.Manifest, error) {
	settings, err := v.e.resolver.Resolve(ctx, head.Conversation, q.Overrides)
	draft := !request.IsBlank(q.Message) || q.Sending && len(q.Message) > 0
	if err != nil && !draft && !q.Sending {
		settings, err = v.e.resolveOrAssume(ctx, head, q.Overrides)
	}
	if err != nil {
		return scrollback.Manifest{}, err
	}
	if q.Without != nil {
		out, err := completeLeftOut(ctx, v.e.store, head.Branch, *q.Without)
		if err != nil {
			return scrollback.Manifest{}, err
		}
		head.Branch.View = head.Branch.View.WithLeftOut(out)
	}
	r := &TurnRequest{Conversation: head.ID, Message: q.Message, WebSearch: q.WebSearch, PlainMarks: q.PlainMarks,
		Zone: q.Zone, Overrides: q.Overrides}
	if q.Sending {
		if _, err := v.e.planSearch(ctx, head, r, &settings); err != nil {
			return scrollback.Manifest{}, err
		}
	}
	asked := request.PreviewRequest{Head: head, Settings: settings, Content: q.Content, Beside: !v.e.o.NoBackgroundFolds}
	if draft {
		a := incomingTurn{v, head, r, settings, v.e.intake.Rehearsal()}
		if err := a.addPreview(ctx, &asked); err != nil {
			return scrollback.Manifest{}, err
		}
	}
	if !draft && q.Zone != nil && head.Environment == nil { // what the first request tells, with the date there
		env, _, err := v.buildEnvironment(ctx, head.Conversation, settings, q.Zone)
		if err != nil {
			return scrollback.Manifest{}, err
		}
		asked.Head.Environment = env
	}
	return v.e.previewer.Preview(ctx, asked)
}

// resolveOrAssume returns the settings of a request. A model that is not set up here must not hide its
// conversation.
func (e *Engine) resolveOrAssume(ctx context.Context, head store.Head, over Overrides) (request.Settings, error) {
	settings, err := e.resolver.Resolve(ctx, head.Conversation, over)
	if err != nil {
		if settings, err = e.resolver.Resolve(ctx, head.Conversation,
			Overrides{Model: e.o.Model, Policy: compact.Auto}); err == nil {
			settings.Facts.Name = cmp.Or(head.Model, settings.Project.Model)
			settings.Overrides = Overrides{}
		}
	}
	return settings, err
}

// addPreview adds what sending would add to a conversation.
func (a *incomingTurn) addPreview(ctx context.Context, next *request.PreviewRequest) error {
	in, err := a.buildMessages(ctx)
	if err != nil {
		return err
	}
	env, change, err := a.v.buildEnvironment(ctx, a.head.Conversation, a.settings, a.request.Zone)
	if err != nil {
		return err
	}
	for _, m := range append(change, in...) {
		m.Weight = a.v.e.store.WeighParts(m.Parts, m.Counted)
		next.Draft = append(next.Draft, m.Message)
	}
	keepEnvironment(&next.Head.Conversation, env, len(change) > 0)
	return nil
}

// PastRequest says what is wanted of what a turn sent to its model: Step, one step or all (0), and
// Content, with what the model read in it. It is [request.PastRequest].
type PastRequest = request.PastRequest

// TurnContext is what the requests of a turn showed, step by step: TurnID, Model, StartedAt
// in Unix ms, and Steps, each a [scrollback.Manifest]. It is [request.TurnContext].
type TurnContext = request.TurnContext

// Context returns what the steps of a turn sent to its model.
func (t Turns) Context(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID,
	q PastRequest) (TurnContext, error) {
	head, err := t.v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return TurnContext{}, err
	}
	found, err := t.v.e.findTurn(ctx, head.ID, turn)
	if err != nil {
		return TurnContext{}, err
	}
	return t.v.e.previewer.ReplayTurn(ctx, head.Conversation, found, q)
}

// CompactRequest describes a compaction by hand. Without Force only what the policy asks
// for is done. Clear folds everything so far without asking a model: a fresh start
// whose past stays readable through refs.
type CompactRequest struct {
	Overrides Overrides
	Force     bool
	Clear     bool
	Quota     *scrollback.Quota // counts it, as [TurnRequest] has it; Clear is not counted
}

// Compact compacts a conversation on request.
func (v *View) Compact(ctx context.Context, id scrollback.ConversationID,
	q CompactRequest) (scrollback.Receipt, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	if q.Clear {
		running, err := v.Turns().Running(ctx, id)
		if err != nil {
			return scrollback.Receipt{}, err
		}
		if running != nil { // it would lose sight of the question it is answering
			return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, "engine.Compact",
				i18n.TurnIsBeingAnswered)
		}
		return v.e.compactor.CompactByHand(ctx, head, Overrides{}, compact.Everything)
	}
	reason := compact.WhenDue
	if q.Force {
		reason = compact.Forced
	}
	if err := v.e.gate.admit(ctx, v.door.caller.Key, head.Project, q.Quota); err != nil {
		return scrollback.Receipt{}, err
	}
	q.Overrides.Key = v.door.caller.Key
	return v.e.compactor.CompactByHand(ctx, head, q.Overrides, reason)
}

// Uncompact undoes the newest compaction of the current branch, or with a segment
// all compactions back to the one that holds it.
func (v *View) Uncompact(ctx context.Context, id scrollback.ConversationID,
	segment scrollback.SegmentID) (scrollback.Receipt, error) {
	return v.Compactions().Undo(ctx, id, UndoRequest{Segment: segment})
}

// UndoRequest says how far compactions are undone or done again; with DryRun, only what
// that would come to is wanted.
type UndoRequest struct {
	Segment scrollback.SegmentID
	DryRun  bool
}

// Compactions are those that a conversation has had.
type Compactions struct{ v *View }

// Compactions undoes compactions and does them again.
func (v *View) Compactions() Compactions { return Compactions{v} }

// Undo is [View.Uncompact].
func (c Compactions) Undo(ctx context.Context, id scrollback.ConversationID,
	q UndoRequest) (scrollback.Receipt, error) {
	views := c.v.e.store.Views
	r, err := c.undoOrRedo(ctx, id, q, undoRedo{views.UndoFolds, views.PreviewUndo})
	r.Undone = true
	return r, err
}

// Redo does the compaction again that was undone last, or with a segment all up to the one
// that made it. No model is asked, and what was stored comes back.
func (c Compactions) Redo(ctx context.Context, id scrollback.ConversationID,
	q UndoRequest) (scrollback.Receipt, error) {
	views := c.v.e.store.Views
	return c.undoOrRedo(ctx, id, q, undoRedo{views.RedoFolds, views.PreviewRedo})
}

// undoRedo undoes compactions or does them again, or foresees the view after that.
type undoRedo struct {
	do      func(context.Context, scrollback.ConversationID, scrollback.SegmentID) (scrollback.Receipt, error)
	foresee func(context.Context, store.Head, scrollback.SegmentID) (scrollback.View, scrollback.Receipt, error)
}

// undoOrRedo returns a receipt with the tokens before and after it.
func (c Compactions) undoOrRedo(ctx context.Context, id scrollback.ConversationID, q UndoRequest,
	t undoRedo) (scrollback.Receipt, error) {
	head, err := c.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	before, err := previewNext(ctx, c.v, head, ContextRequest{})
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var r scrollback.Receipt
	if q.DryRun {
		head.Branch.View, r, err = t.foresee(ctx, head, q.Segment)
		head.Branch.ViewVersion = -1 // it is not stored
	} else if r, err = t.do(ctx, id, q.Segment); err == nil {
		head, err = c.v.door.openHead(ctx, id, scrollback.AccessWrite)
	}
	if err != nil {
		return r, err
	}
	after, err := previewNext(ctx, c.v, head, ContextRequest{})
	if err != nil {
		return r, err
	}
	r.TokensBefore = before.Tokens
	r.TokensAfter = after.Tokens
	r.CreatedAt = c.v.e.store.Now()
	if r.Segments == nil {
		r.Segments = []scrollback.SegmentID{}
		r.Refs = []scrollback.Ref{}
	}
	settings, err := c.v.e.resolveOrAssume(ctx, head, Overrides{})
	if err != nil {
		return r, err
	}
	all, err := c.v.e.previewer.AddTrades(ctx, []scrollback.Receipt{r}, &settings)
	if err != nil {
		return r, err
	}
	return all[0], nil
}

// Receipts lists the compactions of a conversation, newest first, and behind them those
// that it inherits: of its ancestors, as far as its path still shows what they made.
func (v *View) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return nil, err
	}
	rs, err := v.e.store.Views.ListReceipts(ctx, head, limit)
	if err != nil {
		return nil, err
	}
	settings, err := v.e.resolveOrAssume(ctx, head, Overrides{})
	if err != nil {
		return nil, err
	}
	return v.e.previewer.AddTrades(ctx, rs, &settings)
}
