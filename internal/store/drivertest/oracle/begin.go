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
	var to scrollback.Branch
	var last, previous *scrollback.Turn
	var salvaged []driver.Entry
	if b.At != nil {
		to = deepCopy(*b.At)
		err = log(db).completeBranch(op, th, &to)
	} else {
		last, salvaged, err = db.judgeLast(op, th, b)
		previous = db.turnAfter(th, last)
	}
	if err != nil {
		return driver.BeginResult{}, err
	}
	if b.At == nil && b.Admit != nil {
		if err := b.Admit(deepCopy(previous)); err != nil {
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
	if err := db.writeRows(op, b.Thread); err != nil {
		return driver.BeginResult{}, err
	}
	// From here on nothing fails.
	if b.Tally != nil {
		storeTally(db.database, *b.Tally, used)
	}
	stood := th.Messages // which is what the edit sees
	db.concludeLast(th, last, salvaged, b.Now)
	if b.At != nil {
		db.goBeside(th, to, b.Now)
	}
	if b.Edit != nil {
		was := deepCopy(th.Conversation)
		db.editOwn(th, b.Now, func(c *scrollback.Conversation) { c.Messages = stood; b.Edit(c) })
		if fieldsDiffer(was, th.Conversation) {
			th.news.Kinds |= driver.KindEdited
		}
	}
	if b.Without != nil {
		leaveOut(db.branches[th.Branch], *b.Without)
	}
	db.leaveElsewhere(th, b.Entries, b.Now)
	ms := db.appendEntries(th, b.Entries, b.Now)
	turn := db.openTurn(th, b.Turn)
	if b.At == nil {
		th.turn = turn.ID
	}
	th.news.Turn = turn.ID
	th.news.State = turn.State
	th.news.Kinds = th.news.Kinds | driver.KindTurned
	db.changes.touchConversation(th, b.Now)
	return driver.BeginResult{Head: db.readHead(th), Turn: turn, Messages: ms, Previous: previous, Tallied: used}, nil
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

// judgeLast returns the newest turn, closed if its owner is gone, with what is to be salvaged of it, or why no
// turn may begin at the head.
func (db turns) judgeLast(op string, th *storedConversation, b driver.BeginRequest) (*scrollback.Turn, []driver.Entry,
	error) {
	if b.IfBranch != "" && (b.IfBranch != th.Branch || b.IfHead != th.Messages) {
		return nil, nil, scrollback.Errorf(scrollback.Conflict, op, "the head is %d, not %d", th.Messages, b.IfHead)
	}
	last := deepCopy(db.turns[th.turn])
	if last == nil || last.State != scrollback.TurnOpen {
		return last, nil, nil
	}
	if driver.HoldsConversation(*last, b.Now) {
		return nil, nil, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
	}
	return last, interruptTurn(last, b.Now, b.Salvage), nil
}

// turnAfter returns the newest turn as it will be once last, which is it now, is closed and what was salvaged of it
// is appended: last, if it stands at the head.
func (db *database) turnAfter(th *storedConversation, last *scrollback.Turn) *scrollback.Turn {
	if last == nil {
		return nil
	}
	was := db.turns[last.ID]
	if was.State != scrollback.TurnOpen || was.Branch == th.Branch && was.LastSeq == th.Messages {
		return last
	}
	return deepCopy(db.turns[db.turnAtHead(th)])
}

// turnAtHead returns the turn that ended with the head of a conversation, or none.
func (db *database) turnAtHead(th *storedConversation) scrollback.TurnID {
	rows := db.branches[th.Branch].rows
	if len(rows) == 0 {
		return ""
	}
	if t := db.turns[rows[len(rows)-1].TurnID]; t != nil && t.State != scrollback.TurnOpen {
		return t.ID
	}
	return ""
}

// interruptTurn closes a turn whose lease has ended and returns what is left of it, which is
// still to be appended behind LastSeq.
func interruptTurn(t *scrollback.Turn, now int64, salvage func(scrollback.Turn) []driver.Entry) []driver.Entry {
	var salvaged []driver.Entry
	if salvage != nil {
		salvaged = salvage(deepCopy(*t))
	}
	t.Reply = driver.ReplyAfter(t.Reply, salvaged)
	t.LastSeq += int64(len(salvaged))
	t.State = scrollback.TurnInterrupted
	t.EndedAt = now
	t.Draft = scrollback.Draft{}
	return salvaged
}

// concludeLast stores a turn before another write, with what was salvaged of it if its owner is gone.
func (db *database) concludeLast(th *storedConversation, last *scrollback.Turn, salvaged []driver.Entry, now int64) {
	if last == nil {
		return
	}
	if th.news = (driver.Change{}); db.turns[last.ID].State != scrollback.TurnOpen {
		return
	}
	closed := deepCopy(last)
	db.turns[last.ID] = closed
	closed.LastSeq -= int64(len(salvaged))
	b, _ := db.appendOfTurn(th, closed, salvaged, false, now)
	th.news = driver.Change{}
	seen := len(salvaged)
	if b.ID != th.Branch {
		seen = 0
	}
	db.changes.addChange(driver.NewClosedChange(*closed, th.Project, seen, b.HeadSeq))
	db.settleLast(th, closed)
}

// appendOfTurn appends entries to the branch of a turn, or to one that leaves it where others have gone on
// there, and returns that branch; with follow, the conversation goes with it.
func (db *database) appendOfTurn(th *storedConversation, t *scrollback.Turn, entries []driver.Entry, follow bool,
	now int64) (*branchRow, []scrollback.Message) {
	b := db.branches[t.Branch]
	if len(entries) == 0 {
		return b, nil
	}
	if b.HeadSeq > t.LastSeq {
		next := db.addLeaving(b, t.LastSeq, entries[0].ID)
		if follow && b.ID == th.Branch {
			db.movePins(th, next.ID)
			th.news.Kinds |= driver.KindEdited
		}
		b = next
		t.Branch = b.ID
	}
	out := db.appendToBranch(th, b, entries, now)
	t.LastSeq = b.HeadSeq
	if b.ID == th.Branch {
		th.Messages = b.HeadSeq
	}
	return b, out
}

// leaveElsewhere makes a new branch behind the head the current one, if entries come to one that another writes.
func (db *database) leaveElsewhere(th *storedConversation, entries []driver.Entry, now int64) {
	b := db.branches[th.Branch]
	if !b.Elsewhere || len(entries) == 0 {
		return
	}
	next := db.addLeaving(b, b.HeadSeq, entries[0].ID)
	next.UpdatedAt = now
	th.Branch = next.ID
	th.news.Kinds |= driver.KindEdited
}

// noteElsewhere notes that another writes the current branch, if entries are the first of it.
func (db *database) noteElsewhere(th *storedConversation, entries []driver.Entry) {
	if b := db.branches[th.Branch]; len(entries) > 0 && b.HeadSeq == b.AtSeq {
		b.Elsewhere = true
	}
}

// addLeaving stores the branch that leaves the path of another behind seq, with a message that is to be its first.
func (db *database) addLeaving(from *branchRow, seq int64, first scrollback.MessageID) *branchRow {
	next := &branchRow{Branch: deepCopy(driver.LeaveBranch(from.Branch, seq, first)),
		number: nextNumber(&db.branchNumbers)}
	for from.AtSeq >= seq && from.Parent != "" {
		from = db.branches[from.Parent]
	}
	if seq > 0 {
		next.Parent = from.ID
	}
	_, _ = db.leaveParent("oracle.addLeaving", &next.Branch) // the parent has that message
	db.branches[next.ID] = next
	return next
}

// settleLast finds the newest turn of a conversation once t has ended.
func (db *database) settleLast(th *storedConversation, t *scrollback.Turn) {
	atHead := t.Branch == th.Branch && t.LastSeq == th.Messages
	last := db.turns[th.turn]
	switch {
	case th.turn == t.ID && !atHead:
		th.turn = db.turnAtHead(th)
	case atHead && (last == nil || last.State != scrollback.TurnOpen):
		th.turn = t.ID
	}
}

// goBeside makes the branch current with which a turn beside others begins.
func (db turns) goBeside(th *storedConversation, to scrollback.Branch, now int64) {
	b := log(db).rewindTarget(th, to, false, now)
	leaveOut(b, to.View.Without) // one that is there may have left out others
	if b.ID == th.Branch {
		return
	}
	db.movePins(th, b.ID)
	th.Messages = b.HeadSeq
	th.news.Kinds |= driver.KindEdited
	if last := db.turns[th.turn]; last == nil || last.State != scrollback.TurnOpen {
		th.turn = db.turnAtHead(th)
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
	return deepCopy(t)
}
