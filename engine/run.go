package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// maxSteps is how many steps of a turn may call recall tools; the next one is told to
// answer.
const maxSteps = 8

// run runs a turn to its end. What it leaves undone when the process dies, the next turn
// puts right.
func (lt *liveTurn) run(base context.Context) {
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	lt.mu.Lock()
	lt.cancel = cancel
	lt.mu.Unlock()
	saved := make(chan struct{})
	go func() { defer close(saved); lt.saveRegularly(ctx) }()

	last, err := lt.runSteps(ctx)
	if err != nil {
		last = lt.failTurn(err)
	}
	cancel(nil)
	<-saved
	lt.last = last
	lt.fault = err
	lt.emitEnd(last)
	watch.EndTurn(base, last, lt.usage, err)
	if lt.forward != nil {
		return // its client names it, and lays out its windows
	}
	lt.askTitle(last)
	// a sub-agent seldom goes on
	if !lt.e.o.NoBackgroundFolds && last.Status != scrollback.TurnWaiting && lt.head.AgentOf == nil &&
		(lt.shown == nil || lt.shown.MayBeDue(lt.head.Branch, &lt.settings)) {
		lt.e.compactor.CompactAhead(base, lt.turn.Conversation, lt.settings)
	}
}

// runSteps asks the model until it has answered.
func (lt *liveTurn) runSteps(ctx context.Context) (scrollback.DoneEvent, error) {
	var credits scrollback.CreditsEvent
	lt.runSearch(ctx)
	for step := 1; ; step++ {
		thought := lt.meta.ThinkingMS
		w, said, err := lt.answerStep(ctx, step)
		if err != nil {
			return scrollback.DoneEvent{}, err
		}
		said.usage = lt.e.resolver.AddPrice(lt.settings.Facts.Name, lt.checkUsage(said))
		lt.e.resolver.NoteUsage(ctx, lt.settings, said.usage)
		lt.usage = lt.usage.Add(said.usage)
		lt.stepUsage = said.usage
		lt.settings.Asked = request.WeighQuestion(w) + lt.e.store.WeighParts(said.parts, said.counted).Tokens
		out, done, err := lt.concludeStep(ctx, step, said)
		if err != nil {
			return scrollback.DoneEvent{}, err
		}
		if lt.meta.ThinkingMS > thought {
			out = append(out, lt.meta)
		}
		out = append(out, scrollback.UsageEvent{Usage: lt.usage})
		if said.credits != nil {
			credits.Amount += said.credits.Amount
			credits.Currency = said.credits.Currency
			out = append(out, credits)
		}
		lt.emit(out...)
		lt.emitBeside()
		if done != nil {
			return *done, nil
		}
	}
}

// maxLessons bounds how often one step is requested again after a lesson from its server.
const maxLessons = 4

// answerStep asks the model for one step, and with another window if its server refused the
// first and said why.
func (lt *liveTurn) answerStep(ctx context.Context, step int) (scrollback.Window, modelReply, error) {
	if lt.forward != nil {
		at := lt.e.store.Now()
		t, err := lt.streamAnswer(ctx, model.Request{Forward: lt.forward})
		lt.mu.Lock()
		head := lt.head
		lt.mu.Unlock()
		lt.sentRecord = lt.e.resolver.RecordForwarded(&head, &lt.settings, int64(len(lt.forward.Body)))
		lt.sentRecord.Sent.Step = step
		lt.sentRecord.Sent.At = at
		if l := model.LessonOf(err); l == nil || !l.TooLong || !lt.copyDraft().IsEmpty() {
			return scrollback.Window{}, t, err
		}
		lt.forward = nil // our window takes its place
	}
	for lessons := 0; ; lessons++ {
		w, note, err := lt.buildWindow(ctx)
		if err != nil {
			return w, modelReply{}, err
		}
		note.Sent.Step = step
		note.Sent.At = lt.e.store.Now()
		lt.sent = w.Weight
		lt.sentRecord = note
		t, err := lt.streamAnswer(ctx, model.Request{
			Items:           w.Items,
			Tools:           w.Tools,
			MaxOutputTokens: w.Budget.Reserve,
			Limit:           lt.settings.ModelBudget.Limit,
			AnswerOnly:      step > lt.maxLookups+1,
			Thinking:        lt.settings.Thinking,
			WebSearch:       lt.web.by == WebSearchProvider,
			CacheKey:        cacheKey(lt.turn.Conversation),
			NoRetries:       lt.exchange != nil,
			Bytes:           lt.e.intake.ReadArtifact,
		})
		l := model.LessonOf(err)
		if l == nil || !lt.copyDraft().IsEmpty() {
			return w, t, err
		}
		if lessons == maxLessons {
			return w, t, request.ExplainRefusal(w, &lt.settings, err)
		}
		if err := lt.applyLesson(ctx, w, *l, err); err != nil {
			return w, t, err
		}
	}
}

// cacheKey stands for a conversation at providers, which need not know its id.
func cacheKey(id scrollback.ConversationID) string {
	sum := sha256.Sum256([]byte("scrollback prompt cache\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// applyLesson applies what a refusal taught. A request that was too long is folded to the share
// that a compaction leaves, even if it fits by our own count; if it is no lighter after
// that, it is not sent again.
func (lt *liveTurn) applyLesson(ctx context.Context, sent scrollback.Window, l model.Lesson, refusal error) error {
	lt.mu.Lock()
	head := lt.head
	lt.mu.Unlock()
	settings, err := lt.e.resolver.Resolve(ctx, head.Conversation, lt.settings.Overrides)
	if err != nil {
		return err
	}
	settings.Asked = lt.settings.Asked
	was := lt.settings
	lt.mu.Lock() // saving the draft reads it
	lt.settings = settings
	lt.mu.Unlock()
	switch {
	case l.Strict != scrollback.StrictNothing && settings.Facts.Dialect != was.Facts.Dialect:
		return nil
	case !l.TooLong:
		return markRepeating(refusal)
	}
	lt.emit(
		scrollback.CompactingEvent{Tokens: settings.ModelTokens(sent.Weight.Tokens), Budget: settings.ModelBudget.Tokens},
	)
	folded, err := lt.e.compactor.Fold(
		ctx,
		&head,
		request.FoldRequest{Settings: settings, Reason: compact.MustFit, Wait: &lt.wait},
	)
	if err != nil {
		return err
	}
	lt.mu.Lock()
	lt.head = head
	lt.mu.Unlock()
	if folded.Result == scrollback.ResultCompacted {
		lt.emit(scrollback.CompactionEvent{Receipt: folded})
		return nil
	}
	if settings.ModelBudget.Reserve < was.ModelBudget.Reserve { // there is more room for the same question
		return nil
	}
	return request.ExplainRefusal(sent, &lt.settings, refusal)
}

// markRepeating is a refusal that taught nothing new: the same request would meet it again.
func markRepeating(refusal error) error {
	var known *scrollback.Error
	if !errors.As(refusal, &known) {
		return refusal
	}
	again := *known
	return again.WithReason(errors.Join(scrollback.ErrPermanent, scrollback.ErrUpstream))
}

// buildWindow makes the window of a step, folding first if it does not fit.
func (lt *liveTurn) buildWindow(ctx context.Context) (w scrollback.Window, note *request.SentRecord, err error) {
	const op = "engine.Turn"
	ctx, done := watch.BeginPart(ctx, "assemble")
	defer func() { done(err) }()
	lt.mu.Lock()
	head := lt.head
	lt.mu.Unlock()
	q := request.FitRequest{Settings: lt.settings, PromptSeq: lt.turn.Seq, Wait: &lt.wait,
		Beside: !lt.e.o.NoBackgroundFolds, Progress: lt}
	if q.Beside {
		q.CatchUp = lt.catchUp
	}
	fitted, err := lt.e.compactor.Fit(ctx, &head, q)
	if err != nil {
		return w, nil, err
	}
	if fitted.Due {
		lt.compactBeside(ctx)
	}
	lt.shown = request.NewShownWindow(&fitted, head.Branch)
	l := request.Layout{Input: fitted.Input, Window: fitted.Window}
	if err := lt.e.previewer.RepeatUnshown(ctx, head.Branch, &l, &lt.settings); err != nil {
		return w, nil, err
	}
	lt.quoteSearch(ctx, &l)
	if err := window.Lint(l.Window, lt.settings.Facts.Dialect); err != nil {
		return w, nil, scrollback.Errorf(scrollback.Internal, op, i18n.WindowBreaksProviderRule, err)
	}
	fingerprint := lt.e.previewer.TakeFingerprint(head.ID, l.Window)
	m := request.BuildManifest(head.Conversation, lt.settings, l.Window, fingerprint.ReusedTokens(lt.previous))
	note = request.RecordSent(&l, fingerprint, m, &lt.settings)
	lt.previous = note.Mark
	lt.meta = scrollback.MetaEvent{Model: m.Model, CacheReuse: m.CacheReuse, Tokens: m.Tokens, Budget: m.Budget,
		Limit: m.Limit, LimitFrom: m.LimitFrom, ThinkingMS: lt.meta.ThinkingMS}
	first := lt.meta
	first.References = lt.references
	lt.references = nil
	lt.emit(first)
	return l.Window, note, nil
}

// concludeStep stores what a step said, runs its recall calls, and returns how the turn ended
// if it did. The events report what has been stored.
func (lt *liveTurn) concludeStep(ctx context.Context, step int,
	t modelReply) ([]scrollback.Event, *scrollback.DoneEvent, error) {
	said := store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: t.parts,
		Model: lt.settings.Facts.Name, Usage: &t.usage}, Counted: t.counted}
	f := store.FinishRequest{FinishReason: t.finish, State: scrollback.TurnComplete,
		Usage: []scrollback.UsageRecord{lt.usageRecord(t.usage, t.requestID)}}
	if lt.sentRecord != nil {
		f.Window = lt.sentRecord.Mark
	}
	if lt.sent.Images == 0 { // the weight of an image is the provider's own formula
		f.Usage[0].WindowTokens = lt.sent.Tokens
	}
	calls := t.parts.Calls()
	var results []scrollback.Event
	switch {
	case t.finish == "":
		// A stream that just stops looks like an end but is not one.
		said.Status = scrollback.StatusInterrupted
		f.State = scrollback.TurnInterrupted
		f.FinishReason = scrollback.FinishTruncated
	case t.parts.Text() == "" && len(calls) == 0 && t.finish == finishFiltered:
		return nil, nil, scrollback.Errorf(scrollback.Refused, "engine.Turn",
			i18n.ModelDeclinesByContentRules).
			WithReason(scrollback.ErrPermanent).WithAdvice(scrollback.AdviceRephrase, "")
	case t.parts.Text() == "" && len(calls) == 0 && !hasReasoning(t.parts):
		switch hidden := len(t.parts) > 0; {
		case t.finish == scrollback.FinishLength:
			return nil, nil, scrollback.Errorf(scrollback.Unavailable, "engine.Turn", i18n.ModelAnswerCut).
				WithReason(scrollback.ErrUpstream).
				WithAdvice(scrollback.AdviceChooseModel, "")
		case hidden:
			return nil, nil, scrollback.Errorf(scrollback.Unavailable, "engine.Turn",
				i18n.ModelAnswerHidden).WithReason(scrollback.ErrUpstream).
				WithAdvice(scrollback.AdviceChooseModel, "")
		}
		return nil, nil, lt.newEmptyError(ctx)
	case len(calls) > 0:
		ran := lt.answerCalls(ctx, step, calls)
		f.OpenCalls = ran.open
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		for _, r := range ran.results.Results() {
			ev := scrollback.ToolResultEvent{
				CallID:       r.CallID,
				Name:         r.Name,
				Text:         r.Text,
				Conversation: ran.subagents[r.CallID],
			}
			if r.Artifact != "" {
				ev.Ref = scrollback.ArtifactRef(r.Artifact)
			}
			results = append(results, ev)
		}
		if len(ran.results) > 0 {
			f.Messages = append(f.Messages, store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleTool,
				Parts: ran.results}, Mentions: ran.mentions})
		}
		switch {
		case len(f.OpenCalls) > 0:
			f.State = scrollback.TurnWaiting
		case step > lt.maxLookups+1:
			f.FinishReason = scrollback.FinishMaxSteps
		default:
			f.State = scrollback.TurnOpen
		}
	case step > lt.maxLookups+1: // it had to be told to answer
		f.FinishReason = scrollback.FinishMaxSteps
	}
	f.Messages = append([]store.IncomingMessage{said}, f.Messages...)
	if len(said.Parts) == 0 {
		f.Messages = nil
	}
	_, stored := watch.BeginPart(ctx, "finish")
	done, err := lt.storeEnd(f)
	stored(err)
	if err != nil {
		return nil, nil, err
	}
	var out []scrollback.Event
	var reply scrollback.MessageID
	for i, m := range done.Messages {
		if i == 1 {
			out = append(out, results...)
		}
		out = append(out, scrollback.MessageEvent{MessageID: m.ID, Seq: m.Seq})
		if m.Role == scrollback.RoleAssistant {
			reply = m.ID
		}
	}
	if f.State == scrollback.TurnOpen {
		return out, nil, nil
	}
	return out, &scrollback.DoneEvent{TurnID: lt.turn.ID, MessageID: reply, Status: f.State,
		FinishReason: f.FinishReason}, nil
}

// finishFiltered is how a provider ends an answer that its rules on content forbid.
const finishFiltered = "content_filter"

// hasReasoning reports whether an answer has reasoning that can be read.
func hasReasoning(ps scrollback.Parts) bool {
	return slices.ContainsFunc(ps, func(p scrollback.Part) bool {
		r, ok := p.(scrollback.Reasoning)
		return ok && strings.TrimSpace(r.Text) != ""
	})
}

// newEmptyError returns the error of an answer without anything in it. Where the same messages got one
// before, they will again, and it says how to go on.
func (lt *liveTurn) newEmptyError(ctx context.Context) error {
	err := scrollback.Errorf(scrollback.Unavailable, "engine.Turn",
		i18n.ModelAnswerEmpty).WithReason(scrollback.ErrUpstream)
	lt.mu.Lock()
	b := lt.head.Branch
	lt.mu.Unlock()
	from := lt.findSuspect()
	if from == 0 {
		return err
	}
	before, fault := lt.e.store.Turns.ListUnsuccessful(ctx, b.ID, from, b.HeadSeq)
	if fault != nil {
		return err // only the advice lacks
	}
	for _, one := range before {
		if one.ID != lt.turn.ID && one.Failure != nil && one.Failure.Said != nil &&
			slices.ContainsFunc(emptyAnswers, one.Failure.Said.Is) {
			return scrollback.Errorf(scrollback.Unavailable, "engine.Turn", i18n.ModelAnswerEmptyAgain).
				WithReason(errors.Join(scrollback.ErrUpstream, scrollback.ErrPermanent)).
				WithAdvice(scrollback.AdviceLeaveOut, "")
		}
	}
	return err
}

// maxFaults is how many turns may end with the same fault of a server, before its cause is
// looked for in what it is sent.
const maxFaults = 3

// passing are words of faults that pass, whatever is sent.
var passing = lazyregexp.New(
	`(?i)overload|unavailable|loading|capacity|time(?:d )?[ -]?out|too many|busy|maintenance|temporar|out of memory|\(status (?:408|409|425|429|502|503|504|529)\)`,
)

// judgeRepeated says of a fault that a server has now had several times, in the same words and with
// the same messages, that it will have it again: many refuse what they cannot read as if they had
// a fault of their own.
func (lt *liveTurn) judgeRepeated(f *scrollback.Failure) {
	if f.Permanent || !f.Upstream || f.Code != scrollback.Unavailable || f.Advice != scrollback.AdviceRetry ||
		f.Cause == "" || passing().MatchString(f.Message+" "+f.Cause) {
		return
	}
	from := lt.findSuspect()
	if from == 0 {
		return
	}
	lt.mu.Lock()
	b := lt.head.Branch
	lt.mu.Unlock()
	before, err := lt.e.store.Turns.ListUnsuccessful(context.Background(), b.ID, from, b.HeadSeq)
	if err != nil {
		return // only the advice lacks
	}
	same := 1
	for _, one := range before {
		if one.ID != lt.turn.ID && one.Failure != nil && one.Failure.Message == f.Message &&
			one.Failure.Cause == f.Cause {
			same++
		}
	}
	if same >= maxFaults {
		f.Permanent = true
		f.Advice = scrollback.AdviceLeaveOut
	}
}

var emptyAnswers = []i18n.ID{i18n.ModelAnswerEmpty, i18n.ModelAnswerEmptyAgain}

// usageRecord returns a call of this turn as the books keep it.
func (lt *liveTurn) usageRecord(u scrollback.Usage, requestID string) scrollback.UsageRecord {
	return scrollback.UsageRecord{Usage: u, Conversation: lt.turn.Conversation, TurnID: lt.turn.ID,
		Key: lt.settings.Overrides.Key, Model: lt.settings.Facts.Name,
		Purpose: "turn", RequestID: requestID, At: lt.e.store.Now()}
}

// failTurn ends a turn that cannot go on, keeping what was written so far.
func (lt *liveTurn) failTurn(err error) scrollback.DoneEvent {
	done := scrollback.DoneEvent{TurnID: lt.turn.ID, Status: scrollback.TurnFailed}
	if errors.Is(err, scrollback.ErrLostLease) {
		// Somebody else has closed this turn: we may not write any more.
		done.Status = scrollback.TurnInterrupted
		lt.emit(scrollback.ErrorEvent{Failure: scrollback.Failure{Code: scrollback.Conflict,
			Message: "another server took this turn over"}})
		return done
	}
	f := store.FinishRequest{State: scrollback.TurnFailed}
	said := scrollback.Message{
		Role:   scrollback.RoleAssistant,
		Parts:  lt.copyDraft().Parts(),
		Model:  lt.settings.Facts.Name,
		Status: scrollback.StatusFailed,
	}
	counted := store.TokenCounts{}
	switch {
	case errors.Is(err, errStopped), errors.Is(err, errShutdown), scrollback.CodeOf(err) == scrollback.Canceled:
		f.State = scrollback.TurnInterrupted
		said.Status = scrollback.StatusInterrupted
	case errors.Is(err, scrollback.ErrReplyBound):
		f.State = scrollback.TurnInterrupted
		said.Status = scrollback.StatusInterrupted
		f.FinishReason = scrollback.FinishBound
		done.FinishReason = f.FinishReason
	case scrollback.CodeOf(err) == scrollback.OverBudget:
		f.State = scrollback.TurnOverBudget
	}
	if f.State != scrollback.TurnInterrupted || f.FinishReason != "" {
		lt.e.o.Log.Log(context.Background(), lt.e.o.failure(), "a turn failed", "turn", lt.turn.ID, "conversation",
			lt.turn.Conversation, "error", err)
		f.Failure = scrollback.FailureOf(err)
		lt.judgeRepeated(f.Failure)
		if f.Failure.Permanent {
			f.Failure.Suspect = lt.findSuspect()
		}
		lt.emit(scrollback.ErrorEvent{Failure: *f.Failure})
	}
	if len(said.Parts) > 0 { // what was said before it broke off has its price
		u := lt.e.resolver.AddPrice(said.Model, lt.checkUsage(modelReply{parts: said.Parts, counted: counted}))
		said.Usage = &u
		f.Messages = []store.IncomingMessage{{Message: said, Counted: counted}}
		f.Usage = []scrollback.UsageRecord{lt.usageRecord(u, "")}
		lt.usage = lt.usage.Add(u)
		lt.emit(scrollback.UsageEvent{Usage: lt.usage})
	}
	done.Status = f.State
	stored, storeErr := lt.storeEnd(f)
	if storeErr != nil {
		// The draft is in the turn's row; the next turn to begin saves it.
		lt.e.o.Log.Error("the end of a turn was not stored", "turn", lt.turn.ID, "error", storeErr)
		lt.emit(scrollback.ErrorEvent{Failure: *scrollback.FailureOf(storeErr)})
		return done
	}
	for _, m := range stored.Messages {
		lt.emit(scrollback.MessageEvent{MessageID: m.ID, Seq: m.Seq})
		done.MessageID = m.ID
	}
	return done
}

// checkUsage returns the usage of a call: as its provider counted it, or an estimate if that
// cannot be believed.
func (lt *liveTurn) checkUsage(t modelReply) scrollback.Usage {
	u := t.usage
	if u.InputTokens > 0 || u.OutputTokens > 0 {
		return u
	}
	u.InputTokens = lt.settings.ModelTokens(lt.sent.Tokens)
	u.OutputTokens = lt.settings.ModelTokens(lt.e.store.WeighParts(t.parts, t.counted).Tokens)
	u.Estimated = true
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// answerCalls runs the calls of a step that are answered here; those of the client stay open
// for it.
func (lt *liveTurn) answerCalls(ctx context.Context, step int, all []scrollback.ToolCall) callAnswers {
	lt.mu.Lock()
	c := lt.head.Conversation
	lt.mu.Unlock()
	run := callRunner{turn: lt, conversation: c, late: step > lt.maxLookups, room: lt.resultRoom(len(all)),
		startsAgents: lt.e.o.Agents.Allowed && request.OffersAgents(c), forwarded: lt.forward != nil}
	return run.run(ctx, all)
}

// Bounds of recall results, as shares of the budget: of one by itself, and of all those
// requested at once together.
const (
	recallShare  = 0.15
	recallsShare = 0.3
)

// resultRoom returns how big a recall result may be when several calls are made at once.
func (lt *liveTurn) resultRoom(calls int) recall.Room {
	share := min(recallShare, recallsShare/float64(calls))
	return recall.Room{Bytes: recall.RoomMax.Bytes,
		Tokens: min(int64(share*float64(lt.settings.Budget.Tokens)), lt.settings.IntakeRoom().OutputTokens()/int64(calls))}
}
