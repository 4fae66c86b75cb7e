// Package sqldriver keeps the store in a SQL database: every statement once,
// with a dialect for what the databases do not share.
//
// Words it adds: dialect (opening, migrating, full text and error codes of one
// database), session (statements prepared once on something that runs them),
// batch (transactions that commit together).
//
// Invariants: a row of messages is inserted and never changed; only the writer
// writes, one batch at a time, and every job of a batch stands or falls alone;
// readers never write. Parameters are written $1, $2, … which both SQLite and
// PostgreSQL take.
//
// It may not know HTTP, models, budgets, or any product rule.
package sqldriver

import (
	"context"
	"database/sql"
	sqlfault "database/sql/driver"
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// DB is a driver.Driver on a SQL database.
type DB struct {
	dialect dialect
	writer  *writer
	readers *sql.DB
	read    *session
	closed  atomic.Bool
	still   string // a file that must stay away while this is read; empty for none
}

var _ driver.Driver = (*DB)(nil)

// dialect is what one database does its own way.
type dialect struct {
	// classify gives an error of the database its code.
	classify func(error) scrollback.Code
	// taken says that an error is of a key that exists already.
	taken func(error) bool
	// begin starts a transaction that may write.
	begin string
	// insertNumbered inserts a row and answers the number that it was given.
	insertNumbered func(ctx context.Context, tx *session, query string, args ...any) (int64, error)
	// insertTerms indexes message $1 by scope $2 and terms $3.
	insertTerms string
	// mergeTerms merges about $1 pages of the index; empty where the database does
	// that by itself.
	mergeTerms string
	// searchIDs finds at most $2 message numbers by the match expression $1, best
	// first; searchLiving likewise, of project $3 unless that is empty, in
	// conversations that are not in the trash unless $4, and of a time from $5 and
	// before $6; searchNewest and
	// searchNewestLiving likewise among the newest matches only; holding counts those
	// of $1, up to $2; documents is how many messages there are.
	searchIDs, searchLiving, searchNewest, searchNewestLiving, holding, documents string
	// numbered reads the messages whose numbers are in the JSON list $1, and
	// removeTerms removes what search finds them by.
	numbered, removeTerms string
	// expression writes a match, narrowed to scope terms, as $1 of the above.
	expression func(m driver.Match, scopes [][]string) string
	// audit is for checking everything.
	audit auditDialect
}

// Close waits for the batch under way and closes the database.
func (db *DB) Close() error {
	db.closed.Store(true)
	// The connection that may write closes last: it then leaves no log file beside
	// the database.
	err := errors.Join(db.read.close(), db.readers.Close())
	if db.writer != nil {
		db.writer.close()
	}
	return err
}

// write runs fn in a transaction and answers when it is durable.
func (db *DB) write(ctx context.Context, op string, fn func(ctx context.Context, tx *session) error) error {
	if db.writer == nil {
		return scrollback.Errorf(scrollback.Refused, op, "the database was opened for reading only")
	}
	return db.wrap(op, db.writer.do(ctx, fn))
}

// wrap classifies an error of the database; errors of ours pass through.
func (db *DB) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if known := new(scrollback.Error); errors.As(err, &known) {
		return err
	}
	code := db.dialect.classify(err)
	if code == scrollback.Internal && db.closed.Load() {
		code = scrollback.Unavailable // the pool has no error of its own for it
	}
	return scrollback.Wrap(code, op, err)
}

// classifyOther sorts errors that are not a database's answer: the caller's
// context, the connection and the file system pass; the rest is a fault of ours,
// as a stored column that cannot be read.
func classifyOther(err error) scrollback.Code {
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
