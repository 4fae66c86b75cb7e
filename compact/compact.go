// Package compact decides when to fold messages and where to cut, asks a model for a
// summary, judges what it writes, and makes what stands for the folded messages.
//
// [Run] does it all: from what a branch shows to a [Compaction], which the engine
// commits. A plan chooses the cut, so that the next window starts well under its
// budget; a summarizer's answer is judged, and asked for again if it cannot be used;
// then segments, placeholders and the new view are made, with a summary or without.
//
// Words it adds: shown (what a branch shows, and the window around it), cut (how many
// of the live messages to fold), lines (the extract in a placeholder), record (what a
// summarizer is given of the history), minutes (the part of a summary that a model
// writes; behind it stands what is carried word for word).
//
// Invariants: a cut never separates a call from its result; the newest user message
// stays, verbatim, unless everything is folded by hand; leaves cover every folded
// message exactly once and never span a branch point; summary and placeholders stay
// within their bounds; a fold never depends on what a model returns, or whether it
// returns anything.
//
// It may not know the store or the clock: ids, times and the token counter arrive as
// arguments.
package compact

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/window"
)

// Reason is why a compaction is wanted.
type Reason int

// The reasons.
const (
	WhenDue    Reason = iota // only if the policy asks for it
	MustFit                  // the request does not fit otherwise
	Forced                   // by hand, before the policy asks for it
	Everything               // by hand, to start afresh: the newest user message is folded too
	Replaced                 // somebody else has compacted it: as much as Given says
)

// GivenSummary is a summary that somebody else made: it stands for the messages up to a seq, as it is.
type GivenSummary struct {
	Through int64
	Text    string
}

// Input is what a compaction needs. NewID and Count are required. The other functions may be nil
// for a conversation that is not stored: then no model is asked, calls cost nothing, segments have
// no file, and those that are wanted again are the ones that [ShownAfter] has seen.
type Input struct {
	Shown
	Reason       Reason
	Given        GivenSummary              // for Replaced
	Occasion     string                    // for the receipt, where neither the reason nor the window says it
	Conversation scrollback.ConversationID // that the calls are charged to
	// Writers returns the models to ask for a summary, in order. It is called at most
	// once, and only when a model may be asked.
	Writers func() []Summarizer
	// Hurry is closed when models are no longer waited for: then the extract stands. Nil
	// waits as long as each call may take.
	Hurry <-chan struct{}

	Now         int64 // Unix ms
	NewID       func() string
	Count       func(text string) int    // o200k tokens
	ModelTokens func(tokens int64) int64 // o200k tokens in the model's own, for the receipt
	Price       func(model string, u scrollback.Usage) scrollback.Usage
	// Load reads segments by ID, in that order.
	Load func(ids []scrollback.SegmentID) ([]scrollback.Segment, error)
	// Measure returns the size in bytes and the SHA-256 of the file that the renderer
	// with this number makes of a leaf and its messages; MeasureTable does the same for
	// a roll-up and its children.
	Measure      func(s scrollback.Segment, ms []scrollback.Message) (int64, string, error)
	MeasureTable func(s scrollback.Segment, children []scrollback.Segment) (int64, string, error)
	Renderer     int
	// Kept returns the rows of what is kept of the messages on the path, as a store finds and
	// keeps them.
	Kept func() ([]scrollback.Kept, error)
	rows []scrollback.Kept // that it returned

	inSight bool    // rows are of what the window shows
	Memory  *Memory // of earlier folds of the conversation, made or only looked at; nil for none
}

// Compaction is the result of [Run]: what is to be committed, unless the receipt says
// that there was nothing to do ([scrollback.ResultNoop]). If the fold is not worth
// having, View is the old one with what the attempt taught.
type Compaction struct {
	View     scrollback.View
	Segments []scrollback.Segment // new ones, children before the roll-ups that name them
	Apart    []string             // texts whose artifact refs the summary names
	Ends     []scrollback.Kept    // sentences of the folded messages that have ended what was kept
	Receipt  scrollback.Receipt
	Usage    []scrollback.UsageRecord // of the calls for a summary, priced
	Why      string                   // why the models that were asked gave no summary, in full
}

// Run folds what a branch shows: it chooses the cut, asks for a summary, makes the
// segments, and judges whether the window shrinks. A summarizer that fails is not an
// error; Load and Measure failing is, and so is the end of ctx (canceled).
func Run(ctx context.Context, in Input) (Compaction, error) {
	if in.Memory == nil {
		in.Memory = NewMemory()
	}
	in.fillDefaults()
	in.Count = in.Memory.rememberCounts(in.Count)
	in.dropLeftOut()
	before := in.weighWindows()
	c := Compaction{View: in.Branch.View, Receipt: in.newReceipt(&before)}
	if in.Reason == WhenDue && !in.IsDue(before.window) {
		return c, nil
	}
	if in.Reason == MustFit && !in.canFit() {
		return c, nil
	}
	j := foldJob{Input: &in, afresh: !in.choosesCut() || in.isOutgrown(), built: &lastBuild{}}
	var ok bool
	// With nothing to cut, the segments in sight may still be too many: after a rewind
	// that opened roll-ups, or in a smaller window.
	if j.cut, ok = planCut(&in, before.fixed); !ok && !in.isOutgrown() &&
		!in.Policy.isCrowded(in.Window.Segments, in.budgetTokens()) {
		return c, nil
	}
	if !ok && in.Reason == Replaced {
		return c, nil
	}
	var err error
	if err := in.readKept(); err != nil {
		return c, err
	}
	room := in.summaryRoom()
	if ok {
		if in.mayAsk() {
			j.writers = in.Writers()
		}
		if room, err = j.settleCut(&before); err != nil {
			return c, err
		}
		if in.Reason == WhenDue && j.cut.messages > lastExchange(in.Window.Live) &&
			!in.Policy.mustFold(in.load(before.window)) {
			return c, nil // nothing calls for it but counts: the last exchange is left alone
		}
	}
	r := in.collectRecord(j.cut)
	plan, err := j.planSummary(&before, &r, room)
	if err != nil {
		return c, err
	}
	said := askOutcome{why: plan.why}
	if plan.ask {
		said = in.askSummary(ctx, r, j.writers)
	}
	if ctx.Err() != nil {
		return c, scrollback.Wrap(scrollback.Canceled, "compact.Run", context.Cause(ctx))
	}
	made, err := j.chooseFold(&before, append([]*askOutcome{&said}, plan.kept...))
	if err != nil {
		return c, err
	}
	j.concludeReceipt(&c, made, &said)
	return c, nil
}

// windowWeights are those of the window before the fold.
type windowWeights struct {
	window scrollback.Window // as it is
	fixed  scrollback.Weight // of what it shows besides messages that can be folded
	unread int64             // tokens of live messages that it does not hold
}

// weighWindows lays out the window, and again without what can be folded. Where a summary is
// to come, room for all that it may weigh is kept.
func (in *Input) weighWindows() windowWeights {
	bare := in.Window
	bare.Live = nil
	bare.Carried = nil
	w := windowWeights{window: window.Assemble(in.Window), fixed: window.Assemble(bare).Weight, unread: in.UnreadTokens()}
	if s := in.Window.Summary; s != nil && (in.hasSummary() || in.isOutgrown()) {
		w.fixed.Tokens -= s.Tokens
	}
	if in.hasSummary() {
		w.fixed.Tokens += in.summaryRoom()
	}
	return w
}

func (w *windowWeights) totalTokens() int64 { return w.window.Weight.Tokens + w.unread }

// newReceipt returns the receipt of a compaction that has nothing to do.
func (in *Input) newReceipt(before *windowWeights) scrollback.Receipt {
	tokens := in.ModelTokens(before.totalTokens())
	return scrollback.Receipt{Result: scrollback.ResultNoop, Segments: []scrollback.SegmentID{}, Refs: []scrollback.Ref{},
		TokensBefore: tokens, TokensAfter: tokens, CreatedAt: in.Now, SummaryBy: scrollback.SummaryExtractive,
		Cleared: in.Reason == Everything, Reason: describeOccasion(in, before.window)}
}

func (in *Input) budgetTokens() int64 { return in.Window.Budget.Tokens }

// isOutgrown reports whether the summary in sight goes, whether or not it is replaced: it was
// written for a bigger window, and keeps a request from fitting.
func (in *Input) isOutgrown() bool {
	s := in.Window.Summary
	return in.Reason == MustFit && s != nil && s.Tokens > in.Policy.maxSummary(in.budgetTokens())
}

// hasSummary reports whether the fold has a summary, a model's or one made without.
func (in *Input) hasSummary() bool { return in.Reason != Everything }

// summaryRoom returns the most tokens that the summary of the fold may have. Under a
// policy that asks no model that is what is carried word for word, behind minutes that
// are there already.
func (in *Input) summaryRoom() int64 {
	bound := in.Policy.maxSummary(in.budgetTokens())
	if in.Policy.Summarizes {
		return bound
	}
	room := bound / 2
	if s := in.Window.Summary; s != nil && s.MinutesEnd > 0 {
		minutes, _ := splitSummary(s.Text)
		room += int64(in.Count(minutes))
	}
	return min(bound, room)
}

// choosesCut reports whether the policy says how much is folded, and whether a summary is written for it.
func (in *Input) choosesCut() bool { return in.Reason != Everything && in.Reason != Replaced }

// mayAsk reports whether a model may be asked for a summary.
func (in *Input) mayAsk() bool { return in.choosesCut() && in.AsksModels() }

// AsksModels reports whether a fold would ask models for a summary: not while a backlog is
// folded piece by piece, and not after too many failures.
func (s *Shown) AsksModels() bool {
	return s.Policy.Summarizes && !s.More && s.Policy.mayAsk(s.Branch.View, s.Branch.Sum.Tokens)
}

// askSummary asks for a summary of a record until nobody waits for it any longer.
func (in *Input) askSummary(ctx context.Context, r summaryRecord, writers []Summarizer) askOutcome {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-in.Hurry:
			stop()
		case <-asking.Done():
		}
	}()
	r.calls = in.Policy.callsLeft(in.Branch.View)
	return askWriters(asking, r, writers)
}

// The least bounds of a model's summary, and of what is carried where there is none, in
// tokens.
const (
	smallestSummary = 200
	smallestBlock   = 60
)

// readKept reads what is kept, and what may have ended it in the live messages.
func (in *Input) readKept() (err error) {
	if in.rows, err = in.Kept(); err != nil || len(in.rows) == 0 || in.inSight {
		return err
	}
	live := in.fullInput().Live
	for i := range live {
		in.rows = append(in.rows, in.Memory.listEndRows(&live[i])...)
	}
	return nil
}

// language returns the language of what stands for a run: the person's in it, or that of the fold
// before if nothing is said in it.
func (in *Input) language(c foldCut) string {
	run := in.Window.Live[:c.messages]
	for i := range run {
		if run[i].Role == scrollback.RoleUser && run[i].Parts.Text() != "" {
			return cmp.Or(summary.DetectLanguage(run), "en")
		}
	}
	return cmp.Or(in.Branch.View.Language, summary.DetectLanguage(run))
}

// collectRecord collects what a summary is made from: the summary so far, the extracts of
// folds that it does not cover, and the messages that the cut folds.
func (in *Input) collectRecord(c foldCut) summaryRecord {
	r := summaryRecord{policy: in.Policy, run: in.withoutLeftOut(in.Window.Live[:c.messages]), count: in.Count,
		memory: in.Memory}
	r.told, r.released = splitShown(in, c)
	r.language = in.language(c)
	r.rows = in.rows
	r.inSight = in.inSight
	if r.end = in.Branch.View.Boundary; c.messages > 0 {
		r.end = in.Window.Live[c.messages-1].Seq
	}
	r.leftOut = map[int64]bool{}
	for _, seq := range in.Window.Without {
		r.leftOut[seq] = true
	}
	r.keptRoom = in.summaryRoom()
	if in.Policy.Summarizes {
		r.keptRoom = int64(keptShare * float64(in.Policy.maxSummary(in.budgetTokens())))
	}
	r.pinned = in.PinnedSeqs
	hidden := sumWeights(r.run).Tokens
	spoken := int64(0)
	before := int64(0)
	if s := in.Window.Summary; s != nil {
		before = s.Tokens
		r.previous = s.Text
		r.previousEnd = s.LastSeq
		spoken = summaryEnd(r.previous, s.LastSeq)
		hidden += s.Tokens
	}
	// A summary longer than half of what it replaces is not worth having, unless the one before was.
	r.maxTokens = min(in.summaryRoom(), max(hidden/2, smallestSummary, before))
	for _, s := range in.Window.Segments {
		if s.LastSeq > spoken {
			r.extracts = append(r.extracts, s.Placeholder)
		}
	}
	return r
}

// concludeReceipt writes down what the fold came to, what it cost, and what was learned.
func (j *foldJob) concludeReceipt(c *Compaction, made builtFold, said *askOutcome) {
	r := &c.Receipt
	r.Result = made.result
	r.FirstSeq = j.Branch.View.Boundary + 1
	r.LastSeq = made.view.Boundary
	r.SummaryResult = said.result
	r.SummaryWhy = said.why
	r.Calls = len(said.calls)
	r.Tries = said.tries
	if j.cut.messages == 0 {
		r.FirstSeq = j.Window.Segments[0].FirstSeq
	}
	if j.summary != nil {
		r.SummaryBy = j.summary.by
	}
	switch {
	case j.summary == said:
		r.Checked = said.checked
	case said.text != "":
		r.SummaryWhy = whyNoSaving
	}
	switch {
	case r.Result == scrollback.ResultCompacted:
		c.View = made.view
		c.Ends = j.foldedEnds(made.view.Boundary)
		c.View.Said = append([][]int{made.said.Summary}, made.said.Segments...)
		c.Segments = made.segments
		if j.summary != nil {
			c.Apart = j.Memory.listApart(j.summary.text)
		}
		r.TokensAfter = j.ModelTokens(made.tokens)
		for _, s := range made.leaves {
			r.Segments = append(r.Segments, s.ID)
			r.Refs = append(r.Refs, scrollback.HistoryRef(s.ID))
		}
	case j.Reason != Forced:
		live := j.Branch.LiveWeight().Tokens // while it is no heavier, the same fold would end the same way
		c.View.RetryAt = max(live+1, int64(j.Policy.RetryGrowth*float64(live)))
	}
	if r.Result != scrollback.ResultCompacted && said.result != "" {
		r.Result = said.result
	}
	if r.Result == scrollback.ResultInflated {
		r.SummaryWhy = "" // it is that of the fold
	}
	learned := j.Policy.learnOutcome(j.Branch.View, *said, j.Branch.Sum.Tokens, j.budgetTokens())
	c.View.Failures = learned.Failures
	c.View.AskAt = learned.AskAt
	c.Why = said.log
	for _, call := range said.calls {
		u := j.Price(call.model, call.usage)
		r.Cost += u.Cost
		c.Usage = append(c.Usage, scrollback.UsageRecord{Usage: u, Conversation: j.Conversation, Model: call.model,
			Purpose: "summary", RequestID: call.requestID, At: j.Now})
	}
}

func sumWeights(ms []scrollback.Message) (w scrollback.Weight) {
	for i := range ms {
		w = w.Add(ms[i].Weight)
	}
	return w
}

// foldedEnds lists the sentences that have ended something which is kept, of messages up to a seq
// that were live until now.
func (in *Input) foldedEnds(end int64) (out []scrollback.Kept) {
	if in.inSight {
		return nil
	}
	rows := slices.DeleteFunc(slices.Clone(in.rows), func(k scrollback.Kept) bool { return k.Seq > end })
	_, ends := in.Memory.settleEnds(rows)
	for _, k := range ends {
		if k.Seq > in.Branch.View.Boundary {
			out = append(out, k)
		}
	}
	return out
}
