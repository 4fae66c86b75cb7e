package engine

import (
	"context"
	"slices"

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
	// snapshotBudgets is how many budgets of live messages are brought into memory
	// at once; more are folded piece by piece.
	snapshotBudgets = 4
	pieceTokens     = 64_000
	smallestSummary = 200 // tokens
)

// foldLock lets one fold of a conversation run at a time in this process.
type foldLock struct {
	held  chan struct{} // full while somebody folds
	users int
}

// lockFolds waits for another fold to end, which may be asking a model, or for ctx.
func (e *Engine) lockFolds(ctx context.Context, id scrollback.ConversationID) (unlock func(), err error) {
	e.mu.Lock()
	l := e.foldLocks[id]
	if l == nil {
		l = &foldLock{held: make(chan struct{}, 1)}
		e.foldLocks[id] = l
	}
	l.users++
	e.mu.Unlock()
	leave := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(e.foldLocks, id)
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

// foldsNow says whether a fold of the conversation is under way in this process.
func (e *Engine) foldsNow(id scrollback.ConversationID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.foldLocks[id] != nil
}

func (e *Engine) snapshot(ctx context.Context, h store.Head, sh resolved) (store.Snapshot, error) {
	return e.store.Views.Snapshot(ctx, h, max(pieceTokens, snapshotBudgets*sh.budget.Tokens))
}

// fit makes the window of a head, folding until it is under the policy's
// trigger. head follows the folds.
func (e *Engine) fit(ctx context.Context, head *store.Head, sh resolved, promptSeq int64, folded func(scrollback.Receipt)) (scrollback.Window, error) {
	for range maxFolds {
		snap, err := e.snapshot(ctx, *head, sh)
		if err != nil {
			return scrollback.Window{}, err
		}
		w := e.assemble(snap, sh, promptSeq)
		fits := window.Fits(w.Weight, sh.budget) && !snap.More
		if fits && (!sh.policy.Triggers(load(snap, w, sh)) || snap.LiveWeight().Tokens < snap.Branch.View.RetryAt || e.foldsNow(head.ID)) {
			return w, nil
		}
		seen := head.Branch.ViewVersion
		receipt, err := e.fold(ctx, head, sh, foldWish{mustFit: !fits})
		switch {
		case err != nil && fits && ctx.Err() == nil:
			e.o.Log.Warn("a fold failed, and the request fits without it", "conversation", head.ID, "error", err)
			return w, nil
		case err != nil:
			return w, err
		case receipt.Result == scrollback.ResultCompacted:
			folded(receipt)
		case head.Branch.ViewVersion != seen || receipt.Result == scrollback.ResultConflict:
			// Somebody folded meanwhile: what w was made of is no longer shown.
		case fits:
			return w, nil
		default:
			return w, overBudget(w, &sh)
		}
	}
	return scrollback.Window{}, scrollback.Errorf(scrollback.Internal, "engine.fit", "the backlog did not end after %d folds", maxFolds)
}

// foldWish says why a fold is wanted.
type foldWish struct {
	mustFit bool // the request does not fit otherwise
	force   bool // by hand: before the policy asks for it
	all     bool // by hand: start afresh
}

// fold makes one fold of head's branch and commits it; head is fresh afterwards.
func (e *Engine) fold(ctx context.Context, head *store.Head, sh resolved, wish foldWish) (scrollback.Receipt, error) {
	unlock, err := e.lockFolds(ctx, head.ID)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	defer unlock()
	if err := e.refresh(ctx, head); err != nil {
		return scrollback.Receipt{}, err
	}
	snap, err := e.snapshot(ctx, *head, sh)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	f := folding{wish: wish, snap: snap, sh: sh, before: e.assemble(snap, sh, 0)}
	f.total = f.before.Weight.Tokens
	if snap.More {
		f.total += snap.LiveWeight().Tokens - weightOf(snap.Live).Tokens
	}
	receipt := scrollback.Receipt{Result: scrollback.ResultNoop, Segments: []scrollback.SegmentID{}, Refs: []scrollback.Ref{},
		TokensBefore: sh.modelTokens(f.total), TokensAfter: sh.modelTokens(f.total), CreatedAt: e.store.Now(), SummaryBy: scrollback.SummaryExtractive, Cleared: wish.all}
	if !wish.all && !wish.force && !wish.mustFit && !sh.policy.Triggers(load(snap, f.before, sh)) {
		return receipt, nil
	}
	writers := e.writers(ctx, &f)
	cut, ok := compact.Plan(e.situation(&f, sh.policy.Carries() && !wish.all))
	switch {
	case ok:
	case f.outgrown(), sh.policy.Crowded(snap.Segments, sh.budget.Tokens): // a smaller window, or a rewind that opened roll-ups; there is nothing else to fold
		writers = nil
	default:
		return receipt, nil
	}
	record := f.record(cut)
	said := compact.Summarize(ctx, record, writers)
	if ctx.Err() != nil {
		return receipt, scrollback.Wrap(scrollback.Canceled, "engine.fold", context.Cause(ctx))
	}
	if len(said.Calls) > 0 && said.Text == "" {
		e.o.Log.Warn("no model gave a summary; the fold goes without", "conversation", head.ID, "calls", len(said.Calls), "reason", said.Why)
	}
	f.kept = f.keep(&record)
	commit, err := e.build(ctx, &f, cut, said, receipt)
	if err != nil {
		return receipt, err
	}
	receipt, err = e.commit(ctx, head, commit)
	if err == nil && e.o.Eager && receipt.Result == scrollback.ResultCompacted {
		e.write(ctx, commit.Segments)
	}
	return receipt, err
}

// write makes the files of segments before anybody reads them.
func (e *Engine) write(ctx context.Context, segments []scrollback.Segment) {
	for _, s := range segments {
		if err := e.archive.Make(ctx, s.ID); err != nil && ctx.Err() == nil {
			e.o.Log.Warn("the file of a segment could not be made", "segment", s.ID, "error", err)
		}
	}
}

// folding is one fold on its way.
type folding struct {
	wish   foldWish
	snap   store.Snapshot
	sh     resolved
	before scrollback.Window
	total  int64  // tokens of before, and of what is live beyond it
	kept   string // the summary if no model's is to be had
}

// outgrown says that the summary which the view shows goes, replaced or not: it was
// written for a bigger window, and keeps a request from fitting.
func (f *folding) outgrown() bool {
	v := f.snap.Branch.View.Summary
	return f.wish.mustFit && v != nil && v.Tokens > f.sh.policy.SummaryBound(f.sh.budget.Tokens)
}

// writers are the models to ask for a summary: none while a backlog is folded
// piece by piece, when starting afresh, or after they failed too often.
func (e *Engine) writers(ctx context.Context, f *folding) []compact.Summarizer {
	if !f.sh.policy.Summarizes || f.snap.More || f.wish.all || !f.sh.policy.MayAsk(f.snap.Branch.View, f.snap.Branch.Sum.Tokens) {
		return nil
	}
	var out []compact.Summarizer
	add := func(m model.Model) {
		if m.Facts().NoSummaries {
			return
		}
		sh, err := e.resolve(ctx, f.snap.Conversation, Overrides{Model: m.Facts().Name})
		if err != nil {
			e.o.Log.Warn("a model for summaries cannot be used", "model", m.Facts().Name, "error", err)
			return
		}
		if m == f.sh.model {
			sh = f.sh
		}
		out = append(out, compact.Summarizer{Model: m, Budget: sh.budget.Tokens, Reserve: sh.budget.Reserve, Dialect: sh.facts.Dialect})
	}
	add(f.sh.model)
	for _, name := range e.o.SummaryModels {
		m, err := e.find(name)
		if err != nil {
			e.o.Log.Warn("a model for summaries is not to be had", "model", name, "error", err)
			continue
		}
		add(m)
	}
	return out
}

// situation is what the cut is chosen from. Where a summary is to come, room for
// all that it may weigh is kept.
func (e *Engine) situation(f *folding, summary bool) compact.Situation {
	bare := f.snap
	bare.Live, bare.Carried = nil, nil
	s := compact.Situation{Live: f.snap.Live, Carried: f.snap.Carried, Fixed: e.assemble(bare, f.sh, 0).Weight,
		Budget: f.sh.budget, Policy: f.sh.policy, Pinned: f.snap.PinnedSeqs, Forced: f.wish.force, More: f.snap.More && !f.wish.all, All: f.wish.all}
	if v := f.snap.Branch.View.Summary; v != nil && (summary || f.outgrown()) {
		s.Fixed.Tokens -= v.Tokens
	}
	if summary {
		s.Fixed.Tokens += f.sh.policy.SummaryBound(f.sh.budget.Tokens)
	}
	return s
}

// record is what a summary is made of: the summary so far, the extracts of folds
// it does not speak for, and what this cut folds.
func (f *folding) record(cut compact.Cut) compact.Record {
	r := compact.Record{Policy: f.sh.policy, Run: f.snap.Live[:cut.Messages], Count: token.Count}
	said, spoken := weightOf(r.Run).Tokens, int64(0)
	if f.snap.Summary != nil {
		v := f.snap.Branch.View.Summary
		r.Previous, r.PreviousEnd = f.snap.Summary.Summary, v.LastSeq
		spoken, said = compact.MinutesEnd(r.Previous, v.LastSeq), said+v.Tokens
	}
	// What is longer than half of what it replaces is no summary.
	r.MaxTokens = min(f.sh.policy.SummaryBound(f.sh.budget.Tokens), max(said/2, smallestSummary))
	for _, s := range f.snap.Segments {
		if s.LastSeq > spoken {
			r.Extracts = append(r.Extracts, s.Placeholder)
		}
	}
	return r
}

// keep is the summary that a fold has without a model, or empty.
func (f *folding) keep(r *compact.Record) string {
	if !f.sh.policy.Carries() || f.wish.all {
		return ""
	}
	return r.Keep(f.sh.policy.SummaryBound(f.sh.budget.Tokens))
}

// build makes the segments of a fold and judges them: with the model's summary, with
// what is kept without one, and if neither shrinks the window with the extract alone.
func (e *Engine) build(ctx context.Context, f *folding, cut compact.Cut, said compact.Outcome, receipt scrollback.Receipt) (store.Commit, error) {
	job := e.job(ctx, f.snap, cut, f.sh)
	job.Afresh = f.wish.all || f.outgrown()
	summaries := []*compact.Outcome{nil}
	if f.kept != "" {
		summaries = append(summaries, &compact.Outcome{Text: f.kept, By: scrollback.SummaryExtractive})
	}
	if said.Text != "" {
		summaries = append(summaries, &said)
	}
	mustFit := f.wish.mustFit || f.wish.all
	var made compact.Fold
	var after int64
	for _, job.Summary = range slices.Backward(summaries) {
		var err error
		if made, err = compact.Build(job); err != nil {
			return store.Commit{}, err
		}
		after = e.assemble(shown(f.snap, made), f.sh, 0).Weight.Tokens + f.total - f.before.Weight.Tokens
		receipt.Result = f.sh.policy.Judge(f.total, after, mustFit)
		if f.sh.policy.Judge(f.total, after, false) == scrollback.ResultCompacted {
			break
		}
	}
	receipt.FirstSeq, receipt.LastSeq, receipt.SummaryResult = f.snap.Branch.View.Boundary+1, made.View.Boundary, said.Result
	if cut.Messages == 0 {
		receipt.FirstSeq = f.snap.Segments[0].FirstSeq
	}
	if job.Summary == &said {
		receipt.SummaryBy, receipt.Checked = said.By, said.Checked
	}
	branch := f.snap.Branch
	commit := store.Commit{Conversation: f.snap.ID, Branch: branch.ID, IfViewVersion: branch.ViewVersion, View: branch.View}
	if receipt.Result == scrollback.ResultCompacted {
		commit.View, commit.Segments = made.View, made.Segments
		receipt.TokensAfter = f.sh.modelTokens(after)
		for _, s := range made.Leaves {
			receipt.Segments = append(receipt.Segments, s.ID)
			receipt.Refs = append(receipt.Refs, scrollback.HistoryRef(s.ID))
		}
	} else {
		if said.Result != "" {
			receipt.Result = said.Result
		}
		if !f.wish.force {
			live := f.snap.LiveWeight().Tokens // as it is, the same fold would come to the same
			commit.View.RetryAt = max(live+1, int64(f.sh.policy.RetryGrowth*float64(live)))
		}
	}
	learned := f.sh.policy.Learn(branch.View, said, branch.Sum.Tokens, f.sh.budget.Tokens)
	commit.View.Failures, commit.View.AskAt = learned.Failures, learned.AskAt
	for _, c := range said.Calls {
		usage := e.priced(c.Model, c.Usage)
		receipt.Cost += usage.Cost
		commit.Usage = append(commit.Usage, scrollback.UsageRecord{Usage: usage, Conversation: f.snap.ID, Model: c.Model,
			Purpose: "summary", RequestID: c.RequestID, At: receipt.CreatedAt})
	}
	commit.Receipt = receipt
	return commit, nil
}

// maxBooking bounds how often the books of a fold that came too late are tried.
const maxBooking = 5

// commit stores a fold. When the view has moved meanwhile, the fold is a conflict
// that leaves its receipt, and what its summary cost, all the same.
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

// refresh reads the branch of a head anew: its view may have changed, and
// messages may have come.
func (e *Engine) refresh(ctx context.Context, head *store.Head) error {
	fresh, err := e.store.Head(ctx, head.ID)
	if err == nil {
		*head = fresh
	}
	return err
}

func weightOf(ms []scrollback.Message) (w scrollback.Weight) {
	for i := range ms {
		w = w.Add(ms[i].Weight)
	}
	return w
}

func (e *Engine) job(ctx context.Context, snap store.Snapshot, cut compact.Cut, sh resolved) compact.Job {
	return compact.Job{
		View: snap.Branch.View, Shown: snap.Segments, Carried: snap.Carried, Live: snap.Live, Cut: cut, Policy: sh.policy,
		BudgetTokens: sh.budget.Tokens, Now: e.store.Now(), NewID: e.store.NewID, Count: token.Count, Renderer: archive.Renderer,
		Load: func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return e.store.Segments(ctx, ids) },
		Measure: func(s scrollback.Segment, ms []scrollback.Message, children []scrollback.Segment) (int64, string, error) {
			if len(s.Children) > 0 {
				return archive.MeasureTable(s, children)
			}
			return archive.Measure(s, ms)
		},
	}
}

// foldAhead folds after a turn, so that the next request need not wait.
func (e *Engine) foldAhead(ctx context.Context, id scrollback.ConversationID, sh resolved) {
	head, err := e.store.Head(ctx, id)
	if err == nil && head.Branch.Sum.Sub(head.Branch.View.Sum).Tokens >= head.Branch.View.RetryAt {
		_, err = e.fold(ctx, &head, sh, foldWish{})
	}
	if err != nil && ctx.Err() == nil {
		e.o.Log.Warn("folding ahead failed", "conversation", id, "error", err)
	}
}

// Compact folds by hand. Without force it does only what the policy asks for.
func (e *Engine) Compact(ctx context.Context, id scrollback.ConversationID, over Overrides, force bool) (scrollback.Receipt, error) {
	return e.foldByHand(ctx, id, over, foldWish{force: force})
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
	return e.foldByHand(ctx, id, Overrides{}, foldWish{all: true})
}

func (e *Engine) foldByHand(ctx context.Context, id scrollback.ConversationID, over Overrides, wish foldWish) (scrollback.Receipt, error) {
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	sh, err := e.resolve(ctx, head.Conversation, over)
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
		if r.Result != scrollback.ResultCompacted || !backlog && (!wish.all || head.Branch.View.Boundary == head.Branch.HeadSeq) {
			return all, nil
		}
	}
	return all, nil
}

// joinReceipts is one receipt of several folds made in a row.
func joinReceipts(a, b scrollback.Receipt) scrollback.Receipt {
	if a.Result != scrollback.ResultCompacted {
		return b
	}
	if b.Result != scrollback.ResultCompacted {
		return a
	}
	a.Segments, a.Refs = append(a.Segments, b.Segments...), append(a.Refs, b.Refs...)
	a.LastSeq, a.TokensAfter, a.Cost, a.CreatedAt = b.LastSeq, b.TokensAfter, a.Cost+b.Cost, b.CreatedAt
	return a
}

// Uncompact undoes the newest fold of the current branch, or with a segment all
// folds back to the one that holds it.
func (e *Engine) Uncompact(ctx context.Context, id scrollback.ConversationID, segment scrollback.SegmentID) (scrollback.Receipt, error) {
	before, err := e.Context(ctx, id)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	r, err := e.store.Views.Unfold(ctx, id, segment)
	if err != nil {
		return r, err
	}
	after, err := e.Context(ctx, id)
	r.Undone, r.TokensBefore, r.TokensAfter, r.CreatedAt = true, before.Tokens, after.Tokens, e.store.Now()
	if r.Segments == nil {
		r.Segments, r.Refs = []scrollback.SegmentID{}, []scrollback.Ref{}
	}
	return r, err
}

// Receipts lists the compactions of a conversation, newest first.
func (e *Engine) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	if _, err := e.store.Head(ctx, id); err != nil {
		return nil, err
	}
	rs, err := e.store.Views.Receipts(ctx, id, limit)
	if rs == nil {
		rs = []scrollback.Receipt{}
	}
	return rs, err
}
