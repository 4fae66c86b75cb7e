// Package sqldriver keeps the store in a SQL database: every statement once,
// with a dialect for what the databases do not share. A dialect's own package, such as
// sqlite, opens the database and hands it to [New].
//
// Words it adds: dialect (error codes and checks of one kind of
// database), writer (how its write transactions run).
//
// Invariants: a row of messages is inserted and never changed; only the writer
// writes, and each thing it is given succeeds or fails by itself; readers never write.
// Parameters are written $1, $2, … which both SQLite and PostgreSQL take.
//
// It may not know HTTP, models, budgets, any product rule, or one database.
package sqldriver

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
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlindex"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

//go:embed migrations
var migrations embed.FS

// Migrations are those in the folder of a dialect, for db.
func Migrations(folder string, d goose.Dialect, db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(d, db, dir, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// Writer runs transactions that may write.
type Writer interface {
	// Write runs fn in a transaction and returns when its work is durable, or all of it
	// undone. An error of fn is returned as it is. fn may not use its session afterwards,
	// and what it left for later runs before the commit. It may run twice, when another
	// that commits with it fails. Once begun, a write is not cut short by ctx.
	Write(ctx context.Context, fn func(ctx context.Context, tx *sqlrow.Session) error) error

	// Close waits for what is under way; later writes are unavailable.
	Close() error
}

// Database is an open database.
type Database struct {
	Dialect Dialect
	Readers sqlrow.Pool     // closed with the driver
	Read    *sqlrow.Session // on Readers
	Writer  Writer          // nil: it was opened for reading only

	// Clock is the time of the database; see [driver.Driver].
	Clock func() time.Time

	// Order is where rows are numbered after they were committed; nil where they are as they
	// are written.
	Order Order

	// Copy writes one snapshot of the database to a new file; see [driver.Audit].
	Copy func(ctx context.Context, path string) error

	// Unchanged returns an error if what was read without locks was written meanwhile; nil
	// if reading locks.
	Unchanged func() error

	// Lost is asked after an error, and returns why what is open is no longer the database
	// that others see, or nil; a nil Lost is for where that cannot happen.
	Lost func() error
}

// Order numbers what was committed, in one order for everybody: transactions that commit
// beside each other do not do so in the order of numbers that they would take.
type Order interface {
	// Settle numbers what is committed and has no number yet.
	Settle(ctx context.Context) error

	// Wrote is called after each commit; it does not wait.
	Wrote()

	// News has something when changes were numbered, here or elsewhere.
	News() <-chan struct{}
}

// New makes a driver on a database that is up to date.
func New(d Database) *driver.Driver {
	db := &database{Database: d, committed: make(chan struct{}, 1)}
	clock := d.Clock
	if d.Clock == nil {
		clock = time.Now
	}
	keys := keys{Read: db.Read, Write: db.write, Wrap: db.wrap}
	index := sqlindex.Index{Readers: db.Readers, Read: db.Read, Write: db.write, Wrap: db.wrap, Clock: clock,
		Settled: db.settled}
	return &driver.Driver{Log: log{db}, Read: reader{db}, Turns: turns{db}, Views: views{db}, Refs: refs{db},
		Index: index, Book: book{db}, Audit: audit{db}, Hashes: hashes{db}, Move: move{db}, Keys: keys,
		Limits: limits(keys),
		Feed:   feed{db}, Projects: projects{db}, Origins: origins(keys), Claims: claims(keys),
		Ready: db.ready, Clock: d.Clock, Close: db.close}
}

// database is what the parts of a driver share.
type database struct {
	Database
	closed    atomic.Bool
	writes    atomic.Int64
	committed chan struct{}
}

// The parts of a driver; each is one of its interfaces over the same rows.
type (
	log    struct{ *database }
	reader struct{ *database }
	turns  struct{ *database }
	views  struct{ *database }
	refs   struct{ *database }
	book   struct{ *database }
	audit  struct{ *database }
	hashes struct{ *database }
	move   struct{ *database }
	feed   struct{ *database }

	projects struct{ *database }
)

// close waits for what is being written and closes the database.
func (db *database) close() error {
	db.closed.Store(true)
	// The connection that may write closes last: SQLite's then leaves no log file
	// beside the database.
	err := errors.Join(db.Read.Close(), db.Readers.Close())
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
	const op = "sqldriver.Ready"
	number := func(n *int64) func(sqlrow.Scanner) error {
		return func(r sqlrow.Scanner) error { return r.Scan(n) }
	}
	was := int64(-1)
	is := int64(0)
	if db.Writer != nil {
		err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
			if err := tx.Row(ctx, number(&was), db.Dialect.Probe); err != nil {
				return err
			}
			if err := tx.Run(ctx, db.Dialect.SetProbe((was+1)%probes)); err != nil || db.Dialect.Tried == "" {
				return err
			}
			return tx.Run(ctx, db.Dialect.Tried)
		})
		if err != nil {
			return err
		}
	}
	err := db.Read.Row(ctx, number(&is), db.Dialect.Probe)
	if err == nil {
		err = db.Read.Row(ctx, number(new(int64)), `SELECT count(*) FROM conversations WHERE id = ''`)
	}
	if err == nil && is == was {
		return scrollback.Errorf(scrollback.Unavailable, op, "what was written cannot be read back")
	}
	return db.wrap(op, err)
}

// write runs fn in a transaction and returns when it is durable.
func (db *database) write(ctx context.Context, op string,
	fn func(ctx context.Context, tx *sqlrow.Session) error) error {
	if db.Writer == nil {
		return scrollback.Errorf(scrollback.Refused, op, "this scrollback can only be read: nothing was changed")
	}
	prune := (db.writes.Add(1)-1)%pruneEvery == 0
	err := db.Writer.Write(ctx, func(ctx context.Context, tx *sqlrow.Session) error {
		if err := fn(ctx, tx); err != nil || !prune {
			return err
		}
		return pruneChanges(ctx, tx, driver.ChangesKept)
	})
	if db.Order != nil {
		db.Order.Wrote()
		return db.wrap(op, err)
	}
	select {
	case db.committed <- struct{}{}:
	default: // whoever is told has not looked yet
	}
	return db.wrap(op, err)
}

// settled sees to it that what is committed has its numbers.
func (db *database) settled(ctx context.Context) error {
	if db.Order == nil || db.Writer == nil {
		return nil
	}
	return db.Order.Settle(ctx)
}

// pruneEvery is after how many writes of a process old changes are removed; with its first
// write too, because most processes do not write much.
const pruneEvery = 256

// Changes implements [driver.Feed].
func (db feed) Changes(ctx context.Context, after int64, limit int) ([]driver.Changed, error) {
	const op = "sqldriver.Changes"
	if err := db.settled(ctx); err != nil {
		return nil, db.wrap(op, err)
	}
	out, err := listChanges(ctx, db.Read, after, limit)
	return out, db.wrap(op, err)
}

// Span implements [driver.Feed].
func (db feed) Span(ctx context.Context) (oldest, newest int64, err error) {
	const op = "sqldriver.Span"
	if err := db.settled(ctx); err != nil {
		return 0, 0, db.wrap(op, err)
	}
	oldest, newest, err = findChangeSpan(ctx, db.Read)
	return oldest, newest, db.wrap(op, err)
}

// Committed implements [driver.Feed].
func (db feed) Committed() <-chan struct{} {
	if db.Order != nil {
		return db.Order.News()
	}
	return db.committed
}

// wrap classifies an error of the database; errors of ours pass through.
func (db *database) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if known := new(scrollback.Error); errors.As(err, &known) {
		return err
	}
	if to := db.Dialect.Moving(err); to != "" {
		return scrollback.Errorf(scrollback.Unavailable, op, "this store is being moved to %s; here it can only be read",
			to).Because(scrollback.ErrMoving)
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
		return wrapped.Because(scrollback.ErrNoRoom)
	}
	return scrollback.Wrap(code, op, err)
}

// Classify gives a code to errors that are not a database's own: those of the caller's
// context, the connection and the file system may pass; the rest is a fault of ours, such
// as a stored column that cannot be read.
func Classify(err error) scrollback.Code {
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
