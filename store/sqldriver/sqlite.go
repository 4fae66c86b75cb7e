package sqldriver

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

//go:embed migrations
var migrations embed.FS

// applicationID marks a file as ours: "scrb".
const applicationID = 0x73637262

// oldestSQLite is the first release that loses no commit to a racing checkpoint.
const oldestSQLite = 3_051_003

// Options tune a database; the zero value is right for the product.
type Options struct {
	Readers  int // connections that read at once; 0 means 4
	MaxPages int // the file's greatest size in pages; 0 means the disk's
}

// OpenSQLite opens the file at path, made when it is not there. It is refused
// when the file is another program's, or newer than this program.
func OpenSQLite(ctx context.Context, path string, o *Options) (*DB, error) {
	if o == nil {
		o = &Options{}
	}
	if err := prepareSQLite(ctx, path); err != nil {
		return nil, err
	}
	d := sqliteDialect
	writing, err := sql.Open("sqlite", sqliteDSN(path, "rwc", o.MaxPages))
	if err != nil {
		return nil, scrollback.Wrap(d.classify(err), "sqldriver.OpenSQLite", err)
	}
	writing.SetMaxOpenConns(2) // the writer's, and one that copies the log
	w, err := newWriter(ctx, writing, d)
	if err != nil {
		writing.Close()
		return nil, scrollback.Wrap(d.classify(err), "sqldriver.OpenSQLite", err)
	}
	readers, err := sql.Open("sqlite", sqliteDSN(path, "ro", 0))
	if err != nil {
		w.close()
		return nil, scrollback.Wrap(d.classify(err), "sqldriver.OpenSQLite", err)
	}
	n := o.Readers
	if n == 0 {
		n = 4
	}
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)
	return &DB{dialect: d, writer: w, readers: readers, read: newSession(readers)}, nil
}

func sqliteDSN(path, mode string, maxPages int) string {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)", "temp_store(MEMORY)", "journal_size_limit(67108864)"}}
	if mode == immutable {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	if mode != "rwc" {
		q.Add("_pragma", "query_only(1)")
	}
	if maxPages > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", maxPages))
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// prepareSQLite makes the file ours and brings it up to date. It writes nothing
// to a file that already is, and nothing to one that is not ours.
func prepareSQLite(ctx context.Context, path string) error {
	const op = "sqldriver.OpenSQLite"
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !held {
		return scrollback.Errorf(scrollback.Unavailable, op, "the lock of the database cannot be had: %w", err)
	}
	defer lock.Unlock()
	if err := ownFile(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, "rwc", 0))
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := migrateSQLite(ctx, db, path); err != nil {
		return scrollback.Wrap(sqliteDialect.classify(err), op, err)
	}
	return nil
}

// ownFile makes a missing file, readable by its owner alone.
func ownFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return scrollback.Errorf(scrollback.Unavailable, "sqldriver.OpenSQLite", "%w", err)
	}
	return f.Close()
}

// migrateSQLite brings the file up to date.
func migrateSQLite(ctx context.Context, db *sql.DB, path string) error {
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

// schema is what a file says of itself.
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
	var broken *sqlite.Error
	if errors.As(err, &broken) && broken.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return schema{}, foreign(path, "it is not a SQLite database")
	}
	if err != nil {
		return schema{}, err
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return schema{}, foreign(path, "it belongs to another program")
	}
	dir, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return schema{}, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
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

// Pieces of searches. Scoring a match reads how long the message is, a page of its
// own for each: of matches that all hold what is asked for, only the newest are.
const (
	bestTerms    = `bm25(message_terms, 0.0, 1.0)`
	newestScored = `max(300, $2)`
	livingTerms  = `FROM message_terms t JOIN messages m ON m.n = t.rowid JOIN conversations c ON c.id = m.conversation_id
		WHERE message_terms MATCH $1 AND (c.deleted_at = 0 OR $4) AND ($3 = '' OR c.project = $3)
		AND m.created_at >= $5 AND m.created_at < $6`
)

var sqliteDialect = dialect{
	classify: classifySQLite,
	taken: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	},
	begin: "BEGIN IMMEDIATE",
	// With RETURNING the statement would run in a savepoint of its own, and each
	// savepoint writes out what the full-text index holds back.
	insertNumbered: func(ctx context.Context, tx *session, query string, args ...any) (int64, error) {
		res, err := tx.exec(ctx, query, args...)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	},
	insertTerms:  `INSERT INTO message_terms (rowid, scope, terms) VALUES ($1, $2, $3)`,
	searchIDs:    `SELECT rowid FROM message_terms WHERE message_terms MATCH $1 ORDER BY ` + bestTerms + `, rowid DESC LIMIT $2`,
	searchLiving: `SELECT t.rowid ` + livingTerms + ` ORDER BY ` + bestTerms + `, t.rowid DESC LIMIT $2`,
	searchNewest: `SELECT n FROM (SELECT rowid AS n, ` + bestTerms + ` AS score FROM message_terms WHERE message_terms MATCH $1
		ORDER BY rowid DESC LIMIT ` + newestScored + `) ORDER BY score, n DESC LIMIT $2`,
	searchNewestLiving: `SELECT n FROM (SELECT t.rowid AS n, ` + bestTerms + ` AS score ` + livingTerms + `
		ORDER BY t.rowid DESC LIMIT ` + newestScored + `) ORDER BY score, n DESC LIMIT $2`,
	mergeTerms:  `INSERT INTO message_terms (message_terms, rank) VALUES ('merge', $1)`,
	holding:     `SELECT count(*) FROM (SELECT 1 FROM message_terms WHERE message_terms MATCH $1 LIMIT $2)`,
	documents:   `SELECT coalesce(max(n), 0) FROM messages`,
	numbered:    `SELECT ` + messageColumns + ` FROM messages WHERE n IN (SELECT value FROM json_each($1))`,
	removeTerms: `DELETE FROM message_terms WHERE rowid IN (SELECT value FROM json_each($1))`,
	expression:  matchSQLite,
	audit:       sqliteAudit,
}

// classifySQLite sorts SQLite's result codes: what may pass is unavailable.
func classifySQLite(err error) scrollback.Code {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return classifyOther(err)
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

// matchSQLite writes an FTS5 expression. Terms hold only letters and digits, so
// quoting them is all the escaping there is.
func matchSQLite(m driver.Match, scopes [][]string) string {
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

// immutable is the mode of a file that no program has open.
const immutable = "immutable"

// ReadSQLite opens the file at path for reading only. It makes nothing, writes
// nothing and works while other programs write. A missing file, or one without
// anything, is not_found; one that is not ours, or of another version than this
// program writes, is refused.
func ReadSQLite(ctx context.Context, path string) (*DB, error) {
	const op = "sqldriver.ReadSQLite"
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "there is no database at %s", path)
	}
	// SQLite keeps a log beside a database that some program has open; to read one
	// without, it would make it. One that nobody has open need not be locked.
	mode, still := immutable, path+"-wal"
	for _, name := range []string{path + "-wal", path + "-journal"} {
		if _, err := os.Stat(name); err == nil {
			mode, still = "ro", ""
		}
	}
	d := sqliteDialect
	db, err := sql.Open("sqlite", sqliteDSN(path, mode, 0))
	if err != nil {
		return nil, scrollback.Wrap(d.classify(err), op, err)
	}
	s, err := readSchema(ctx, db, path)
	switch {
	case err != nil:
		err = scrollback.Wrap(d.classify(err), op, err)
	case !s.ours || s.have == 0:
		err = scrollback.Errorf(scrollback.NotFound, op, "there is nothing in the database at %s yet", path)
	case s.have < s.newest:
		err = scrollback.Errorf(scrollback.Refused, op,
			"the database was written by an older scrollback (schema %d, this program's is %d); any command that writes brings it up to date", s.have, s.newest)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &DB{dialect: d, readers: db, read: newSession(db), still: still}, nil
}

// unchanged says that what was read without locks was not written meanwhile.
func (db *DB) unchanged(op string) error {
	if db.still == "" {
		return nil
	}
	if _, err := os.Stat(db.still); err == nil {
		return scrollback.Errorf(scrollback.Conflict, op, "another program began to write while the database was read; run it again")
	}
	return nil
}

// sqliteAudit is SQLite's. Any error that is no passing state is taken for damage:
// a file that was written over gives many.
var sqliteAudit = auditDialect{
	begin:   "BEGIN",
	refresh: `SELECT rowid FROM message_terms WHERE rowid = 0`,
	check:   `PRAGMA quick_check(100)`,
	indexed: `EXISTS (SELECT 1 FROM message_terms_docsize d WHERE d.id = messages.n)`,
	stray: `SELECT d.id FROM message_terms_docsize d
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = d.id) LIMIT 10000`,
	damaged: func(err error) bool {
		return !errors.Is(err, sql.ErrConnDone) && classifySQLite(err) == scrollback.Internal
	},
	copy: copySQLite,
}

// copyPages is how many pages a step of a copy takes; between steps it may be
// ended.
const copyPages = 4096

// copySQLite copies page by page. The reading transaction of conn keeps the picture
// as it is: nobody waits for the copy, and it never begins anew.
func copySQLite(ctx context.Context, conn *sql.Conn, path string) error {
	var version int64
	if err := conn.QueryRowContext(ctx, `PRAGMA schema_version`).Scan(&version); err != nil { // the transaction begins with its first read
		return err
	}
	return conn.Raw(func(c any) error {
		from, ok := c.(interface {
			NewBackup(uri string) (*sqlite.Backup, error)
		})
		if !ok {
			return scrollback.Errorf(scrollback.Internal, "sqldriver.Copy", "%T cannot be copied", c)
		}
		b, err := from.NewBackup((&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=rw"}).String())
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				more, err = b.Step(copyPages)
			}
		}
		return errors.Join(err, b.Finish())
	})
}

// Copy implements driver.Audit.
func (db *DB) Copy(ctx context.Context, path string) (err error) {
	const op = "sqldriver.Copy"
	// A copy that is not whole never has the name of one; this name is a lock too.
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		defer func() {
			if err != nil {
				_ = os.Remove(part)
			}
		}()
		err = f.Close()
	}
	if err == nil {
		if _, err = os.Lstat(path); err == nil {
			err = fs.ErrExist
		} else if errors.Is(err, fs.ErrNotExist) {
			err = db.copyTo(ctx, part)
		}
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return scrollback.Errorf(scrollback.Conflict, op, "there is a file at %s already", path)
	}
	return db.wrap(op, err)
}

// copyTo copies from one picture of the database.
func (db *DB) copyTo(ctx context.Context, path string) error {
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, db.dialect.audit.begin); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	return db.dialect.audit.copy(ctx, conn, path)
}
