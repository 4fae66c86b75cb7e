package engine

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// pollEvery is how often a turn is looked at while it is open.
const pollEvery = 500 * time.Millisecond

// Events that are made from what is stored have numbers above Stored, and those of the server that
// runs the turn have numbers below it: a reader who comes from another server is recognised by
// them. lastStored numbers the last event; a reader that has it has everything.
const (
	Stored     = 1 << 30
	lastStored = math.MaxInt32
)

// storedFollower follows a turn that another process runs, or that ended a while ago: it makes
// events of what is stored of the turn, and looks again as long as it is open. A reader who has
// read to the end has everything that is stored.
type storedFollower struct {
	e            *Engine
	conversation scrollback.ConversationID
	turn         scrollback.TurnID
	number       int // of the event before the next
	yield        func(SequencedEvent) bool
	gone         bool // the reader stopped

	shown    scrollback.Draft
	searches []scrollback.Search
	reply    scrollback.MessageID
	snapshot bool
}

func (f *storedFollower) emit(ev scrollback.Event) {
	f.number++
	if !f.gone && !f.yield(SequencedEvent{f.number, ev}) {
		f.gone = true
	}
}

// run yields events until the turn has ended, ctx ends, or the reader stops. It fails if the turn
// cannot be read, and returns canceled when ctx ends.
func (f *storedFollower) run(ctx context.Context) error {
	first := true
	for {
		t, err := f.e.closeAbandoned(ctx, f.conversation, f.turn)
		if err != nil {
			return err
		}
		if first {
			f.emit(scrollback.TurnEvent{TurnID: t.ID, UserMessageID: t.UserMessage, Seq: t.Seq})
			first = false
		}
		if f.emitSearches(t); f.gone {
			return nil
		}
		if t.State != scrollback.TurnOpen {
			return f.emitAnswer(ctx, t)
		}
		f.emitDraft(t)
		if f.gone {
			return nil
		}
		wait := time.NewTimer(pollEvery)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return scrollback.Wrap(scrollback.Canceled, "engine.Turns.Attach", ctx.Err())
		}
	}
}

// emitDraft yields what a running turn has written since the last poll.
func (f *storedFollower) emitDraft(t scrollback.Turn) {
	d := t.Draft
	if !f.snapshot || t.Reply != f.reply { // the first poll, or another step
		f.snapshot = true
		f.reply = t.Reply
		f.shown = d
		f.emit(draftSnapshot(d))
		return
	}
	if rest, ok := strings.CutPrefix(d.Reasoning, f.shown.Reasoning); ok && rest != "" {
		f.emit(scrollback.ReasoningEvent{Content: rest, At: utf8.RuneCountInString(f.shown.Reasoning)})
	}
	if rest, ok := strings.CutPrefix(d.Content, f.shown.Content); ok && rest != "" {
		f.emit(scrollback.DeltaEvent{Content: rest, At: utf8.RuneCountInString(f.shown.Content)})
	}
	for _, c := range d.ToolCalls[min(len(f.shown.ToolCalls), len(d.ToolCalls)):] {
		f.emit(scrollback.ToolCallEvent{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	f.shown = d
}

// emitSearches yields what was searched for on the web, or found, since the last poll.
func (f *storedFollower) emitSearches(t scrollback.Turn) {
	if t.Meta == nil {
		return
	}
	for i, s := range t.Meta.Searches {
		if i >= len(f.searches) || s.Error != f.searches[i].Error || !slices.Equal(s.Results, f.searches[i].Results) {
			f.emit(scrollback.SearchEvent{Search: s})
		}
	}
	f.searches = t.Meta.Searches
}

func draftSnapshot(d scrollback.Draft) scrollback.SnapshotEvent {
	ev := scrollback.SnapshotEvent{Content: d.Content, Reasoning: d.Reasoning, ToolCalls: d.ToolCalls,
		At: utf8.RuneCountInString(d.Content)}
	if ev.ToolCalls == nil {
		ev.ToolCalls = []scrollback.ToolCall{}
	}
	return ev
}

// emitAnswer yields the stored answer of a turn that has ended.
func (f *storedFollower) emitAnswer(ctx context.Context, t scrollback.Turn) error {
	d := t.Draft // of a turn whose owner is gone and that nobody has closed yet
	page, _, err := f.e.store.ReadPage(ctx, t.Conversation,
		scrollback.PageQuery{Branch: t.Branch, After: &t.Seq, Limit: scrollback.ListMax})
	if err != nil {
		return err
	}
	stored := slices.DeleteFunc(
		page,
		func(m scrollback.Message) bool { return m.TurnID != t.ID || m.ID == t.UserMessage },
	)
	for _, m := range stored {
		if m.Role == scrollback.RoleAssistant {
			d = draftFromMessage(m)
		}
	}
	f.emit(draftSnapshot(d))
	var usage scrollback.Usage
	for _, m := range stored {
		f.emit(scrollback.MessageEvent{MessageID: m.ID, Seq: m.Seq})
		if m.Usage != nil {
			usage = usage.Add(*m.Usage)
		}
	}
	f.emit(scrollback.UsageEvent{Usage: usage})
	if t.Failure != nil {
		f.emit(scrollback.ErrorEvent{Failure: *t.Failure})
	}
	f.number = max(f.number, lastStored-1)
	f.emit(scrollback.DoneEvent{TurnID: t.ID, MessageID: t.Reply, Status: t.State, FinishReason: t.FinishReason})
	return nil
}

func draftFromMessage(m scrollback.Message) scrollback.Draft {
	d := scrollback.Draft{Content: m.Parts.Text(), ToolCalls: m.Parts.Calls(), Model: m.Model}
	for _, p := range m.Parts {
		if r, ok := p.(scrollback.Reasoning); ok {
			d.Reasoning += r.Text
		}
	}
	return d
}
