package request

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/turnstile"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// ReadShown reads what a head shows, and adds what surrounds it in a window.
func (f *Compactor) ReadShown(ctx context.Context, h store.Head, settings Settings) (compact.Shown, error) {
	last := f.snapshots.get(h.ID)
	snap, err := f.store.Views.Snapshot(ctx, h, maxPieceTokens(settings), last)
	if err != nil {
		return compact.Shown{}, err
	}
	f.snapshots.put(h.ID, &snap, snap.Tokens)
	shown := f.addSurroundings(snap, h, settings)
	shown.Window.Kept, err = f.readKeptChanges(ctx, h)
	return shown, err
}

// readKeptChanges reads what people said about the sentences that a head's block carries.
func (f *Compactor) readKeptChanges(ctx context.Context, h store.Head) ([]scrollback.Kept, error) {
	if h.Branch.View.Boundary == 0 {
		return nil, nil
	}
	return f.store.Kept.ListChanges(ctx, h, h.Branch)
}

// addSurroundings adds to a snapshot of a head what surrounds it in a window.
func (f *Compactor) addSurroundings(snap store.Snapshot, h store.Head, settings Settings) compact.Shown {
	in := window.Input{
		Instructions: settings.Instructions(h.Conversation),
		Tools:        settings.Tools(h.Conversation),
		Segments:     snap.Segments,
		Carried:      snap.Carried,
		Pinned:       snap.Pinned,
		PinnedTokens: settings.Policy.MaxPinned(settings.Budget.Tokens),
		Live:         snap.Live,
		Language:     h.Branch.View.Language,
		Without:      h.Branch.View.Without,
		Budget:       settings.Budget,
		Dialect:      settings.Facts.Dialect,
	}
	if settings.Overrides.NoRecall {
		in.Recall = &window.RecallTools{}
	}
	if in.Instructions != "" {
		in.InstructionsWeight = f.resolver.WeighText(in.Instructions)
	}
	if settings.Facts.Dialect.BoundReasoning {
		in.FoldedAt = h.Branch.View.Head
	}
	if env := h.Environment; env != nil {
		in.Environment = env.WholeText()
		in.EnvironmentWeight = f.resolver.WeighText(in.Environment)
	}
	if said := h.Branch.View.Said; len(said) == len(snap.Segments)+1 && len(in.Without) == 0 {
		in.Said = &window.SaidLines{Summary: said[0], Segments: said[1:]}
	}
	if snap.Summary != nil {
		in.Summary = compact.WindowSummary(*h.Branch.View.Summary, snap.Summary.Summary, in.Without)
	}
	in.ToolsWeight = f.resolver.WeighTools(in.Tools)
	return compact.Shown{Branch: h.Branch, Window: in, More: snap.More, PinnedSeqs: h.PinnedSeqs, Policy: settings.Policy}
}

// HasRoom reports whether a head is so far from its budget and from the next fold that nobody
// needs to look at its messages to know it. It may say no where there is nothing to fold.
func (f *Compactor) HasRoom(h store.Head, settings Settings) bool {
	if h.Branch.View.Boundary > 0 {
		return false
	}
	shown := f.addSurroundings(store.Snapshot{}, h, settings)
	w := window.Assemble(shown.Window)
	live := h.Branch.LiveWeight()
	around := scrollback.Weight{Tokens: spareTokens * h.Branch.HeadSeq, Bytes: spareBytes * h.Branch.HeadSeq}
	w.Weight = w.Weight.Add(live).Add(live).Add(around)
	return window.Fits(w.Weight, settings.Budget) && !shown.IsDue(w)
}

// What a message may weigh beside its parts, generously.
const (
	spareTokens = 16
	spareBytes  = 512
)

// Progress is told of the compactions that a request needs.
type Progress interface {
	Compacting(scrollback.CompactingEvent) // the request does not fit
	Compacted(scrollback.Receipt)          // of each fold
}

// FitRequest says how the window of a request is made to fit.
type FitRequest struct {
	Settings  Settings
	PromptSeq int64
	Wait      *turnstile.Patience
	Occasion  string                      // of its folds, for their receipts; empty for that the request needs them
	Beside    bool                        // what the request does not need is left to the caller
	CatchUp   *CatchUp                    // for what an import left to be compacted; nil compacts it, however long that takes
	Admit     func(context.Context) error // as [FoldRequest] has it
	Progress  Progress
}

// FittedWindow is a window that fits, and what it is laid out from. Due says that there is a fold
// to be made, which the request does not need.
type FittedWindow struct {
	Input  window.Input
	Window scrollback.Window
	Due    bool
}

// ShownWindow is a window that a request was sent with, and the branch that it showed.
type ShownWindow struct {
	Window scrollback.Window
	Branch scrollback.Branch
	part   bool // of the live messages
}

// NewShownWindow returns what was sent of a branch.
func NewShownWindow(fitted *FittedWindow, b scrollback.Branch) *ShownWindow {
	return &ShownWindow{fitted.Window, b, fitted.Input.NotCompacted != nil}
}

// MayBeDue reports whether a fold may be due for the branch as it is now, without a look at its messages: the next
// window begins with the items of the last, and weighs at most what has come since on top of it. It may say yes where
// none is due.
func (s *ShownWindow) MayBeDue(now scrollback.Branch, settings *Settings) bool {
	was := &s.Branch
	if s.part || now.ID != was.ID || now.ViewVersion != was.ViewVersion {
		return true
	}
	w := s.Window
	w.Weight = w.Weight.Add(now.LiveWeight()).Sub(was.LiveWeight())
	shown := compact.Shown{Branch: now, Window: window.Input{Budget: settings.Budget}, Policy: settings.Policy}
	return shown.IsDue(w)
}

// errAsked keeps a model from being asked again by the folds of one request.
var errAsked = scrollback.Errorf(scrollback.Conflict, "engine.fit", i18n.SummaryWasAskedForAlready)

// Fit makes the window of a head, folding until it is under the policy's trigger, and
// updates head. If the request fits, it waits for nothing where it may leave the fold
// to the caller.
func (f *Compactor) Fit(ctx context.Context, head *store.Head, q FitRequest) (FittedWindow, error) {
	asked := false
	admit := func(ctx context.Context) error { // the folds of one request pay for one summary
		if asked {
			return errAsked
		}
		if q.Admit != nil {
			return q.Admit(ctx)
		}
		return nil
	}
	for n := range maxFolds {
		shown, err := f.ReadShown(ctx, *head, q.Settings)
		if err != nil {
			return FittedWindow{}, err
		}
		shown.Window.PromptSeq = q.PromptSeq
		w := window.Assemble(shown.Window)
		fitted := FittedWindow{Input: shown.Window, Window: w}
		fits := window.Fits(w.Weight, q.Settings.Budget) && !shown.More
		if fits && (!shown.IsDue(w) || head.Branch.LiveWeight().Tokens < head.Branch.View.RetryAt ||
			f.locks.CountUsers(head.ID) > 0) {
			return fitted, nil
		}
		if fits && q.Beside {
			fitted.Due = true
			return fitted, nil
		}
		if n == 0 && !fits {
			q.Progress.Compacting(scrollback.CompactingEvent{Tokens: q.Settings.ModelTokens(w.Weight.Tokens +
				shown.UnreadTokens()),
				Budget: q.Settings.ModelBudget.Tokens})
		}
		if !fits && q.CatchUp != nil && hasImported(shown.Window.Live) {
			fitted, err := f.fitImported(ctx, head, &q)
			if err != nil || fitted != nil {
				return *cmp.Or(fitted, &FittedWindow{}), err
			}
			continue
		}
		job := FoldRequest{Settings: q.Settings, Reason: compact.WhenDue, Occasion: q.Occasion, Wait: q.Wait, Admit: admit}
		if !fits {
			job.Reason = compact.MustFit
		}
		seen := head.Branch.ViewVersion
		receipt, err := f.Fold(ctx, head, job)
		asked = asked || receipt.Calls > 0
		switch {
		case err != nil && fits && ctx.Err() == nil:
			f.o.Log.Warn("a compaction failed, and the request fits without it", "conversation", head.ID, "error", err)
			return fitted, nil
		case err != nil:
			return FittedWindow{}, err
		case receipt.Result == scrollback.ResultCompacted:
			q.Progress.Compacted(receipt)
		case receipt.Result == scrollback.ResultConflict,
			receipt.Result == scrollback.ResultNoop && head.Branch.ViewVersion != seen:
			// Somebody folded meanwhile: what w holds is no longer shown.
		case fits:
			return fitted, nil
		default:
			if dropPins(&fitted) {
				return fitted, nil
			}
			return FittedWindow{}, newOverBudgetError(w, &q.Settings)
		}
	}
	return FittedWindow{}, scrollback.Errorf(
		scrollback.Internal,
		"engine.fit",
		i18n.BacklogDidNotEnd,
		maxFolds,
	)
}

// dropPins leaves out pinned messages that keep a window from fitting, the oldest first, and reports
// whether it fits then.
func dropPins(f *FittedWindow) bool {
	in := f.Input
	for len(in.Pinned) > 0 && in.PinnedTokens > 0 && !window.Fits(f.Window.Weight, in.Budget) {
		over := max(f.Window.Weight.Tokens-in.Budget.Tokens, 1)
		in.PinnedTokens = max(min(in.PinnedTokens, sumTokens(in.Pinned))-over, 0)
		f.Input = in
		f.Window = window.Assemble(in)
	}
	return window.Fits(f.Window.Weight, in.Budget)
}

func sumTokens(ms []scrollback.Message) (n int64) {
	for i := range ms {
		n += ms[i].Weight.Tokens
	}
	return n
}

// newOverBudgetError returns the error for a window that does not fit, with the figures.
func newOverBudgetError(w scrollback.Window, settings *Settings) error {
	return scrollback.Errorf(
		scrollback.OverBudget,
		"engine",
		i18n.RequestOverBudget,
		settings.ModelTokens(
			w.Weight.Tokens,
		),
		w.Weight.Bytes,
		w.Weight.Images,
		settings.ModelBudget.Tokens,
		settings.ModelBudget.Limit,
		settings.ModelBudget.Reserve,
		settings.ModelBudget.Bytes,
		settings.ModelBudget.Images,
	)
}

// ExplainRefusal returns the error for a request that its server refuses as too long and that cannot
// be made any shorter; any other refusal stays as it is.
func ExplainRefusal(w scrollback.Window, settings *Settings, refusal error) error {
	l := model.LessonOf(refusal)
	if l == nil || !l.TooLong {
		return refusal
	}
	return scrollback.Errorf(
		scrollback.OverBudget,
		"engine",
		i18n.ServerRefusesAsTooLong,
		settings.ModelTokens(w.Weight.Tokens),
		settings.ModelBudget.Reserve,
		settings.ModelBudget.Limit,
	)
}
