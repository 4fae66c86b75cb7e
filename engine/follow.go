package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Turns are the turns of conversations as one caller sees them, no matter which process runs them.
type Turns struct{ v *View }

// Turns follows turns that run, or ran, and stops them.
func (v *View) Turns() Turns { return Turns{v} }

// Attach yields the events of a turn after number n: those still held and those to
// come. For a turn that another process runs, or that ended a while ago, it yields a
// snapshot and then what follows; so it does for a reader that followed the turn at another process
// until now. A turn whose process is gone is closed when its lease has ended.
func (t Turns) Attach(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID,
	n int) iter.Seq2[SequencedEvent, error] {
	return func(yield func(SequencedEvent, error) bool) {
		if err := t.v.door.checkAccess(ctx, id, scrollback.AccessRead); err != nil {
			yield(SequencedEvent{}, err)
			return
		}
		if lt := t.v.e.findLive(turn); lt != nil && lt.turn.Conversation == id {
			if n, first, held := lt.resumeFrom(n); held {
				if first == nil || yield(*first, nil) {
					lt.readEvents(ctx, n, yield)
				}
				return
			}
		}
		f := storedFollower{e: t.v.e, conversation: id, turn: turn, number: max(n, Stored),
			yield: func(ev SequencedEvent) bool { return yield(ev, nil) }}
		if err := f.run(ctx); err != nil {
			yield(SequencedEvent{}, err)
		}
	}
}

// IsLastEvent reports whether event n of a turn is the last there will ever be. Of a turn
// whose events are not held any more, that is so from [lastStored] on.
func (t Turns) IsLastEvent(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID,
	n int) (bool, error) {
	found, err := t.Get(ctx, id, turn)
	if err != nil {
		return false, err
	}
	if lt := t.v.e.findLive(turn); lt != nil {
		lt.mu.Lock()
		defer lt.mu.Unlock()
		return lt.ended && (n == len(lt.events) || n >= lastStored), nil
	}
	return found.State != scrollback.TurnOpen && n >= lastStored, nil
}

// Get returns a turn of a conversation; not_found if the conversation has no such turn.
func (t Turns) Get(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID) (scrollback.Turn, error) {
	if err := t.v.door.checkAccess(ctx, id, scrollback.AccessRead); err != nil {
		return scrollback.Turn{}, err
	}
	return t.v.e.findTurn(ctx, id, turn)
}

// findTurn returns a turn of a conversation that was opened for a caller.
func (e *Engine) findTurn(ctx context.Context, id scrollback.ConversationID,
	turn scrollback.TurnID) (scrollback.Turn, error) {
	found, err := e.store.Turns.Get(ctx, turn)
	if err == nil && found.Conversation != id {
		return scrollback.Turn{}, scrollback.Errorf(scrollback.NotFound, "engine.Turns.Get",
			i18n.NoTurnInConversation, turn)
	}
	if err == nil && e.store.Turns.IsExpired(found) {
		found.State = scrollback.TurnInterrupted
	}
	return found, err
}

// closeAbandoned returns turn, after closing it if its owner is gone: who is told that a turn was
// interrupted has been told the truth, also if its owner wakes up.
func (e *Engine) closeAbandoned(ctx context.Context, id scrollback.ConversationID,
	turn scrollback.TurnID) (scrollback.Turn, error) {
	found, err := e.findTurn(ctx, id, turn)
	if err != nil || found.State != scrollback.TurnInterrupted || found.EndedAt != 0 {
		return found, err
	}
	if taken, err := e.store.Turns.TakeOver(ctx, turn); err == nil {
		return taken, nil
	}
	return found, nil // it may only be read here, say: the next turn to begin closes it
}

// Running returns the open turn that holds a conversation, or nil.
func (t Turns) Running(ctx context.Context, id scrollback.ConversationID) (*scrollback.Turn, error) {
	newest, err := t.newestTurn(ctx, id)
	if err != nil || newest == nil || newest.State != scrollback.TurnOpen || t.v.e.store.Turns.IsExpired(*newest) {
		return nil, err
	}
	return newest, nil
}

// Page returns messages of a conversation by seq, and the turns between them that have
// no stored answer: those that run, were cut off or failed. It writes nothing, and its
// cost does not grow with the conversation.
func (t Turns) Page(ctx context.Context, id scrollback.ConversationID,
	q scrollback.PageQuery) (scrollback.MessagePage, error) {
	page := scrollback.MessagePage{Messages: []scrollback.Message{}, Turns: []scrollback.TurnEntry{}}
	head, err := t.v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return page, err
	}
	b, err := t.v.e.store.Branches.Find(ctx, head, q.Branch)
	if err != nil {
		return page, err
	}
	newest, err := t.newestTurn(ctx, head.ID) // before the messages: what it stores meanwhile is among them
	if err != nil {
		return page, err
	}
	q.Branch = b.ID
	page.Without = b.View.Without
	ms, next, err := t.v.e.store.ReadPage(ctx, head.ID, q)
	if err != nil {
		return page, err
	}
	if next > 0 {
		page.Next = &next
	}
	if newest != nil && newest.State == scrollback.TurnOpen && !t.v.e.store.Turns.IsExpired(*newest) {
		page.Running = &newest.ID
	}
	if len(ms) == 0 {
		return page, nil
	}
	page.Messages = ms
	page.Turns, err = t.listAlong(ctx, b, ms, newest)
	if last := len(page.Turns) - 1; last >= 0 && b.ID == head.Branch.ID && page.Turns[last].AfterSeq == b.HeadSeq {
		state := page.Turns[last].State
		page.Turns[last].Retry = state != scrollback.TurnOpen && state != scrollback.TurnComplete && page.Running == nil
	}
	if err == nil {
		page.Meta, err = t.listMeta(ctx, page)
	}
	return page, err
}

// listAlong returns the turns on the path of a branch that belong to consecutive messages of it and
// are not explained by these. newest was the conversation's newest turn before the messages
// were read.
func (t Turns) listAlong(ctx context.Context, b scrollback.Branch, ms []scrollback.Message,
	newest *scrollback.Turn) ([]scrollback.TurnEntry, error) {
	from := ms[0].Seq
	to := ms[len(ms)-1].Seq
	troubled, err := t.v.e.store.Turns.ListUnsuccessful(ctx, b.ID, from, to)
	if err != nil {
		return nil, err
	}
	out := []scrollback.TurnEntry{}
	for _, one := range troubled {
		if !isExplained(one, ms) {
			out = append(out, one.Entry())
		}
		if newest != nil && one.ID == newest.ID {
			newest = nil // it has ended since
		}
	}
	if newest == nil || newest.State != scrollback.TurnOpen || newest.Branch != b.ID || newest.LastSeq < from ||
		newest.LastSeq > to {
		return out, nil
	}
	if last := ms[len(ms)-1]; last.TurnID == newest.ID && last.Seq > newest.LastSeq {
		return out, nil // it has stored what its draft was
	}
	open := newest.Entry()
	if t.v.e.store.Turns.IsExpired(*newest) {
		open.State = scrollback.TurnInterrupted
	}
	return append(out, open), nil
}

// isExplained reports whether a message says all there is to say about how a turn ended: what it
// wrote until it was stopped.
func isExplained(t scrollback.Turn, ms []scrollback.Message) bool {
	return t.State == scrollback.TurnInterrupted && t.Failure == nil && t.FinishReason == "" &&
		slices.ContainsFunc(ms, func(m scrollback.Message) bool {
			return m.TurnID == t.ID && m.Seq >= t.LastSeq && m.Status == scrollback.StatusInterrupted
		})
}

// newestTurn returns the newest turn of a conversation, or nil if there is none.
func (t Turns) newestTurn(ctx context.Context, id scrollback.ConversationID) (*scrollback.Turn, error) {
	if err := t.v.door.checkAccess(ctx, id, scrollback.AccessRead); err != nil {
		return nil, err
	}
	newest, err := t.v.e.store.Turns.GetLast(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil, nil
	}
	return &newest, err
}

// Cancel stops a turn wherever it runs; what it wrote so far is kept.
func (t Turns) Cancel(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID) error {
	if err := t.v.door.requireAccess(scrollback.AccessWrite); err != nil {
		return err
	}
	if _, err := t.Get(ctx, id, turn); err != nil {
		return err
	}
	if lt := t.v.e.findLive(turn); lt != nil {
		lt.mu.Lock()
		stop := lt.cancel
		lt.mu.Unlock()
		stop(errStopped)
	}
	return t.v.e.store.Turns.Stop(ctx, turn)
}

// Changes yields what is done to the caller's conversations after change number after, by
// whichever process, until ctx ends or the engine closes; after -1, from now on. It begins
// with a ChangeNone that says where it stands, or with a ChangeReset if not all changes
// since then are kept. It holds nothing that was said.
func (v *View) Changes(ctx context.Context, after int64) iter.Seq2[scrollback.Change, error] {
	return func(yield func(scrollback.Change, error) bool) {
		if err := v.door.requireAccess(scrollback.AccessRead); err != nil {
			yield(scrollback.Change{}, err)
			return
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(v.e.base, stop)()
		v.e.store.Feed.Follow(ctx, after, v.door.caller.SeesProject)(yield)
	}
}
