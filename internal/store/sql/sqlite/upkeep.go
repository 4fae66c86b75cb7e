package sqlite

import (
	"context"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// How the writer keeps the log in bounds between batches. Left to itself SQLite copies it into
// the database inside a commit, which makes every hundredth several times as slow.
const (
	copyAfter = 32000 // pages in the log
	lookAtLog = 4     // commits, before the log is measured again
)

// upkeep is what the writer knows about the log.
type upkeep struct {
	looked int // commits since the log was measured
	logged int // pages in the log, as last measured

	// copy copies the log into the database beside the writer; copied is ready when
	// it has, and what came meanwhile is then copied by the writer.
	copy    func()
	copied  chan struct{}
	copying bool
}

// committed counts a batch.
func (u *upkeep) committed(ctx context.Context, tx sqlstore.Tx) {
	if u.looked++; u.looked >= lookAtLog {
		u.looked = 0
		u.logged = u.measure(ctx, tx, `PRAGMA wal_checkpoint(NOOP)`)
	}
	if u.copying {
		select {
		case <-u.copied:
			// The log starts over only when all of it is copied. What readers still need
			// stays in it, and is copied the next time.
			u.measure(ctx, tx, `PRAGMA wal_checkpoint(PASSIVE)`)
			u.logged = 0
			u.copying = false
		default:
		}
	} else if u.logged >= copyAfter {
		u.copying = true
		go func() {
			u.copy()
			u.copied <- struct{}{}
		}()
	}
}

// measure runs a checkpoint and returns how many pages the log had.
func (u *upkeep) measure(ctx context.Context, tx sqlstore.Tx, checkpoint string) (pages int) {
	var busy, copied int
	_ = tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&busy, &pages, &copied) }, checkpoint)
	return pages
}

// close waits for the copying.
func (u *upkeep) close() {
	if u.copying {
		<-u.copied
	}
}
