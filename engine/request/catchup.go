package request

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/turnstile"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/window"
)

// An import compacts nothing. The first turn in a conversation that was imported begins to compact what does not fit,
// off its path, and waits a moment for it. What is not compacted by then is named in its window, which shows the
// newest messages that fit, and compacting goes on beside the turn.

// catchUpTime is how long the requests of one turn wait, so that the first token comes at most 2 s later.
const catchUpTime = 1500 * time.Millisecond

// CatchUp is how long the requests of one turn still wait while what was imported is compacted, and where their windows
// begin that did not wait for the end.
type CatchUp struct {
	left     time.Duration
	boundary int64 // as it was when first was chosen
	first    int64 // the first live message that they show; 0 for none chosen
}

// NewCatchUp returns the patience of a turn that has not waited yet.
func NewCatchUp() *CatchUp { return &CatchUp{left: catchUpTime} }

// hasImported reports whether an import brought one of some messages.
func hasImported(ms []scrollback.Message) bool {
	return slices.ContainsFunc(ms, func(m scrollback.Message) bool {
		return len(m.Meta) > 0 && transcript.MarkOf(m.Meta) != ""
	})
}

// catchUps are the branches that are being compacted off the path of turns. The zero value is ready.
type catchUps struct {
	mu sync.Mutex
	of map[scrollback.BranchID]*catchUpRun
}

// catchUpRun is the compacting of what an import left on one branch.
type catchUpRun struct {
	ended   chan struct{}
	waiting atomic.Int64 // turns that wait for it

	mu       sync.Mutex
	receipts []scrollback.Receipt // that nobody was told of
}

// find returns the run of a branch; nil for none.
func (c *catchUps) find(b scrollback.BranchID) *catchUpRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[b]
}

// begin returns the run of a branch, and whether it has just been made.
func (c *catchUps) begin(b scrollback.BranchID) (run *catchUpRun, made bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run := c.of[b]; run != nil {
		return run, false
	}
	run = &catchUpRun{ended: make(chan struct{})}
	if c.of == nil {
		c.of = map[scrollback.BranchID]*catchUpRun{}
	}
	c.of[b] = run
	return run, true
}

// end forgets the run of a branch, and lets go of who waits for it.
func (c *catchUps) end(b scrollback.BranchID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.of[b].ended)
	delete(c.of, b)
}

// takeReceipts returns the receipts since the last call.
func (r *catchUpRun) takeReceipts() []scrollback.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.receipts
	r.receipts = nil
	return out
}

func (r *catchUpRun) putReceipt(of scrollback.Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.receipts = append(r.receipts, of)
}

// fitImported waits a moment until what was imported is compacted, and returns the window of a request that does not
// wait any longer. It is nil where the request is to be laid out again: then nothing of it waits for an import any
// more.
func (f *Compactor) fitImported(ctx context.Context, head *store.Head, q *FitRequest) (*FittedWindow, error) {
	done, err := f.waitCaughtUp(ctx, head, *q)
	if err == nil && !done {
		var fitted *FittedWindow
		if fitted, err = f.fitNewest(ctx, *head, *q); fitted != nil {
			return fitted, err
		}
	}
	q.CatchUp = nil
	return nil, err
}

// waitCaughtUp waits for as long as q does until what was imported is compacted, and refreshes head. It returns whether
// it is.
func (f *Compactor) waitCaughtUp(ctx context.Context, head *store.Head, q FitRequest) (bool, error) {
	of := head.Branch.ID
	run, made := f.catching.begin(of)
	run.waiting.Add(1)
	defer run.waiting.Add(-1)
	if made {
		from := *head
		f.host.RunAside(func(ctx context.Context) {
			defer f.catching.end(of)
			if err := f.catchUp(ctx, from, q.Settings, run); err != nil && ctx.Err() == nil {
				f.o.Log.Warn("what was imported could not be compacted", "conversation", from.ID, "error", err)
			}
		})
	}
	began := time.Now()
	timer := time.NewTimer(max(q.CatchUp.left, 0))
	defer timer.Stop()
	done := false
	select {
	case <-run.ended:
		done = true
	case <-timer.C:
	case <-ctx.Done():
		return false, scrollback.Wrap(scrollback.Canceled, "engine.fit", context.Cause(ctx))
	}
	q.CatchUp.left -= time.Since(began)
	for _, r := range run.takeReceipts() {
		q.Progress.Compacted(r)
	}
	return done, f.refreshHead(ctx, head)
}

// catchUp compacts what a head shows until it fits. While a turn waits, and for all but the last piece, it asks no
// model.
func (f *Compactor) catchUp(ctx context.Context, head store.Head, settings Settings, run *catchUpRun) error {
	for range maxFolds {
		if err := f.refreshHead(ctx, &head); err != nil {
			return err
		}
		shown, err := f.ReadShown(ctx, head, settings)
		if err != nil {
			return err
		}
		if !shown.More && window.Fits(window.Assemble(shown.Window).Weight, settings.Budget) {
			return nil
		}
		q := FoldRequest{Settings: settings, Reason: compact.MustFit, Occasion: scrollback.ReasonImport}
		if shown.More || run.waiting.Load() > 0 {
			q.Settings.Policy.Summarizes = false
			q.Wait = &turnstile.Patience{}
		}
		seen := head.Branch.ViewVersion
		r, err := f.Fold(ctx, &head, q)
		switch {
		case err != nil:
			return err
		case r.Result == scrollback.ResultCompacted:
			run.putReceipt(r)
		case head.Branch.ViewVersion == seen:
			return nil // nothing more can be compacted
		}
	}
	return nil
}

// fitNewest makes a window of what is compacted so far and the newest messages that fit; nil if there is none. The
// requests of a turn begin with the same message as long as that fits and nothing was compacted between them.
func (f *Compactor) fitNewest(ctx context.Context, head store.Head, q FitRequest) (*FittedWindow, error) {
	shown, err := f.ReadShown(ctx, head, q.Settings)
	if err != nil {
		return nil, err
	}
	shown.Window.PromptSeq = q.PromptSeq
	return f.showNewest(ctx, head, shown, q.CatchUp, nil)
}

// showNewest lays out the newest messages that fit of what a head shows, with those of a draft behind them, instead of
// the oldest; nil if no window fits. Without a plan each window begins where it can.
func (f *Compactor) showNewest(ctx context.Context, head store.Head, shown compact.Shown, plan *CatchUp,
	draft []scrollback.Message) (*FittedWindow, error) {
	tail, err := f.readTail(ctx, head, shown.Window.Budget)
	if err != nil {
		return nil, err
	}
	shown.More = false
	shown.Window.Live = append(tail, draft...)
	if len(shown.Window.Live) == 0 {
		return nil, nil
	}
	boundary := head.Branch.View.Boundary
	if plan != nil && plan.first > 0 && plan.boundary == boundary {
		cut := slices.IndexFunc(shown.Window.Live, func(m scrollback.Message) bool { return m.Seq == plan.first })
		if cut >= 0 {
			fitted, err := f.showFrom(ctx, head, shown, cut, 0)
			if err != nil || fitted != nil {
				return fitted, err
			}
		}
	}
	cut, carry, ok := shown.CutNewest(token.Count)
	if !ok && shown.Window.Live[0].Seq == boundary+1 {
		return nil, nil // all of it is there, and is not to be cut
	}
	fitted, err := f.showFrom(ctx, head, shown, cut, carry)
	if fitted != nil && plan != nil {
		plan.boundary = boundary
		plan.first = fitted.Input.Live[0].Seq
	}
	return fitted, err
}

// readTail reads the newest live messages of a head: as many as a budget takes, and one page more at most.
func (f *Compactor) readTail(ctx context.Context, head store.Head, b scrollback.Budget) ([]scrollback.Message, error) {
	const page = 64
	var tail []scrollback.Message
	var w scrollback.Weight
	for to := head.Branch.HeadSeq; to > head.Branch.View.Boundary && window.Fits(w, b); to -= page {
		from := max(head.Branch.View.Boundary+1, to-page+1)
		ms, err := f.store.ReadMessages(ctx, head.Branch.ID, from, to)
		if err != nil {
			return nil, err
		}
		for i := range ms {
			w = w.Add(ms[i].Weight)
		}
		tail = append(ms, tail...)
	}
	return tail, nil
}

// showFrom lays out what is shown without its first live messages, of which one may be carried, and the question of the
// request is; nil if that does not fit.
func (f *Compactor) showFrom(ctx context.Context, head store.Head, shown compact.Shown, cut int,
	carry int64) (*FittedWindow, error) {
	in := shown.Window
	hidden := in.Live[:cut]
	in.Live = in.Live[cut:]
	first := in.Live[0].Seq
	if first > head.Branch.View.Boundary+1 {
		in.NotCompacted = &scrollback.SeqRange{First: head.Branch.View.Boundary + 1, Last: first - 1}
	}
	in.Said = nil // carried messages may say what they did not when they were found
	shows := func(seq int64) bool {
		return seq == 0 || seq >= first ||
			slices.ContainsFunc(in.Carried, func(m scrollback.Message) bool { return m.Seq == seq })
	}
	for _, seq := range []int64{carry, compact.NewestEnvironment(hidden), in.PromptSeq} {
		if shows(seq) {
			continue
		}
		m, err := f.store.ReadMessageAt(ctx, head.Branch, seq)
		if err != nil {
			return nil, err
		}
		in.Carried = append(slices.Clone(in.Carried), m)
	}
	for _, seq := range head.PinnedSeqs {
		if seq <= head.Branch.View.Boundary || shows(seq) {
			continue
		}
		m, err := f.store.ReadMessageAt(ctx, head.Branch, seq)
		if err != nil {
			return nil, err
		}
		in.Pinned = append(slices.Clone(in.Pinned), m)
		slices.SortFunc(in.Pinned, func(a, b scrollback.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	fitted := FittedWindow{Input: in, Window: window.Assemble(in)}
	if !window.Fits(fitted.Window.Weight, in.Budget) && !dropPins(&fitted) {
		return nil, nil
	}
	return &fitted, nil
}
