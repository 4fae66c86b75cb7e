// Package sqlite opens the store's database in an SQLite file, and holds what sqlstore
// does not share with other databases.
//
// Words it adds: batch (transactions that commit together), upkeep (copying the log
// into the database beside the writer).
//
// Invariants: one connection writes, one batch at a time, and every job of a batch
// succeeds or fails alone; a write that was acknowledged survives a power cut; a file
// that is not ours is never written to.
//
// It may not know HTTP, models, budgets, or any product rule.
package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// Options tune a database; the zero value is right for the product.
type Options struct {
	Readers  int          // connections that read at once; 0 means 4
	MaxPages int          // the file's greatest size in pages; 0 means as much as the disk holds
	Log      *slog.Logger // nil discards

	checkBatch func(ctx context.Context, tx sqlstore.Tx) error // see writer
}

// Open opens the file at path, and makes it if it does not exist. It is refused if the
// file is another program's, or newer than this program.
func Open(ctx context.Context, path string, o *Options) (*driver.Driver, error) {
	d, err := openDatabase(ctx, path, o)
	if err != nil {
		return nil, err
	}
	out := sqlstore.New(d)
	if err := sqlstore.CheckNode(ctx, d); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// OpenMemory makes a database in memory, which nothing else sees and which ends with its driver.
func OpenMemory(ctx context.Context, o *Options) (*driver.Driver, error) {
	d, err := openMemoryDatabase(ctx, o)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "sqlite.OpenMemory", err)
	}
	return sqlstore.New(d), nil
}

// openMemoryDatabase opens what a driver runs on. The database is there as long as one connection is open.
func openMemoryDatabase(ctx context.Context, o *Options) (sqlstore.Database, error) {
	if o == nil {
		o = &Options{}
	}
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	name := rand.Text()
	writing := sql.OpenDB(&connector{dsn: memoryDSN(name, "rwc")})
	writing.SetMaxOpenConns(2)
	first, err := writing.Conn(ctx)
	if err != nil {
		return sqlstore.Database{}, errors.Join(err, writing.Close())
	}
	defer first.Close()
	err = migrateFile(ctx, writing, "memory:")
	var w *writer
	if err == nil {
		w, err = newWriter(ctx, writing, "", log)
	}
	if err != nil {
		return sqlstore.Database{}, errors.Join(err, writing.Close())
	}
	w.checkBatch = o.checkBatch
	readers := sql.OpenDB(&connector{dsn: memoryDSN(name, "ro")})
	readers.SetMaxOpenConns(cmp.Or(o.Readers, defaultReaders))
	readers.SetMaxIdleConns(cmp.Or(o.Readers, defaultReaders))
	go w.runJobs()
	return sqlstore.Database{Dialect: dialect, Readers: newReaders(readers), Writer: w, Copy: newCopier(readers)}, nil
}

// memoryDSN names a database in memory, which connections of this process share.
func memoryDSN(name, mode string) string {
	q := url.Values{"vfs": {"memdb"}, "_pragma": {"busy_timeout(5000)", "temp_store(MEMORY)"}}
	if mode == "ro" {
		q.Add("_pragma", "query_only(1)")
	}
	return "file:/" + name + "?" + q.Encode()
}

// defaultReaders is how many connections read at once.
const defaultReaders = 4

// openDatabase opens what a driver runs on.
func openDatabase(ctx context.Context, path string, o *Options) (sqlstore.Database, error) {
	const op = "sqlite.Open"
	if o == nil {
		o = &Options{}
	}
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	to := &connector{dsn: fileDSN(path, "rw", o.MaxPages)}
	writing, err := prepareFile(ctx, path, to)
	if err != nil {
		return sqlstore.Database{}, markUnwritable(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		return sqlstore.Database{}, errors.Join(scrollback.Wrap(scrollback.Unavailable, op, err), writing.Close())
	}
	writing.SetMaxOpenConns(2) // the writer's, and one that copies the log
	w, err := newWriter(ctx, writing, path, log)
	if err == nil && !os.SameFile(before, w.files.files[0]) {
		err = errors.Join(displacedError("%s was replaced while it was opened", path), w.conn.Close())
	}
	if err != nil {
		writing.Close()
		return sqlstore.Database{}, markUnwritable(scrollback.Wrap(classifyError(err), op, err))
	}
	same := func() error { _, err := w.files.checkUnchanged(); return err }
	to.allow = same
	n := cmp.Or(o.Readers, defaultReaders)
	readers := sql.OpenDB(&connector{dsn: fileDSN(path, "ro", 0), allow: same})
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)
	// Those that are open go on reading what they have; no other ones can be opened.
	w.onDisplaced = func() { readers.SetMaxOpenConns(max(1, readers.Stats().OpenConnections)) }
	w.checkBatch = o.checkBatch
	go w.runJobs()
	return sqlstore.Database{Dialect: dialect, Readers: newReaders(readers), Writer: w,
		Place: newPlace(path), Copy: newCopier(readers), Lost: w.checkStillOpen}, nil
}

func fileDSN(path, mode string, maxPages int) string {
	return fileDSNWaiting(path, mode, maxPages, busyTimeout)
}

// busyTimeout is how long a connection waits for another that holds a lock, in ms.
const busyTimeout = 5000

// fileDSNWaiting is fileDSN with another time for locks, in ms.
func fileDSNWaiting(path, mode string, maxPages, wait int) string {
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", wait), "synchronous(FULL)", "wal_autocheckpoint(0)",
		"temp_store(MEMORY)", "journal_size_limit(67108864)"}}
	if mode == immutable {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	if mode != "rwc" && mode != "rw" {
		q.Add("_pragma", "query_only(1)")
	}
	if maxPages > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", maxPages))
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}
