package sqldriver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlindex"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// logWriter appends to the current branch of one conversation within one
// transaction. Seqs are allocated here and nowhere else.
type logWriter struct {
	tx      *sqlrow.Session
	dialect Dialect
	c       sqlrow.Conversation
	b       scrollback.Branch
	grew    bool
	edited  bool
}

func openLog(ctx context.Context, tx *sqlrow.Session, d Dialect, id scrollback.ConversationID) (*logWriter, error) {
	w := &logWriter{tx: tx, dialect: d}
	return w, loadHead(ctx, tx, id, &w.c, &w.b)
}

func (w *logWriter) head() driver.Head {
	return driver.Head{Conversation: w.c.Conversation, Branch: w.b}
}

// written is an entry with its columns that are JSON.
type written struct {
	driver.Entry
	parts, usage string
	body         sqlrow.Body
}

// write makes of entries what is inserted: what can be done before the transaction.
func write(entries []driver.Entry) ([]written, error) {
	out := make([]written, len(entries))
	for i, e := range entries {
		parts, usage, err := sqlrow.MessageJSON(&e.Message)
		if err != nil {
			return nil, err
		}
		body, err := sqlrow.MessageBody(sqlrow.MessageValues(&e.Message, parts, usage))
		if err != nil {
			return nil, err
		}
		out[i] = written{e, parts, usage, body}
	}
	return out, nil
}

// append numbers and inserts entries and their mentions.
func (w *logWriter) append(ctx context.Context, entries []written) ([]scrollback.Message, error) {
	var out []scrollback.Message
	for _, e := range entries {
		m := e.Message
		w.b.HeadSeq++
		w.b.Sum = w.b.Sum.Add(m.Weight)
		w.grew = true
		m.ConversationID = w.c.ID
		m.Branch = w.b.ID
		m.Seq = w.b.HeadSeq
		m.Sum = w.b.Sum
		v := sqlrow.MessageValues(&m, e.parts, e.usage)
		hash, err := e.body.At(v)
		if err != nil {
			return nil, err
		}
		known := scrollback.Errorf(scrollback.Conflict, "sqldriver", "there is already a message %s", m.ID)
		err = w.tx.RunOne(ctx, known, sqlindex.InsertMessage, append(v, hash)...)
		if err != nil && w.dialect.Taken(err) {
			return nil, known
		}
		if err != nil {
			return nil, err
		}
		for _, a := range e.Mentions {
			if err := insertArtifact(ctx, w.tx, a, w.c.ID); err != nil {
				return nil, err
			}
		}
		for _, s := range e.Sources {
			if err := sqlrow.Refer(ctx, w.tx, s, &m); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	if w.b.ID == w.c.Branch {
		w.c.News.Grew(len(entries), w.b.HeadSeq)
	}
	return out, nil
}

// store stores what the branch has grown by.
func (w *logWriter) store(ctx context.Context, now int64) error {
	if !w.grew {
		return nil
	}
	w.b.UpdatedAt = now
	w.grew = false
	change := sqlrow.Change{4: w.b.HeadSeq, 5: w.b.Sum.Tokens, 6: w.b.Sum.Bytes, 7: w.b.Sum.Images, 10: now}
	return w.tx.Patch(ctx, sqlrow.Branches.At(w.b.ID), change,
		`UPDATE branches SET head_seq = $2, sum_tokens = $3, sum_bytes = $4, sum_images = $5, updated_at = $6 WHERE id = $1`,
		w.b.ID, w.b.HeadSeq, w.b.Sum.Tokens, w.b.Sum.Bytes, w.b.Sum.Images, now)
}

// close stores the head after the writes of this transaction.
func (w *logWriter) close(ctx context.Context, now int64) error {
	if err := w.store(ctx, now); err != nil {
		return err
	}
	w.c.Messages = w.b.HeadSeq
	if w.edited {
		return storeConversation(ctx, w.tx, &w.c, now)
	}
	return touchConversation(ctx, w.tx, &w.c, now)
}

// Append implements [driver.Log].
func (db log) Append(ctx context.Context, a driver.Append) (driver.Finished, error) {
	const op = "sqldriver.Append"
	var out driver.Finished
	entries, err := write(a.Entries)
	if err != nil {
		return out, db.wrap(op, err)
	}
	err = db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		w, err := openLog(ctx, tx, db.Dialect, a.Conversation)
		if err != nil {
			return err
		}
		if w.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, op, "conversation %s is in the trash", w.c.ID)
		}
		if a.IfHead >= 0 && a.IfHead != w.b.HeadSeq {
			return scrollback.Errorf(scrollback.Conflict, op, "the head is %d, not %d", w.b.HeadSeq, a.IfHead)
		}
		if a.IfBranch != "" && a.IfBranch != w.b.ID {
			return scrollback.Errorf(scrollback.Conflict, op, "the branch is %s, not %s", w.b.ID, a.IfBranch)
		}
		if _, err := w.settle(ctx, a.Now, a.Salvage); err != nil {
			return err
		}
		if out.Messages, err = w.append(ctx, entries); err != nil {
			return err
		}
		if err := w.close(ctx, a.Now); err != nil {
			return err
		}
		out.Head = w.head()
		return nil
	})
	if err != nil {
		return driver.Finished{}, err
	}
	return out, nil
}

// Messages implements [driver.Reader].
func (db reader) Messages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	out, err := sqlrow.Messages(ctx, db.Read, q)
	return out, db.wrap("sqldriver.Messages", err)
}

// Shape implements [driver.Reader].
func (db reader) Shape(ctx context.Context, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	out, err := sqlrow.Shape(ctx, db.Read, q)
	return out, db.wrap("sqldriver.Shape", err)
}
