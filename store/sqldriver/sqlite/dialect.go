package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"syscall"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlaudit"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Pieces of searches. Scoring a match reads the length of the message, which costs a page
// each: of matches that all hold what is asked for, only the newest are scored.
const (
	bestTerms    = `bm25(message_terms, 0.0, 1.0)`
	newestScored = `max(300, $2)`
	livingTerms  = `FROM message_terms t JOIN messages m ON m.n = t.rowid JOIN conversations c ON c.id = m.conversation_id
		WHERE message_terms MATCH $1 AND (c.deleted_at = 0 OR $4) AND ($3 = '[]' OR c.project IN (SELECT value FROM json_each($3)))
		AND m.created_at >= $5 AND m.created_at < $6`
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
	Probe:    `PRAGMA user_version`,
	SetProbe: func(n int64) string { return `PRAGMA user_version = ` + strconv.FormatInt(n, 10) },
	Full: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
	},
	Taken: func(err error) bool {
		var e *modernc.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	},
	// With RETURNING the statement would run in its own savepoint, and each
	// savepoint writes out what the full-text index holds back.
	InsertNumbered: func(ctx context.Context, tx *sqlrow.Session, query string, args ...any) (int64, error) {
		res, err := tx.Exec(ctx, query, args...)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	},
	InsertTerms:  `INSERT INTO message_terms (rowid, scope, terms) VALUES ($1, $2, $3)`,
	SearchIDs:    `SELECT rowid FROM message_terms WHERE message_terms MATCH $1 ORDER BY ` + bestTerms + `, rowid DESC LIMIT $2`,
	SearchLiving: `SELECT t.rowid ` + livingTerms + ` ORDER BY ` + bestTerms + `, t.rowid DESC LIMIT $2`,
	SearchNewest: `SELECT n FROM (SELECT rowid AS n, ` + bestTerms + ` AS score FROM message_terms WHERE message_terms MATCH $1
		ORDER BY rowid DESC LIMIT ` + newestScored + `) ORDER BY score, n DESC LIMIT $2`,
	SearchNewestLiving: `SELECT n FROM (SELECT t.rowid AS n, ` + bestTerms + ` AS score ` + livingTerms + `
		ORDER BY t.rowid DESC LIMIT ` + newestScored + `) ORDER BY score, n DESC LIMIT $2`,
	Holding:     `SELECT count(*) FROM (SELECT 1 FROM message_terms WHERE message_terms MATCH $1 LIMIT $2)`,
	Documents:   `SELECT coalesce(max(n), 0) FROM messages`,
	Numbered:    `n IN (SELECT value FROM json_each($1))`,
	RemoveTerms: `DELETE FROM message_terms WHERE rowid IN (SELECT value FROM json_each($1))`,
	Expression:  match,
	Audit:       auditDialect,
}

// auditDialect is for checking everything. Any error that is not temporary is taken for
// damage: an overwritten file gives many kinds.
var auditDialect = sqlaudit.Dialect{
	Begin:   beginReading,
	Refresh: `SELECT rowid FROM message_terms WHERE rowid = 0`,
	Check:   `PRAGMA quick_check(100)`,
	Indexed: `EXISTS (SELECT 1 FROM message_terms_docsize d WHERE d.id = messages.n)`,
	Stray: `SELECT d.id FROM message_terms_docsize d
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = d.id) LIMIT 10000`,
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

// match writes an FTS5 expression. Terms hold only letters and digits, so
// quoting them is all the escaping there is.
func match(m driver.Match, scopes [][]string) string {
	var all []string
	for _, scope := range scopes {
		all = append(all, "scope : ("+join(scope, " OR ")+")")
	}
	for _, phrase := range m.Must {
		all = append(all, "terms : "+join(phrase, " + "))
	}
	if len(m.Any) > 0 && len(m.Must) == 0 {
		all = append(all, "terms : ("+join(m.Any, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

func join(terms []string, sep string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		if prefix, ok := strings.CutSuffix(t, "*"); ok {
			quoted[i] = `"` + prefix + `" *`
		} else {
			quoted[i] = `"` + t + `"`
		}
	}
	return strings.Join(quoted, sep)
}
