package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// appender appends to the current branch of one conversation, and to those of its turns, within one
// transaction. Seqs are allocated here and nowhere else.
type appender struct {
	*writeTx
	c      conversationRow
	b      scrollback.Branch
	ended  scrollback.Turn // the newest turn as it was read, if it had ended
	grew   bool
	edited bool
}

// openLog holds a conversation and its current branch.
func (w *writeTx) openLog(ctx context.Context, id scrollback.ConversationID) (*appender, error) {
	if w.Dialect.ReadHead != "" {
		return w.openLogAtOnce(ctx, id)
	}
	a := &appender{writeTx: w}
	err := w.holdKnownConversation(ctx, id, &a.c)
	if err == nil {
		err = w.holdBranch(ctx, a.c.Branch, &a.b)
	}
	return a, err
}

// openLogAtOnce is openLog in one exchange with the database. Who changes a branch, or how a turn ended,
// holds the conversation: so only its row is locked.
func (w *writeTx) openLogAtOnce(ctx context.Context, id scrollback.ConversationID) (*appender, error) {
	a := &appender{writeTx: w}
	err := w.tx.QueueQuery(ctx, scanConversation(&a.c), w.Dialect.HoldConversation, id)
	if err != nil {
		return a, err
	}
	var last scrollback.Turn
	err = w.tx.Query(ctx, scanPair(branchTable, &a.b, turnTable, &last), w.Dialect.ReadHead, id)
	if last.State != scrollback.TurnOpen {
		a.ended = last
	}
	return a, a.missingHead(id, err)
}

// openTurn holds an open turn for its owner, its conversation and the current branch of that.
func (w *writeTx) openTurn(ctx context.Context, id scrollback.TurnID, owner string,
	t *scrollback.Turn) (*appender, error) {
	if w.Dialect.ReadHeadOfTurn == "" {
		if err := w.holdOwnedTurn(ctx, id, owner, t); err != nil {
			return nil, err
		}
		return w.openLog(ctx, t.Conversation)
	}
	a := &appender{writeTx: w}
	err := w.tx.QueueQuery(ctx, scanConversation(&a.c), w.Dialect.HoldConversationOfTurn, id)
	if err != nil {
		return a, err
	}
	err = w.tx.Query(ctx, scanPair(turnTable, t, branchTable, &a.b), w.Dialect.ReadHeadOfTurn, id)
	if err == nil {
		err = checkOwner(id, owner, t)
	}
	return a, a.missingHead(t.Conversation, err)
}

// scanPair reads a row with the columns of two tables, either of which may have none.
func scanPair[A, B any](left table[A], a *A, right table[B], b *B) func(Row) error {
	return func(r Row) error {
		n := len(left.columns)
		if r[0] != nil {
			if err := left.scan(a, r[:n]); err != nil {
				return err
			}
		}
		if r[n] == nil {
			return nil
		}
		return right.scan(b, r[n:])
	}
}

// missingHead completes the error of reading a conversation and its branch.
func (a *appender) missingHead(id scrollback.ConversationID, err error) error {
	switch {
	case err != nil:
		return err
	case a.c.ID == "" || a.c.PurgedAt != 0:
		return noConversation(id)
	case a.b.ID == "":
		return missingBranch(a.c.Branch, sql.ErrNoRows)
	}
	return nil
}

func (a *appender) head() driver.Head {
	return driver.Head{Conversation: a.c.Conversation, Branch: a.b}
}

// appendEntries appends entries to the current branch.
func (a *appender) appendEntries(ctx context.Context, entries []preparedEntry) ([]scrollback.Message, error) {
	a.grew = a.grew || len(entries) > 0
	return a.appendTo(ctx, &a.b, entries)
}

// appendTo numbers entries on a branch and inserts them, with what they mention. The branch itself is
// not stored.
func (a *appender) appendTo(ctx context.Context, b *scrollback.Branch,
	entries []preparedEntry) ([]scrollback.Message, error) {
	var out []scrollback.Message
	for _, e := range entries {
		m := e.Message
		b.HeadSeq++
		b.Sum = b.Sum.Add(m.Weight)
		m.ConversationID = a.c.ID
		m.Branch = b.ID
		m.Seq = b.HeadSeq
		m.Sum = b.Sum
		if err := a.insertMessage(ctx, e, &m); err != nil {
			return nil, err
		}
		for _, mention := range e.Mentions {
			if err := a.insertArtifact(ctx, mention, a.c.ID); err != nil {
				return nil, err
			}
		}
		for _, s := range e.Sources {
			if err := a.storeSource(ctx, s, &m); err != nil {
				return nil, err
			}
		}
		for _, k := range e.Kept {
			if err := a.insertKept(ctx, placeKept(k, &m)); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	if b.ID == a.c.Branch {
		a.c.news.NoteEntries(len(entries), b.HeadSeq)
	}
	return out, nil
}

// appendOfTurn appends what an open turn has brought to its own branch, which it returns, and says so in the
// turn. Where others have gone on there, it leaves the branch behind what it has brought; with follow
// the conversation goes with it, if that is its current branch.
func (a *appender) appendOfTurn(ctx context.Context, t *scrollback.Turn, entries []preparedEntry, follow bool,
	now int64) (b scrollback.Branch, out []scrollback.Message, err error) {
	if b = a.b; t.Branch != b.ID {
		if err := a.holdBranch(ctx, t.Branch, &b); err != nil {
			return b, nil, err
		}
	}
	if len(entries) == 0 {
		return b, nil, nil
	}
	if b.HeadSeq > t.LastSeq {
		next := driver.LeaveBranch(b, t.LastSeq, entries[0].ID)
		next.UpdatedAt = now
		if err := a.insertLeavingBranch(ctx, b, &next); err != nil {
			return b, nil, err
		}
		if follow && b.ID == a.c.Branch {
			if err := a.keepPins(ctx); err != nil {
				return b, nil, err
			}
			if err := a.showPins(ctx, next.ID, next.HeadSeq); err != nil {
				return b, nil, err
			}
			a.c.Branch = next.ID
			a.edited = true
		}
		b = next
		t.Branch = b.ID
	}
	if out, err = a.appendTo(ctx, &b, entries); err != nil {
		return b, nil, err
	}
	for _, e := range entries {
		t.Reply = driver.ReplyAfter(t.Reply, []driver.Entry{e.Entry})
	}
	t.LastSeq = b.HeadSeq
	b.UpdatedAt = now
	if b.ID != a.c.Branch {
		return b, out, a.changeBranch(ctx, &b, branchGrowth)
	}
	a.b = b
	a.grew = true
	return b, out, nil
}

// leaveElsewhere makes a new branch the current one, behind the head, if entries are to be appended to one
// that another writes.
func (a *appender) leaveElsewhere(ctx context.Context, entries []preparedEntry, now int64) error {
	if !a.b.Elsewhere || len(entries) == 0 {
		return nil
	}
	if err := a.storeGrowth(ctx, now); err != nil {
		return err
	}
	next := driver.LeaveBranch(a.b, a.b.HeadSeq, entries[0].ID)
	next.UpdatedAt = now
	if err := a.insertLeavingBranch(ctx, a.b, &next); err != nil {
		return err
	}
	a.b = next
	a.c.Branch = next.ID
	a.edited = true
	return nil
}

// noteElsewhere notes that another writes the current branch, if entries are the first of it.
func (a *appender) noteElsewhere(ctx context.Context, entries []preparedEntry) error {
	if a.b.Elsewhere || len(entries) == 0 || a.b.HeadSeq > a.b.AtSeq {
		return nil
	}
	a.b.Elsewhere = true
	return a.changeBranch(ctx, &a.b, branchWriter)
}

// insertLeavingBranch completes and stores a branch that leaves the path of another.
func (a *appender) insertLeavingBranch(ctx context.Context, from scrollback.Branch, b *scrollback.Branch) error {
	for from.AtSeq >= b.AtSeq && from.Parent != "" {
		if err := a.holdBranch(ctx, from.Parent, &from); err != nil {
			return err
		}
	}
	if b.AtSeq > 0 {
		b.Parent = from.ID
	}
	if _, err := a.completeBranch(ctx, b); err != nil {
		return err
	}
	return a.insertBranch(ctx, *b)
}

// storeGrowth stores what the branch has grown by.
func (a *appender) storeGrowth(ctx context.Context, now int64) error {
	if !a.grew {
		return nil
	}
	a.b.UpdatedAt = now
	a.grew = false
	return a.changeBranch(ctx, &a.b, branchGrowth)
}

// storeHead stores the head after the writes of this transaction.
func (a *appender) storeHead(ctx context.Context, now int64) error {
	if err := a.storeGrowth(ctx, now); err != nil {
		return err
	}
	a.c.Messages = a.b.HeadSeq
	if a.edited {
		return a.storeConversation(ctx, &a.c, now)
	}
	return a.touchConversation(ctx, &a.c, now)
}

// editOwn changes the conversation's own fields; storeHead stores them. What is set before anything is said is none of
// the changes that travel with a clock.
func (a *appender) editOwn(edit func(*scrollback.Conversation)) error {
	deleted := a.c.DeletedAt
	before, errBefore := conversationTable.values(&a.c)
	began := a.b.HeadSeq > 0
	err := editConversation(&a.c, func(c *scrollback.Conversation) error {
		edit(c)
		c.DeletedAt = deleted
		return nil
	})
	if !began {
		a.c.changed = nil
	}
	after, errAfter := conversationTable.values(&a.c)
	a.edited = a.edited || errBefore != nil || errAfter != nil || !slices.Equal(before, after)
	return err
}

// closeLapsed returns the newest turn, after closing it if its owner is gone.
func (a *appender) closeLapsed(ctx context.Context, now int64,
	salvage func(scrollback.Turn) []driver.Entry) (*scrollback.Turn, error) {
	last, err := a.holdLastTurn(ctx)
	if err != nil || last == nil || last.State != scrollback.TurnOpen {
		return last, err
	}
	if driver.HoldsConversation(*last, now) {
		return nil, scrollback.Errorf(scrollback.Conflict, "sqlstore",
			i18n.ConversationStillAnswered,
			a.c.ID)
	}
	if err := a.interruptTurn(ctx, last, now, salvage); err != nil {
		return nil, err
	}
	if a.c.LastTurn == last.ID {
		return last, nil
	}
	return a.holdLastTurn(ctx)
}

// holdLastTurn reads the newest turn, which stays as it is until the transaction ends; nil if there is none.
func (a *appender) holdLastTurn(ctx context.Context) (*scrollback.Turn, error) {
	if a.c.LastTurn == "" {
		return nil, nil
	}
	last := a.ended
	if last.ID == a.c.LastTurn {
		return &last, nil
	}
	if err := a.holdTurn(ctx, a.c.LastTurn, &last); err != nil {
		return nil, err
	}
	return &last, nil
}

// interruptTurn closes a turn whose owner is gone, with what is salvaged of it.
func (a *appender) interruptTurn(ctx context.Context, t *scrollback.Turn, now int64,
	salvage func(scrollback.Turn) []driver.Entry) error {
	var entries []preparedEntry
	if salvage != nil {
		var err error
		if entries, err = prepareEntries(salvage(*t)); err != nil {
			return err
		}
	}
	b, _, err := a.appendOfTurn(ctx, t, entries, false, now)
	if err != nil {
		return err
	}
	t.State = scrollback.TurnInterrupted
	t.EndedAt = now
	t.Draft = scrollback.Draft{}
	seen := len(entries)
	if b.ID != a.c.Branch {
		seen = 0
	}
	a.c.news = driver.Change{} // that is told here
	if err := a.recordChange(ctx, driver.NewClosedChange(*t, a.c.Project, seen, b.HeadSeq)); err != nil {
		return err
	}
	if err := a.storeTurn(ctx, t); err != nil {
		return err
	}
	return a.settleLastTurn(ctx, t)
}

// settleLastTurn sees to it that the conversation goes on by the right turn once t has ended. One that holds
// the conversation stays the newest; else it is t if that stands at the head, and if t was the newest and
// does not, whichever turn ended there.
func (a *appender) settleLastTurn(ctx context.Context, t *scrollback.Turn) (err error) {
	atHead := t.Branch == a.c.Branch && t.LastSeq == a.b.HeadSeq
	switch {
	case a.c.LastTurn == t.ID && !atHead:
		a.c.LastTurn, err = a.turnAtHead(ctx, a.b)
	case a.c.LastTurn != t.ID && atHead:
		last, err := a.holdLastTurn(ctx)
		if err != nil || last != nil && last.State == scrollback.TurnOpen {
			return err
		}
		a.c.LastTurn = t.ID
	}
	return err
}

// AppendEntries implements [driver.Log].
func (db log) AppendEntries(ctx context.Context, q driver.Append) (driver.AppendResult, error) {
	const op = "sqlstore.AppendEntries"
	var out driver.AppendResult
	entries, err := prepareEntries(q.Entries)
	if err != nil {
		return out, db.wrapError(op, err)
	}
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		a, err := w.openLog(ctx, q.Conversation)
		if err != nil {
			return err
		}
		if a.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationInTrash, a.c.ID)
		}
		if q.Beside != nil {
			out, err = a.appendBeside(ctx, q, entries)
			return err
		}
		if q.IfHead >= 0 && q.IfHead != a.b.HeadSeq {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.HeadIsAnother, a.b.HeadSeq, q.IfHead)
		}
		if q.IfBranch != "" && q.IfBranch != a.b.ID {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.BranchIsAnother, a.b.ID, q.IfBranch)
		}
		if _, err := a.closeLapsed(ctx, q.Now, q.Salvage); err != nil {
			return err
		}
		if q.Elsewhere {
			err = a.noteElsewhere(ctx, entries)
		} else {
			err = a.leaveElsewhere(ctx, entries, q.Now)
		}
		if err != nil {
			return err
		}
		if out.Messages, err = a.appendEntries(ctx, entries); err != nil {
			return err
		}
		if err := w.writeThread(ctx, q.Thread); err != nil {
			return err
		}
		if err := a.storeHead(ctx, q.Now); err != nil {
			return err
		}
		out.Head = a.head()
		return nil
	})
	if err != nil {
		return driver.AppendResult{}, err
	}
	return out, nil
}

// appendBeside appends entries to a branch that is not the current one, which is stored first if it is not there.
func (a *appender) appendBeside(ctx context.Context, q driver.Append, entries []preparedEntry) (out driver.AppendResult,
	err error) {
	const op = "sqlstore.AppendEntries"
	var b scrollback.Branch
	err = a.holdBranch(ctx, q.Beside.ID, &b)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		b = *q.Beside
		b.UpdatedAt = q.Now
		if err := a.completeDestination(ctx, &b); err != nil {
			return out, err
		}
		err = a.insertBranch(ctx, b)
	case err == nil && (b.Conversation != a.c.ID || b.ID == a.c.Branch):
		err = scrollback.Errorf(scrollback.Conflict, op, i18n.BranchIsAnother, a.c.Branch, b.ID)
	case err == nil && b.HeadSeq != q.Beside.HeadSeq:
		err = scrollback.Errorf(scrollback.Conflict, op, i18n.HeadIsAnother, b.HeadSeq, q.Beside.HeadSeq)
	}
	if err != nil {
		return out, err
	}
	if out.Messages, err = a.appendTo(ctx, &b, entries); err != nil {
		return out, err
	}
	b.UpdatedAt = q.Now
	if err := a.changeBranch(ctx, &b, branchGrowth); err != nil {
		return out, err
	}
	out.Head = driver.Head{Conversation: a.c.Conversation, Branch: b}
	return out, a.writeThread(ctx, q.Thread)
}
