package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/store"
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

// liveTurn is a turn that this process runs. Its events are kept until a while
// after its end, so that a reader can come, go and come back.
type liveTurn struct {
	e        *Engine
	view     *View // of whoever asked
	resolved resolved
	turn     scrollback.Turn
	previous *scrollback.WindowMark
	meta     scrollback.MetaEvent // as it was told last
	usage    scrollback.Usage     // of all its calls
	sent     scrollback.Weight    // of the newest request
	cancel   context.CancelCauseFunc

	// saving is held while the turn is written to the store, so that a save of the
	// draft never follows the step that already stored it.
	saving sync.Mutex

	mu     sync.Mutex
	head   store.Head
	draft  *draft
	events []scrollback.Event
	ended  bool
	more   chan struct{} // closed and replaced when something happens
}

// makeLive makes a begun turn live, for whoever asked.
func makeLive(v *View, b store.Begun, sh resolved) *liveTurn {
	e := v.e
	lt := &liveTurn{e: e, view: v, resolved: sh, turn: b.Turn, head: b.Head, draft: &draft{}, more: make(chan struct{}), cancel: func(error) {}}
	if b.Previous != nil {
		lt.previous = b.Previous.Window
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns[b.Turn.ID] = lt
	return lt
}

// live is a turn this process runs or ran a moment ago, or nil.
func (e *Engine) live(id scrollback.TurnID) *liveTurn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.turns[id]
}

func (lt *liveTurn) emit(evs ...scrollback.Event) {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	lt.emitLocked(evs...)
}

func (lt *liveTurn) emitLocked(evs ...scrollback.Event) {
	lt.events = append(lt.events, evs...)
	close(lt.more)
	lt.more = make(chan struct{})
}

// end emits the last event and lets the turn be forgotten after a while.
func (lt *liveTurn) end(last scrollback.DoneEvent) {
	lt.mu.Lock()
	lt.ended = true
	lt.emitLocked(last)
	lt.mu.Unlock()
	time.AfterFunc(lt.e.o.HoldEvents, func() {
		lt.e.mu.Lock()
		defer lt.e.mu.Unlock()
		delete(lt.e.turns, lt.turn.ID)
	})
}

// read yields the events after number n, as they come, until the turn ends. The
// end of ctx ends the reading only.
func (lt *liveTurn) read(ctx context.Context, n int, yield func(SequencedEvent, error) bool) {
	for {
		lt.mu.Lock()
		var fresh []scrollback.Event
		if n < len(lt.events) {
			fresh = lt.events[n:]
		}
		ended, more := lt.ended, lt.more
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

// write adds a delta to the draft and tells the readers.
func (lt *liveTurn) write(d model.Delta) {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	if evs := lt.draft.add(d); len(evs) > 0 {
		lt.emitLocked(evs...)
	}
}

// sofar is the draft as it stands.
func (lt *liveTurn) sofar() scrollback.Draft {
	lt.mu.Lock()
	defer lt.mu.Unlock()
	return lt.draft.saved(lt.resolved.facts.Name)
}

// keepSaved saves the draft and renews the lease until ctx ends. A lost lease or
// a wish to stop ends the turn.
func (lt *liveTurn) keepSaved(ctx context.Context) {
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
			stop, err := lt.e.store.Turns.Save(ctx, lt.turn, lt.sofar())
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

// finish stores the end of a step, or of the turn, and empties the draft.
func (lt *liveTurn) finish(f store.FinishRequest) (store.Finished, error) {
	lt.saving.Lock()
	defer lt.saving.Unlock()
	f.Turn = lt.turn
	// What was said must be kept even when the turn is being stopped.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	done, err := lt.e.store.Turns.Finish(ctx, f)
	if err != nil {
		return done, err
	}
	lt.mu.Lock()
	defer lt.mu.Unlock()
	lt.head = done.Head
	lt.draft = &draft{}
	return done, nil
}

// draft is the answer of a step while it is written. Growing it costs what is
// added, however long it is.
type draft struct {
	content, reasoning strings.Builder
	contentAt, thinkAt int // characters so far
	calls              []scrollback.ToolCall
	writing            model.Writing
}

// add takes a delta in and returns the events that tell of it.
func (d *draft) add(delta model.Delta) (evs []scrollback.Event) {
	if delta.Reasoning != "" {
		evs = append(evs, scrollback.ReasoningEvent{Content: delta.Reasoning, At: d.thinkAt})
		d.reasoning.WriteString(delta.Reasoning)
		d.thinkAt += utf8.RuneCountInString(delta.Reasoning)
	}
	if delta.Text != "" {
		evs = append(evs, scrollback.DeltaEvent{Content: delta.Text, At: d.contentAt})
		d.content.WriteString(delta.Text)
		d.contentAt += utf8.RuneCountInString(delta.Text)
	}
	if delta.Call != nil {
		c := *delta.Call
		c.Arguments = model.Arguments(string(c.Arguments))
		c.ID = d.freshID(c.ID)
		if delta.Opaque != nil {
			c.Opaque = delta.Opaque
		}
		delta.Call = &c
		d.calls = append(d.calls, c)
		evs = append(evs, scrollback.ToolCallEvent{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	d.writing.Add(delta)
	return evs
}

// freshID is id, or one like it that no call of this step has: each must be
// answered by itself.
func (d *draft) freshID(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(d.calls, func(c scrollback.ToolCall) bool { return c.ID == id })
	}
	for fresh, n := id, len(d.calls)+1; ; n++ {
		if fresh != "" && !taken(fresh) {
			return fresh
		}
		fresh = fmt.Sprintf("%s_%d", cmp.Or(id, "call"), n)
	}
}

// saved is the draft as the store keeps it.
func (d *draft) saved(model string) scrollback.Draft {
	return scrollback.Draft{Content: d.content.String(), Reasoning: d.reasoning.String(), ToolCalls: d.calls, Model: model}
}
