package sqlstore

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// appender appends to the current branch of one conversation within one
// transaction. Seqs are allocated here and nowhere else.
type appender struct {
	*writeTx
	c      conversationRow
	b      scrollback.Branch
	grew   bool
	edited bool
}

// openLog holds a conversation and its current branch.
func (w *writeTx) openLog(ctx context.Context, id scrollback.ConversationID) (*appender, error) {
	a := &appender{writeTx: w}
	err := w.holdKnownConversation(ctx, id, &a.c)
	if err == nil {
		err = w.holdBranch(ctx, a.c.Branch, &a.b)
	}
	return a, err
}

func (a *appender) head() driver.Head {
	return driver.Head{Conversation: a.c.Conversation, Branch: a.b}
}

// appendEntries numbers and inserts entries and what they mention.
func (a *appender) appendEntries(ctx context.Context, entries []preparedEntry) ([]scrollback.Message, error) {
	var out []scrollback.Message
	for _, e := range entries {
		m := e.Message
		a.b.HeadSeq++
		a.b.Sum = a.b.Sum.Add(m.Weight)
		a.grew = true
		m.ConversationID = a.c.ID
		m.Branch = a.b.ID
		m.Seq = a.b.HeadSeq
		m.Sum = a.b.Sum
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
	if a.b.ID == a.c.Branch {
		a.c.news.NoteEntries(len(entries), a.b.HeadSeq)
	}
	return out, nil
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

// editOwn changes the conversation's own fields; storeHead stores them.
func (a *appender) editOwn(edit func(*scrollback.Conversation)) {
	deleted := a.c.DeletedAt
	before, errBefore := conversationTable.values(&a.c)
	_ = editConversation(&a.c, func(c *scrollback.Conversation) error { edit(c); return nil })
	a.c.DeletedAt = deleted
	after, errAfter := conversationTable.values(&a.c)
	a.edited = errBefore != nil || errAfter != nil || !slices.Equal(before, after)
}

// closeLapsed returns the newest turn, after closing it if its owner is gone.
func (a *appender) closeLapsed(ctx context.Context, now int64,
	salvage func(scrollback.Turn) []driver.Entry) (*scrollback.Turn, error) {
	if a.c.LastTurn == "" {
		return nil, nil
	}
	var last scrollback.Turn
	if err := a.holdTurn(ctx, a.c.LastTurn, &last); err != nil {
		return nil, err
	}
	if last.State != scrollback.TurnOpen {
		return &last, nil
	}
	if driver.HoldsConversation(last, now) {
		return nil, scrollback.Errorf(scrollback.Conflict, "sqlstore",
			i18n.ConversationStillAnswered,
			a.c.ID)
	}
	var entries []driver.Entry
	if salvage != nil {
		entries = salvage(last)
		rows, err := prepareEntries(entries)
		if err == nil {
			_, err = a.appendEntries(ctx, rows)
		}
		if err != nil {
			return nil, err
		}
		last.Reply = driver.ReplyAfter(last.Reply, entries)
		last.LastSeq = driver.LastSeqAfter(last.LastSeq, a.b.HeadSeq, entries)
	}
	last.State = scrollback.TurnInterrupted
	last.EndedAt = now
	last.Draft = scrollback.Draft{}
	a.c.news = driver.Change{} // that is told here
	if err := a.recordChange(ctx, driver.NewClosedChange(last, a.c.Project, len(entries), a.b.HeadSeq)); err != nil {
		return nil, err
	}
	return &last, a.storeTurn(ctx, &last)
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
		if q.IfHead >= 0 && q.IfHead != a.b.HeadSeq {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.HeadIsAnother, a.b.HeadSeq, q.IfHead)
		}
		if q.IfBranch != "" && q.IfBranch != a.b.ID {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.BranchIsAnother, a.b.ID, q.IfBranch)
		}
		if _, err := a.closeLapsed(ctx, q.Now, q.Salvage); err != nil {
			return err
		}
		if out.Messages, err = a.appendEntries(ctx, entries); err != nil {
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
