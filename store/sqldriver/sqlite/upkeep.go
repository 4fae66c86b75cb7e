package sqlite

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// How the writer keeps the database in shape between batches. Left to itself
// SQLite does both inside a commit: it merges the full-text index, which makes
// every write several times as large, and copies the log into the database, which
// makes every hundredth several times as slow.
const (
	idle         = 5 * time.Millisecond // without a job, before a step that can wait
	mergeAfter   = 16                   // commits, before merging is considered again
	mergeLatest  = 32                   // commits, before a step no longer waits
	mergeEvery   = 8                    // commits between two steps while there is more to merge
	mergePages   = 96                   // of the index, about, that one step writes
	copyAfter    = 32000                // pages in the log
	lookAtLog    = 4                    // commits, before the log is measured again
	stepsAtClose = 64
)

// mergeTerms merges about $1 pages of the full-text index.
const mergeTerms = `INSERT INTO message_terms (message_terms, rank) VALUES ('merge', $1)`

// upkeep is what the writer knows about work that can wait.
type upkeep struct {
	commits int  // since merging was last done with
	looked  int  // commits since the log was measured
	logged  int  // pages in the log, as last measured
	relaxed bool // commits are not durable when they end

	// copy copies the log into the database beside the writer; copied is ready when
	// it has, and what came meanwhile is then copied by the writer.
	copy    func()
	copied  chan struct{}
	copying bool
}

// committed counts a batch.
func (u *upkeep) committed(ctx context.Context, tx *sqlrow.Session) {
	u.commits++
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
			u.logged, u.copying = 0, false
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

// due reports whether there is a step to take now that nobody waits.
func (u *upkeep) due() bool {
	return u.commits >= mergeAfter
}

// overdue reports whether a step can wait no longer, idle or not.
func (u *upkeep) overdue() bool {
	return u.commits >= mergeLatest
}

// step takes one bounded step. Its errors, such as a full disk, are left for the next
// writer to report: nothing depends on them.
func (u *upkeep) step(ctx context.Context, tx *sqlrow.Session) {
	if !u.mergeStep(ctx, tx) {
		u.commits = 0
		return
	}
	u.commits = mergeLatest - mergeEvery // more to do, and not at once
}

// mergeStep takes a step, and reports whether there may be more to merge. A step that a
// power cut undoes is repeated: it is not worth a sync of its own.
func (u *upkeep) mergeStep(ctx context.Context, tx *sqlrow.Session) bool {
	if u.relax(ctx, tx) != nil {
		return false
	}
	defer func() { _ = u.restore(ctx, tx) }() // the next batch insists on it
	if tx.Run(ctx, beginWriting) != nil {
		return false
	}
	before := u.changes(ctx, tx)
	if err := tx.Run(ctx, mergeTerms, mergePages); err != nil {
		_ = tx.Run(ctx, "ROLLBACK")
		return false
	}
	more := u.changes(ctx, tx)-before >= 2 // one is the command itself
	if tx.Run(ctx, "COMMIT") != nil {
		_ = tx.Run(ctx, "ROLLBACK")
		return false
	}
	return more
}

// relax lets commits end before they are durable, until restore.
func (u *upkeep) relax(ctx context.Context, tx *sqlrow.Session) error {
	u.relaxed = true
	return tx.Run(ctx, `PRAGMA synchronous = NORMAL`)
}

// restore makes commits durable again before they end.
func (u *upkeep) restore(ctx context.Context, tx *sqlrow.Session) error {
	if !u.relaxed {
		return nil
	}
	err := tx.Run(ctx, `PRAGMA synchronous = FULL`)
	u.relaxed = err != nil
	return err
}

func (u *upkeep) changes(ctx context.Context, tx *sqlrow.Session) (n int64) {
	_ = tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&n) }, `SELECT total_changes()`)
	return n
}

// measure runs a checkpoint and returns how many pages the log had.
func (u *upkeep) measure(ctx context.Context, tx *sqlrow.Session, checkpoint string) (pages int) {
	var busy, copied int
	_ = tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&busy, &pages, &copied) }, checkpoint)
	return pages
}

// close merges what a short-lived program has left, within bounds, and waits for the
// copying.
func (u *upkeep) close(ctx context.Context, tx *sqlrow.Session) {
	defer func() {
		if u.copying {
			<-u.copied
		}
	}()
	for range stepsAtClose {
		if u.commits == 0 || !u.mergeStep(ctx, tx) {
			return
		}
	}
}
