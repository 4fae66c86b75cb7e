package engine

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of folding until a request fits.
const (
	maxFolds = 10_000 // pieces of one long backlog, each of pieceTokens or more
	// snapshotBudgets is how many budgets of live messages are read into memory at
	// once; more are folded piece by piece.
	snapshotBudgets = 4
	pieceTokens     = 64_000
)

// foldLocks let one fold of a conversation run at a time in this process. The zero
// value is ready.
type foldLocks struct {
	mu sync.Mutex
	of map[scrollback.ConversationID]*foldLock
}

type foldLock struct {
	held  chan struct{} // full while somebody folds
	users int
}

// lock waits until another fold ends, which may be asking a model, or until ctx ends.
func (f *foldLocks) lock(ctx context.Context, id scrollback.ConversationID) (unlock func(), err error) {
	f.mu.Lock()
	if f.of == nil {
		f.of = map[scrollback.ConversationID]*foldLock{}
	}
	l := f.of[id]
	if l == nil {
		l = &foldLock{held: make(chan struct{}, 1)}
		f.of[id] = l
	}
	l.users++
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(f.of, id)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, scrollback.Wrap(scrollback.Canceled, "engine.fold", context.Cause(ctx))
	}
}

// busy reports whether this process is folding the conversation.
func (f *foldLocks) busy(id scrollback.ConversationID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of[id] != nil
}

// pieceOf is how many tokens of live messages are read into memory at once.
func pieceOf(sh resolved) int64 { return max(pieceTokens, snapshotBudgets*sh.budget.Tokens) }

// shown reads what a head shows, and adds what surrounds it in a window.
func (e *Engine) shown(ctx context.Context, h store.Head, sh resolved) (compact.Shown, error) {
	snap, err := e.store.Views.Snapshot(ctx, h, pieceOf(sh))
	if err != nil {
		return compact.Shown{}, err
	}
	in := window.Input{
		Instructions: h.Instructions, Tools: tools(h.Conversation), Segments: snap.Segments,
		Carried: snap.Carried, Pinned: snap.Pinned, PinnedTokens: sh.policy.PinnedBound(sh.budget.Tokens), Live: snap.Live,
		Budget: sh.budget, Dialect: sh.facts.Dialect,
	}
	if in.Instructions != "" {
		in.InstructionsWeight = e.textWeight(in.Instructions)
	}
	if env := h.Environment; env != nil {
		in.Environment, in.EnvironmentWeight = env.Text, e.textWeight(env.Text)
	}
	if snap.Summary != nil {
		in.Summary = &window.Summary{ViewSummary: *h.Branch.View.Summary, Text: snap.Summary.Summary}
	}
	in.ToolsWeight = e.toolsWeight(in.Tools)
	return compact.Shown{Branch: h.Branch, Window: in, More: snap.More, PinnedSeqs: h.PinnedSeqs, Policy: sh.policy}, nil
}

// fit makes the window of a head, folding until it is under the policy's
// trigger, and updates head.
func (e *Engine) fit(ctx context.Context, head *store.Head, sh resolved, promptSeq int64, folded func(scrollback.Receipt)) (scrollback.Window, error) {
	for range maxFolds {
		shown, err := e.shown(ctx, *head, sh)
		if err != nil {
			return scrollback.Window{}, err
		}
		shown.Window.PromptSeq = promptSeq
		w := window.Assemble(shown.Window)
		fits := window.Fits(w.Weight, sh.budget) && !shown.More
		if fits && (!shown.Due(w) || head.Branch.LiveWeight().Tokens < head.Branch.View.RetryAt || e.folds.busy(head.ID)) {
			return w, nil
		}
		reason := compact.WhenDue
		if !fits {
			reason = compact.MustFit
		}
		seen := head.Branch.ViewVersion
		receipt, err := e.fold(ctx, head, sh, reason)
		switch {
		case err != nil && fits && ctx.Err() == nil:
			e.o.Log.Warn("a compaction failed, and the request fits without it", "conversation", head.ID, "error", err)
			return w, nil
		case err != nil:
			return w, err
		case receipt.Result == scrollback.ResultCompacted:
			folded(receipt)
		case head.Branch.ViewVersion != seen || receipt.Result == scrollback.ResultConflict:
			// Somebody folded meanwhile: what w holds is no longer shown.
		case fits:
			return w, nil
		default:
			return w, overBudget(w, &sh)
		}
	}
	return scrollback.Window{}, scrollback.Errorf(scrollback.Internal, "engine.fit", "the backlog did not end after %d compactions", maxFolds)
}

// fold makes one fold of head's branch, commits it and refreshes head.
func (e *Engine) fold(ctx context.Context, head *store.Head, sh resolved, reason compact.Reason) (scrollback.Receipt, error) {
	unlock, err := e.folds.lock(ctx, head.ID)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	defer unlock()
	if err := e.refresh(ctx, head); err != nil {
		return scrollback.Receipt{}, err
	}
	shown, err := e.shown(ctx, *head, sh)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	made, err := compact.Run(ctx, compact.Input{
		Shown: shown, Reason: reason, Conversation: head.ID,
		Writers: func() []compact.Summarizer { return e.writers(ctx, head.Conversation, sh) },
		Now:     e.store.Now(), NewID: e.store.NewID, Count: token.Count, ModelTokens: sh.modelTokens, Price: e.models.priced,
		Load:    func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return e.store.Segments(ctx, ids) },
		Measure: archive.Measure, MeasureTable: archive.MeasureTable, Renderer: archive.Renderer,
	})
	if made.Why != "" {
		e.o.Log.Warn("no model gave a summary; compacting without one", "conversation", head.ID, "calls", len(made.Usage), "reason", made.Why)
	}
	if err != nil || made.Receipt.Result == scrollback.ResultNoop {
		return made.Receipt, err
	}
	receipt, err := e.commit(ctx, head, store.Commit{Conversation: head.ID, Branch: head.Branch.ID, IfViewVersion: head.Branch.ViewVersion,
		View: made.View, Segments: made.Segments, Receipt: made.Receipt, Usage: made.Usage})
	if err == nil && e.o.Eager && receipt.Result == scrollback.ResultCompacted {
		e.write(ctx, made.Segments)
	}
	return receipt, err
}

// write writes the files of segments before anybody reads them.
func (e *Engine) write(ctx context.Context, segments []scrollback.Segment) {
	for _, s := range segments {
		if err := e.archive.Make(ctx, s.ID); err != nil && ctx.Err() == nil {
			e.o.Log.Warn("the file of a segment could not be written", "segment", s.ID, "error", err)
		}
	}
}

// writers are the models to ask for a summary: the turn's own, then the configured ones.
func (e *Engine) writers(ctx context.Context, c scrollback.Conversation, own resolved) []compact.Summarizer {
	var out []compact.Summarizer
	add := func(m model.Model) {
		if m.Facts().NoSummaries {
			return
		}
		sh := own
		if m != own.model {
			var err error
			if sh, err = e.resolve(ctx, c, Overrides{Model: m.Facts().Name}); err != nil {
				e.o.Log.Warn("a model for summaries cannot be used", "model", m.Facts().Name, "error", err)
				return
			}
		}
		out = append(out, compact.Summarizer{Model: m, Budget: sh.budget.Tokens, Reserve: sh.budget.Reserve, Dialect: sh.facts.Dialect})
	}
	add(own.model)
	for _, name := range e.o.SummaryModels {
		m, err := e.models.get(name)
		if err != nil {
			e.o.Log.Warn("a model for summaries is not available", "model", name, "error", err)
			continue
		}
		add(m)
	}
	return out
}

// maxBooking bounds how often the cost of a fold that came too late is entered again.
const maxBooking = 5

// commit stores a fold. If the view has changed meanwhile, the fold is a conflict, but
// its receipt and the cost of its summary are still recorded.
func (e *Engine) commit(ctx context.Context, head *store.Head, c store.Commit) (scrollback.Receipt, error) {
	err := e.store.Views.Commit(ctx, c)
	for range maxBooking {
		if scrollback.CodeOf(err) != scrollback.Conflict {
			break
		}
		if err = e.refresh(ctx, head); err != nil {
			return c.Receipt, err
		}
		c.Receipt = scrollback.Receipt{Result: scrollback.ResultConflict, Segments: []scrollback.SegmentID{}, Refs: []scrollback.Ref{}, CreatedAt: c.Receipt.CreatedAt,
			TokensBefore: c.Receipt.TokensBefore, TokensAfter: c.Receipt.TokensBefore, SummaryBy: c.Receipt.SummaryBy, Cost: c.Receipt.Cost}
		if len(c.Usage) == 0 {
			return c.Receipt, nil
		}
		c.Branch, c.IfViewVersion, c.View, c.Segments = head.Branch.ID, head.Branch.ViewVersion, head.Branch.View, nil
		err = e.store.Views.Commit(ctx, c)
	}
	if err != nil {
		return c.Receipt, err
	}
	return c.Receipt, e.refresh(ctx, head)
}

// refresh reads the branch of a head again: its view may have changed, and
// messages may have come.
func (e *Engine) refresh(ctx context.Context, head *store.Head) error {
	fresh, err := e.inside.head(ctx, head.ID, scrollback.AccessWrite)
	if err == nil {
		*head = fresh
	}
	return err
}

// foldAhead folds after a turn, so that the next request does not have to wait.
func (e *Engine) foldAhead(ctx context.Context, id scrollback.ConversationID, sh resolved) {
	head, err := e.inside.head(ctx, id, scrollback.AccessWrite)
	if err == nil && head.Branch.LiveWeight().Tokens >= head.Branch.View.RetryAt {
		_, err = e.fold(ctx, &head, sh, compact.WhenDue)
	}
	if err != nil && ctx.Err() == nil {
		e.o.Log.Warn("compacting ahead failed", "conversation", id, "error", err)
	}
}
