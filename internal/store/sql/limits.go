package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// maxPrunedTallies bounds how many tallies that have ended one count removes: more than can be
// added meanwhile, and never a long write.
const maxPrunedTallies = 8

// selectTally is how much an actor has begun in a window.
const selectTally = `SELECT count FROM tallies WHERE actor = $1 AND start = $2 AND until = $3`

// countTally adds one to an actor's tally.
func (w *writeTx) countTally(ctx context.Context, t driver.Tally) (int64, error) {
	used, err := readTally(ctx, w.tx, w.Dialect.HoldTally, t)
	if err != nil {
		return 0, err
	}
	if used, err = t.CountOne(used); err != nil {
		return used, err
	}
	if t.Within != nil {
		if _, err := w.countTally(ctx, *t.Within); err != nil {
			return used - 1, err
		}
	}
	err = w.tx.Queue(ctx, `INSERT INTO tallies (actor, start, until, count) VALUES ($1, $2, $3, $4)
		ON CONFLICT (actor) DO UPDATE SET start = excluded.start, until = excluded.until, count = excluded.count`, t.Actor, t.Start, t.Until, used)
	if err == nil {
		err = w.tx.Queue(ctx, w.Dialect.PruneTallies, t.Start, maxPrunedTallies)
	}
	return used, err
}

// readTally reads how much an actor has begun in a window.
func readTally(ctx context.Context, r Reader, query string, t driver.Tally) (used int64, err error) {
	err = QueryRow(ctx, r, scanInto(&used), query, t.Actor, t.Start, t.Until)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return used, err
}

// CountTally implements [driver.Access].
func (db access) CountTally(ctx context.Context, t driver.Tally) (used int64, err error) {
	err = db.write(ctx, "sqlstore.CountTally", func(ctx context.Context, w *writeTx) (err error) {
		used, err = w.countTally(ctx, t)
		return err
	})
	return used, err
}

// ReadTally implements [driver.Access].
func (db access) ReadTally(ctx context.Context, t driver.Tally) (int64, error) {
	used, err := readTally(ctx, db.Readers, selectTally, t)
	return used, db.wrapError("sqlstore.ReadTally", err)
}

// ReadKeyLimits implements [driver.Access].
func (db access) ReadKeyLimits(ctx context.Context, id scrollback.KeyID) (set scrollback.KeyLimits, err error) {
	err = QueryRow(ctx, db.Readers, scanInto(asJSON(&set)), `SELECT limits FROM key_limits WHERE key_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return set, db.wrapError("sqlstore.ReadKeyLimits", err)
}

// ListKeysMadeBy implements [driver.Access].
func (db access) ListKeysMadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	makers := map[scrollback.KeyID]scrollback.KeyID{}
	err := db.Readers.Query(ctx, func(r Row) error {
		var made scrollback.KeyID
		var set scrollback.KeyLimits
		err := r.Scan(&made, asJSON(&set))
		makers[made] = set.Maker
		return err
	}, `SELECT key_id, limits FROM key_limits WHERE limits LIKE '%"maker":%'`)
	return driver.CollectMadeKeys(id, makers), db.wrapError("sqlstore.ListKeysMadeBy", err)
}

// SetKeyLimits implements [driver.Access].
func (db access) SetKeyLimits(ctx context.Context, id scrollback.KeyID, set scrollback.KeyLimits) error {
	return db.write(ctx, "sqlstore.SetKeyLimits", func(ctx context.Context, w *writeTx) error {
		if set == (scrollback.KeyLimits{}) {
			return w.tx.Queue(ctx, `DELETE FROM key_limits WHERE key_id = $1`, id)
		}
		text, err := encodeJSON(set)
		if err != nil {
			return err
		}
		return w.tx.Queue(ctx, `INSERT INTO key_limits (key_id, limits) VALUES ($1, $2)
			ON CONFLICT (key_id) DO UPDATE SET limits = excluded.limits`, id, text)
	})
}
