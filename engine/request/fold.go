package request

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/turnstile"
	"github.com/scrollback-ai/scrollback/model"
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

// Bounds of what is remembered of the conversations that somebody writes to at the moment.
const (
	maxMemories     = 16
	maxRecentTokens = 1_000_000 // of live messages
	maxRecentKept   = 64_000    // rows of what is kept
)

// Host is what a compactor needs of the engine that it works for.
type Host interface {
	// OpenHead reads a conversation whose compaction was allowed before, with its current branch.
	OpenHead(context.Context, scrollback.ConversationID) (store.Head, error)
	// CheckBudget returns why no model may be asked for a key in a project; nil if it may be.
	CheckBudget(ctx context.Context, key scrollback.KeyID, project string) error
	// ReserveCopy reserves a key for a full copy of a conversation, and returns what writes it; the
	// key is empty where none is to be written. RunAside does that without anybody waiting for it.
	ReserveCopy(scrollback.ConversationID) (key string, write func(context.Context) error)
	RunAside(func(context.Context))
}

// CompactorOptions are what a compactor may have otherwise.
type CompactorOptions struct {
	SummaryModels []string // asked for summaries when the conversation's own model gives none, in order
	Eager         bool     // write the file of a segment when it is folded
	Log           *slog.Logger
	Watch         *watch.Watch // nil watches nothing
}

// Compactor folds what conversations show until it fits. It is safe for concurrent use.
type Compactor struct {
	store     *store.Store
	archive   *archive.Archive
	resolver  *Resolver
	host      Host
	o         CompactorOptions
	locks     turnstile.Locks[scrollback.ConversationID] // one fold of a conversation at a time
	catching  catchUps
	memories  recentCache[*compact.Memory] // of folds, also those that were only looked at
	snapshots recentCache[*store.Snapshot]
	kept      recentCache[store.KnownKept]
}

// NewCompactor makes a compactor over one store.
func NewCompactor(s *store.Store, a *archive.Archive, r *Resolver, host Host, o CompactorOptions) *Compactor {
	c := &Compactor{store: s, archive: a, resolver: r, host: host, o: o}
	c.memories.most = maxMemories
	c.snapshots.most = maxRecentTokens
	c.kept.most = maxRecentKept
	return c
}

// maxPieceTokens returns how many tokens of live messages are read into memory at once.
func maxPieceTokens(settings Settings) int64 {
	return max(pieceTokens, snapshotBudgets*settings.Budget.Tokens)
}

// FoldRequest says how one fold is made.
type FoldRequest struct {
	Settings Settings
	Reason   compact.Reason
	Given    compact.GivenSummary // for compact.Replaced
	Occasion string               // for its receipt; empty for what the reason says
	Wait     *turnstile.Patience  // for its summary; nil waits as long as it takes

	// Admit is asked before models are, and may count that they are; after an error none is.
	// Nil lets them be asked.
	Admit func(context.Context) error
}

// Fold makes one fold of head's branch, commits it and refreshes head.
func (f *Compactor) Fold(ctx context.Context, head *store.Head, q FoldRequest) (scrollback.Receipt, error) {
	made, _, err := f.foldPiece(ctx, head, q)
	return made, err
}

// foldPiece is [Compactor.Fold], and reports whether it folded only the oldest piece of what is live.
func (f *Compactor) foldPiece(ctx context.Context, head *store.Head,
	q FoldRequest) (made scrollback.Receipt, piece bool, err error) {
	ctx, done := watch.BeginPart(f.o.Watch.WithWatch(ctx), "compact")
	defer func() {
		watch.NoteCompaction(ctx, made)
		done(err)
	}()
	asking, unlock, err := f.locks.Lock(ctx, head.ID, q.Wait)
	if err != nil {
		return made, false, scrollback.Wrap(scrollback.Canceled, "engine.fold", err)
	}
	defer unlock()
	began := f.store.Now()
	seen := head.Branch.ViewVersion
	for {
		if err := f.refreshHead(ctx, head); err != nil {
			return made, false, err
		}
		shown, err := f.ReadShown(ctx, *head, q.Settings)
		if err != nil {
			return made, false, err
		}
		if head.Branch.ViewVersion != seen && !isNeeded(&shown, q) { // another fold came first
			return scrollback.Receipt{Result: scrollback.ResultNoop}, false, nil
		}
		made, err = f.attemptFold(ctx, head, q, foldAttempt{shown, asking.Done(), began})
		if !errors.Is(err, errElsewhere) {
			return made, shown.More, err
		}
		made = scrollback.Receipt{Result: scrollback.ResultNoop}
		if q.Occasion == scrollback.ReasonAhead { // the other server's fold is as good
			return made, false, nil
		}
		again := time.NewTimer(claimPoll)
		select {
		case <-again.C:
		case <-asking.Done(): // from here on no model is asked, which needs no claim
			again.Stop()
		}
	}
}

// isNeeded reports whether a fold is still to be made of what is shown now.
func isNeeded(shown *compact.Shown, q FoldRequest) bool {
	b := &shown.Branch
	switch q.Reason {
	case compact.MustFit:
		return shown.More || !window.Fits(window.Assemble(shown.Window).Weight, q.Settings.Budget)
	case compact.WhenDue:
		return b.LiveWeight().Tokens >= b.View.RetryAt
	}
	return true
}

// foldAttempt is what a fold is made of, and since when; hurry is closed when no model is waited for.
type foldAttempt struct {
	shown compact.Shown
	hurry <-chan struct{}
	began int64
}

// attemptFold makes a fold, unless its model is being asked by another server already: then it
// returns errElsewhere.
func (f *Compactor) attemptFold(
	ctx context.Context,
	head *store.Head,
	q FoldRequest,
	m foldAttempt,
) (scrollback.Receipt, error) {
	asking := foldClaim{f: f, of: head.ID, hurry: m.hurry}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer asking.release()
	var refused error // why no model may be asked
	memory := f.takeMemory(head.ID)
	defer f.memories.put(head.ID, memory, 1)
	made, err := compact.Run(running, compact.Input{
		Memory: memory,
		Shown:  m.shown, Reason: q.Reason, Given: q.Given, Occasion: q.Occasion, Conversation: head.ID, Hurry: m.hurry,
		Writers: func() []compact.Summarizer {
			out := f.findSummarizers(ctx, head.Conversation, q.Settings)
			if len(out) > 0 && !asking.mayAsk(ctx) {
				stop(errElsewhere)
				return nil
			}
			if len(out) == 0 {
				refused = f.host.CheckBudget(ctx, q.Settings.Overrides.Key, head.Project)
				return nil
			}
			if q.Admit != nil {
				refused = q.Admit(ctx)
			}
			if refused != nil {
				return nil
			}
			return out
		},
		Now: f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.Settings.ModelTokens,
		Price: f.resolver.AddPrice,
		Load:  func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return f.store.ReadSegments(ctx, ids) },
		Kept: func() ([]scrollback.Kept, error) {
			if err := f.store.Kept.FillSome(ctx); err != nil {
				return nil, err
			}
			return f.readKept(ctx, *head)
		},
		Measure: archive.MeasureLeaf, MeasureTable: archive.MeasureTable, Renderer: archive.Renderer,
	})
	if r := &made.Receipt; refused != nil && r.Result == scrollback.ResultCompacted && r.SummaryWhy == "" {
		r.SummaryWhy = scrollback.PublicMessage(refused)
	}
	for i := range made.Usage {
		made.Usage[i].Key = q.Settings.Overrides.Key
	}
	if made.Why != "" {
		f.o.Log.Warn("no model gave a summary; compacting without one", "conversation", head.ID, "calls", len(made.Usage),
			"reason", made.Why)
	}
	if err != nil || made.Receipt.Result == scrollback.ResultNoop {
		return made.Receipt, err
	}
	for _, text := range made.Apart {
		if err := f.putKept(ctx, head.ID, text); err != nil {
			return made.Receipt, err
		}
	}
	made.Receipt.DurationMS = max(0, f.store.Now()-m.began)
	var copied func(context.Context) error
	if head.Settings.ArchiveOnCompact && made.Receipt.Result == scrollback.ResultCompacted {
		made.Receipt.Archive, copied = f.host.ReserveCopy(head.ID)
	}
	receipt, err := f.commitFold(ctx, head, store.FoldCommit{Conversation: head.ID, Branch: head.Branch.ID,
		IfViewVersion: head.Branch.ViewVersion,
		View:          made.View, Segments: made.Segments, Receipt: made.Receipt, Kept: made.Ends,
		Usage: made.Usage})
	if receipt.Result == scrollback.ResultCompacted {
		compact.AddTrade(&receipt, made.Segments, token.Count, q.Settings.ModelTokens)
	}
	if err == nil && f.o.Eager && receipt.Result == scrollback.ResultCompacted {
		f.writeSegmentFiles(ctx, made.Segments)
	}
	if id := head.ID; err == nil && receipt.Archive != "" {
		f.host.RunAside(func(ctx context.Context) {
			if err := copied(ctx); err != nil {
				f.o.Log.Warn("the full copy after a compaction could not be written", "conversation", id, "archive", receipt.Archive,
					"error", err)
			}
		})
	}
	return receipt, err
}

// putKept stores kept sentences that a block has no room for, and names by their ref.
func (f *Compactor) putKept(ctx context.Context, id scrollback.ConversationID, text string) error {
	artifact, size, err := f.archive.PutArtifact(ctx, strings.NewReader(text), int64(len(text)))
	if err != nil {
		return err
	}
	return f.store.Refs.PutArtifact(ctx, scrollback.Artifact{ID: artifact, MediaType: "text/plain; charset=utf-8",
		Name: "kept.txt", Size: size, CreatedAt: f.store.Now()}, id)
}

// writeSegmentFiles writes the files of segments before anybody reads them.
func (f *Compactor) writeSegmentFiles(ctx context.Context, segments []scrollback.Segment) {
	for _, s := range segments {
		if err := f.archive.RenderAhead(ctx, s.ID); err != nil && ctx.Err() == nil {
			f.o.Log.Warn("the file of a segment could not be written", "segment", s.ID, "error", err)
		}
	}
}

// findSummarizers returns the models to ask for a summary: the turn's own, then the configured ones.
// There are none once the caller or the project has used up its budget for the day.
func (f *Compactor) findSummarizers(ctx context.Context, c scrollback.Conversation, own Settings) []compact.Summarizer {
	if err := f.host.CheckBudget(ctx, own.Overrides.Key, c.Project); err != nil {
		f.o.Log.Debug("no model is asked for a summary", "conversation", c.ID, "error", err)
		return nil
	}
	var out []compact.Summarizer
	add := func(m model.Model) {
		if m.Facts().NoSummaries {
			return
		}
		settings := own
		if m != own.Model {
			var err error
			if settings, err = f.resolver.Resolve(ctx, c, Overrides{Model: m.Facts().Name}); err != nil {
				f.o.Log.Warn("a model for summaries cannot be used", "model", m.Facts().Name, "error", err)
				return
			}
		}
		out = append(
			out,
			compact.Summarizer{Model: watch.WrapModel(m), Budget: settings.Budget.Tokens, Reserve: settings.Budget.Reserve,
				Limit: settings.ModelBudget.Limit, MaxOutput: settings.Facts.MaxOutput, Dialect: settings.Facts.Dialect},
		)
	}
	add(own.Model)
	for _, name := range f.o.SummaryModels {
		m, err := f.resolver.FindModel(name)
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

// commitFold stores a fold. If the view has changed meanwhile, the fold is a conflict, but
// its receipt and the cost of its summary are still recorded.
func (f *Compactor) commitFold(ctx context.Context, head *store.Head, c store.FoldCommit) (scrollback.Receipt, error) {
	err := f.store.Views.CommitFold(ctx, c)
	for range maxBooking {
		if scrollback.CodeOf(err) != scrollback.Conflict {
			break
		}
		if err = f.refreshHead(ctx, head); err != nil {
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
		c.Kept = nil
		c.View.Failures = learned.Failures
		c.View.AskAt = learned.AskAt
		err = f.store.Views.CommitFold(ctx, c)
	}
	if err != nil {
		return c.Receipt, err
	}
	return c.Receipt, f.refreshHead(ctx, head)
}

// refreshHead reads the branch of a head again: its view may have changed, and
// messages may have come. It is the same branch also where another one has become the current one: turns run beside
// each other on their own.
func (f *Compactor) refreshHead(ctx context.Context, head *store.Head) error {
	fresh, err := f.host.OpenHead(ctx, head.ID)
	if err == nil && fresh.Branch.ID != head.Branch.ID {
		fresh.Branch, err = f.store.Branches.Find(ctx, fresh, head.Branch.ID)
	}
	if err == nil {
		*head = fresh
	}
	return err
}

// CompactAhead folds without holding anything up, so that the next request does not have to
// wait. One fold may wait for another that runs, and sees what came meanwhile; more are
// not needed.
func (f *Compactor) CompactAhead(ctx context.Context, id scrollback.ConversationID,
	settings Settings) (receipt scrollback.Receipt) {
	if f.locks.CountUsers(id) > 1 {
		return receipt
	}
	head, err := f.host.OpenHead(ctx, id)
	if err == nil && f.catching.find(head.Branch.ID) != nil {
		return receipt
	}
	if err == nil && head.Branch.LiveWeight().Tokens >= head.Branch.View.RetryAt {
		receipt, err = f.Fold(
			ctx,
			&head,
			FoldRequest{Settings: settings, Reason: compact.WhenDue, Occasion: scrollback.ReasonAhead},
		)
	}
	if err != nil && ctx.Err() == nil {
		f.o.Log.Warn("compacting ahead failed", "conversation", id, "error", err)
	}
	return receipt
}

// CompactByHand folds piece by piece until the request is met.
func (f *Compactor) CompactByHand(ctx context.Context, head store.Head, over Overrides,
	reason compact.Reason) (scrollback.Receipt, error) {
	settings, err := f.resolver.Resolve(ctx, head.Conversation, over)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	var all scrollback.Receipt
	q := FoldRequest{Settings: settings, Reason: reason}
	if reason == compact.Everything {
		q.Wait = &turnstile.Patience{} // it asks no model, and waits for none
	}
	for range maxFolds {
		r, piece, err := f.foldPiece(ctx, &head, q)
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

// TakeSummary folds what a client has compacted itself, with its own summary in the place of it. Folds of others that
// come between do not stop it.
func (f *Compactor) TakeSummary(ctx context.Context, head *store.Head, settings Settings,
	given compact.GivenSummary) (scrollback.Receipt, error) {
	q := FoldRequest{Settings: settings, Reason: compact.Replaced, Given: given, Wait: &turnstile.Patience{}}
	var all scrollback.Receipt
	for range maxFolds {
		r, piece, err := f.foldPiece(ctx, head, q)
		if err != nil {
			return all, err
		}
		all = joinReceipts(all, r)
		again := piece && r.Result == scrollback.ResultCompacted
		if !again && r.Result != scrollback.ResultConflict {
			break
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
