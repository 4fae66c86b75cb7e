// Package fold makes what a conversation shows fit: it decides when a fold is wanted, has
// one made by package compact, and commits it.
//
// Words it adds: fitting (how the window of a request is made to fit), folding (how one fold
// is made).
//
// Invariants: two folds of one conversation never run at once in a process, never ask models
// at once on several servers that hear of each other, and never both commit; what summaries cost is entered even if
// their fold comes too late; every loop has a bound.
//
// It may not know turns, callers or events that are sent: whoever asks for a fold reports it.
package fold

import (
	"context"
	"errors"
	"log/slog"
	"time"

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

// Options are what a folder needs beside the store. Only Archive may be nil.
type Options struct {
	// Open reads a conversation whose fold was allowed before, with its current branch.
	Open func(context.Context, scrollback.ConversationID) (store.Head, error)
	// Archive reserves a key for a full copy of a conversation, and returns what writes it;
	// Beside does that without anybody waiting for it.
	Archive func(id scrollback.ConversationID) (key string, write func(context.Context) error)
	Beside  func(func(context.Context))

	// Afford returns why no model may be asked for a key in a project; nil if it may be.
	Afford func(ctx context.Context, key scrollback.KeyID, project string) error

	SummaryModels []string // asked for summaries when the conversation's own model gives none, in order
	Eager         bool     // write the file of a segment when it is folded
	Log           *slog.Logger
	Watch         *watch.Watch // nil watches nothing
}

// Folder folds what conversations show until it fits. It is safe for concurrent use.
type Folder struct {
	store    *store.Store
	archive  *archive.Archive
	resolver *setting.Resolver
	o        Options
	locks    turnstile.Locks[scrollback.ConversationID] // one fold of a conversation at a time
	memories recent[*compact.Memory]                    // of folds that were only looked at
	glances  recent[*glance]
}

// New makes a folder over one store.
func New(s *store.Store, a *archive.Archive, r *setting.Resolver, o Options) *Folder {
	return &Folder{store: s, archive: a, resolver: r, o: o}
}

// pieceOf is how many tokens of live messages are read into memory at once.
func pieceOf(sh setting.Resolved) int64 { return max(pieceTokens, snapshotBudgets*sh.Budget.Tokens) }

// Shown reads what a head shows, and adds what surrounds it in a window.
func (f *Folder) Shown(ctx context.Context, h store.Head, sh setting.Resolved) (compact.Shown, error) {
	snap, err := f.store.Views.Snapshot(ctx, h, pieceOf(sh))
	if err != nil {
		return compact.Shown{}, err
	}
	return f.surround(snap, h, sh), nil
}

// surround adds to a snapshot of a head what surrounds it in a window.
func (f *Folder) surround(snap store.Snapshot, h store.Head, sh setting.Resolved) compact.Shown {
	in := window.Input{
		Instructions: sh.Instructions(h.Conversation), Tools: sh.Tools(h.Conversation), Segments: snap.Segments,
		Carried: snap.Carried, Pinned: snap.Pinned, PinnedTokens: sh.Policy.PinnedBound(sh.Budget.Tokens), Live: snap.Live,
		Without: h.Branch.View.Without, Budget: sh.Budget, Dialect: sh.Facts.Dialect,
	}
	if in.Instructions != "" {
		in.InstructionsWeight = f.resolver.TextWeight(in.Instructions)
	}
	if env := h.Environment; env != nil {
		in.Environment = env.Text
		in.EnvironmentWeight = f.resolver.TextWeight(env.Text)
	}
	if snap.Summary != nil {
		in.Summary = compact.InSight(*h.Branch.View.Summary, snap.Summary.Summary, in.Without)
	}
	in.ToolsWeight = f.resolver.ToolsWeight(in.Tools)
	return compact.Shown{Branch: h.Branch, Window: in, More: snap.More, PinnedSeqs: h.PinnedSeqs, Policy: sh.Policy}
}

// Spare reports whether a head is so far from its budget and from the next fold that nobody
// needs to look at its messages to know it. It may say no where there is nothing to fold.
func (f *Folder) Spare(h store.Head, sh setting.Resolved) bool {
	if h.Branch.View.Boundary > 0 {
		return false
	}
	shown := f.surround(store.Snapshot{}, h, sh)
	w := window.Assemble(shown.Window)
	live := h.Branch.LiveWeight()
	around := scrollback.Weight{Tokens: spareTokens * h.Branch.HeadSeq, Bytes: spareBytes * h.Branch.HeadSeq}
	w.Weight = w.Weight.Add(live).Add(live).Add(around)
	return window.Fits(w.Weight, sh.Budget) && !shown.Due(w)
}

// What a message may weigh beside its parts, generously.
const (
	spareTokens = 16
	spareBytes  = 512
)

// Fitting says how the window of a request is made to fit.
type Fitting struct {
	Setting    setting.Resolved
	PromptSeq  int64
	Wait       *turnstile.Patience
	Occasion   string                           // of its folds, for their receipts; empty for that the request needs them
	Beside     bool                             // what the request does not need is left to the caller
	Admit      func(context.Context) error      // as [Folding] has it
	Compacting func(scrollback.CompactingEvent) // the request does not fit; may be nil
	Folded     func(scrollback.Receipt)         // of each fold
}

// Fitted is a window that fits, and what it is laid out from. Due says that there is a fold
// to be made, which the request does not need.
type Fitted struct {
	Input  window.Input
	Window scrollback.Window
	Due    bool
}

// Fit makes the window of a head, folding until it is under the policy's trigger, and
// updates head. If the request fits, it waits for no model where it may leave the fold
// to the caller.
func (f *Folder) Fit(ctx context.Context, head *store.Head, q Fitting) (Fitted, error) {
	for n := range maxFolds {
		shown, err := f.Shown(ctx, *head, q.Setting)
		if err != nil {
			return Fitted{}, err
		}
		shown.Window.PromptSeq = q.PromptSeq
		w := window.Assemble(shown.Window)
		fitted := Fitted{Input: shown.Window, Window: w}
		fits := window.Fits(w.Weight, q.Setting.Budget) && !shown.More
		if fits && (!shown.Due(w) || head.Branch.LiveWeight().Tokens < head.Branch.View.RetryAt ||
			f.locks.Users(head.ID) > 0) {
			return fitted, nil
		}
		if fits && q.Beside && shown.Asks() && len(f.writers(ctx, head.Conversation, q.Setting)) > 0 {
			fitted.Due = true
			return fitted, nil
		}
		if n == 0 && !fits && q.Compacting != nil {
			q.Compacting(scrollback.CompactingEvent{Tokens: q.Setting.ModelTokens(w.Weight.Tokens + shown.Unread()),
				Budget: q.Setting.ModelBudget.Tokens})
		}
		job := Folding{Setting: q.Setting, Reason: compact.WhenDue, Occasion: q.Occasion, Wait: q.Wait, Admit: q.Admit}
		if !fits {
			job.Reason = compact.MustFit
		}
		seen := head.Branch.ViewVersion
		receipt, err := f.Fold(ctx, head, job)
		switch {
		case err != nil && fits && ctx.Err() == nil:
			f.o.Log.Warn("a compaction failed, and the request fits without it", "conversation", head.ID, "error", err)
			return fitted, nil
		case err != nil:
			return Fitted{}, err
		case receipt.Result == scrollback.ResultCompacted:
			q.Folded(receipt)
		case head.Branch.ViewVersion != seen || receipt.Result == scrollback.ResultConflict:
			// Somebody folded meanwhile: what w holds is no longer shown.
		case fits:
			return fitted, nil
		default:
			return Fitted{}, overBudget(w, &q.Setting)
		}
	}
	return Fitted{}, scrollback.Errorf(scrollback.Internal, "engine.fit", "the backlog did not end after %d compactions",
		maxFolds)
}

// overBudget is the error for a window that does not fit, with the figures.
func overBudget(w scrollback.Window, sh *setting.Resolved) error {
	return scrollback.Errorf(scrollback.OverBudget, "engine",
		"the request weighs %d tokens, %d bytes and %d images; the budget is %d tokens (a window of %d less %d for the answer), %d bytes and %d images, and nothing more can be compacted; a larger window is set with --limit, where the model has one",
		sh.ModelTokens(w.Weight.Tokens), w.Weight.Bytes, w.Weight.Images, sh.ModelBudget.Tokens, sh.ModelBudget.Limit,
		sh.ModelBudget.Reserve, sh.ModelBudget.Bytes, sh.ModelBudget.Images)
}

// Refused is the error for a request that its server refuses as too long and that cannot
// be made any shorter; any other refusal stays as it is.
func Refused(w scrollback.Window, sh *setting.Resolved, refusal error) error {
	l := model.LessonOf(refusal)
	if l == nil || !l.TooLong {
		return refusal
	}
	return scrollback.Errorf(scrollback.OverBudget, "engine",
		"the model's server refuses the request as too long: it weighs %d tokens and keeps %d for the answer, the window is taken to be %d, and nothing more can be compacted; if the server has a larger window, set it there, and name it with --limit",
		sh.ModelTokens(w.Weight.Tokens), sh.ModelBudget.Reserve, sh.ModelBudget.Limit)
}

// Folding says how one fold is made.
type Folding struct {
	Setting  setting.Resolved
	Reason   compact.Reason
	Occasion string              // for its receipt; empty for what the reason says
	Wait     *turnstile.Patience // for its summary; nil waits as long as it takes

	// Admit is asked before models are, and may count that they are; after an error none is.
	// Nil lets them be asked.
	Admit func(context.Context) error
}

// Fold makes one fold of head's branch, commits it and refreshes head.
func (f *Folder) Fold(ctx context.Context, head *store.Head, q Folding) (scrollback.Receipt, error) {
	made, _, err := f.fold(ctx, head, q)
	return made, err
}

// fold is [Folder.Fold], and says whether it folded only the oldest piece of what is live.
func (f *Folder) fold(ctx context.Context, head *store.Head,
	q Folding) (made scrollback.Receipt, piece bool, err error) {
	ctx, done := watch.Part(f.o.Watch.In(ctx), "compact")
	defer func() {
		watch.Compacted(ctx, made)
		done(err)
	}()
	asking, unlock, err := f.locks.Lock(ctx, head.ID, q.Wait)
	if err != nil {
		return made, false, scrollback.Wrap(scrollback.Canceled, "engine.fold", err)
	}
	defer unlock()
	began := f.store.Now()
	for {
		if err := f.refresh(ctx, head); err != nil {
			return made, false, err
		}
		shown, err := f.Shown(ctx, *head, q.Setting)
		if err != nil {
			return made, false, err
		}
		made, err = f.make(ctx, head, q, making{shown, asking.Done(), began})
		if !errors.Is(err, errElsewhere) {
			return made, shown.More, err
		}
		made = scrollback.Receipt{Result: scrollback.ResultNoop}
		if q.Occasion == scrollback.ReasonAhead { // the other server's fold is as good
			return made, false, nil
		}
		again := time.NewTimer(lookAgain)
		select {
		case <-again.C:
		case <-asking.Done(): // from here on no model is asked, which needs no claim
			again.Stop()
		}
	}
}

// making is what a fold is made of, and since when; hurry is closed when no model is waited for.
type making struct {
	shown compact.Shown
	hurry <-chan struct{}
	began int64
}

// make makes a fold, unless its model is being asked by another server already: then it
// returns errElsewhere.
func (f *Folder) make(ctx context.Context, head *store.Head, q Folding, m making) (scrollback.Receipt, error) {
	asking := claiming{f: f, of: head.ID, hurry: m.hurry}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer asking.end()
	made, err := compact.Run(running, compact.Input{
		Shown: m.shown, Reason: q.Reason, Occasion: q.Occasion, Conversation: head.ID, Hurry: m.hurry,
		Writers: func() []compact.Summarizer {
			out := f.writers(ctx, head.Conversation, q.Setting)
			if len(out) > 0 && !asking.begin(ctx) {
				stop(errElsewhere)
				return nil
			}
			if len(out) > 0 && q.Admit != nil && q.Admit(ctx) != nil {
				return nil
			}
			return out
		},
		Now: f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.Setting.ModelTokens,
		Price:   f.resolver.Priced,
		Load:    func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return f.store.Segments(ctx, ids) },
		Measure: archive.Measure, MeasureTable: archive.MeasureTable, Renderer: archive.Renderer,
	})
	for i := range made.Usage {
		made.Usage[i].Key = q.Setting.Over.Key
	}
	if made.Why != "" {
		f.o.Log.Warn("no model gave a summary; compacting without one", "conversation", head.ID, "calls", len(made.Usage),
			"reason", made.Why)
	}
	if err != nil || made.Receipt.Result == scrollback.ResultNoop {
		return made.Receipt, err
	}
	made.Receipt.DurationMS = max(0, f.store.Now()-m.began)
	var copied func(context.Context) error
	if f.o.Archive != nil && head.Settings.ArchiveOnCompact && made.Receipt.Result == scrollback.ResultCompacted {
		made.Receipt.Archive, copied = f.o.Archive(head.ID)
	}
	receipt, err := f.commit(ctx, head, store.Commit{Conversation: head.ID, Branch: head.Branch.ID,
		IfViewVersion: head.Branch.ViewVersion,
		View:          made.View, Segments: made.Segments, Receipt: made.Receipt, Usage: made.Usage})
	if receipt.Result == scrollback.ResultCompacted {
		compact.Trade(&receipt, made.Segments, token.Count, q.Setting.ModelTokens)
	}
	if err == nil && f.o.Eager && receipt.Result == scrollback.ResultCompacted {
		f.write(ctx, made.Segments)
	}
	if id := head.ID; err == nil && receipt.Archive != "" {
		f.o.Beside(func(ctx context.Context) {
			if err := copied(ctx); err != nil {
				f.o.Log.Warn("the archive after a compaction could not be written", "conversation", id, "archive", receipt.Archive,
					"error", err)
			}
		})
	}
	return receipt, err
}

// write writes the files of segments before anybody reads them.
func (f *Folder) write(ctx context.Context, segments []scrollback.Segment) {
	for _, s := range segments {
		if err := f.archive.Make(ctx, s.ID); err != nil && ctx.Err() == nil {
			f.o.Log.Warn("the file of a segment could not be written", "segment", s.ID, "error", err)
		}
	}
}

// writers are the models to ask for a summary: the turn's own, then the configured ones. There are
// none once the caller or the project has used up its budget for the day.
func (f *Folder) writers(ctx context.Context, c scrollback.Conversation, own setting.Resolved) []compact.Summarizer {
	if err := f.o.Afford(ctx, own.Over.Key, c.Project); err != nil {
		f.o.Log.Debug("no model is asked for a summary", "conversation", c.ID, "error", err)
		return nil
	}
	var out []compact.Summarizer
	add := func(m model.Model) {
		if m.Facts().NoSummaries {
			return
		}
		sh := own
		if m != own.Model {
			var err error
			if sh, err = f.resolver.Resolve(ctx, c, setting.Overrides{Model: m.Facts().Name}); err != nil {
				f.o.Log.Warn("a model for summaries cannot be used", "model", m.Facts().Name, "error", err)
				return
			}
		}
		out = append(out, compact.Summarizer{Model: watch.Model(m), Budget: sh.Budget.Tokens, Reserve: sh.Budget.Reserve,
			Dialect: sh.Facts.Dialect})
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
func (f *Folder) commit(ctx context.Context, head *store.Head, c store.Commit) (scrollback.Receipt, error) {
	err := f.store.Views.Commit(ctx, c)
	for range maxBooking {
		if scrollback.CodeOf(err) != scrollback.Conflict {
			break
		}
		if err = f.refresh(ctx, head); err != nil {
			return c.Receipt, err
		}
		c.Receipt = scrollback.Receipt{Result: scrollback.ResultConflict, Segments: []scrollback.SegmentID{},
			Refs: []scrollback.Ref{}, CreatedAt: c.Receipt.CreatedAt,
			TokensBefore: c.Receipt.TokensBefore, TokensAfter: c.Receipt.TokensBefore, SummaryBy: c.Receipt.SummaryBy,
			Cost:          c.Receipt.Cost,
			SummaryResult: c.Receipt.SummaryResult, SummaryWhy: c.Receipt.SummaryWhy, Calls: c.Receipt.Calls,
			Tries:  c.Receipt.Tries,
			Reason: c.Receipt.Reason, DurationMS: c.Receipt.DurationMS}
		if len(c.Usage) == 0 {
			return c.Receipt, nil
		}
		learned := c.View
		c.Branch = head.Branch.ID
		c.IfViewVersion = head.Branch.ViewVersion
		c.View = head.Branch.View
		c.Segments = nil
		c.View.Failures = learned.Failures
		c.View.AskAt = learned.AskAt
		err = f.store.Views.Commit(ctx, c)
	}
	if err != nil {
		return c.Receipt, err
	}
	return c.Receipt, f.refresh(ctx, head)
}

// refresh reads the branch of a head again: its view may have changed, and
// messages may have come.
func (f *Folder) refresh(ctx context.Context, head *store.Head) error {
	fresh, err := f.o.Open(ctx, head.ID)
	if err == nil {
		*head = fresh
	}
	return err
}

// Ahead folds without holding anything up, so that the next request does not have to
// wait. One fold may wait for another that runs, and sees what came meanwhile; more are
// not needed.
func (f *Folder) Ahead(ctx context.Context, id scrollback.ConversationID,
	sh setting.Resolved) (receipt scrollback.Receipt) {
	if f.locks.Users(id) > 1 {
		return receipt
	}
	head, err := f.o.Open(ctx, id)
	if err == nil && head.Branch.LiveWeight().Tokens >= head.Branch.View.RetryAt {
		receipt, err = f.Fold(ctx, &head, Folding{Setting: sh, Reason: compact.WhenDue, Occasion: scrollback.ReasonAhead})
	}
	if err != nil && ctx.Err() == nil {
		f.o.Log.Warn("compacting ahead failed", "conversation", id, "error", err)
	}
	return receipt
}

// ByHand folds piece by piece until the request is met.
func (f *Folder) ByHand(ctx context.Context, head store.Head, over setting.Overrides,
	reason compact.Reason) (scrollback.Receipt, error) {
	sh, err := f.resolver.Resolve(ctx, head.Conversation, over)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var all scrollback.Receipt
	q := Folding{Setting: sh, Reason: reason}
	if reason == compact.Everything {
		q.Wait = &turnstile.Patience{} // it asks no model, and waits for none
	}
	for range maxFolds {
		r, piece, err := f.fold(ctx, &head, q)
		if err != nil {
			return all, err
		}
		all = joinReceipts(all, r)
		if r.Result != scrollback.ResultCompacted ||
			!piece && (reason != compact.Everything || head.Branch.View.Boundary == head.Branch.HeadSeq) {
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
	a.Segments = append(a.Segments, b.Segments...)
	a.Refs = append(a.Refs, b.Refs...)
	a.LastSeq = b.LastSeq
	a.TokensAfter = b.TokensAfter
	a.Cost += b.Cost
	a.CreatedAt = b.CreatedAt
	a.SummaryBy = b.SummaryBy
	a.Calls += b.Calls
	a.Archive = b.Archive
	a.DurationMS += b.DurationMS
	a.Messages += b.Messages
	a.Tries = append(a.Tries, b.Tries...)
	a.FoldedTokens += b.FoldedTokens
	a.CardTokens += b.CardTokens
	a.Lines = b.Lines
	if b.Calls > 0 {
		a.SummaryResult = b.SummaryResult
		a.SummaryWhy = b.SummaryWhy
		a.Checked = b.Checked
	}
	return a
}
