package postgres

import (
	"context"
	"database/sql"
	sqlfault "database/sql/driver"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

const (
	// tries is how often a transaction is run that others make fail.
	tries = 8
	// pause is before the second try; it doubles up to maxPause.
	pause    = 4 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// patience is for how long a connection is tried to get.
	patience = 5 * time.Second
	// maxWrite bounds a transaction: a database that no longer speaks fails it.
	maxWrite = 30 * time.Second
)

// writer runs each write as a transaction of its own. Rows that it judges by are locked as
// they are read, the conversation's first.
type writer struct {
	db    *sql.DB
	terms *sqlrow.Shared
	stop  func() error // ends what runs in the background

	judge func(ctx context.Context, tx *sqlrow.Session) error // before a commit; nil but in tests

	mu     sync.RWMutex
	closed bool
}

// Write implements [sqldriver.Writer].
func (w *writer) Write(ctx context.Context, fn func(ctx context.Context, tx *sqlrow.Session) error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return scrollback.Errorf(scrollback.Unavailable, "postgres.Write", "the database is closed")
	}
	return repeat(ctx, func(ctx context.Context) error { return w.once(ctx, fn) })
}

// once runs fn in a transaction. Only the wait for a connection is cut short by ctx.
func (w *writer) once(ctx context.Context, fn func(ctx context.Context, tx *sqlrow.Session) error) error {
	conn, err := w.db.Conn(ctx)
	if err != nil && lostConnection(err) {
		return again{err}
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWrite)
	defer cancel()
	return conn.Raw(func(c any) error {
		t := &transaction{conn: c.(*stdlib.Conn).Conn()}
		s := w.terms.Writing(t.exchange)
		err := fn(ctx, s)
		if err == nil && w.judge != nil {
			err = w.judge(ctx, s)
		}
		if err != nil {
			return t.undone(ctx, err)
		}
		return t.commit(ctx, s)
	})
}

// transaction is one on a connection. It begins with the first statement.
type transaction struct {
	conn  *pgx.Conn
	begun bool
}

const (
	beginWrite = `begin isolation level read committed`
	commit     = `commit`
)

// errUndone is a commit that was none: the server undoes a transaction in which a statement has
// failed, and calls that a success.
var errUndone = errors.New("the transaction was undone, because a statement of it had failed")

// exchange implements [sqlrow.Exchange].
func (t *transaction) exchange(ctx context.Context, all []sqlrow.Statement,
	each func(sqlrow.Row) error) (n int64, err error) {
	if !t.begun {
		all = append([]sqlrow.Statement{{Query: beginWrite}}, all...)
		t.begun = true
	}
	var batch pgx.Batch
	for _, s := range all {
		batch.Queue(s.Query, s.Args...)
	}
	sent := t.conn.SendBatch(ctx, &batch)
	for i, s := range all {
		last := i == len(all)-1
		if last && each != nil {
			n, err = rows(sent, each)
		} else {
			var tag pgconn.CommandTag
			tag, err = sent.Exec()
			n = tag.RowsAffected()
			if err == nil && s.Query == commit && tag.String() != "COMMIT" {
				err = errUndone
			}
		}
		if err == nil && s.Changed != nil {
			err = s.Changed(n)
		}
		if err != nil {
			break
		}
	}
	if closed := sent.Close(); err == nil {
		err = closed
	}
	return n, err
}

// rows hands on the rows of the next result.
func rows(sent pgx.BatchResults, each func(sqlrow.Row) error) (int64, error) {
	rows, err := sent.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return 0, err
		}
		row := make(sqlrow.Row, len(values))
		for i, v := range values {
			if row[i], err = column(v); err != nil {
				return 0, err
			}
		}
		if err := each(row); err != nil {
			return 0, err
		}
	}
	return rows.CommandTag().RowsAffected(), rows.Err()
}

// column is a value as database/sql would have it.
func column(v any) (sqlfault.Value, error) {
	switch v := v.(type) {
	case int32:
		return int64(v), nil
	case pgtype.Numeric:
		return v.Value()
	}
	return v, nil
}

// commit ends a transaction, with what was left of it; what is to be judged before that is sent
// before. Once the commit was sent and the connection is lost, nobody knows what became of it,
// and it is not repeated.
func (t *transaction) commit(ctx context.Context, s *sqlrow.Session) error {
	left := s.Left()
	if !t.begun && len(left) == 0 {
		return nil
	}
	if sqlrow.Judged(left) {
		if _, err := t.exchange(ctx, left, nil); err != nil {
			return t.undone(ctx, err)
		}
		left = nil
	}
	_, err := t.exchange(ctx, append(left, sqlrow.Statement{Query: commit}), nil)
	if err != nil {
		t.rollback(ctx)
	}
	return err
}

// undone ends a transaction that failed before its commit: it may be run again.
func (t *transaction) undone(ctx context.Context, err error) error {
	t.rollback(ctx)
	if lostConnection(err) && ctx.Err() == nil {
		return again{err}
	}
	return err
}

// rollback ends a transaction that failed. A connection on which that fails is closed, and the
// transaction with it.
func (t *transaction) rollback(ctx context.Context) {
	if !t.begun || t.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancel()
	if _, err := t.conn.Exec(ctx, `rollback`); err != nil {
		_ = t.conn.Close(ctx)
	}
}

// Close implements [sqldriver.Writer].
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.stop()
}

// again is an error after which nothing is done, and the same may succeed.
type again struct{ error }

func (a again) Unwrap() error { return a.error }

// steady reads again what was not read because its connection was lost: connections of the
// pool, when the database was started again, and one after the other is found to be of no use.
type steady struct{ *sql.DB }

// QueryContext implements [sqlrow.Querier].
func (s steady) QueryContext(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	err = unharmed(ctx, func(ctx context.Context) error {
		rows, err = s.DB.QueryContext(ctx, query, args...) //nolint:rowserrcheck,sqlclosecheck // the caller's
		return err
	})
	return rows, err
}

// BeginTx begins a transaction that reads.
func (s steady) BeginTx(ctx context.Context, o *sql.TxOptions) (tx *sql.Tx, err error) {
	err = unharmed(ctx, func(ctx context.Context) error {
		tx, err = s.DB.BeginTx(ctx, o)
		return err
	})
	return tx, err
}

// unharmed repeats what does no harm when it is done twice, and so also when it is not known
// whether it was done before its connection was lost.
func unharmed(ctx context.Context, do func(context.Context) error) error {
	return repeat(ctx, func(ctx context.Context) error {
		err := do(ctx)
		if err != nil && lostConnection(err) {
			return again{err}
		}
		return err
	})
}

// repeat does something again that failed because of what others did at the same time, up to a
// number of times, or because there was no connection, for a time: a database that is started
// again is back within that.
func repeat(ctx context.Context, do func(context.Context) error) error {
	wait := pause
	began := time.Now()
	for n := 1; ; n++ {
		err := do(ctx)
		var known *scrollback.Error
		if err == nil || errors.As(err, &known) || ctx.Err() != nil {
			return err
		}
		var once again
		switch {
		case errors.As(err, &once):
			if time.Since(began) > patience {
				return err
			}
		case taken(err): // who was beaten to a key finds it the next time; with two it is not that
			if n > 2 {
				return err
			}
		case !retryable(err) || n == tries:
			return err
		}
		timer := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait = min(2*wait, maxPause)
	}
}
