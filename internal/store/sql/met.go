package sqlstore

import (
	"context"
)

// metMax is how many marks of other stores are remembered.
const metMax = 64

// ListMet implements [driver.Log].
func (db log) ListMet(ctx context.Context) (marks []string, err error) {
	err = db.Readers.Query(ctx, listInto(&marks), `SELECT mark FROM met WHERE mark > '' ORDER BY mark`)
	return marks, db.wrapError("sqlstore.ListMet", err)
}

// PutMet implements [driver.Log].
func (db log) PutMet(ctx context.Context, mark, instead string, now int64) error {
	return db.write(ctx, "sqlstore.PutMet", func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, "met"); err != nil {
			return err
		}
		for _, statement := range []struct {
			text string
			args []any
		}{
			{`DELETE FROM met WHERE mark = $1`, []any{instead}},
			{`INSERT INTO met (mark, at) VALUES ($1, $2) ON CONFLICT (mark) DO UPDATE SET at = excluded.at`, []any{mark, now}},
		} {
			if err := w.tx.Queue(ctx, statement.text, statement.args...); err != nil {
				return err
			}
		}
		n := 0
		oldest := ""
		since := now
		err := w.tx.Query(ctx, func(r Row) error {
			var one string
			var at int64
			err := r.Scan(&one, &at)
			if n++; one != mark && at <= since {
				oldest = one
				since = at
			}
			return err
		}, `SELECT mark, at FROM met WHERE mark > ''`)
		if err != nil || n <= metMax {
			return err
		}
		return w.tx.Queue(ctx, `DELETE FROM met WHERE mark = $1`, oldest)
	})
}

// forgetMet forgets what was taken of other stores, so that all of it is compared again.
func (w *writeTx) forgetMet(ctx context.Context) error {
	return w.tx.Queue(ctx, `DELETE FROM met WHERE mark > ''`)
}
