package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
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
	db   *sql.DB
	stop func() error // ends what runs in the background

	judge func(ctx context.Context, tx sqlstore.Tx) error // before a commit; nil but in tests

	mu     sync.RWMutex
	closed bool
}

// Write implements [sqlstore.Writer].
func (w *writer) Write(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return scrollback.Errorf(scrollback.Unavailable, "postgres.Write", i18n.DatabaseIsClosed)
	}
	return repeat(ctx, func(ctx context.Context) error { return w.once(ctx, fn) })
}

// once runs fn in a transaction. Only the wait for a connection is cut short by ctx.
func (w *writer) once(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
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
		err := fn(ctx, t)
		if err == nil && w.judge != nil {
			err = w.judge(ctx, t)
		}
		if err != nil {
			return t.undone(ctx, err)
		}
		return t.commit(ctx)
	})
}

// Close implements [sqlstore.Writer].
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
