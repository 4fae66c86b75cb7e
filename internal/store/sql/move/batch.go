package move

import (
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

const (
	batchBytes    = 4 << 20 // that one transaction on the target writes, if no row is larger
	batchRows     = 2000
	rowsPerInsert = 50 // that one statement inserts
)

// batch is what the next transactions on the target do, in its order.
type batch struct {
	m     *mover
	steps []batchStep
	bytes int
}

// batchStep is one thing to do: rows of a table to insert, or something else.
type batchStep struct {
	into *table
	row  []any
	do   func(ctx context.Context, tx sqlstore.Tx) error
}

// insertRow adds a row.
func (b *batch) insertRow(ctx context.Context, t *table, row sqlstore.Row) error {
	b.m.reporter.bytes.Add(countBytes(row))
	if t == messages {
		b.m.reporter.messages.Add(1)
	} else {
		b.m.reporter.rows.Add(1)
	}
	return b.addStep(ctx, batchStep{into: t, row: rowArgs(row)}, int(countBytes(row)))
}

// addStatement adds a statement.
func (b *batch) addStatement(ctx context.Context, query string, args ...any) error {
	b.m.reporter.rows.Add(1)
	bytes := 0
	for _, v := range args {
		if s, ok := v.(string); ok {
			bytes += len(s)
		}
	}
	return b.addStep(ctx, batchStep{do: func(ctx context.Context,
		tx sqlstore.Tx) error {
		return tx.Queue(ctx, query, args...)
	}},
		bytes)
}

func (b *batch) addStep(ctx context.Context, s batchStep, bytes int) error {
	b.steps = append(b.steps, s)
	b.bytes += bytes
	if len(b.steps) < batchRows && b.bytes < batchBytes {
		return nil
	}
	return b.runSteps(ctx)
}

// runSteps does what was added, in a transaction.
func (b *batch) runSteps(ctx context.Context) error {
	if len(b.steps) == 0 {
		return nil
	}
	// What may fail between commit and answer is carried again as a whole, by comparing.
	err := b.m.to.writeOnce(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		if !b.m.alone {
			if err := checkNewest(ctx, tx, b.m, b.m.to.HoldRun); err != nil {
				return err
			}
		}
		for rest := b.steps; len(rest) > 0; {
			if rest[0].do != nil {
				if err := rest[0].do(ctx, tx); err != nil {
					return err
				}
				rest = rest[1:]
				continue
			}
			var rows [][]any
			of := rest[0].into
			for len(rest) > 0 && rest[0].into == of && (of != messages || len(rows) == 0 || rest[0].row[2] == rows[0][2]) {
				rows = append(rows, rest[0].row)
				rest = rest[1:]
			}
			if err := b.m.insertRows(ctx, tx, of, rows); err != nil {
				return err
			}
		}
		return nil
	})
	b.steps = nil
	b.bytes = 0
	return err
}

// insertRows inserts rows of one table; of messages, those of one branch.
func (m *mover) insertRows(ctx context.Context, tx sqlstore.Tx, t *table, rows [][]any) error {
	switch {
	case t == messages:
		if slices.ContainsFunc(rows, func(row []any) bool { return lacksHash(row) }) {
			if err := tx.Queue(ctx, sqlstore.RestartHashing); err != nil {
				return err
			}
		}
		// What an older program stored at the source may not have been looked through there.
		if err := tx.Queue(ctx, sqlstore.RestartFilling); err != nil {
			return err
		}
		return m.to.Insert(ctx, tx, rows)
	case t.sums:
		for _, row := range rows {
			if err := tx.Queue(ctx, m.to.Dialect.StoreUsageDay, row...); err != nil {
				return err
			}
		}
		return nil
	}
	var more []string
	if t.branch || t.key == 0 && m.to.Numbers {
		more = []string{"n"}
	}
	for len(rows) > 0 {
		n := 1
		if len(rows) >= rowsPerInsert {
			n = rowsPerInsert
		}
		var all []any
		for _, row := range rows[:n] {
			all = append(all, row...)
			if more == nil {
				continue
			}
			number, err := m.nextNumber(ctx, tx, t)
			if err != nil {
				return err
			}
			all = append(all, number)
		}
		if err := tx.Queue(ctx, t.insertStatement(n, more...), all...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// lacksHash reports whether a row of messages has no hash. The source may have it beside the rows,
// or not yet: then a server of the target makes it.
func lacksHash(row []any) bool {
	switch v := row[sqlstore.HashColumn].(type) {
	case []byte:
		return len(v) == 0
	case string:
		return v == ""
	}
	return true
}

// nextNumber returns the number of a row that is inserted: of a branch as the database counts them, of a
// list above all that this process gave before, and with the time in it as a server's are.
func (m *mover) nextNumber(ctx context.Context, tx sqlstore.Tx, t *table) (int64, error) {
	if t.branch {
		return m.to.Dialect.BranchNumber(ctx, tx)
	}
	for {
		last := m.numbered.Load()
		next := max(last+1, time.Now().UnixMicro()*4096)
		if m.numbered.CompareAndSwap(last, next) {
			return next, nil
		}
	}
}

// deleteMessages removes the messages of a branch from a seq on, as a purge of the source has.
func (b *batch) deleteMessages(ctx context.Context, branch string, from int64) error {
	return b.addStep(ctx, batchStep{do: func(ctx context.Context, tx sqlstore.Tx) error {
		if err := sqlstore.NotePurged(ctx, &b.m.to.Dialect, tx, scrollback.BranchID(branch), from); err != nil {
			return err
		}
		return tx.Queue(ctx, `DELETE FROM messages WHERE branch = $1 AND seq >= $2`, branch, from)
	}}, 0)
}

// rowArgs returns the values of a row as arguments of a statement.
func rowArgs(row sqlstore.Row) []any {
	out := make([]any, len(row))
	for i, v := range row {
		out[i] = v
	}
	return out
}

// countBytes returns about how many bytes a row has.
func countBytes(row []driver.Value) (n int64) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		default:
			n += 8
		}
	}
	return n
}
