package drivertest

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// beginBeside opens a turn beside others: behind the head, further back, or on another branch, and now and
// then where it may not.
func (w *randomWalk) beginBeside() {
	h, ok := w.readHead(w.pickConversation().ID)
	if !ok {
		return
	}
	from, at := w.pickPlace(h)
	to := w.leavingBranch(from, at, scrollback.BranchID(w.newID("branch")))
	if w.chance(5) {
		to.AtSeq++
	}
	entries := w.randomEntries(3)
	now := w.advanceClock()
	t := scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: h.ID, State: scrollback.TurnOpen,
		Owner: fmt.Sprint("owner ", w.n), LeaseUntil: now + pickOne[int64](w, 41, 401, 4001), StartedAt: now}
	markEntries(entries, t.ID)
	var edit func(*scrollback.Conversation)
	if w.chance(20) {
		edit = func(c *scrollback.Conversation) { c.Title = "Beside" }
	}
	got, ok := callBoth(w, fmt.Sprintf("begin %s beside, behind #%d of %s", t.ID, at, from.ID),
		func(d *driver.Driver) (driver.BeginResult, error) {
			return d.Turns.Begin(w.ctx, driver.BeginRequest{Turn: t, Now: now, At: &to, Entries: entries, Edit: edit,
				IfBranch: "no branch",
				Admit:    func(*scrollback.Turn) error { return errNo }})
		})
	if !ok {
		return
	}
	w.turns = append(w.turns, t)
	if got.Turn.Branch != got.Head.Branch.ID || got.Turn.Seq != to.AtSeq+int64(len(entries)) || got.Previous != nil {
		w.t.Fatalf("seed %d: behind #%d began %+v", w.seed, to.AtSeq, got)
	}
}

// appendBeside appends to a branch beside the path of its conversation: a new one, or one that is there, now and then
// as it no longer is.
func (w *randomWalk) appendBeside() {
	h, ok := w.readHead(w.pickConversation().ID)
	if !ok {
		return
	}
	from, at := w.pickPlace(h)
	to := w.leavingBranch(from, at, scrollback.BranchID(w.newID("branch")))
	switch {
	case w.chance(40):
		to = from
	case w.chance(10):
		to.AtSeq++
	}
	if w.chance(10) {
		to.HeadSeq++
	}
	entries := w.randomEntries(3)
	now := w.advanceClock()
	callBoth(w, fmt.Sprintf("append beside the path of %s, to %s behind #%d", h.ID, to.ID, to.HeadSeq),
		func(d *driver.Driver) (driver.AppendResult, error) {
			return d.Log.AppendEntries(w.ctx, driver.Append{Conversation: h.ID, Now: now, Beside: &to, Entries: entries,
				IfHead: 7, IfBranch: "no branch"})
		})
	w.readHead(h.ID)
}

// pickPlace picks a branch of a conversation, and a message on its path.
func (w *randomWalk) pickPlace(h driver.Head) (scrollback.Branch, int64) {
	from := h.Branch
	if w.chance(30) {
		all, _ := callBoth(w, fmt.Sprint("branches of ", h.ID),
			func(d *driver.Driver) ([]scrollback.Branch, error) { return d.Log.ListBranches(w.ctx, h.ID) })
		from = pickOne(w, all...)
	}
	at := from.HeadSeq
	if w.chance(50) {
		at = w.rng.Int64N(at + 1)
	}
	return from, at
}

// markEntries says of which turn entries are.
func markEntries(entries []driver.Entry, id scrollback.TurnID) {
	for i := range entries {
		entries[i].TurnID = id
	}
}

// takeOver closes a turn if its owner is gone.
func (w *randomWalk) takeOver() {
	t, ok := w.pickTurn()
	if !ok {
		return
	}
	salvaged := w.randomEntries(2)
	if w.chance(70) {
		markEntries(salvaged, t.ID)
	}
	now := w.advanceClock()
	callBoth(w, fmt.Sprint("take over ", t.ID), func(d *driver.Driver) (scrollback.Turn, error) {
		got, err := d.Turns.TakeOver(w.ctx, driver.Takeover{Turn: t.ID, Now: now,
			Salvage: func(scrollback.Turn) []driver.Entry { return salvaged }})
		return withoutLease(got), err
	})
}
