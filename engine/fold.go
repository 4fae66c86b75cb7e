package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/turnstile"
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

// folder folds what conversations show until it fits. The public operations that need
// it are in compaction.go.
type folder struct {
	store    *store.Store
	archive  *archive.Archive
	resolver *setting.Resolver
	door     door // for what is folded without a caller
	o        *Options
	locks    turnstile.Locks[scrollback.ConversationID] // one fold of a conversation at a time
	operator *View
	beside   func(func(context.Context))
}

// pieceOf is how many tokens of live messages are read into memory at once.
func pieceOf(sh setting.Resolved) int64 { return max(pieceTokens, snapshotBudgets*sh.Budget.Tokens) }

// shown reads what a head shows, and adds what surrounds it in a window.
func (f *folder) shown(ctx context.Context, h store.Head, sh setting.Resolved) (compact.Shown, error) {
	snap, err := f.store.Views.Snapshot(ctx, h, pieceOf(sh))
	if err != nil {
		return compact.Shown{}, err
	}
	in := window.Input{
		Instructions: sh.Instructions(h.Conversation), Tools: setting.Tools(h.Conversation), Segments: snap.Segments,
		Carried: snap.Carried, Pinned: snap.Pinned, PinnedTokens: sh.Policy.PinnedBound(sh.Budget.Tokens), Live: snap.Live,
		Budget: sh.Budget, Dialect: sh.Facts.Dialect,
	}
	if in.Instructions != "" {
		in.InstructionsWeight = f.resolver.TextWeight(in.Instructions)
	}
	if env := h.Environment; env != nil {
		in.Environment, in.EnvironmentWeight = env.Text, f.resolver.TextWeight(env.Text)
	}
	if snap.Summary != nil {
		in.Summary = compact.InSight(*h.Branch.View.Summary, snap.Summary.Summary)
	}
	in.ToolsWeight = f.resolver.ToolsWeight(in.Tools)
	return compact.Shown{Branch: h.Branch, Window: in, More: snap.More, PinnedSeqs: h.PinnedSeqs, Policy: sh.Policy}, nil
}

// fitting says how the window of a request is made to fit.
type fitting struct {
	sh         setting.Resolved
	promptSeq  int64
	wait       *turnstile.Patience
	beside     bool                             // what the request does not need is left to the caller
	compacting func(scrollback.CompactingEvent) // the request does not fit; may be nil
	folded     func(scrollback.Receipt)         // of each fold
}

// fit makes the window of a head, folding until it is under the policy's trigger, and
// updates head. If the request fits, it waits for no model where it may leave the fold
// to the caller; due then says that there is one to be made.
func (f *folder) fit(ctx context.Context, head *store.Head, q fitting) (w scrollback.Window, due bool, err error) {
	for n := range maxFolds {
		shown, err := f.shown(ctx, *head, q.sh)
		if err != nil {
			return w, false, err
		}
		shown.Window.PromptSeq = q.promptSeq
		w = window.Assemble(shown.Window)
		fits := window.Fits(w.Weight, q.sh.Budget) && !shown.More
		if fits && (!shown.Due(w) || head.Branch.LiveWeight().Tokens < head.Branch.View.RetryAt || f.locks.Users(head.ID) > 0) {
			return w, false, nil
		}
		if fits && q.beside && shown.Asks() && len(f.writers(ctx, head.Conversation, q.sh)) > 0 {
			return w, true, nil
		}
		if n == 0 && !fits && q.compacting != nil {
			q.compacting(scrollback.CompactingEvent{Tokens: q.sh.ModelTokens(w.Weight.Tokens + shown.Unread()), Budget: q.sh.ModelBudget.Tokens})
		}
		job := folding{sh: q.sh, reason: compact.WhenDue, wait: q.wait}
		if !fits {
			job.reason = compact.MustFit
		}
		seen := head.Branch.ViewVersion
		receipt, err := f.fold(ctx, head, job)
		switch {
		case err != nil && fits && ctx.Err() == nil:
			f.o.Log.Warn("a compaction failed, and the request fits without it", "conversation", head.ID, "error", err)
			return w, false, nil
		case err != nil:
			return w, false, err
		case receipt.Result == scrollback.ResultCompacted:
			q.folded(receipt)
		case head.Branch.ViewVersion != seen || receipt.Result == scrollback.ResultConflict:
			// Somebody folded meanwhile: what w holds is no longer shown.
		case fits:
			return w, false, nil
		default:
			return w, false, overBudget(w, &q.sh)
		}
	}
	return w, false, scrollback.Errorf(scrollback.Internal, "engine.fit", "the backlog did not end after %d compactions", maxFolds)
}

// folding says how one fold is made.
type folding struct {
	sh     setting.Resolved
	reason compact.Reason
	wait   *turnstile.Patience // for its summary
}

// fold makes one fold of head's branch, commits it and refreshes head.
func (f *folder) fold(ctx context.Context, head *store.Head, q folding) (made scrollback.Receipt, err error) {
	ctx, done := watch.Part(ctx, "compact")
	defer func() {
		watch.Compacted(ctx, made)
		done(err)
	}()
	return f.make(ctx, head, q)
}

// make makes a fold.
func (f *folder) make(ctx context.Context, head *store.Head, q folding) (scrollback.Receipt, error) {
	asking, unlock, err := f.locks.Lock(ctx, head.ID, q.wait)
	if err != nil {
		return scrollback.Receipt{}, scrollback.Wrap(scrollback.Canceled, "engine.fold", err)
	}
	defer unlock()
	if err := f.refresh(ctx, head); err != nil {
		return scrollback.Receipt{}, err
	}
	shown, err := f.shown(ctx, *head, q.sh)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	made, err := compact.Run(ctx, compact.Input{
		Shown: shown, Reason: q.reason, Conversation: head.ID, Hurry: asking.Done(),
		Writers: func() []compact.Summarizer { return f.writers(ctx, head.Conversation, q.sh) },
		Now:     f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.sh.ModelTokens, Price: f.resolver.Priced,
		Load:    func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return f.store.Segments(ctx, ids) },
		Measure: archive.Measure, MeasureTable: archive.MeasureTable, Renderer: archive.Renderer,
	})
	for i := range made.Usage {
		made.Usage[i].Key = q.sh.Over.Key
	}
	if made.Why != "" {
		f.o.Log.Warn("no model gave a summary; compacting without one", "conversation", head.ID, "calls", len(made.Usage), "reason", made.Why)
	}
	if err != nil || made.Receipt.Result == scrollback.ResultNoop {
		return made.Receipt, err
	}
	var copied func(context.Context, *View) error
	if f.o.Archive != nil && head.Settings.ArchiveOnCompact && made.Receipt.Result == scrollback.ResultCompacted {
		made.Receipt.Archive, copied = f.o.Archive(head.ID)
	}
	receipt, err := f.commit(ctx, head, store.Commit{Conversation: head.ID, Branch: head.Branch.ID, IfViewVersion: head.Branch.ViewVersion,
		View: made.View, Segments: made.Segments, Receipt: made.Receipt, Usage: made.Usage})
	if err == nil && f.o.Eager && receipt.Result == scrollback.ResultCompacted {
		f.write(ctx, made.Segments)
	}
	if id := head.ID; err == nil && receipt.Archive != "" {
		f.beside(func(ctx context.Context) {
			if err := copied(ctx, f.operator); err != nil {
				f.o.Log.Warn("the archive after a compaction could not be written", "conversation", id, "archive", receipt.Archive, "error", err)
			}
		})
	}
	return receipt, err
}

// write writes the files of segments before anybody reads them.
func (f *folder) write(ctx context.Context, segments []scrollback.Segment) {
	for _, s := range segments {
		if err := f.archive.Make(ctx, s.ID); err != nil && ctx.Err() == nil {
			f.o.Log.Warn("the file of a segment could not be written", "segment", s.ID, "error", err)
		}
	}
}

// writers are the models to ask for a summary: the turn's own, then the configured ones.
func (f *folder) writers(ctx context.Context, c scrollback.Conversation, own setting.Resolved) []compact.Summarizer {
	var out []compact.Summarizer
	add := func(m model.Model) {
		if m.Facts().NoSummaries {
			return
		}
		sh := own
		if m != own.Model {
			var err error
			if sh, err = f.resolver.Resolve(ctx, c, Overrides{Model: m.Facts().Name}); err != nil {
				f.o.Log.Warn("a model for summaries cannot be used", "model", m.Facts().Name, "error", err)
				return
			}
		}
		out = append(out, compact.Summarizer{Model: m, Budget: sh.Budget.Tokens, Reserve: sh.Budget.Reserve, Dialect: sh.Facts.Dialect})
	}
	add(own.Model)
	for _, name := range f.o.SummaryModels {
		m, err := f.resolver.Get(name)
		if err != nil {
			f.o.Log.Warn("a model for summaries is not available", "model", name, "error", err)
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
func (f *folder) commit(ctx context.Context, head *store.Head, c store.Commit) (scrollback.Receipt, error) {
	err := f.store.Views.Commit(ctx, c)
	for range maxBooking {
		if scrollback.CodeOf(err) != scrollback.Conflict {
			break
		}
		if err = f.refresh(ctx, head); err != nil {
			return c.Receipt, err
		}
		c.Receipt = scrollback.Receipt{Result: scrollback.ResultConflict, Segments: []scrollback.SegmentID{}, Refs: []scrollback.Ref{}, CreatedAt: c.Receipt.CreatedAt,
			TokensBefore: c.Receipt.TokensBefore, TokensAfter: c.Receipt.TokensBefore, SummaryBy: c.Receipt.SummaryBy, Cost: c.Receipt.Cost,
			SummaryResult: c.Receipt.SummaryResult, SummaryWhy: c.Receipt.SummaryWhy, Calls: c.Receipt.Calls}
		if len(c.Usage) == 0 {
			return c.Receipt, nil
		}
		learned := c.View
		c.Branch, c.IfViewVersion, c.View, c.Segments = head.Branch.ID, head.Branch.ViewVersion, head.Branch.View, nil
		c.View.Failures, c.View.AskAt = learned.Failures, learned.AskAt
		err = f.store.Views.Commit(ctx, c)
	}
	if err != nil {
		return c.Receipt, err
	}
	return c.Receipt, f.refresh(ctx, head)
}

// refresh reads the branch of a head again: its view may have changed, and
// messages may have come.
func (f *folder) refresh(ctx context.Context, head *store.Head) error {
	fresh, err := f.door.head(ctx, head.ID, scrollback.AccessWrite)
	if err == nil {
		*head = fresh
	}
	return err
}

// ahead folds without holding anything up, so that the next request does not have to
// wait. One fold may wait for another that runs, and sees what came meanwhile; more are
// not needed.
func (f *folder) ahead(ctx context.Context, id scrollback.ConversationID, sh setting.Resolved) (receipt scrollback.Receipt) {
	if f.locks.Users(id) > 1 {
		return receipt
	}
	head, err := f.door.head(ctx, id, scrollback.AccessWrite)
	if err == nil && head.Branch.LiveWeight().Tokens >= head.Branch.View.RetryAt {
		receipt, err = f.fold(ctx, &head, folding{sh: sh, reason: compact.WhenDue})
	}
	if err != nil && ctx.Err() == nil {
		f.o.Log.Warn("compacting ahead failed", "conversation", id, "error", err)
	}
	return receipt
}

// byHand folds piece by piece until the request is met.
func (f *folder) byHand(ctx context.Context, head store.Head, over Overrides, reason compact.Reason) (scrollback.Receipt, error) {
	sh, err := f.resolver.Resolve(ctx, head.Conversation, over)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var all scrollback.Receipt
	q := folding{sh: sh, reason: reason}
	if reason == compact.Everything {
		q.wait = &turnstile.Patience{} // it asks no model, and waits for none
	}
	for range maxFolds {
		r, err := f.fold(ctx, &head, q)
		if err != nil {
			return all, err
		}
		all = joinReceipts(all, r)
		backlog := head.Branch.LiveWeight().Tokens > pieceOf(sh)
		if r.Result != scrollback.ResultCompacted || !backlog && (reason != compact.Everything || head.Branch.View.Boundary == head.Branch.HeadSeq) {
			return all, nil
		}
	}
	return all, nil
}

// joinReceipts makes one receipt of several consecutive folds.
func joinReceipts(a, b scrollback.Receipt) scrollback.Receipt {
	if a.Result != scrollback.ResultCompacted {
		return b
	}
	if b.Result != scrollback.ResultCompacted {
		return a
	}
	a.Segments, a.Refs = append(a.Segments, b.Segments...), append(a.Refs, b.Refs...)
	a.LastSeq, a.TokensAfter, a.Cost, a.CreatedAt = b.LastSeq, b.TokensAfter, a.Cost+b.Cost, b.CreatedAt
	a.SummaryBy, a.Calls, a.Archive = b.SummaryBy, a.Calls+b.Calls, b.Archive
	if b.Calls > 0 {
		a.SummaryResult, a.SummaryWhy, a.Checked = b.SummaryResult, b.SummaryWhy, b.Checked
	}
	return a
}
