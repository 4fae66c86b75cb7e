//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// turnsEach is how many turns each conversation appends in a round.
const turnsEach = 100

// measureConcurrent measures many conversations at once: in one process beside a bare group
// commit, by connections that wait for each other, and by two processes.
func (b *bench) measureConcurrent() error {
	for r := range rounds {
		for _, n := range []int{8, 64} {
			name := fmt.Sprintf("at-once-%d-%d", n, r)
			rate, took, err := b.atOnce(name, n, 1)
			if err != nil {
				return err
			}
			b.addNumber(fmt.Sprintf("%d conversations", n), r, rate, "turns/s")
			b.addNumber(fmt.Sprintf("%d conversations, p99", n), r, percentileMS(took, 0.99), "ms")
			if rate, took, err = groupCommit(b, n, eachOf(n)); err != nil {
				return err
			}
			b.addNumber(fmt.Sprintf("a bare group commit of %d", n), r, rate, "turns/s")
			b.addNumber(fmt.Sprintf("a bare group commit of %d, p99", n), r, percentileMS(took, 0.99), "ms")
		}
		rate, took, err := b.atOnce(fmt.Sprintf("waiting-%d", r), 8, 8)
		if err != nil {
			return err
		}
		b.addNumber("8 connections waiting for each other", r, rate, "turns/s")
		b.addNumber("8 connections waiting for each other, p99", r, percentileMS(took, 0.99), "ms")
	}
	lost, err := b.twoProcesses()
	if err != nil {
		return err
	}
	b.addNumber("lost by two processes", 0, float64(lost), "turns")
	return nil
}

// atOnce appends to n conversations at once through the given number of
// connections that write, to a new database.
func (b *bench) atOnce(name string, n, connections int) (rate float64, took []time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, name))) }()
	stores := make([]*store.Store, connections)
	for i := range stores {
		if stores[i], err = b.openCounting(name); err != nil {
			return 0, nil, err
		}
		defer func() { err = errors.Join(err, stores[i].Close()) }()
	}
	ids := make([]scrollback.ConversationID, n)
	for i := range ids {
		c, _, err := stores[0].CreateConversation(b.ctx, scrollback.Conversation{})
		if err != nil {
			return 0, nil, err
		}
		ids[i] = c.ID
	}
	each := eachOf(n)
	return runTogether(n, each, func(i int, w *writer) ([]time.Duration, error) {
		return appendTurns(b.ctx, stores[i%connections], ids[i], w, each)
	})
}

// eachOf returns how many turns each of n conversations appends.
func eachOf(n int) int { return max(turnsEach*8/n, 25) }

// twoProcesses lets two processes append to one file and counts what is missing.
func (b *bench) twoProcesses() (lost int, err error) {
	const name = "two-processes"
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	s, err := b.openCounting(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close(), os.RemoveAll(filepath.Join(b.dir, name))) }()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	ids := make([]scrollback.ConversationID, 2)
	for i := range 2 {
		c, _, err := s.CreateConversation(b.ctx, scrollback.Conversation{})
		if err != nil {
			return 0, err
		}
		ids[i] = c.ID
		wg.Go(func() {
			out, err := exec.CommandContext(b.ctx, exe, "-dir", b.dir, "-writer", name+"/"+string(c.ID)).CombinedOutput()
			if err != nil {
				errs[i] = fmt.Errorf("%w: %s", err, out)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		n := 0
		for m, err := range s.WalkConversation(b.ctx, id) {
			if err != nil {
				return 0, err
			}
			if n++; m.Seq != int64(n) {
				return 0, fmt.Errorf("message %d of %s has seq %d", n, id, m.Seq)
			}
		}
		lost += turnsEach - n/2
	}
	return lost, errors.Join(errs...)
}

// writeAlone is the other process: it appends turns to one conversation.
func (b *bench) writeAlone(to string) error {
	name, id := filepath.Split(to)
	s, err := b.openCounting(filepath.Clean(name))
	if err != nil {
		return err
	}
	_, err = appendTurns(b.ctx, s, scrollback.ConversationID(id), newWriter(3), turnsEach)
	return errors.Join(err, s.Close())
}

// bareTable is a table of texts with a whole number as its key, in a database of its own: the
// least that this driver can do for what is said in a turn.
type bareTable struct {
	db     *sql.DB
	conn   *sql.Conn
	insert *sql.Stmt
}

// openBare makes a bare table; it is as durable as the store is.
func openBare(b *bench, name string) (t bareTable, err error) {
	if err := os.MkdirAll(filepath.Join(b.dir, name), 0o700); err != nil {
		return t, err
	}
	if t.db, err = sql.Open("sqlite", "file:"+b.databaseFile(name)+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"); err != nil {
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

func (t bareTable) close() error { return errors.Join(t.insert.Close(), t.conn.Close(), t.db.Close()) }

// groupCommit inserts what n conversations say into a bare table: one goroutine writes,
// and what waits while it commits is its next commit. Each turn waits twice.
func groupCommit(b *bench, n, each int) (rate float64, took []time.Duration, err error) {
	const name = "bare"
	t, err := openBare(b, name)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, t.close(), os.RemoveAll(filepath.Join(b.dir, name))) }()
	jobs := make(chan appendJob, n)
	var writing sync.WaitGroup
	writing.Go(func() {
		for first := range jobs {
			t.commitBatch(b.ctx, gatherBatch(jobs, first))
		}
	})
	rate, took, err = runTogether(n, each, func(i int, w *writer) ([]time.Duration, error) {
		return sayAll(jobs, w, each)
	})
	close(jobs)
	writing.Wait()
	return rate, took, err
}

// appendJob is a message that waits to be written.
type appendJob struct {
	text string
	done chan error
}

func gatherBatch(jobs chan appendJob, first appendJob) []appendJob {
	batch := []appendJob{first}
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

func (t bareTable) commitBatch(ctx context.Context, batch []appendJob) {
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

func sayAll(jobs chan appendJob, w *writer, turns int) ([]time.Duration, error) {
	var took []time.Duration
	done := make(chan error, 1)
	for range turns {
		texts := []string{w.makeText(900), w.makeText(900)}
		start := time.Now()
		for _, text := range texts {
			jobs <- appendJob{text, done}
			if err := <-done; err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// runTogether runs something for n conversations at once, and returns how many turns a second
// that makes.
func runTogether(n, each int, do func(i int,
	w *writer) ([]time.Duration, error)) (rate float64, took []time.Duration, err error) {
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
			took = append(took, t...)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	return float64(n*each) / time.Since(start).Seconds(), took, errors.Join(errs...)
}
