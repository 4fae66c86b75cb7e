package sqlite

import (
	"database/sql"
	"errors"
	"strconv"
	"syscall"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlaudit"
)

// Transactions that write, and that see one snapshot.
const (
	beginWriting = "BEGIN IMMEDIATE"
	beginReading = "BEGIN"
	dataVersion  = "PRAGMA data_version" // changes when another connection commits
)

// dialect is what SQLite does its own way.
var dialect = sqldriver.Dialect{
	Classify: classify,
	Moving:   moving,
	Probe:    `PRAGMA user_version`,
	SetProbe: func(n int64) string { return `PRAGMA user_version = ` + strconv.FormatInt(n, 10) },
	Tried:    `UPDATE numbers SET last = last WHERE name = 'branch'`,
	Full: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
	},
	Taken: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	},
	Audit: auditDialect,
}

// auditDialect is for checking everything. Any error that is not temporary is taken for
// damage: an overwritten file gives many kinds.
var auditDialect = sqlaudit.Dialect{
	Begin: beginReading,
	Check: `PRAGMA quick_check(100)`,
	Damaged: func(err error) bool {
		return !errors.Is(err, sql.ErrConnDone) && classify(err) == scrollback.Internal
	},
}

// classify sorts SQLite's result codes: what may be temporary is unavailable.
func classify(err error) scrollback.Code {
	var e *modernc.Error
	if !errors.As(err, &e) {
		return sqldriver.Classify(err)
	}
	if moving(err) != "" {
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
