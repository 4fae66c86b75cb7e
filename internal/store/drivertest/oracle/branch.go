package oracle

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// leaveParent completes a branch from the message at which it leaves its parent, and returns
// the parent's conversation.
func (db *database) leaveParent(op string, b *scrollback.Branch) (scrollback.ConversationID, error) {
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
	const op = "oracle.RewindHead"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return driver.Head{}, err
	}
	th, err := db.findLive(op, r.Conversation)
	if err != nil {
		return driver.Head{}, err
	}
	to := deepCopy(r.To)
	if err := db.completeBranch(op, th, &to); err != nil {
		return driver.Head{}, err
	}
	last := deepCopy(db.turns[th.turn])
	salvaged := []driver.Entry(nil)
	if last != nil && last.State == scrollback.TurnOpen {
		if driver.HoldsConversation(*last, r.Now) {
			return driver.Head{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
		}
		salvaged = interruptTurn(last, r.Now, r.Salvage)
	}
	if err := db.checkFresh(op, salvaged); err != nil {
		return driver.Head{}, err
	}
	if err := db.checkNamed(op, th, to, r.Named); err != nil {
		return driver.Head{}, err
	}
	// From here on nothing fails.
	db.concludeLast(th, last, salvaged, r.Now)
	th.news.Kinds = driver.KindEdited
	b := db.rewindTarget(th, to, r.Named, r.Now)
	leaveOut(b, to.View.Without) // one that is there may have left out others
	db.movePins(th, b.ID)
	th.Messages = b.HeadSeq
	th.turn = db.turnAtHead(th)
	if r.Edit != nil {
		db.editOwn(th, r.Now, r.Edit)
	}
	db.changes.touchConversation(th, r.Now)
	return db.readHead(th), nil
}

// completeBranch completes a branch with which a conversation is to continue.
func (db log) completeBranch(op string, th *storedConversation, to *scrollback.Branch) error {
	to.Conversation = th.ID
	of, err := db.leaveParent(op, to)
	if err == nil {
		err = checkInherited(op, th, of)
	}
	return err
}

// checkFork returns an error unless a conversation may begin after a message of another.
func (db log) checkFork(op string, fork scrollback.Conversation, of scrollback.ConversationID) error {
	parent := of
	if fork.Parent != nil {
		parent = fork.Parent.ID
	}
	th, err := db.findLive(op, parent)
	if err != nil {
		return err
	}
	return checkInherited(op, th, of)
}

// checkInherited is not_found unless messages of another conversation may be on a path.
func checkInherited(op string, th *storedConversation, of scrollback.ConversationID) error {
	if of != th.ID && !slices.Contains(th.Ancestors, of) {
		return scrollback.Errorf(scrollback.NotFound, op, "conversation %s inherits nothing of %s", th.ID, of)
	}
	return nil
}

// checkNamed returns an error if a branch that has messages, or is elsewhere, has the id of a named one.
func (db log) checkNamed(op string, th *storedConversation, to scrollback.Branch, named bool) error {
	if p := db.branches[to.Parent]; !named || p != nil && p.Conversation == th.ID && p.HeadSeq == to.AtSeq {
		return nil
	}
	b := db.branches[to.ID]
	if b == nil || b.Conversation == th.ID && b.Parent == to.Parent && b.AtSeq == to.AtSeq && b.HeadSeq == b.AtSeq {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, op, "branch %s exists", to.ID)
}

// rewindTarget returns the branch that a rewind leads to: one that is already there, or a new
// one.
func (db log) rewindTarget(th *storedConversation, to scrollback.Branch, named bool, now int64) *branchRow {
	if p := db.branches[to.Parent]; p != nil && p.Conversation == th.ID && p.HeadSeq == to.AtSeq {
		return p
	}
	for _, b := range db.listOwnBranches(th.ID) {
		if b.Parent == to.Parent && b.AtSeq == to.AtSeq && b.HeadSeq == b.AtSeq && (!named || b.ID == to.ID) {
			return b
		}
	}
	b := &branchRow{Branch: to, number: nextNumber(&db.branchNumbers)}
	b.UpdatedAt = now
	db.branches[b.ID] = b
	return b
}
