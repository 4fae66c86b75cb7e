package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
)

// applicationID marks a file as ours: "scrb".
const applicationID = 0x73637262

// oldestSQLite is the first release that loses no commit to a racing checkpoint.
const oldestSQLite = 3_051_003

// prepare makes the file ours and brings it up to date. It writes nothing to a file that
// already is, and nothing to one that is not ours.
func prepare(ctx context.Context, path string) error {
	const op = "sqlite.Open"
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !held {
		return scrollback.Errorf(scrollback.Unavailable, op, "the database cannot be locked: %w", err)
	}
	defer lock.Unlock()
	if err := ownFile(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, "rwc", 0))
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db, path); err != nil {
		return scrollback.Wrap(classify(err), op, err)
	}
	return nil
}

// ownFile makes a missing file, readable by its owner alone.
func ownFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return scrollback.Errorf(scrollback.Unavailable, "sqlite.Open", "%w", err)
	}
	return f.Close()
}

// migrate brings the file up to date.
func migrate(ctx context.Context, db *sql.DB, path string) error {
	s, err := readSchema(ctx, db, path)
	if err != nil || s.ours && s.have == s.newest {
		return err
	}
	for _, pragma := range []string{"page_size = 1024", "auto_vacuum = NONE", "journal_mode = WAL", "application_id = " + strconv.Itoa(applicationID)} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	_, err = s.migrations.Up(ctx)
	return err
}

// schema is what a file says about itself.
type schema struct {
	ours         bool  // false for a file without anything
	have, newest int64 // migrations: of the file, of this program
	migrations   *goose.Provider
}

// readSchema judges a file; one that is not ours, or newer than this program, is
// refused.
func readSchema(ctx context.Context, db *sql.DB, path string) (schema, error) {
	var version string
	var app, tables int64
	err := db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version)
	if err == nil && versionNumber(version) < oldestSQLite {
		return schema{}, scrollback.Errorf(scrollback.Internal, "sqldriver", "SQLite %s may lose commits; 3.51.3 or newer is needed", version)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&app)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	}
	var broken *modernc.Error
	if errors.As(err, &broken) && broken.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return schema{}, foreign(path, "it is not a SQLite database")
	}
	if err != nil {
		return schema{}, err
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return schema{}, foreign(path, "it belongs to another program")
	}
	p, err := sqldriver.Migrations("sqlite", goose.DialectSQLite3, db)
	if err != nil {
		return schema{}, err
	}
	s := schema{ours: app == applicationID, newest: p.ListSources()[len(p.ListSources())-1].Version, migrations: p}
	if !s.ours {
		return s, nil
	}
	if s.have, err = schemaVersion(ctx, db); err == nil && s.have > s.newest {
		err = scrollback.Errorf(scrollback.Refused, "sqldriver",
			"the database was written by a newer scrollback (schema %d, this program knows %d); nothing was changed", s.have, s.newest)
	}
	return s, err
}

func foreign(path, why string) error {
	return scrollback.Errorf(scrollback.Refused, "sqldriver", "%s is not a scrollback database: %s; nothing was changed", baseName(path), why)
}

// schemaVersion is the newest migration a file of ours has; 0 when whoever made it
// was killed before the first.
func schemaVersion(ctx context.Context, db *sql.DB) (have int64, err error) {
	var tables int64
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'`).Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&have)
	return have, err
}

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func versionNumber(v string) int {
	n := 0
	for _, part := range append(strings.Split(v, "."), "0", "0")[:3] {
		d, _ := strconv.Atoi(part)
		n = n*1000 + d
	}
	return n
}
