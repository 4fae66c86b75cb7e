package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// maxBatch bounds how many jobs commit together.
const maxBatch = 64

// lookEvery is how often a writer without work looks whether its files are still there.
const lookEvery = time.Second

// writer owns the one connection that writes. Jobs that wait while a batch
// commits form the next batch, so that one sync serves them all. If one fails that has
// written, the batch is undone and runs again with a savepoint around each job, which keeps
// it from touching its neighbours. Before and after each commit the open files are compared
// with those at their paths.
type writer struct {
	db        *sql.DB
	conn      *sql.Conn
	tx        *tx
	jobs      chan job
	done      chan struct{}
	upkeep    upkeep
	log       *slog.Logger
	held      held
	displaced func() // called once, when files are no longer at their paths
	version   int64  // of the data, as other connections have left it

	judge func(ctx context.Context, tx sqlstore.Tx) error // of a batch before its commit; nil but in tests

	wal     *keptLog              // nil for a database in memory
	size    int64                 // of the database, when it was last looked at
	lost    atomic.Pointer[error] // why nothing can be written any more
	rescued bool
	tried   time.Time // when a rescue was last tried

	mu     sync.RWMutex
	closed bool
}

type job struct {
	ctx  context.Context
	fn   func(ctx context.Context, tx sqlstore.Tx) error
	done chan error
}

// newWriter makes a writer of the database at a path; of one in memory if that is empty.
func newWriter(ctx context.Context, db *sql.DB, path string, log *slog.Logger) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// The first read opens the log and its index.
	if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(new(int)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	var direct *tx
	// The pool leaves a connection alone that was taken from it.
	if err := conn.Raw(func(c any) error { direct = newTx(c.(driver.Conn)); return nil }); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w := &writer{db: db, conn: conn, tx: direct, jobs: make(chan job, maxBatch), done: make(chan struct{}),
		upkeep: upkeep{copied: make(chan struct{}, 1)}, log: log, displaced: func() {}}
	if path != "" {
		if err := w.holdFiles(ctx, path); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	w.upkeep.copy = func() {
		// On the pool's second connection. A failure is left for the next write to report.
		_, _ = db.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`)
	}
	return w, nil
}

// holdFiles notes which files are open.
func (w *writer) holdFiles(ctx context.Context, path string) (err error) {
	if w.held, err = hold(path); err != nil {
		return err
	}
	w.size = w.held.files[0].Size()
	var page int64
	if err := w.conn.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&page); err != nil {
		return err
	}
	w.wal, err = keepLog(path+"-wal", page)
	return err
}

// Write implements [sqlstore.Writer]: fn runs in the next batch.
func (w *writer) Write(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	j := job{ctx: ctx, fn: fn, done: make(chan error, 1)}
	if err := w.send(j); err != nil {
		return err
	}
	return <-j.done
}

func (w *writer) send(j job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return scrollback.Errorf(scrollback.Unavailable, "sqlite.Write", i18n.DatabaseIsClosed)
	}
	select {
	case w.jobs <- j:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

// Close implements [sqlstore.Writer].
func (w *writer) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
	return nil
}

func (w *writer) loop() {
	defer close(w.done)
	ctx := context.Background()
	for {
		first, ok := w.next(ctx)
		if !ok {
			break
		}
		w.run(w.gather(first))
		if w.Lost() != nil {
			w.watch(ctx)
			continue
		}
		w.upkeep.committed(ctx, w.tx)
	}
	w.tried = time.Time{} // there is no later
	w.watch(ctx)
	if w.wal != nil { // where an open file cannot be deleted, SQLite could not take the log away
		_ = w.wal.file.Close()
	}
	if w.Lost() != nil {
		// Left open: closing them would write into what is at the path now.
		return
	}
	w.upkeep.close()
	// Everything written is committed; an error while closing loses nothing.
	_ = w.tx.close()
	w.conn.Close()
	w.db.Close()
}

// next waits for a job; while none comes, it looks after the files.
func (w *writer) next(ctx context.Context) (job, bool) {
	for {
		pause := time.NewTimer(lookEvery)
		select {
		case j, ok := <-w.jobs:
			pause.Stop()
			return j, ok
		case <-pause.C:
		}
		w.watch(ctx)
	}
}

// gather takes the jobs that wait, without waiting for more.
func (w *writer) gather(first job) []job {
	batch := []job{first}
	for len(batch) < maxBatch {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// run commits a batch, and tells each job how it went.
func (w *writer) run(batch []job) {
	ctx := context.Background()
	errs := make([]error, len(batch))
	err := w.inspect(ctx)
	if err == nil {
		err = w.commit(ctx, batch, errs)
	}
	// What went into a file that nobody will find again is not acknowledged.
	after := w.inspect(ctx)
	for i, j := range batch {
		if errs[i] == nil {
			errs[i] = err
		}
		if after != nil {
			errs[i] = after
		}
		j.done <- errs[i]
	}
}

// commit runs a batch in one transaction. errs is for what only one job has to know.
func (w *writer) commit(ctx context.Context, batch []job, errs []error) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	err := w.together(ctx, batch, errs)
	if errors.Is(err, errSpoiled) && len(batch) > 1 {
		w.rollback(ctx)
		if err = w.begin(ctx); err == nil {
			err = w.apart(ctx, batch, errs)
		}
	}
	if err == nil && w.judge != nil {
		err = w.judge(ctx, w.tx)
	}
	if err == nil {
		err = w.tx.end(ctx, "COMMIT")
	}
	if err != nil {
		w.rollback(ctx)
	}
	if errors.Is(err, errSpoiled) {
		return nil // the one job knows
	}
	return err
}

// begin opens a transaction. Rows that were kept are forgotten if others wrote meanwhile.
func (w *writer) begin(ctx context.Context) error {
	err := w.tx.end(ctx, beginWriting)
	if err != nil && w.tx.end(ctx, "ROLLBACK") == nil {
		// A transaction that could not be rolled back in its time was in the way.
		w.tx.kept.Clear()
		err = w.tx.end(ctx, beginWriting)
	}
	if err != nil {
		return err
	}
	var version int64
	if err = w.tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&version) }, dataVersion); err != nil {
		w.rollback(ctx)
		return err
	}
	if version != w.version {
		w.tx.kept.Clear()
		w.version = version
	}
	return nil
}

// errSpoiled says that a job failed that had written, or because of the database.
var errSpoiled = errors.New("a job spoiled its batch")

// together runs jobs until one fails and leaves something behind.
func (w *writer) together(ctx context.Context, batch []job, errs []error) error {
	for i, j := range batch {
		if errs[i] = j.ctx.Err(); errs[i] != nil {
			continue
		}
		before := w.tx.writes
		errs[i] = j.fn(context.WithoutCancel(j.ctx), w.tx)
		if errs[i] == nil {
			continue
		}
		if known := new(scrollback.Error); w.tx.writes != before || !errors.As(errs[i], &known) {
			return errSpoiled
		}
	}
	return nil
}

// apart runs jobs so that each fails alone, after one has spoiled their batch. Each runs a
// second time. An error is one that spoils the batch again.
func (w *writer) apart(ctx context.Context, batch []job, errs []error) error {
	for i, j := range batch {
		if errs[i] = j.ctx.Err(); errs[i] != nil {
			continue
		}
		var err error
		if errs[i], err = w.one(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// one runs a job inside a savepoint. The second error is one that spoils the whole batch.
func (w *writer) one(ctx context.Context, j job) (failed, fatal error) {
	if err := w.tx.end(ctx, "SAVEPOINT job"); err != nil {
		return err, err
	}
	if failed = j.fn(context.WithoutCancel(j.ctx), w.tx); failed != nil {
		w.tx.kept.Clear()
		if err := w.tx.end(ctx, "ROLLBACK TO job"); err != nil {
			return failed, fmt.Errorf("%w (after %s)", err, failed.Error()) // its code is not its neighbours'
		}
	}
	return failed, w.tx.end(ctx, "RELEASE job")
}

// rollback ends a batch that failed. A full disk may have ended it already.
func (w *writer) rollback(ctx context.Context) {
	w.tx.kept.Clear()
	_ = w.tx.end(ctx, "ROLLBACK") // "no transaction is active" is as good
}
