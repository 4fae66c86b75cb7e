package sqldriver

import (
	"context"
	"time"
)

// How the writer keeps the database in shape between batches. Left to itself
// SQLite does both inside a commit: it merges the full-text index, which makes
// every write several times as large, and copies the log into the database, which
// makes every hundredth several times as slow.
const (
	idle         = 5 * time.Millisecond // without a job, before a step that can wait
	mergeAfter   = 16                   // commits, before merging is looked at again
	mergeLatest  = 32                   // commits, before a step no longer waits
	mergeEvery   = 8                    // commits between two steps while there is more to merge
	mergePages   = 96                   // of the index, about, that one step writes
	copyAfter    = 16000                // pages in the log
	copyLatest   = 48000                // pages in the log, before copying no longer waits
	lookAtLog    = 4                    // commits, before the log is measured again
	stepsAtClose = 64
)

// upkeep is what the writer knows of work that can wait.
type upkeep struct {
	begin   string
	merge   string // one bounded step of merging the full-text index; empty for none
	commits int    // since merging was last done with
	looked  int    // commits since the log was measured
	logged  int    // pages in the log, as last measured
	relaxed bool   // commits are not durable when they end
}

// committed counts a batch.
func (u *upkeep) committed(ctx context.Context, tx *session) {
	u.commits++
	if u.looked++; u.looked >= lookAtLog {
		u.looked = 0
		u.logged = u.measure(ctx, tx, `PRAGMA wal_checkpoint(NOOP)`)
	}
}

// due says whether there is a step to be made now that nobody waits.
func (u *upkeep) due() bool {
	return u.merge != "" && (u.commits >= mergeAfter || u.logged >= copyAfter)
}

// overdue says whether a step can wait no longer, idle or not.
func (u *upkeep) overdue() bool {
	return u.merge != "" && (u.commits >= mergeLatest || u.logged >= copyLatest)
}

// step makes one bounded step. What it meets, such as a full disk, is left for
// the next writer to tell: nothing depends on it.
func (u *upkeep) step(ctx context.Context, tx *session) {
	if u.logged >= copyAfter {
		// What readers still need stays in the log, and is copied the next time.
		u.measure(ctx, tx, `PRAGMA wal_checkpoint(PASSIVE)`)
		u.logged = 0
		return
	}
	if !u.mergeStep(ctx, tx) {
		u.commits = 0
		return
	}
	u.commits = mergeLatest - mergeEvery // more to do, and not at once
}

// mergeStep says whether there may be more to merge. A step that a power cut
// undoes is made again: it is not worth a sync of its own.
func (u *upkeep) mergeStep(ctx context.Context, tx *session) bool {
	if u.relax(ctx, tx) != nil {
		return false
	}
	defer func() { _ = u.restore(ctx, tx) }() // the next batch insists on it
	if tx.run(ctx, u.begin) != nil {
		return false
	}
	before := u.changes(ctx, tx)
	if err := tx.run(ctx, u.merge, mergePages); err != nil {
		_ = tx.run(ctx, "ROLLBACK")
		return false
	}
	more := u.changes(ctx, tx)-before >= 2 // one is the command itself
	if tx.run(ctx, "COMMIT") != nil {
		_ = tx.run(ctx, "ROLLBACK")
		return false
	}
	return more
}

// relax lets commits end before they are durable, until restore.
func (u *upkeep) relax(ctx context.Context, tx *session) error {
	u.relaxed = true
	return tx.run(ctx, `PRAGMA synchronous = NORMAL`)
}

// restore makes commits durable again before they end.
func (u *upkeep) restore(ctx context.Context, tx *session) error {
	if !u.relaxed {
		return nil
	}
	err := tx.run(ctx, `PRAGMA synchronous = FULL`)
	u.relaxed = err != nil
	return err
}

func (u *upkeep) changes(ctx context.Context, tx *session) (n int64) {
	_ = tx.row(ctx, func(r scanner) error { return r.Scan(&n) }, `SELECT total_changes()`)
	return n
}

// measure runs a checkpoint and answers how many pages the log had.
func (u *upkeep) measure(ctx context.Context, tx *session, checkpoint string) (pages int) {
	var busy, copied int
	_ = tx.row(ctx, func(r scanner) error { return r.Scan(&busy, &pages, &copied) }, checkpoint)
	return pages
}

// close merges what a short-lived program has left, within bounds.
func (u *upkeep) close(ctx context.Context, tx *session) {
	for range stepsAtClose {
		if u.merge == "" || u.commits == 0 || !u.mergeStep(ctx, tx) {
			return
		}
	}
}
