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

// checkEvery is how often a writer without work looks whether its files are still there.
const checkEvery = time.Second

// writer owns the one connection that writes. Jobs that wait while a batch
// commits form the next batch, so that one sync serves them all. If one fails that has
// written, the batch is undone and runs again with a savepoint around each job, which keeps
// it from touching its neighbours. Before and after each commit the open files are compared
// with those at their paths.
type writer struct {
	db          *sql.DB
	conn        *sql.Conn
	tx          *tx
	jobs        chan job
	done        chan struct{}
	upkeep      logUpkeep
	log         *slog.Logger
	files       openFiles
	onDisplaced func() // called once, when files are no longer at their paths
	version     int64  // of the data, as other connections have left it

	checkBatch func(ctx context.Context, tx sqlstore.Tx) error // of a batch before its commit; nil but in tests

	wal         *logWatch             // nil for a database in memory
	size        int64                 // of the database, when it was last looked at
	lost        atomic.Pointer[error] // why nothing can be written any more
	rescued     bool
	rescueTried time.Time // when a rescue was last tried

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
		upkeep: logUpkeep{copied: make(chan struct{}, 1)}, log: log, onDisplaced: func() {}}
	if path != "" {
		if err := w.openLogWatch(ctx, path); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	w.upkeep.copyLog = func() {
		// On the pool's second connection. A failure is left for the next write to report.
		_, _ = db.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`)
	}
	return w, nil
}

// openLogWatch notes which files are open.
func (w *writer) openLogWatch(ctx context.Context, path string) (err error) {
	if w.files, err = statOpenFiles(path); err != nil {
		return err
	}
	w.size = w.files.files[0].Size()
	var page int64
	if err := w.conn.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&page); err != nil {
		return err
	}
	w.wal, err = watchLog(path+"-wal", page)
	return err
}

// Write implements [sqlstore.Writer]: fn runs in the next batch.
func (w *writer) Write(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	j := job{ctx: ctx, fn: fn, done: make(chan error, 1)}
	if err := w.sendJob(j); err != nil {
		return err
	}
	return <-j.done
}

func (w *writer) sendJob(j job) error {
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

func (w *writer) runJobs() {
	defer close(w.done)
	ctx := context.Background()
	for {
		first, ok := w.nextJob(ctx)
		if !ok {
			break
		}
		w.runBatch(w.gatherBatch(first))
		if w.Lost() != nil {
			w.checkAndRescue(ctx)
			continue
		}
		w.upkeep.countBatch(ctx, w.tx)
	}
	w.rescueTried = time.Time{} // there is no later
	w.checkAndRescue(ctx)
	if w.wal != nil { // where an open file cannot be deleted, SQLite could not take the log away
		_ = w.wal.file.Close()
	}
	if w.Lost() != nil {
		// Left open: closing them would write into what is at the path now.
		return
	}
	w.upkeep.waitForCopy()
	// Everything written is committed; an error while closing loses nothing.
	_ = w.tx.closeStatements()
	w.conn.Close()
	w.db.Close()
}

// nextJob waits for a job; while none comes, it looks after the files.
func (w *writer) nextJob(ctx context.Context) (job, bool) {
	for {
		pause := time.NewTimer(checkEvery)
		select {
		case j, ok := <-w.jobs:
			pause.Stop()
			return j, ok
		case <-pause.C:
		}
		w.checkAndRescue(ctx)
	}
}

// gatherBatch takes the jobs that wait, without waiting for more.
func (w *writer) gatherBatch(first job) []job {
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

// runBatch commits a batch, and tells each job how it went.
func (w *writer) runBatch(batch []job) {
	ctx := context.Background()
	errs := make([]error, len(batch))
	err := w.checkFiles(ctx)
	if err == nil {
		err = w.commitBatch(ctx, batch, errs)
	}
	// What went into a file that nobody will find again is not acknowledged.
	after := w.checkFiles(ctx)
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

// commitBatch runs a batch in one transaction. errs is for what only one job has to know.
func (w *writer) commitBatch(ctx context.Context, batch []job, errs []error) error {
	if err := w.beginBatch(ctx); err != nil {
		return err
	}
	err := w.runTogether(ctx, batch, errs)
	if errors.Is(err, errSpoiled) && len(batch) > 1 {
		w.rollBack(ctx)
		if err = w.beginBatch(ctx); err == nil {
			err = w.runApart(ctx, batch, errs)
		}
	}
	if err == nil && w.checkBatch != nil {
		err = w.checkBatch(ctx, w.tx)
	}
	if err == nil {
		err = w.tx.control(ctx, "COMMIT")
	}
	if err != nil {
		w.rollBack(ctx)
	}
	if errors.Is(err, errSpoiled) {
		return nil // the one job knows
	}
	return err
}

// beginBatch opens a transaction. Rows that were kept are forgotten if others wrote meanwhile.
func (w *writer) beginBatch(ctx context.Context) error {
	err := w.tx.control(ctx, beginWriting)
	if err != nil && w.tx.control(ctx, "ROLLBACK") == nil {
		// A transaction that could not be rolled back in its time was in the way.
		w.tx.cache.Clear()
		err = w.tx.control(ctx, beginWriting)
	}
	if err != nil {
		return err
	}
	var version int64
	if err = w.tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&version) }, dataVersion); err != nil {
		w.rollBack(ctx)
		return err
	}
	if version != w.version {
		w.tx.cache.Clear()
		w.version = version
	}
	return nil
}

// errSpoiled says that a job failed that had written, or because of the database.
var errSpoiled = errors.New("a job spoiled its batch")

// runTogether runs jobs until one fails and leaves something behind.
func (w *writer) runTogether(ctx context.Context, batch []job, errs []error) error {
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

// runApart runs jobs so that each fails alone, after one has spoiled their batch. Each runs a
// second time. An error is one that spoils the batch again.
func (w *writer) runApart(ctx context.Context, batch []job, errs []error) error {
	for i, j := range batch {
		if errs[i] = j.ctx.Err(); errs[i] != nil {
			continue
		}
		var err error
		if errs[i], err = w.runInSavepoint(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// runInSavepoint runs a job inside a savepoint. The second error is one that spoils the whole batch.
func (w *writer) runInSavepoint(ctx context.Context, j job) (failed, fatal error) {
	if err := w.tx.control(ctx, "SAVEPOINT job"); err != nil {
		return err, err
	}
	if failed = j.fn(context.WithoutCancel(j.ctx), w.tx); failed != nil {
		w.tx.cache.Clear()
		if err := w.tx.control(ctx, "ROLLBACK TO job"); err != nil {
			return failed, fmt.Errorf("%w (after %s)", err, failed.Error()) // its code is not its neighbours'
		}
	}
	return failed, w.tx.control(ctx, "RELEASE job")
}

// rollBack ends a batch that failed. A full disk may have ended it already.
func (w *writer) rollBack(ctx context.Context) {
	w.tx.cache.Clear()
	_ = w.tx.control(ctx, "ROLLBACK") // "no transaction is active" is as good
}
