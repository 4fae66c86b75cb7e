package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/turnstile"
	"github.com/scrollback-ai/scrollback/model"
)

// Why a live turn is stopped.
var (
	errStopped  = errors.New("somebody asked for it to stop")
	errShutdown = errors.New("the program is ending")
)

// SequencedEvent is an event and its place in its turn, from 1.
type SequencedEvent struct {
	N     int
	Event scrollback.Event
}

// liveTurn is a turn that this process runs. Its events are kept for a while after its
// end, so that a reader can come, go and come back.
type liveTurn struct {
	e          *Engine
	view       *View // of the caller who asked
	settings   request.Settings
	turn       scrollback.Turn
	previous   *scrollback.WindowMark
	meta       scrollback.MetaEvent // as last reported
	usage      scrollback.Usage     // of all its calls
	sent       scrollback.Weight    // of the newest request
	shown      *request.ShownWindow // by it; nil before the first
	sentRecord *request.SentRecord  // of the newest request, until it is stored with its step
	wait       turnstile.Patience   // for summaries
	catchUp    *request.CatchUp     // for what an import left to be compacted
	web        webSearch
	subagents  *subagents // its sub-agents
	maxLookups int        // steps that may look things up, see maxSteps

	exchange  *Exchange      // that it answers a client's request for, or nil
	forward   *model.Forward // what is sent as it stands instead of a window, or nil
	stepUsage scrollback.Usage
	last      scrollback.DoneEvent
	fault     error // why it failed, or nil

	references []scrollback.Reference // of the prompt, until they are reported
	cancel     context.CancelCauseFunc

	// saving is held while the turn is written to the store, so that a save of the
	// draft never follows the step that already stored it, and while its meta changes.
	saving sync.Mutex

	mu     sync.Mutex
	head   store.Head
	draft  *model.Answer
	events []scrollback.Event
	ended  bool
	beside []scrollback.Event // of compactions beside the turn, held back until the step ends
	more   chan struct{}      // closed and replaced when something happens
	forget *time.Timer        // runs once it has ended
}

// makeLive makes a turn that has begun live for its caller.
func makeLive(v *View, b store.BeginResult, settings request.Settings) *liveTurn {
	e := v.e
	lt := &liveTurn{
		e:        e,
		view:     v,
		settings: settings,
		wait:     turnstile.Patience{Left: max(e.o.SummaryTimeout, 0)},
		catchUp:  request.NewCatchUp(),
		turn:     b.Turn,
		head:     b.Head,
		draft:    &model.Answer{},
		more:     make(chan struct{}),
		cancel:   func(error) {},
		events: []scrollback.Event{scrollback.TurnEvent{TurnID: b.Turn.ID, UserMessageID: b.Turn.UserMessage,
			Seq: b.Turn.Seq}},
	}
	if b.Previous != nil {
		lt.previous = b.Previous.Window
	}
	for _, m := range b.Messages {
		lt.references = append(lt.references, m.Parts.References()...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns[b.Turn.ID] = lt
	return lt
}

// findLive returns a turn that this process runs or ran a moment ago, or nil.
func (e *Engine) findLive(id scrollback.TurnID) *liveTurn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.turns[id]
}

func (lt *liveTurn) emit(evs ...scrollback.Event) {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	lt.emitLocked(evs...)
}

// compactBeside folds while the turn goes on. What comes of it is reported between steps,
// so that it does not stand in the middle of a sentence.
func (lt *liveTurn) compactBeside(ctx context.Context) {
	settings := lt.settings
	lt.e.runBeside(func(base context.Context) {
		if r := lt.e.compactor.CompactAhead(
			watch.WithTurn(base, ctx),
			lt.turn.Conversation,
			settings,
		); r.Result == scrollback.ResultCompacted {
			lt.mu.Lock()
			defer lt.mu.Unlock()
			lt.beside = append(lt.beside, scrollback.CompactionEvent{Receipt: r})
		}
	})
}

// Compacting is [request.Progress]'s: it emits that the request of a step does not fit.
func (lt *liveTurn) Compacting(ev scrollback.CompactingEvent) { lt.emit(ev) }

// Compacted is [request.Progress]'s: it emits what a compaction came to.
func (lt *liveTurn) Compacted(r scrollback.Receipt) { lt.emit(scrollback.CompactionEvent{Receipt: r}) }

// emitBeside reports what was compacted beside the turn since the last step.
func (lt *liveTurn) emitBeside() {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	if len(lt.beside) > 0 {
		lt.emitLocked(lt.beside...)
		lt.beside = nil
	}
}

func (lt *liveTurn) emitLocked(evs ...scrollback.Event) {
	lt.events = append(lt.events, evs...)
	close(lt.more)
	lt.more = make(chan struct{})
}

// emitEnd emits the last event, and has the turn forgotten after a while.
func (lt *liveTurn) emitEnd(last scrollback.DoneEvent) {
	lt.mu.Lock()
	lt.ended = true
	lt.emitLocked(last)
	lt.forget = time.AfterFunc(lt.e.o.HoldEvents, func() {
		lt.e.mu.Lock()
		defer lt.e.mu.Unlock()
		delete(lt.e.turns, lt.turn.ID)
	})
	lt.mu.Unlock()
}

// releaseEngine lets an engine that is closed go, which the timers of its turns hold.
func (lt *liveTurn) releaseEngine() {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	if lt.forget != nil {
		lt.forget.Stop()
	}
}

// resumeFrom returns the number after which a reader that has read to n continues, and what to send first. Who
// has followed the turn elsewhere has text of which is not known how it was cut into events:
// that begins again with the newest step that says something. held is false if the turn has
// ended, and all of it is stored.
func (lt *liveTurn) resumeFrom(n int) (at int, first *SequencedEvent, held bool) {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	if n <= len(lt.events) {
		return n, nil, true
	}
	said := false
	for at = len(lt.events); at > 0; at-- {
		switch lt.events[at-1].(type) {
		case scrollback.DeltaEvent, scrollback.ReasoningEvent, scrollback.ToolCallEvent:
			said = true
		case scrollback.MessageEvent:
			if said {
				return at, &SequencedEvent{at, emptyDraft}, !lt.ended
			}
		}
	}
	return 0, &SequencedEvent{1, emptyDraft}, !lt.ended
}

// emptyDraft takes back what was told of a step.
var emptyDraft = scrollback.SnapshotEvent{ToolCalls: []scrollback.ToolCall{}}

// readEvents yields the events after number n as they come, until the turn ends. When ctx
// ends, only the reading ends.
func (lt *liveTurn) readEvents(ctx context.Context, n int, yield func(SequencedEvent, error) bool) {
	for {
		lt.mu.Lock()
		var fresh []scrollback.Event
		if n < len(lt.events) {
			fresh = lt.events[n:]
		}
		ended := lt.ended
		more := lt.more
		lt.mu.Unlock()
		for _, ev := range fresh {
			n++
			if !yield(SequencedEvent{n, ev}, nil) {
				return
			}
		}
		if ended && len(fresh) == 0 {
			return
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			yield(SequencedEvent{}, scrollback.Wrap(scrollback.Canceled, "engine.Turn", ctx.Err()))
			return
		}
	}
}

// addDelta adds a delta to the draft and informs the readers.
func (lt *liveTurn) addDelta(d model.Delta) {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	if evs := lt.draft.Add(d); len(evs) > 0 {
		lt.emitLocked(evs...)
	}
}

// copyDraft returns a copy of the draft.
func (lt *liveTurn) copyDraft() scrollback.Draft {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	return lt.draft.SavedDraft(lt.settings.Facts.Name)
}

// saveRegularly saves the draft and renews the lease until ctx ends. A lost lease or a
// request to stop ends the turn.
func (lt *liveTurn) saveRegularly(ctx context.Context) {
	tick := time.NewTicker(lt.e.o.SaveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lt.saving.Lock()
		if ctx.Err() == nil {
			stop, err := lt.e.store.Turns.SaveDraft(ctx, lt.turn, lt.copyDraft())
			switch {
			case errors.Is(err, scrollback.ErrLostLease):
				lt.cancel(scrollback.ErrLostLease)
			case err != nil && ctx.Err() == nil:
				lt.e.o.Log.Warn("the draft was not saved", "turn", lt.turn.ID, "error", err)
			case stop:
				lt.cancel(errStopped)
			}
		}
		lt.saving.Unlock()
	}
}

// storeEnd stores the end of a step, or of the turn, and empties the draft.
func (lt *liveTurn) storeEnd(f store.FinishRequest) (store.AppendResult, error) {
	lt.saving.Lock()
	defer lt.saving.Unlock()
	f.Turn = lt.turn
	if lt.exchange != nil {
		if err := lt.exchange.thread(&f); err != nil {
			return store.AppendResult{}, err
		}
	}
	if lt.sentRecord != nil {
		f.Sent = &lt.sentRecord.Sent
		f.Texts = lt.sentRecord.Texts
	}
	// What was said is kept even when the turn is being stopped.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	done, err := lt.e.store.Turns.FinishStep(ctx, f)
	if err != nil {
		return done, err
	}
	lt.mu.Lock()
	defer lt.mu.Unlock()
	lt.head = done.Head
	lt.sentRecord = nil
	lt.draft = &model.Answer{}
	return done, nil
}

// modelReply is what a model said in one step.
type modelReply struct {
	parts             scrollback.Parts  // with the provider's opaque payloads
	counted           store.TokenCounts // of them
	usage             scrollback.Usage  // as the provider counted, or nothing
	credits           *model.Credits
	finish, requestID string
}

// streamAnswer streams one answer into the draft.
func (lt *liveTurn) streamAnswer(ctx context.Context, r model.Request) (t modelReply, err error) {
	ctx, call := watch.BeginCall(ctx, lt.settings.Facts.Name)
	defer func() { call.End(t.finish, t.usage, err) }()
	clock := model.ThinkingClock{Asked: lt.e.store.Now()}
	for d, err := range lt.settings.Model.Stream(ctx, r) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return t, err
		}
		call.NoteFirst()
		clock.NoteDelta(d, lt.e.store.Now())
		if lt.exchange != nil && lt.forward == nil && d.Call != nil {
			d.Call = lt.exchange.mintCall(*d.Call)
		}
		lt.addDelta(d)
		if lt.exchange != nil {
			lt.exchange.takePiece(d)
		}
		lt.noteSearches(ctx, d)
		if d.Usage != nil {
			t.usage = *d.Usage
		}
		if d.Credits != nil {
			t.credits = d.Credits
		}
		if d.RequestID != "" {
			t.requestID = d.RequestID
		}
		if d.Finish != "" {
			t.finish = d.Finish
		}
	}
	if ctx.Err() != nil && t.finish == "" {
		return t, context.Cause(ctx)
	}
	if ms := clock.ThoughtMS(t.usage); ms > 0 {
		lt.meta.ThinkingMS += ms // shown when it is stored
		lt.saving.Lock()
		lt.turnMetaLocked().ThinkingMS = lt.meta.ThinkingMS
		lt.saving.Unlock()
	}
	lt.mu.Lock()
	defer lt.mu.Unlock()
	t.parts = lt.draft.TakeParts()
	t.counted = store.TokenCounts{}
	return t, nil
}
