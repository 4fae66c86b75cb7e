package postgres

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// numberMost bounds what one transaction numbers.
	numberMost = 10_000
	// numberPause is between two transactions that number, so that one does it for many.
	numberPause = 5 * time.Millisecond
	// numberEvery is how often what another server has left is looked for.
	numberEvery = 2 * time.Second
	// numberTimeout bounds one of them, with the waiting for a connection.
	numberTimeout = maxWrite
)

// The statements that number. A transaction that numbers holds the rows with the last numbers: the
// order of numbers is the order of these transactions, and all that is committed before one
// of them begins to look is numbered when it ends.
//
// Both rows are held before the statements that read them begin, so that what these read is what
// they replace. Where a pooler or a role has transactions see what was there when they began, the
// lock fails for who waited, and is tried again. Servers of older programs hold the row of the
// messages first, and so do these, or two would wait for each other.
const (
	// anyPending looks at the keys: the tables may be full of rows that are gone and not yet cleared.
	anyPending = `SELECT (SELECT count(*) FROM (SELECT k FROM pending_changes ORDER BY conversation_id, k LIMIT 1) c) +
		(SELECT count(*) FROM (SELECT k FROM pending_messages ORDER BY conversation_id, branch, seq LIMIT 1) m) > 0`

	holdNumbers = `SELECT last FROM numbers WHERE name IN ('message', 'change') ORDER BY name DESC FOR UPDATE`

	// numberMessages takes a message for no older than those before it in its branch, whatever the
	// server's clock said: a run is where seqs and numbers go up together, with no gap in either.
	numberMessages = `WITH taken AS (DELETE FROM pending_messages WHERE (conversation_id, branch, seq) IN
			(SELECT conversation_id, branch, seq FROM pending_messages ORDER BY k, seq LIMIT $1) RETURNING conversation_id, branch, seq, k),
		timed AS (SELECT conversation_id, branch, seq, max(k) OVER along AS k, seq - row_number() OVER along AS gaps FROM taken
			WINDOW along AS (PARTITION BY conversation_id, branch ORDER BY seq)),
		counted AS (SELECT conversation_id, branch, seq, gaps, row_number() OVER (ORDER BY k, conversation_id, branch, seq) AS i FROM timed),
		runs AS (SELECT conversation_id, branch, min(seq) AS first_seq, max(seq) AS last_seq, min(i) AS first_i, max(i) AS last_i
			FROM counted GROUP BY conversation_id, branch, gaps, seq - i),
		numbered AS (INSERT INTO message_runs (conversation_id, branch, first_seq, last_seq, first_n, last_n)
			SELECT conversation_id, branch, first_seq, last_seq, last + first_i, last + last_i
			FROM runs, (SELECT last FROM numbers WHERE name = 'message') AS held)
		UPDATE numbers SET last = last + (SELECT count(*) FROM taken) WHERE name = 'message' AND EXISTS (SELECT 1 FROM taken)`

	numberChanges = `WITH taken AS (DELETE FROM pending_changes WHERE (conversation_id, k) IN
			(SELECT conversation_id, k FROM pending_changes ORDER BY k LIMIT $1)
			RETURNING conversation_id, k, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref),
		numbered AS (INSERT INTO changes (conversation_id, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref, k, n)
			SELECT conversation_id, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref, k,
				last + row_number() OVER (ORDER BY k, conversation_id)
			FROM taken, (SELECT last FROM numbers WHERE name = 'change') AS held)
		UPDATE numbers SET last = last + (SELECT count(*) FROM taken) WHERE name = 'change' AND EXISTS (SELECT 1 FROM taken)
		RETURNING pg_notify($2, '')`
)

// commitOrder implements [sqlstore.CommitOrder].
type commitOrder struct {
	writers *sql.DB
	retry   func(ctx context.Context, do func(context.Context) error) error // tries again what may pass
	channel string                                                          // to notify; empty for none
	log     *slog.Logger

	news chan struct{}
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	oneAtATime chan struct{} // full while one numbers: others would only wait for its row
	lastBegan  time.Time     // when the last one began, unless it was broken off
	lastError  error         // with what
}

func newCommitOrder(writers *sql.DB, channel string, log *slog.Logger) *commitOrder {
	ctx, stop := context.WithCancel(context.Background())
	o := &commitOrder{writers: writers, channel: channel, log: log, news: make(chan struct{}, 1),
		wake:       make(chan struct{}, 1),
		oneAtATime: make(chan struct{}, 1), stop: stop, done: make(chan struct{}), retry: retryIdempotent}
	go o.numberRegularly(ctx)
	return o
}

// numberRegularly numbers after each commit, and regularly what a server left behind that is gone.
func (o *commitOrder) numberRegularly(ctx context.Context) {
	defer close(o.done)
	often := time.NewTicker(numberEvery)
	defer often.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-often.C:
		}
		err := o.NumberCommits(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			o.log.Warn("what was written could not be numbered yet", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(numberPause):
		}
	}
}

// Close ends run.
func (o *commitOrder) Close() { o.stop(); <-o.done }

// NoteCommit implements [sqlstore.CommitOrder].
func (o *commitOrder) NoteCommit() { signalOnce(o.wake) }

// News implements [sqlstore.CommitOrder].
func (o *commitOrder) News() <-chan struct{} { return o.news }

// signalOnce signals on a channel, unless a signal is waiting there.
func signalOnce(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// NumberCommits implements [sqlstore.CommitOrder]. What came of one that began while somebody waited holds
// for who waited too: while there is no database, nobody waits for each of those before.
func (o *commitOrder) NumberCommits(ctx context.Context) error {
	asked := time.Now()
	select {
	case o.oneAtATime <- struct{}{}:
		defer func() { <-o.oneAtATime }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if o.lastBegan.After(asked) {
		return o.lastError
	}
	o.lastBegan = time.Now()
	o.lastError = o.numberPending(ctx)
	if ctx.Err() != nil {
		o.lastBegan = time.Time{}
	}
	return o.lastError
}

// numberPending numbers everything that is pending.
func (o *commitOrder) numberPending(ctx context.Context) error {
	for {
		n, err := o.tryNumberSome(ctx)
		if err != nil || n == 0 {
			return err
		}
		signalOnce(o.news)
	}
}

// tryNumberSome calls numberSome if anything is pending, and tries again for a time if that fails.
func (o *commitOrder) tryNumberSome(ctx context.Context) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, numberTimeout)
	defer cancel()
	err = o.retry(ctx, func(ctx context.Context) error {
		pending := false
		err := o.writers.QueryRowContext(ctx, anyPending).Scan(&pending)
		if n = 0; err == nil && pending {
			n, err = o.numberSome(ctx)
		}
		return err
	})
	return n, err
}

// numberSome numbers what is pending, up to a bound, and returns how many of the two tables had
// something. It is one exchange with the server, and so one transaction: others wait for its row.
func (o *commitOrder) numberSome(ctx context.Context) (n int64, err error) {
	conn, err := o.writers.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		var batch pgx.Batch
		batch.Queue(holdNumbers)
		batch.Queue(numberMessages, numberMost)
		batch.Queue(numberChanges, numberMost, o.channel)
		sent := c.(*stdlib.Conn).Conn().SendBatch(ctx, &batch)
		for range batch.Len() {
			tag, err := sent.Exec()
			if err != nil {
				return errors.Join(err, sent.Close())
			}
			if tag.Update() {
				n += tag.RowsAffected()
			}
		}
		return sent.Close()
	})
	return n, err
}
