package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// applicationID marks a file as ours: "scrb".
const applicationID = 0x73637262

// oldestSQLite is the first release that loses no commit to a racing checkpoint.
const oldestSQLite = 3_051_003

// prepareFile makes the file ours and brings it up to date, and returns it opened. It writes nothing to a file that
// already is, and nothing to one that is not ours.
func prepareFile(ctx context.Context, path string, to *connector) (*sql.DB, error) {
	const op = "sqlite.Open"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, scrollback.Errorf(scrollback.Invalid, op, i18n.IsFolder, path)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !held {
		return nil, scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseCannotBeLocked, err)
	}
	defer lock.Unlock()
	info, err := os.Lstat(path)
	if missing := errors.Is(err, fs.ErrNotExist); missing || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		if err := createFile(ctx, path); err != nil {
			return nil, scrollback.Wrap(classifyError(err), op, err)
		}
		return sql.OpenDB(to), nil
	}
	if _, err := os.Stat(path); err == nil {
		// Most files are up to date. The connection that has seen it is kept: each new one reads the whole schema.
		db := sql.OpenDB(to)
		s, err := readSchema(ctx, db, path)
		if err == nil && s.isCurrent() {
			return db, nil
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, scrollback.Wrap(classifyError(err), op, err)
		}
	}
	if err := migrateClosed(ctx, path); err != nil {
		return nil, err
	}
	return sql.OpenDB(to), nil
}

// createFile makes a database under another name and gives it its own when it is complete:
// one whose making is cut short is never there, and the next program starts again.
func createFile(ctx context.Context, path string) error {
	draft := path + ".new"
	for _, part := range append(fileSuffixes[:], "-journal") {
		if err := os.Remove(draft + part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return scrollback.Wrap(scrollback.Unavailable, "sqlite.Open", err)
		}
	}
	err := createPrivateFile(draft)
	if err == nil {
		err = migrateClosed(ctx, draft)
	}
	if err == nil {
		err = setLogAside(path)
	}
	if err == nil {
		err = syncFile(draft)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return scrollback.Wrap(scrollback.Unavailable, "sqlite.Open", err)
}

// setLogAside moves a log away whose database is gone: SQLite would take it for the log of
// the new one. Another program may still have it open, and reads and writes it as before.
func setLogAside(path string) error {
	if _, err := os.Lstat(path + "-wal"); err == nil {
		to, err := newFolder(filepath.Join(filepath.Dir(path), rescueFolder))
		if err == nil {
			err = os.Rename(path+"-wal", filepath.Join(to, filepath.Base(path)+"-wal"))
		}
		if err != nil {
			return err
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// migrateClosed opens a file for as long as it takes to bring it up to date.
func migrateClosed(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", fileDSN(path, "rwc", 0))
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "sqlite.Open", err)
	}
	db.SetMaxOpenConns(1)
	err = migrateFile(ctx, db, path)
	return scrollback.Wrap(classifyError(err), "sqlite.Open", errors.Join(err, db.Close()))
}

// createPrivateFile makes a file that only its owner may read.
func createPrivateFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// syncFile makes the contents of a file durable that no connection has open.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders are not synced there
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// migrateFile brings the file up to date.
func migrateFile(ctx context.Context, db *sql.DB, path string) error {
	s, err := readSchema(ctx, db, path)
	if err != nil || s.isCurrent() {
		return err
	}
	for _, pragma := range []string{"page_size = 512", "auto_vacuum = NONE", "journal_mode = WAL",
		"application_id = " + strconv.Itoa(applicationID)} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	_, err = s.migrations.Up(ctx)
	return err
}

// schema is what a file says about itself.
type schema struct {
	ours            bool  // false for a file without anything
	version, newest int64 // migrations: of the file, of this program
	migrations      *goose.Provider
}

// isCurrent reports whether a file has every migration of this program.
func (s schema) isCurrent() bool { return s.ours && s.version == s.newest }

// readSchema judges a file; one that is not ours, or newer than this program, is
// refused.
func readSchema(ctx context.Context, db *sql.DB, path string) (schema, error) {
	var version string
	var app, tables int64
	err := db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version)
	if err == nil && versionNumber(version) < oldestSQLite {
		return schema{}, scrollback.Errorf(scrollback.Internal, "sqlstore",
			i18n.SQLiteMayLoseCommits, version)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&app)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	}
	var broken *modernc.Error
	if errors.As(err, &broken) && broken.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return schema{}, foreignFileError(path, "it is not a SQLite database")
	}
	if err != nil {
		return schema{}, err
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return schema{}, foreignFileError(path, "it belongs to another program")
	}
	p, err := sqlstore.NewMigrations("sqlite", goose.DialectSQLite3, db)
	if err != nil {
		return schema{}, err
	}
	s := schema{ours: app == applicationID, newest: p.ListSources()[len(p.ListSources())-1].Version, migrations: p}
	if !s.ours {
		return s, nil
	}
	if s.version, err = schemaVersion(ctx, db); err == nil && s.version > s.newest {
		err = scrollback.Errorf(scrollback.Refused, "sqlstore",
			i18n.DatabaseTooNew, s.version,
			s.newest)
	}
	return s, err
}

func foreignFileError(path, why string) error {
	return scrollback.Errorf(scrollback.Refused, "sqlstore", i18n.FileIsNoScrollbackDatabase,
		baseName(path), why)
}

// schemaVersion returns the newest migration a file of ours has; 0 when the process that made it
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
