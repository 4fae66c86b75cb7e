package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Begin implements [driver.Turns].
func (db turns) Begin(ctx context.Context, b driver.Begin) (driver.Begun, error) {
	var out driver.Begun
	entries, err := write(b.Entries)
	if err != nil {
		return out, db.wrap("sqldriver.Begin", err)
	}
	err = db.write(ctx, "sqldriver.Begin", func(ctx context.Context, tx *sqlrow.Session) error {
		out = driver.Begun{}
		w, err := openLog(ctx, tx, db.Dialect, b.Turn.Conversation)
		if err != nil {
			return err
		}
		if out.Replayed, err = replay(ctx, tx, b, &out.Turn); err != nil || out.Replayed {
			out.Head = w.head()
			return err
		}
		if w.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, "sqldriver.Begin", "conversation %s is in the trash", w.c.ID)
		}
		if b.IfBranch != "" && (b.IfBranch != w.b.ID || b.IfHead != w.b.HeadSeq) {
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Begin", "the head is %d, not %d", w.b.HeadSeq, b.IfHead)
		}
		if out.Previous, err = w.settle(ctx, b.Now, b.Salvage); err != nil {
			return err
		}
		if b.Admit != nil {
			if err := b.Admit(out.Previous); err != nil {
				return err
			}
		}
		if b.Tally != nil {
			if out.Tallied, err = countTally(ctx, tx, *b.Tally); err != nil {
				return err
			}
		}
		if b.Edit != nil {
			w.edit(b.Edit)
		}
		if b.Without != nil {
			if err := w.leaveOut(ctx, *b.Without); err != nil {
				return err
			}
		}
		if out.Messages, err = w.append(ctx, entries); err != nil {
			return err
		}
		t := b.Turn
		t.Branch = w.b.ID
		t.Seq = w.b.HeadSeq
		t.LastSeq = w.b.HeadSeq
		t.State = scrollback.TurnOpen
		v, err := sqlrow.TurnValues(&t)
		if err != nil {
			return err
		}
		if err := tx.Put(ctx, sqlrow.Turns.At(v[0]), v,
			`INSERT INTO turns (`+sqlrow.TurnColumns+`) VALUES (`+sqlrow.Marks(21)+`)`, v...); err != nil {
			return err
		}
		w.c.LastTurn = t.ID
		w.c.News.Turn = t.ID
		w.c.News.State = t.State
		w.c.News.Kinds = w.c.News.Kinds | driver.KindTurned
		out.Turn = t
		if err := w.close(ctx, b.Now); err != nil {
			return err
		}
		out.Head = w.head()
		return nil
	})
	if err != nil {
		return driver.Begun{}, err
	}
	return out, nil
}

// replay looks for a turn that the same key began.
func replay(ctx context.Context, tx *sqlrow.Session, b driver.Begin, t *scrollback.Turn) (bool, error) {
	want := b.Turn.Idempotency
	if want.Key == "" {
		return false, nil
	}
	err := tx.Row(ctx, sqlrow.ScanTurn(t), `SELECT `+sqlrow.TurnColumns+` FROM turns
		WHERE conversation_id = $1 AND idem_key = $2 AND idem_key <> '' AND started_at >= $3 ORDER BY started_at DESC, id DESC LIMIT 1`,
		b.Turn.Conversation, want.Key, b.KeysSince)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && t.Idempotency.Hash != want.Hash {
		err = scrollback.Errorf(scrollback.Conflict, "sqldriver.Begin", "this idempotency key was used for another request")
	}
	return err == nil, err
}

// edit changes the conversation's own fields; close stores them.
func (w *logWriter) edit(edit func(*scrollback.Conversation)) {
	deleted := w.c.DeletedAt
	before, errBefore := w.c.Values()
	_ = editConversation(&w.c, func(c *scrollback.Conversation) error { edit(c); return nil })
	w.c.DeletedAt = deleted
	after, errAfter := w.c.Values()
	w.edited = errBefore != nil || errAfter != nil || !slices.Equal(before, after)
}

// settle returns the newest turn, after closing it if its owner is gone.
func (w *logWriter) settle(ctx context.Context, now int64,
	salvage func(scrollback.Turn) []driver.Entry) (*scrollback.Turn, error) {
	if w.c.LastTurn == "" {
		return nil, nil
	}
	var last scrollback.Turn
	if err := loadTurn(ctx, w.tx, w.c.LastTurn, &last); err != nil {
		return nil, err
	}
	if last.State != scrollback.TurnOpen {
		return &last, nil
	}
	if driver.Holds(last, now) {
		return nil, scrollback.Errorf(scrollback.Conflict, "sqldriver",
			"conversation %s is still being answered; if that program was killed, it can be asked again within 15 seconds",
			w.c.ID)
	}
	var entries []driver.Entry
	if salvage != nil {
		entries = salvage(last)
		rows, err := write(entries)
		if err == nil {
			_, err = w.append(ctx, rows)
		}
		if err != nil {
			return nil, err
		}
		last.Reply = driver.Reply(last.Reply, entries)
		last.LastSeq = driver.LastSeq(last.LastSeq, w.b.HeadSeq, entries)
	}
	last.State = scrollback.TurnInterrupted
	last.EndedAt = now
	last.Draft = scrollback.Draft{}
	w.c.News = driver.Changed{} // that is told here
	if err := recordChange(ctx, w.tx, driver.Closed(last, w.c.Project, len(entries), w.b.HeadSeq)); err != nil {
		return nil, err
	}
	return &last, storeTurn(ctx, w.tx, &last)
}

// Save implements [driver.Turns].
func (db turns) Save(ctx context.Context, s driver.Save) (stop bool, err error) {
	err = db.write(ctx, "sqldriver.Save", func(ctx context.Context, tx *sqlrow.Session) error {
		stop = false
		var t scrollback.Turn
		if err := loadOwned(ctx, tx, s.Turn, s.Owner, &t); err != nil {
			return err
		}
		stop = t.Cancel
		draft, err := sqlrow.JSON(s.Draft)
		if err != nil {
			return err
		}
		change := sqlrow.Change{9: draft, 7: s.LeaseUntil}
		if s.Meta == nil {
			return tx.Patch(ctx, sqlrow.Turns.At(s.Turn), change, `UPDATE turns SET draft = $2, lease_until = $3 WHERE id = $1`,
				s.Turn, draft, s.LeaseUntil)
		}
		meta, err := sqlrow.JSON(s.Meta)
		if err != nil {
			return err
		}
		change[20] = meta
		return tx.Patch(ctx, sqlrow.Turns.At(s.Turn), change,
			`UPDATE turns SET draft = $2, lease_until = $3, meta = $4 WHERE id = $1`,
			s.Turn, draft, s.LeaseUntil, meta)
	})
	return stop, err
}

// loadOwned reads an open turn for its owner.
func loadOwned(ctx context.Context, tx *sqlrow.Session, id scrollback.TurnID, owner string, t *scrollback.Turn) error {
	err := loadTurn(ctx, tx, id, t)
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return err
	}
	if err != nil || t.Owner != owner || t.State != scrollback.TurnOpen {
		return scrollback.Errorf(scrollback.Conflict, "sqldriver", "turn %s belongs to another owner",
			id).Because(scrollback.ErrLostLease)
	}
	return nil
}

// Finish implements [driver.Turns].
func (db turns) Finish(ctx context.Context, f driver.Finish) (driver.Finished, error) {
	var out driver.Finished
	entries, err := write(f.Entries)
	if err != nil {
		return out, db.wrap("sqldriver.Finish", err)
	}
	sent, err := sqlrow.AccountOf(f.Sent, f.Texts)
	if err != nil {
		return out, db.wrap("sqldriver.Finish", err)
	}
	err = db.write(ctx, "sqldriver.Finish", func(ctx context.Context, tx *sqlrow.Session) error {
		out = driver.Finished{}
		var t scrollback.Turn
		if err := loadOwned(ctx, tx, f.Turn, f.Owner, &t); err != nil {
			return err
		}
		w, err := openLog(ctx, tx, db.Dialect, t.Conversation)
		if err != nil {
			return err
		}
		if out.Messages, err = w.append(ctx, entries); err != nil {
			return err
		}
		t.Reply = driver.Reply(t.Reply, f.Entries)
		t.LastSeq = driver.LastSeq(t.LastSeq, w.b.HeadSeq, f.Entries)
		t.State = f.State
		t.OpenCalls = f.OpenCalls
		t.FinishReason = f.FinishReason
		t.Failure = f.Failure
		t.Draft = scrollback.Draft{}
		t.LeaseUntil = f.LeaseUntil
		if f.Window != nil {
			t.Window = f.Window
		}
		w.c.News.Turn = t.ID
		if f.Meta != nil {
			t.Meta = f.Meta
		}
		if t.State != scrollback.TurnOpen {
			t.EndedAt = f.Now
			w.c.News.State = t.State
			w.c.News.Kinds = w.c.News.Kinds | driver.KindTurned
		}
		if err := storeStep(ctx, tx, &t, sent.InTurn()); err != nil {
			return err
		}
		if err := sqlrow.PutSent(ctx, tx, &t, sent); err != nil {
			return err
		}
		if err := enter(ctx, tx, w.c.Project, f.Usage, f.Learn); err != nil {
			return err
		}
		if err := w.close(ctx, f.Now); err != nil {
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

// TakeOver implements [driver.Turns].
func (db turns) TakeOver(ctx context.Context, o driver.TakeOver) (t scrollback.Turn, err error) {
	err = db.write(ctx, "sqldriver.TakeOver", func(ctx context.Context, tx *sqlrow.Session) error {
		t = scrollback.Turn{}
		if err := loadTurn(ctx, tx, o.Turn, &t); err != nil || t.State != scrollback.TurnOpen || driver.Holds(t, o.Now) {
			return err
		}
		w, err := openLog(ctx, tx, db.Dialect, t.Conversation)
		if err != nil || w.c.LastTurn != t.ID {
			return err
		}
		closed, err := w.settle(ctx, o.Now, o.Salvage)
		if err != nil {
			return err
		}
		t = *closed
		return w.close(ctx, o.Now)
	})
	return t, err
}

func storeTurn(ctx context.Context, tx *sqlrow.Session, t *scrollback.Turn) error {
	return storeStep(ctx, tx, t, "")
}

// storeStep stores what may change of a turn, and what its first step sent unless that is
// empty.
func storeStep(ctx context.Context, tx *sqlrow.Session, t *scrollback.Turn, sent string) error {
	v, err := sqlrow.TurnValues(t)
	if err != nil {
		return err
	}
	args := []any{v[0], v[5], v[7], v[9], v[10], v[11], v[12], v[13], v[16], v[18], v[19], v[20]}
	query := `UPDATE turns SET state = $2, lease_until = $3, draft = $4, open_calls = $5, reply = $6,
		finish_reason = $7, failure = $8, window_mark = $9, ended_at = $10, last_seq = $11, meta = $12`
	if sent != "" {
		query = query + `, sent = $13`
		args = append(args, sent)
	}
	return tx.Put(ctx, sqlrow.Turns.At(v[0]), v, query+` WHERE id = $1`, args...)
}

// Stop implements [driver.Turns].
func (db turns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return db.write(ctx, "sqldriver.Stop", func(ctx context.Context, tx *sqlrow.Session) error {
		var t scrollback.Turn
		if err := loadTurn(ctx, tx, id, &t); err != nil {
			return err
		}
		return tx.Run(ctx, `UPDATE turns SET cancel = 1 WHERE id = $1 AND state = 'open'`, id)
	})
}

func loadTurn(ctx context.Context, s *sqlrow.Session, id scrollback.TurnID, t *scrollback.Turn) error {
	err := s.Known(ctx, sqlrow.ScanTurn(t), sqlrow.Turns.At(id))
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqldriver", "no turn %s", id)
	}
	return err
}

// Get implements [driver.Turns].
func (db turns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	var t scrollback.Turn
	return t, db.wrap("sqldriver.Turn", loadTurn(ctx, db.Read, id, &t))
}

// Meta implements [driver.Turns].
func (db turns) Meta(ctx context.Context, ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	out, err := sqlrow.Metas(ctx, db.Read, ids)
	return out, db.wrap("sqldriver.Meta", err)
}

// Steps implements [driver.Turns].
func (db turns) Steps(ctx context.Context, id scrollback.TurnID) ([]scrollback.Sent, error) {
	out, err := sqlrow.Steps(ctx, db.Read, id)
	return out, db.wrap("sqldriver.Steps", err)
}

// Texts implements [driver.Turns].
func (db turns) Texts(ctx context.Context, of scrollback.ConversationID, hashes []string) (map[string]string, error) {
	out, err := sqlrow.Texts(ctx, db.Read, of, hashes)
	return out, db.wrap("sqldriver.Texts", err)
}

// Last implements [driver.Turns].
func (db turns) Last(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	var t scrollback.Turn
	var c sqlrow.Conversation
	if err := loadConversation(ctx, db.Read, id, &c); err != nil {
		return t, db.wrap("sqldriver.Last", err)
	}
	if c.LastTurn == "" {
		return t, scrollback.Errorf(scrollback.NotFound, "sqldriver.Last", "conversation %s had no turn yet", id)
	}
	return t, db.wrap("sqldriver.Last", loadTurn(ctx, db.Read, c.LastTurn, &t))
}

// Troubled implements [driver.Turns].
func (db turns) Troubled(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	out, err := sqlrow.Troubled(ctx, db.Read, q)
	return out, db.wrap("sqldriver.Troubled", err)
}
