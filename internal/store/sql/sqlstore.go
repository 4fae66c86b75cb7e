// Package sqlstore keeps the store in a SQL database: every statement, a file a noun. What a
// database says in its own way is in its [Statements]; its package, such as sqlite, opens it and
// hands it to [New].
//
// Words it adds: table (the columns of rows and the fields they are kept in), kept row (one that
// the writer knows without reading it), to hold (to read a row that stays as it is until the
// transaction ends), tier and run (of the search index; see index.go).
//
// Invariants: a row of messages is inserted and never changed; only the writer
// writes, and each thing it is given succeeds or fails by itself; readers never write; a kept row
// is what a fresh read would return. Parameters are written $1, $2, … which both SQLite and
// PostgreSQL take.
//
// It may not know HTTP, models, budgets, any product rule, or one database.
package sqlstore

import (
	"context"
	"database/sql"
	sqlfault "database/sql/driver"
	"embed"
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

//go:embed migrations
var migrations embed.FS

// NewMigrations are those in the folder of a dialect, for db.
func NewMigrations(folder string, d goose.Dialect, db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(d, db, dir, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// New makes a driver on a database that is up to date.
func New(d Database) *driver.Driver {
	db := &database{Database: d, committed: make(chan struct{}, 1)}
	return &driver.Driver{Log: log{db}, Turns: turns{db}, Views: views{db}, Index: index{db}, Access: access{db},
		Admin: admin{db}, Threads: threads{db}, Ready: db.ready, Clock: d.Clock, Close: db.close}
}

// database is what the parts of a driver share.
type database struct {
	Database
	closed    atomic.Bool
	writes    atomic.Int64
	committed chan struct{}

	uses textUses // where the writer keeps no rows

	threadRows atomic.Int64 // the newest number of a row of a thread
}

// The parts of a driver; each is one of its interfaces over the same rows.
type (
	log    struct{ *database }
	turns  struct{ *database }
	views  struct{ *database }
	index  struct{ *database }
	access struct{ *database }
	admin  struct{ *database }

	threads struct{ *database }
)

// close waits for what is being written and closes the database.
func (db *database) close() error {
	db.closed.Store(true)
	// The connection that may write closes last: SQLite's then leaves no log file
	// beside the database.
	err := db.Readers.Close()
	if db.Writer != nil {
		err = errors.Join(err, db.Writer.Close())
	}
	return err
}

// probes is how many numbers ready goes round.
const probes = 8

// ready is [driver.Driver]'s: it writes a number that goes round, so that the database
// never grows by it, and looks from another connection whether it has moved on.
func (db *database) ready(ctx context.Context) error {
	const op = "sqlstore.Ready"
	was := int64(-1)
	is := int64(0)
	if db.Writer != nil {
		err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
			if err := QueryRow(ctx, w.tx, scanInto(&was), db.Dialect.Probe); err != nil {
				return err
			}
			if err := w.tx.Queue(ctx, db.Dialect.SetProbe((was+1)%probes)); err != nil || db.Dialect.Tried == "" {
				return err
			}
			return w.tx.Queue(ctx, db.Dialect.Tried)
		})
		if err != nil {
			return err
		}
	}
	err := QueryRow(ctx, db.Readers, scanInto(&is), db.Dialect.Probe)
	if err == nil {
		err = QueryRow(ctx, db.Readers, scanInto(new(int64)), `SELECT count(*) FROM conversations WHERE id = ''`)
	}
	if err == nil && is == was {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.WrittenCannotBeReadBack)
	}
	return db.wrapError(op, err)
}

// writeTx is a transaction of the database.
type writeTx struct {
	*database
	tx Tx

	written []string // owners of what was written that stores exchange; see [writeTx.noteWritten]
	told    []string // those of which a change says so
}

// write runs fn in a transaction and returns when it is durable.
func (db *database) write(ctx context.Context, op string, fn func(ctx context.Context, w *writeTx) error) error {
	if db.Writer == nil {
		return scrollback.Errorf(scrollback.Refused, op, i18n.StoreCanOnlyBeRead)
	}
	prune := (db.writes.Add(1)-1)%pruneEvery == 0
	err := db.Writer.Write(ctx, func(ctx context.Context, tx Tx) error {
		w := &writeTx{database: db, tx: tx}
		if err := fn(ctx, w); err != nil {
			return err
		}
		if err := w.recordSilent(ctx); err != nil || !prune {
			return err
		}
		return w.pruneChanges(ctx, driver.ChangesKept)
	})
	if db.Order != nil {
		db.Order.NoteCommit()
		return db.wrapError(op, err)
	}
	select {
	case db.committed <- struct{}{}:
	default: // the last signal was not read yet
	}
	return db.wrapError(op, err)
}

// holdName lets one transaction at a time go on that names the same thing, for what a row that
// is not there yet cannot be held for. Where one writes at a time it does nothing.
func (w *writeTx) holdName(ctx context.Context, name string) error {
	if w.Dialect.HoldName == "" {
		return nil
	}
	return w.tx.Queue(ctx, w.Dialect.HoldName, name)
}

// numberCommits sees to it that what is committed has its numbers.
func (db *database) numberCommits(ctx context.Context) error {
	if db.Order == nil || db.Writer == nil {
		return nil
	}
	return db.Order.NumberCommits(ctx)
}

// now is the time of the database's clock in Unix ms.
func (db *database) now() int64 {
	if db.Clock == nil {
		return time.Now().UnixMilli()
	}
	return db.Clock().UnixMilli()
}

// wrapError classifies an error of the database; errors of ours pass through.
func (db *database) wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if known := new(scrollback.Error); errors.As(err, &known) {
		return err
	}
	if to := db.Dialect.Moving(err); to != "" {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.StoreIsBeingMovedTo,
			to).WithReason(scrollback.ErrMoving)
	}
	code := db.Dialect.Classify(err)
	if code == scrollback.Internal && db.closed.Load() {
		code = scrollback.Unavailable // the pool has no specific error for it
	}
	// Of a file that was cut, some pages are no database's.
	if (code == scrollback.Internal || code == scrollback.Unavailable || code == scrollback.Refused) && db.Lost != nil {
		if lost := db.Lost(); lost != nil {
			return lost
		}
	}
	if wrapped := new(scrollback.Error); db.Dialect.Full(err) && errors.As(scrollback.Wrap(code, op, err), &wrapped) {
		return wrapped.WithReason(scrollback.ErrNoRoom)
	}
	return scrollback.Wrap(code, op, err)
}

// ClassifyError gives a code to errors that are not a database's own: those of the caller's
// context, the connection and the file system may pass; the rest is a fault of ours, such
// as a stored column that cannot be read.
func ClassifyError(err error) scrollback.Code {
	var file *fs.PathError
	var system syscall.Errno
	switch {
	case errors.Is(err, context.Canceled):
		return scrollback.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone), errors.Is(err, sqlfault.ErrBadConn),
		errors.As(err, &file), errors.As(err, &system):
		return scrollback.Unavailable
	}
	return scrollback.Internal
}
