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
	// maxTries is how often a transaction is run that others make fail.
	maxTries = 8
	// minPause is before the second try; it doubles up to maxPause.
	minPause = 4 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// maxConnectWait is for how long a connection is tried to get.
	maxConnectWait = 5 * time.Second
	// maxWrite bounds a transaction: a database that no longer speaks fails it.
	maxWrite = 30 * time.Second
)

// writer runs each write as a transaction of its own. Rows that it judges by are locked as
// they are read, the conversation's first.
type writer struct {
	db   *sql.DB
	stop func() error // ends what runs in the background

	checkWrite func(ctx context.Context, tx sqlstore.Tx) error // before a commit; nil but in tests

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
	return retryTransaction(ctx, func(ctx context.Context) error { return w.writeOnce(ctx, fn) })
}

// writeOnce runs fn in a transaction. Only the wait for a connection is cut short by ctx.
func (w *writer) writeOnce(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	conn, err := w.db.Conn(ctx)
	if err != nil && isConnectionLost(err) {
		return retryableError{err}
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
		if err == nil && w.checkWrite != nil {
			err = w.checkWrite(ctx, t)
		}
		if err != nil {
			return t.failUncommitted(ctx, err)
		}
		return t.commitWaiting(ctx)
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

// retryableError is an error after which nothing was done, so that another try may succeed.
type retryableError struct{ error }

func (a retryableError) Unwrap() error { return a.error }

// retryIdempotent repeats what may safely be done twice, and so also when it is not known
// whether it was done before its connection was lost.
func retryIdempotent(ctx context.Context, do func(context.Context) error) error {
	return retryTransaction(ctx, func(ctx context.Context) error {
		err := do(ctx)
		if err != nil && isConnectionLost(err) {
			return retryableError{err}
		}
		return err
	})
}

// retryTransaction repeats what failed because of what others did at the same time, up to a
// number of times, or because there was no connection, for a time: a database that is started
// again is back within that.
func retryTransaction(ctx context.Context, do func(context.Context) error) error {
	wait := minPause
	began := time.Now()
	for n := 1; ; n++ {
		err := do(ctx)
		var known *scrollback.Error
		if err == nil || errors.As(err, &known) || ctx.Err() != nil {
			return err
		}
		var once retryableError
		switch {
		case errors.As(err, &once):
			if time.Since(began) > maxConnectWait {
				return err
			}
		case isKeyTaken(err): // who was beaten to a key finds it the next time; with two it is not that
			if n > 2 {
				return err
			}
		case !isRetryable(err) || n == maxTries:
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
