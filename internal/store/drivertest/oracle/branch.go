package oracle

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// leave completes a branch from the message at which it leaves its parent, and returns
// the parent's conversation.
func (db *database) leave(op string, b *scrollback.Branch) (scrollback.ConversationID, error) {
	b.HeadSeq = b.AtSeq
	b.Sum = scrollback.Weight{}
	if b.Parent == "" && b.AtSeq == 0 {
		return b.Conversation, nil
	}
	if parent := db.branches[b.Parent]; parent != nil {
		for _, r := range parent.rows {
			if r.Seq == b.AtSeq {
				b.Sum = r.Sum
				return parent.Conversation, nil
			}
		}
	}
	return "", scrollback.Errorf(scrollback.NotFound, op, "branch %s has no message %d of its own", b.Parent, b.AtSeq)
}

// RewindHead implements [driver.Log].
func (db log) RewindHead(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	const op = "oracle.Rewind"
	end, err := db.write(ctx, op)
	defer end()
	if err != nil {
		return driver.Head{}, err
	}
	th, err := db.live(op, r.Conversation)
	if err != nil {
		return driver.Head{}, err
	}
	to := clone(r.To)
	if err := db.reachable(op, th, &to); err != nil {
		return driver.Head{}, err
	}
	last := clone(db.turns[th.turn])
	salvaged := []driver.Entry(nil)
	if last != nil && last.State == scrollback.TurnOpen {
		if driver.HoldsConversation(*last, r.Now) {
			return driver.Head{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
		}
		salvaged = interrupt(last, th.Messages, r.Now, r.Salvage)
	}
	if err := db.fresh(op, salvaged); err != nil {
		return driver.Head{}, err
	}
	edited := clone(th.Conversation)
	if r.Edit != nil {
		r.Edit(&edited)
		keepLog(&edited, th.Conversation)
		edited.DeletedAt = th.DeletedAt
	}
	// From here on nothing fails.
	db.conclude(th, last, salvaged, r.Now)
	th.Conversation = clone(edited)
	th.news.Kinds = driver.KindEdited
	b := db.destination(th, to, r.Now)
	leaveOut(b, to.View.Without) // one that is there may have left out others
	th.Branch = b.ID
	th.Messages = b.HeadSeq
	th.turn = ""
	if n := len(b.rows); n > 0 && db.turns[b.rows[n-1].TurnID] != nil {
		th.turn = b.rows[n-1].TurnID
	}
	db.changes.touch(th, r.Now)
	return db.head(th), nil
}

// reachable completes a branch with which a conversation is to continue.
func (db log) reachable(op string, th *thread, to *scrollback.Branch) error {
	to.Conversation = th.ID
	of, err := db.leave(op, to)
	if err == nil {
		err = inherits(op, th, of)
	}
	return err
}

// forks returns an error unless a conversation may begin after a message of another.
func (db log) forks(op string, fork scrollback.Conversation, of scrollback.ConversationID) error {
	parent := of
	if fork.Parent != nil {
		parent = fork.Parent.ID
	}
	th, err := db.live(op, parent)
	if err != nil {
		return err
	}
	return inherits(op, th, of)
}

// inherits is not_found unless messages of another conversation may be on a path.
func inherits(op string, th *thread, of scrollback.ConversationID) error {
	if of != th.ID && !slices.Contains(th.Ancestors, of) {
		return scrollback.Errorf(scrollback.NotFound, op, "conversation %s inherits nothing of %s", th.ID, of)
	}
	return nil
}

// destination is the branch that a rewind leads to: one that is already there, or a new
// one.
func (db log) destination(th *thread, to scrollback.Branch, now int64) *branch {
	if p := db.branches[to.Parent]; p != nil && p.Conversation == th.ID && p.HeadSeq == to.AtSeq {
		return p
	}
	for _, b := range db.own(th.ID) {
		if b.Parent == to.Parent && b.AtSeq == to.AtSeq && b.HeadSeq == b.AtSeq {
			return b
		}
	}
	b := &branch{Branch: to, number: next(&db.branchNumbers)}
	b.UpdatedAt = now
	db.branches[b.ID] = b
	return b
}
