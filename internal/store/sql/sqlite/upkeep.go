package sqlite

import (
	"context"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// How the writer keeps the log in bounds between batches. Left to itself SQLite copies it into
// the database inside a commit, which makes every hundredth several times as slow.
const (
	copyAfterPages = 32000 // pages in the log
	measureEvery   = 4     // commits, before the log is measured again
)

// logUpkeep keeps the log in bounds.
type logUpkeep struct {
	batches  int // commits since the log was measured
	logPages int // pages in the log, as last measured

	// copyLog copies the log into the database beside the writer; copied is ready when
	// it has, and what came meanwhile is then copied by the writer.
	copyLog func()
	copied  chan struct{}
	copying bool
}

// countBatch counts a batch.
func (u *logUpkeep) countBatch(ctx context.Context, tx sqlstore.Tx) {
	if u.batches++; u.batches >= measureEvery {
		u.batches = 0
		u.logPages = u.runCheckpoint(ctx, tx, `PRAGMA wal_checkpoint(NOOP)`)
	}
	if u.copying {
		select {
		case <-u.copied:
			// The log starts over only when all of it is copied. What readers still need
			// stays in it, and is copied the next time.
			u.runCheckpoint(ctx, tx, `PRAGMA wal_checkpoint(PASSIVE)`)
			u.logPages = 0
			u.copying = false
		default:
		}
	} else if u.logPages >= copyAfterPages {
		u.copying = true
		go func() {
			u.copyLog()
			u.copied <- struct{}{}
		}()
	}
}

// runCheckpoint runs a checkpoint and returns how many pages the log had.
func (u *logUpkeep) runCheckpoint(ctx context.Context, tx sqlstore.Tx, checkpoint string) (pages int) {
	var busy, copied int
	_ = tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&busy, &pages, &copied) }, checkpoint)
	return pages
}

// waitForCopy waits for the copying.
func (u *logUpkeep) waitForCopy() {
	if u.copying {
		<-u.copied
	}
}
