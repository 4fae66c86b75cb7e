//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// bare is a table of texts with a whole number as its key, in a database of its own: the
// least that this driver can do for what is said in a turn.
type bare struct {
	db     *sql.DB
	conn   *sql.Conn
	insert *sql.Stmt
}

// openBare makes a bare table; it is as durable as the store is.
func (b *bench) openBare(name string) (t bare, err error) {
	if err := os.MkdirAll(filepath.Join(b.dir, name), 0o700); err != nil {
		return t, err
	}
	if t.db, err = sql.Open("sqlite", "file:"+b.file(name)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"); err != nil {
		return t, err
	}
	t.conn, err = t.db.Conn(b.ctx)
	if err == nil {
		_, err = t.conn.ExecContext(b.ctx, `CREATE TABLE IF NOT EXISTS said (n INTEGER PRIMARY KEY, text TEXT NOT NULL)`)
	}
	if err == nil {
		t.insert, err = t.conn.PrepareContext(b.ctx, `INSERT INTO said (text) VALUES (?)`)
	}
	if err != nil {
		return t, errors.Join(err, t.db.Close())
	}
	return t, nil
}

func (t bare) close() error { return errors.Join(t.insert.Close(), t.conn.Close(), t.db.Close()) }

// rawSQLite inserts what turns say into a bare table, each message in a transaction of its
// own.
func (b *bench) rawSQLite(w *writer, r int) (err error) {
	t, err := b.openBare("raw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	before, err := written()
	if err != nil {
		return err
	}
	var took []time.Duration
	for range turnsARound {
		texts := []string{w.text(900), w.text(900)}
		start := time.Now()
		for _, text := range texts {
			if _, err := t.insert.ExecContext(b.ctx, text); err != nil {
				return err
			}
		}
		took = append(took, time.Since(start))
	}
	after, err := written()
	if err != nil {
		return err
	}
	b.add(rawTransactions+", p50", r, percentile(took, 0.5), "ms")
	b.add(rawTransactions+", p99", r, percentile(took, 0.99), "ms")
	b.add(rawTransactions+", written", r, float64(after-before)/turnsARound/1024, "KB")
	return nil
}

// rawTransactions is the row that turns are compared with.
const rawTransactions = "raw SQLite with two transactions"

// groupCommit inserts what n conversations say into a bare table: one goroutine writes,
// and what waits while it commits is its next commit. Each turn waits twice.
func (b *bench) groupCommit(n, each int) (rate float64, took []time.Duration, err error) {
	const name = "bare"
	t, err := b.openBare(name)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, t.close(), os.RemoveAll(filepath.Join(b.dir, name))) }()
	jobs := make(chan said, n)
	var writing sync.WaitGroup
	writing.Go(func() {
		for first := range jobs {
			t.commit(b.ctx, gather(jobs, first))
		}
	})
	rate, took, err = together(n, each, func(i int, w *writer) ([]time.Duration, error) {
		return sayAll(jobs, w, each)
	})
	close(jobs)
	writing.Wait()
	return rate, took, err
}

// said is a message that waits to be written.
type said struct {
	text string
	done chan error
}

func gather(jobs chan said, first said) []said {
	batch := []said{first}
	for {
		select {
		case j, ok := <-jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
}

func (t bare) commit(ctx context.Context, batch []said) {
	_, err := t.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	for _, j := range batch {
		if err == nil {
			_, err = t.insert.ExecContext(ctx, j.text)
		}
	}
	if err == nil {
		_, err = t.conn.ExecContext(ctx, "COMMIT")
	}
	for _, j := range batch {
		j.done <- err
	}
}

func sayAll(jobs chan said, w *writer, turns int) ([]time.Duration, error) {
	var took []time.Duration
	done := make(chan error, 1)
	for range turns {
		texts := []string{w.text(900), w.text(900)}
		start := time.Now()
		for _, text := range texts {
			jobs <- said{text, done}
			if err := <-done; err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// together runs something for n conversations at once, and returns how many turns a second
// that makes.
func together(n, each int, do func(i int, w *writer) ([]time.Duration, error)) (rate float64, took []time.Duration, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	writers := make([]*writer, n)
	for i := range writers {
		writers[i] = newWriter(uint64(i))
	}
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			t, err := do(i, writers[i])
			mu.Lock()
			defer mu.Unlock()
			took, errs = append(took, t...), append(errs, err)
		})
	}
	wg.Wait()
	return float64(n*each) / time.Since(start).Seconds(), took, errors.Join(errs...)
}

// plainFile appends what a turn says to a file, in two synced writes.
func (b *bench) plainFile(r int) error {
	f, err := os.OpenFile(filepath.Join(b.dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	text := bytes.Repeat([]byte("x"), 900)
	var took []time.Duration
	for range turnsARound {
		start := time.Now()
		for range 2 {
			if _, err := f.Write(text); err != nil {
				return err
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				return err
			}
		}
		took = append(took, time.Since(start))
	}
	b.add("two syncs of a plain file, p50", r, percentile(took, 0.5), "ms")
	b.add("two syncs of a plain file, p99", r, percentile(took, 0.99), "ms")
	return nil
}

// written is how many bytes this process has handed to the disk so far.
func written() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nwrite_bytes: "))
	var n int64
	_, err = fmt.Sscan(string(rest), &n)
	return n, err
}
