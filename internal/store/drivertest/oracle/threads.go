package oracle

import (
	"context"
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// IndexAt implements [driver.Threads].
func (db threads) IndexAt(now int64) threading.Index {
	return threadIndex{db.database, db.threaded.JudgedBy(func(row threading.RequestRow) threading.State {
		return driver.RequestState(row, db.turns[scrollback.TurnID(row.ID)], now)
	})}
}

// WriteThread implements [driver.Threads].
func (db threads) WriteThread(ctx context.Context, rows threading.Rows) error {
	const op = "oracle.WriteThread"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	return db.writeRows(op, &rows)
}

// writeRows writes rows of a thread, if there are any.
func (db *database) writeRows(op string, rows *threading.Rows) error {
	if rows == nil {
		return nil
	}
	err := db.threaded.Write(deepCopy(*rows))
	if errors.Is(err, threading.ErrNoThread) {
		return scrollback.Wrap(scrollback.NotFound, op, err)
	}
	return scrollback.Wrap(scrollback.Conflict, op, err)
}

// FindSpan implements [driver.Threads].
func (db threads) FindSpan(ctx context.Context, name string) (first, last int64, err error) {
	span, err := ask(ctx, threadIndex{db.database, db.threaded}, "oracle.FindSpan", func() ([2]int64, error) {
		first, last := db.threaded.FindSpan(name)
		return [2]int64{first, last}, nil
	})
	return span[0], span[1], err
}

// ListLeaves implements [driver.Threads].
func (db threads) ListLeaves(ctx context.Context, id scrollback.ConversationID) ([]scrollback.TurnID, error) {
	return ask(ctx, threadIndex{db.database, db.threaded}, "oracle.ListLeaves", func() ([]scrollback.TurnID, error) {
		var out []scrollback.TurnID
		for _, leaf := range db.threaded.ListLeaves(threading.ThreadID(id)) {
			out = append(out, scrollback.TurnID(leaf))
		}
		return out, nil
	})
}

// CountAsked implements [driver.Threads].
func (db threads) CountAsked(ctx context.Context, scope threading.Scope, body threading.Hash, now int64) error {
	end, err := db.beginWrite(ctx, "oracle.CountAsked")
	defer end()
	if err == nil {
		db.threaded.CountAsked(scope, body, time.UnixMilli(now))
	}
	return err
}

// threadIndex is what a matcher asks, as it is at a time. Each look-up sees the turns as they are then.
type threadIndex struct {
	db *database
	of *threading.Memory
}

// ask does one look-up.
func ask[T any](ctx context.Context, x threadIndex, op string, find func() (T, error)) (T, error) {
	end, err := x.db.beginRead(ctx, op)
	defer end()
	if err != nil {
		var none T
		return none, err
	}
	found, err := find()
	return deepCopy(found), err
}

// Thread implements [threading.Index].
func (x threadIndex) Thread(ctx context.Context, id threading.ThreadID) (*threading.ThreadRow, error) {
	return ask(ctx, x, "oracle.Thread", func() (*threading.ThreadRow, error) { return x.of.Thread(ctx, id) })
}

// Named implements [threading.Index].
func (x threadIndex) Named(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.ThreadRow, error) {
	return ask(ctx, x, "oracle.Named",
		func() ([]threading.ThreadRow, error) { return x.of.Named(ctx, scope, name, limit) })
}

// Request implements [threading.Index].
func (x threadIndex) Request(ctx context.Context, id threading.RequestID) (*threading.RequestRow, error) {
	return ask(ctx, x, "oracle.Request", func() (*threading.RequestRow, error) { return x.of.Request(ctx, id) })
}

// Rolled implements [threading.Index].
func (x threadIndex) Rolled(ctx context.Context, scope threading.Scope, hashes []threading.Hash,
	limit int) ([]threading.RequestRow, error) {
	return ask(ctx, x, "oracle.Rolled",
		func() ([]threading.RequestRow, error) { return x.of.Rolled(ctx, scope, hashes, limit) })
}

// Beside implements [threading.Index].
func (x threadIndex) Beside(ctx context.Context, thread threading.ThreadID, base threading.Place,
	limit int) ([]threading.RequestRow, error) {
	return ask(ctx, x, "oracle.Beside",
		func() ([]threading.RequestRow, error) { return x.of.Beside(ctx, thread, base, limit) })
}

// Anchored implements [threading.Index].
func (x threadIndex) Anchored(ctx context.Context, q threading.AnchorQuery) ([]threading.AtomRow, error) {
	return ask(ctx, x, "oracle.Anchored", func() ([]threading.AtomRow, error) { return x.of.Anchored(ctx, q) })
}

// At implements [threading.Index].
func (x threadIndex) At(ctx context.Context, place threading.Place) (*threading.AtomRow, error) {
	return ask(ctx, x, "oracle.At", func() (*threading.AtomRow, error) { return x.of.At(ctx, place) })
}

// Lineage implements [threading.Index].
func (x threadIndex) Lineage(ctx context.Context, branch threading.BranchID) ([]threading.Reach, error) {
	return ask(ctx, x, "oracle.Lineage", func() ([]threading.Reach, error) { return x.of.Lineage(ctx, branch) })
}

// Following implements [threading.Index].
func (x threadIndex) Following(ctx context.Context, place threading.Place, limit int) ([]threading.AtomRow, error) {
	return ask(ctx, x, "oracle.Following",
		func() ([]threading.AtomRow, error) { return x.of.Following(ctx, place, limit) })
}

// Partials implements [threading.Index].
func (x threadIndex) Partials(ctx context.Context, threads []threading.ThreadID,
	limit int) ([]threading.AtomRow, error) {
	return ask(ctx, x, "oracle.Partials",
		func() ([]threading.AtomRow, error) { return x.of.Partials(ctx, threads, limit) })
}

// Summaries implements [threading.Index].
func (x threadIndex) Summaries(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.SummaryRow, error) {
	return ask(ctx, x, "oracle.Summaries",
		func() ([]threading.SummaryRow, error) { return x.of.Summaries(ctx, scope, name, limit) })
}

// Answer implements [threading.Index].
func (x threadIndex) Answer(ctx context.Context, scope threading.Scope, id string) (*threading.AnswerRow, error) {
	return ask(ctx, x, "oracle.Answer", func() (*threading.AnswerRow, error) { return x.of.Answer(ctx, scope, id) })
}

// Same implements [threading.Index].
func (x threadIndex) Same(ctx context.Context, scope threading.Scope, body threading.Hash, since time.Time,
	limit int) ([]threading.RequestRow, int, error) {
	asked := 0
	rows, err := ask(ctx, x, "oracle.Same", func() (rows []threading.RequestRow, err error) {
		rows, asked, err = x.of.Same(ctx, scope, body, since, limit)
		return rows, err
	})
	return rows, asked, err
}
