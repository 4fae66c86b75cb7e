package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"syscall"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// Transactions that write, and that see one snapshot.
const (
	beginWriting = "BEGIN IMMEDIATE"
	beginReading = "BEGIN"
	dataVersion  = "PRAGMA data_version" // changes when another connection commits
)

// dialect is what SQLite does its own way.
var dialect = sqlstore.Dialect{
	Statements: statements,
	Classify:   classifyError,
	Moving:     findMoveTarget,
	SetProbe:   func(n int64) string { return `PRAGMA user_version = ` + strconv.FormatInt(n, 10) },
	Full: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
	},
	Taken: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	},
	// Any error that is not temporary is taken for damage: an overwritten file gives many kinds.
	Damaged: func(err error) bool {
		return err != nil && !errors.Is(err, sql.ErrConnDone) && classifyError(err) == scrollback.Internal
	},
	BranchNumber: nextBranch,
}

// nextBranch implements [sqlstore.Dialect]'s BranchNumber.
func nextBranch(ctx context.Context, tx sqlstore.Tx) (n int64, err error) {
	if err := tx.Queue(ctx, `UPDATE numbers SET last = last + 1 WHERE name = 'branch'`); err != nil {
		return 0, err
	}
	err = tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&n) }, `SELECT last FROM numbers WHERE name = 'branch'`)
	return n, err
}

// classifyError sorts SQLite's result codes: what may be temporary is unavailable.
func classifyError(err error) scrollback.Code {
	var e *modernc.Error
	if !errors.As(err, &e) {
		return sqlstore.ClassifyError(err)
	}
	if findMoveTarget(err) != "" {
		return scrollback.Unavailable
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL:
		return scrollback.Unavailable
	case sqlite3.SQLITE_INTERRUPT:
		return scrollback.Canceled
	case sqlite3.SQLITE_NOTADB:
		return scrollback.Refused
	}
	return scrollback.Internal
}
