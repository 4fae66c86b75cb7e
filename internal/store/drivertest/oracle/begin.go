package oracle

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Begin implements [driver.Turns].
func (db turns) Begin(ctx context.Context, b driver.BeginRequest) (driver.BeginResult, error) {
	const op = "oracle.Begin"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return driver.BeginResult{}, err
	}
	b.Entries = cloneAll(b.Entries) // as a database has made rows of them by then: Admit cannot change them
	th, err := db.findConversation(op, b.Turn.Conversation)
	if err != nil {
		return driver.BeginResult{}, err
	}
	if seen := th.findByKey(db.database, b); seen != nil {
		if seen.Idempotency.Hash != b.Turn.Idempotency.Hash {
			return driver.BeginResult{}, scrollback.Errorf(scrollback.Conflict, op, "the idempotency key came with another request")
		}
		return driver.BeginResult{Head: db.readHead(th), Turn: deepCopy(*seen), Replayed: true}, nil
	}
	if _, err := db.findLive(op, th.ID); err != nil {
		return driver.BeginResult{}, err
	}
	if b.IfBranch != "" && (b.IfBranch != th.Branch || b.IfHead != th.Messages) {
		return driver.BeginResult{}, scrollback.Errorf(scrollback.Conflict, op, "the head is %d, not %d",
			th.Messages, b.IfHead)
	}
	last := deepCopy(db.turns[th.turn])
	salvaged := []driver.Entry(nil)
	if last != nil && last.State == scrollback.TurnOpen {
		if driver.HoldsConversation(*last, b.Now) {
			return driver.BeginResult{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
		}
		salvaged = interruptTurn(last, th.Messages, b.Now, b.Salvage)
	}
	if b.Admit != nil {
		if err := b.Admit(deepCopy(last)); err != nil {
			return driver.BeginResult{}, err
		}
	}
	if db.turns[b.Turn.ID] != nil {
		return driver.BeginResult{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s exists", b.Turn.ID)
	}
	if err := db.checkFresh(op, append(salvaged[:len(salvaged):len(salvaged)], b.Entries...)); err != nil {
		return driver.BeginResult{}, err
	}
	used := int64(0)
	if b.Tally != nil {
		if used, err = countOne(db.database, *b.Tally); err != nil {
			return driver.BeginResult{}, err
		}
	}
	edited := deepCopy(th.Conversation)
	if b.Edit != nil {
		b.Edit(&edited)
		keepLog(&edited, th.Conversation)
		edited.DeletedAt = th.DeletedAt
	}
	// From here on nothing fails.
	if b.Tally != nil {
		storeTally(db.database, *b.Tally, used)
	}
	changed := fieldsDiffer(th.Conversation, edited)
	db.concludeLast(th, last, salvaged, b.Now)
	if changed {
		th.news.Kinds |= driver.KindEdited
	}
	keepLog(&edited, th.Conversation) // it may have grown
	th.Conversation = deepCopy(edited)
	if b.Without != nil {
		leaveOut(db.branches[th.Branch], *b.Without)
	}
	ms := db.appendEntries(th, b.Entries, b.Now)
	turn := db.openTurn(th, b.Turn)
	th.news.Turn = turn.ID
	th.news.State = turn.State
	th.news.Kinds = th.news.Kinds | driver.KindTurned
	db.changes.touchConversation(th, b.Now)
	return driver.BeginResult{Head: db.readHead(th), Turn: turn, Messages: ms, Previous: last, Tallied: used}, nil
}

// leaveOut sets which messages a branch leaves out.
func leaveOut(b *branchRow, without []int64) {
	if slices.Equal(b.View.Without, without) {
		return
	}
	b.View = b.View.WithLeftOut(slices.Clone(without))
	b.ViewVersion++
}

// findByKey returns the newest turn with b's idempotency key that is not too old, or nil.
func (th *storedConversation) findByKey(db *database, b driver.BeginRequest) *scrollback.Turn {
	if b.Turn.Idempotency.Key == "" {
		return nil
	}
	for i := len(th.turns) - 1; i >= 0; i-- {
		t := db.turns[th.turns[i]]
		if t.Idempotency.Key == b.Turn.Idempotency.Key && t.StartedAt >= b.KeysSince {
			return t
		}
	}
	return nil
}

// interruptTurn closes a turn whose lease has ended and returns what is left of it, which is
// still to be appended after head.
func interruptTurn(t *scrollback.Turn, head, now int64, salvage func(scrollback.Turn) []driver.Entry) []driver.Entry {
	var salvaged []driver.Entry
	if salvage != nil {
		salvaged = salvage(deepCopy(*t))
	}
	t.Reply = driver.ReplyAfter(t.Reply, salvaged)
	t.LastSeq = driver.LastSeqAfter(t.LastSeq, head+int64(len(salvaged)), salvaged)
	t.State = scrollback.TurnInterrupted
	t.EndedAt = now
	t.Draft = scrollback.Draft{}
	return salvaged
}

// concludeLast stores the newest turn before another write, with what was salvaged of it if its
// owner is gone.
func (db *database) concludeLast(th *storedConversation, last *scrollback.Turn, salvaged []driver.Entry, now int64) {
	if last == nil {
		return
	}
	open := db.turns[last.ID].State == scrollback.TurnOpen
	db.turns[last.ID] = deepCopy(last)
	db.appendEntries(th, salvaged, now)
	if th.news = (driver.Change{}); open {
		db.changes.addChange(driver.NewClosedChange(*last, th.Project, len(salvaged), th.Messages))
	}
}

// openTurn stores a new turn at the head and returns it.
func (db turns) openTurn(th *storedConversation, t scrollback.Turn) scrollback.Turn {
	t = deepCopy(t)
	t.State = scrollback.TurnOpen
	t.Branch = th.Branch
	t.Seq = th.Messages
	t.LastSeq = th.Messages
	db.turns[t.ID] = &t
	th.turns = append(th.turns, t.ID)
	th.turn = t.ID
	return deepCopy(t)
}
