// Package sqlite opens the store's database in an SQLite file, and holds what sqldriver
// does not share with other databases.
//
// Words it adds: batch (transactions that commit together), upkeep (work on the file
// that can wait until nobody writes).
//
// Invariants: one connection writes, one batch at a time, and every job of a batch
// succeeds or fails alone; a write that was acknowledged survives a power cut; a file
// that is not ours is never written to.
//
// It may not know HTTP, models, budgets, or any product rule.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Options tune a database; the zero value is right for the product.
type Options struct {
	Readers  int // connections that read at once; 0 means 4
	MaxPages int // the file's greatest size in pages; 0 means as much as the disk holds
}

// Open opens the file at path, and makes it if it does not exist. It is refused if the
// file is another program's, or newer than this program.
func Open(ctx context.Context, path string, o *Options) (*driver.Driver, error) {
	d, err := connect(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return sqldriver.New(d), nil
}

// connect opens what a driver runs on.
func connect(ctx context.Context, path string, o *Options) (sqldriver.Database, error) {
	const op = "sqlite.Open"
	if o == nil {
		o = &Options{}
	}
	if err := prepare(ctx, path); err != nil {
		return sqldriver.Database{}, err
	}
	writing, err := sql.Open("sqlite", dsn(path, "rwc", o.MaxPages))
	if err != nil {
		return sqldriver.Database{}, scrollback.Wrap(classify(err), op, err)
	}
	writing.SetMaxOpenConns(2) // the writer's, and one that copies the log
	w, err := newWriter(ctx, writing)
	if err != nil {
		writing.Close()
		return sqldriver.Database{}, scrollback.Wrap(classify(err), op, err)
	}
	readers, err := sql.Open("sqlite", dsn(path, "ro", 0))
	if err != nil {
		return sqldriver.Database{}, errors.Join(scrollback.Wrap(classify(err), op, err), w.Close())
	}
	n := o.Readers
	if n == 0 {
		n = 4
	}
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)
	return sqldriver.Database{Dialect: dialect, Readers: readers, Read: sqlrow.NewSession(readers), Writer: w, Copy: copier(readers)}, nil
}

func dsn(path, mode string, maxPages int) string {
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

// immutable is the mode of a file that no program has open.
const immutable = "immutable"

// OpenReadOnly opens the file at path for reading only. It makes nothing, writes nothing
// and works while other programs write. A missing or empty file is not_found; one that is
// not ours, or of another version than this program writes, is refused.
func OpenReadOnly(ctx context.Context, path string) (*driver.Driver, error) {
	const op = "sqlite.OpenReadOnly"
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "there is no database at %s", path)
	}
	// SQLite keeps a log beside a database that some program has open; to read one
	// without, it would make it. One that nobody has open need not be locked.
	mode, unchanged := immutable, func() error { return stillAway(path + "-wal") }
	for _, name := range []string{path + "-wal", path + "-journal"} {
		if _, err := os.Stat(name); err == nil {
			mode, unchanged = "ro", nil
		}
	}
	db, err := sql.Open("sqlite", dsn(path, mode, 0))
	if err != nil {
		return nil, scrollback.Wrap(classify(err), op, err)
	}
	s, err := readSchema(ctx, db, path)
	switch {
	case err != nil:
		err = scrollback.Wrap(classify(err), op, err)
	case !s.ours || s.have == 0:
		err = scrollback.Errorf(scrollback.NotFound, op, "there is nothing in the database at %s yet", path)
	case s.have < s.newest:
		err = scrollback.Errorf(scrollback.Refused, op,
			"the database was written by an older scrollback (schema %d, this program's is %d); any command that writes brings it up to date", s.have, s.newest)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return sqldriver.New(sqldriver.Database{Dialect: dialect, Readers: db, Read: sqlrow.NewSession(db), Copy: copier(db), Unchanged: unchanged}), nil
}

// stillAway returns an error if a log that did not exist when reading began has appeared.
func stillAway(log string) error {
	if _, err := os.Stat(log); err == nil {
		return scrollback.Errorf(scrollback.Conflict, "sqlite.Audit", "another program began to write while the database was read; run it again")
	}
	return nil
}
