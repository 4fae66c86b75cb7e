// Package move copies a store from one SQL database to another while it is in use, checks
// the copy by hashes, and at the end closes the source.
//
// Words it adds: side (one of the two databases), mark (a note on the source that a conversation,
// or a table that is compared as a whole, is to be copied), pass (copying what has marks), seed (to
// mark all there is), to close (a source refuses changes, and says where its data has gone).
//
// Invariants: a mark is left in the transaction that makes the change, and removed only when what
// it stands for was copied after it was read: whatever ends the copying, the next one goes on from
// the marks; each thing is copied by comparing it, so that copying it again changes nothing; a
// target holds nothing but what was copied, or is refused; nothing is said to be moved that was
// not compared while the source was closed, or before and not changed since.
//
// It may not know any one database, or where objects are.
package move

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// Side is one of the two databases, open to be written to.
type Side struct {
	sqlstore.Database
	Name string // for people; without a password

	// Watch makes the tables move_marks and move_state where they are missing, and what leaves
	// marks in the transaction of each change to a [NotedTables]. Each statement is run by itself.
	Watch []string
	// Refuse returns statements after which no table can be changed; an attempt fails with why.
	Refuse func(why string) []string
	// Reopen undoes Refuse; Forget undoes Watch as well.
	Reopen, Forget []string

	// Receive are statements that a target needs before it is copied to, and Leave what removes that.
	Receive, Leave []string

	// HoldRun and HoldNote are [SelectRun] and [SelectNote], whose rows stay as they are until the
	// transaction ends.
	HoldRun, HoldNote string

	// Usage is where records of usage are found by their conversation: usage_records, or a table
	// with the columns conversation_id and n that Watch and Receive make. Fill fills it on a source,
	// in bounded steps; nil if there is nothing to fill.
	Usage string
	Fill  func(ctx context.Context) error

	// Insert inserts messages of a branch, in the order of [sqlstore.MessageColumns].
	Insert func(ctx context.Context, tx sqlstore.Tx, rows [][]any) error
	// Numbers says that lists have numbers which the program gives; else the database does.
	Numbers bool
}

// Close ends what is open.
func (s *Side) Close() error { return errors.Join(s.Readers.Close(), s.Writer.Close()) }

// wrapError gives an error of the database its code.
func (s *Side) wrapError(err error) error {
	if known := new(scrollback.Error); err == nil || errors.As(err, &known) {
		return err
	}
	return scrollback.Wrap(s.Dialect.Classify(err), op, fmt.Errorf("%s: %w", s.Name, err))
}

// writeRetrying runs fn in a transaction, and again if others hold the database: a store in use may not
// leave a gap for longer than one attempt waits. What fn does may be done twice.
func (s *Side) writeRetrying(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	return retryUnavailable(ctx, func() error { return s.writeOnce(ctx, fn) })
}

// writeOnce runs fn in a transaction.
func (s *Side) writeOnce(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	err := s.wrapError(s.Writer.Write(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		tx.Cache().Clear() // whatever fn changes
		return fn(ctx, tx)
	}))
	if s.Order != nil {
		s.Order.NoteCommit()
	}
	return err
}

// runStatements runs statements, each in a transaction of its own.
func (s *Side) runStatements(ctx context.Context, statements []string) error {
	for _, statement := range statements {
		err := s.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error { return tx.Queue(ctx, statement) })
		if err != nil {
			return err
		}
	}
	return nil
}

const op = "migrate"

// reopenTime is how long it is tried to let a source be changed again.
const reopenTime = 30 * time.Second

// Options say what is done.
type Options struct {
	// Finish closes the source when nearly everything is copied, copies the rest and leaves it
	// closed. Without it the source stays in use, and a later call goes on.
	Finish bool
	// Beside is called when the copy has caught up, and again when the source was closed: for
	// what is not in the database. Nil does nothing.
	Beside func(ctx context.Context, to *Side) error
	// Told is called about twice a second, and at the end of each stage. Nil tells nobody.
	Told func(Progress)
}

// Stage says what is being done.
type Stage string

// The stages, in their order.
const (
	StageSeed   Stage = "seed"   // noting what there is
	StageCopy   Stage = "copy"   // copying what has marks
	StageVerify Stage = "verify" // comparing both sides
	StageFinish Stage = "finish" // the source is closed
	StageDone   Stage = "done"
)

// Progress is how far a copy is. Bytes are those of rows as they are read.
type Progress struct {
	Stage         Stage   `json:"stage"`
	Conversations int64   `json:"conversations"` // copied or compared in this stage
	Of            int64   `json:"of"`            // how many there are to copy or compare
	Messages      int64   `json:"messages"`      // copied by this call
	Rows          int64   `json:"rows"`          // others that were written
	Bytes         int64   `json:"bytes"`         // copied by this call
	Seconds       float64 `json:"seconds"`       // since this call began
	StageSeconds  float64 `json:"stage_seconds"` // since this stage began
}

// Report is what became of a copy.
type Report struct {
	Progress
	Verified int64 `json:"verified"` // conversations that are equal on both sides
	Compared int64 `json:"compared"` // messages of theirs
	Finished bool  `json:"finished"` // the source is closed, and all of it is on the target
	StopMS   int64 `json:"stop_ms"`  // for how long it was closed before all was on the target
}

// mover is one copy.
type mover struct {
	from, to *Side
	Options
	reporter progressReporter
	id       string // of this migration
	run      int64
	alone    bool // nobody else uses the target, which no migration has

	verify    bool     // whatever is copied is compared afterwards
	unchecked sync.Map // ids of conversations of which all messages are still to be compared
	numbered  atomic.Int64
	verified  atomic.Int64
	compared  atomic.Int64
}

// Move copies what from holds to the side to, which holds nothing, or what an earlier call has
// copied from the same source. It may be ended at any time, and called again. A target that holds
// something else is refused, and so is a source that was moved elsewhere; a difference between the
// two sides is an internal error that names what differs.
func Move(ctx context.Context, from, to *Side, o Options) (Report, error) {
	m := &mover{from: from, to: to, Options: o, reporter: progressReporter{report: o.Told, began: time.Now()}}
	m.reporter.enterStage(StageSeed)
	stop := m.reporter.startReporting()
	r, err := m.copyAll(ctx)
	stop()
	if err != nil {
		return Report{Progress: m.reporter.currentProgress()}, explainFailure(ctx, m, err)
	}
	m.reporter.enterStage(StageDone)
	r.Progress = m.reporter.currentProgress()
	r.Verified = m.verified.Load()
	r.Compared = m.compared.Load()
	return r, nil
}

func (m *mover) copyAll(ctx context.Context) (r Report, err error) {
	closed, err := m.claimSides(ctx)
	if err != nil {
		return r, err
	}
	err = m.to.runStatements(ctx, m.to.Receive)
	if err == nil && !closed {
		if err = m.from.runStatements(ctx, m.from.Watch); err == nil {
			err = m.markAll(ctx)
		}
		if err == nil {
			err = m.copyUntilShort(ctx)
		}
		if err == nil && m.Beside != nil {
			err = m.Beside(ctx, m.to)
		}
	}
	m.verify = true
	if err == nil && !closed {
		if err = m.compareAll(ctx); err == nil {
			err = m.copyUntilShort(ctx)
		}
	}
	if err != nil || !m.Finish && !closed {
		return r, err
	}
	began := time.Now()
	err = m.finishMove(ctx, closed)
	r.Finished = err == nil
	r.StopMS = time.Since(began).Milliseconds()
	return r, err
}

// finishMove closes the source and copies the rest. Whatever fails, the source is not left closed if
// that can be helped.
func (m *mover) finishMove(ctx context.Context, closed bool) error {
	m.reporter.enterStage(StageFinish)
	err := m.closeSource(ctx)
	if err == nil {
		err = m.copyUntilUnmarked(ctx)
	}
	if err == nil && closed { // nobody knows what was compared before it was closed
		err = m.compareAll(ctx)
	}
	if err == nil {
		err = m.compareTables(ctx)
	}
	if err == nil && m.Beside != nil {
		err = m.Beside(ctx, m.to)
	}
	if err == nil {
		err = m.noteMoved(ctx)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reopenTime)
		defer cancel()
		err = errors.Join(err, m.reopenSource(ctx))
	}
	return err
}

// Cancel lets a source be changed again, and forgets what was noted on it. What was copied stays
// where it is.
func Cancel(ctx context.Context, from *Side) error { return from.runStatements(ctx, from.Forget) }

// newID returns a name that nothing else has.
func newID() string {
	b := make([]byte, 8)
	rand.Read(b) //nolint:errcheck // it never fails
	return hex.EncodeToString(b)
}

// retryUnavailable does something again that others have made fail.
func retryUnavailable(ctx context.Context, do func() error) error {
	wait := 100 * time.Millisecond
	for n := 1; ; n++ {
		err := do()
		if err == nil || scrollback.CodeOf(err) != scrollback.Unavailable || n == 5 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
		wait *= 2
	}
}
