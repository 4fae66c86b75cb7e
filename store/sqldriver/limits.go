package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// limits implements [driver.Limits].
type limits keys

var _ driver.Limits = limits{}

// maxPrunedTallies bounds how many tallies that have ended one count removes: more than can be
// added meanwhile, and never a long write.
const maxPrunedTallies = 8

const (
	// Tallied is how much an actor has begun in a window, which nobody else changes before
	// the transaction ends.
	Tallied = `SELECT count FROM tallies WHERE actor = $1 AND start = $2 AND until = $3`

	// readTally is the same without a lock, for reading alone.
	readTally = `SELECT t.count FROM tallies t WHERE t.actor = $1 AND t.start = $2 AND t.until = $3`

	// PruneTallies removes some that have ended.
	PruneTallies = `DELETE FROM tallies WHERE actor IN (SELECT actor FROM tallies WHERE until <= $1 ORDER BY until LIMIT $2)`
)

// countTally adds one to an actor's tally.
func countTally(ctx context.Context, tx *sqlrow.Session, t driver.Tally) (int64, error) {
	used, err := countTallied(ctx, tx, Tallied, t)
	if err != nil {
		return 0, err
	}
	if used, err = t.Tallied(used); err != nil {
		return used, err
	}
	if t.Within != nil {
		if _, err := countTally(ctx, tx, *t.Within); err != nil {
			return used - 1, err
		}
	}
	err = tx.Run(ctx, `INSERT INTO tallies (actor, start, until, count) VALUES ($1, $2, $3, $4)
		ON CONFLICT (actor) DO UPDATE SET start = excluded.start, until = excluded.until, count = excluded.count`, t.Actor, t.Start, t.Until, used)
	if err == nil {
		err = tx.Run(ctx, PruneTallies, t.Start, maxPrunedTallies)
	}
	return used, err
}

// countTallied is how much an actor has begun in a window.
func countTallied(ctx context.Context, s *sqlrow.Session, query string, t driver.Tally) (used int64, err error) {
	err = s.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&used) },
		query, t.Actor, t.Start, t.Until)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return used, err
}

// Count implements [driver.Limits].
func (l limits) Count(ctx context.Context, t driver.Tally) (used int64, err error) {
	err = l.Write(ctx, "sqlaccess.Count", func(ctx context.Context, tx *sqlrow.Session) (err error) {
		used, err = countTally(ctx, tx, t)
		return err
	})
	return used, err
}

// Counted implements [driver.Limits].
func (l limits) Counted(ctx context.Context, t driver.Tally) (int64, error) {
	used, err := countTallied(ctx, l.Read, readTally, t)
	return used, l.Wrap("sqlaccess.Counted", err)
}

// KeyLimits implements [driver.Limits].
func (l limits) KeyLimits(ctx context.Context, id scrollback.KeyID) (set scrollback.Limits, err error) {
	err = l.Read.Row(ctx, func(r sqlrow.Scanner) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		return sqlrow.Parse(text, &set)
	}, `SELECT limits FROM key_limits WHERE key_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return set, l.Wrap("sqlaccess.KeyLimits", err)
}

// MadeBy implements [driver.Limits].
func (l limits) MadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	makers := map[scrollback.KeyID]scrollback.KeyID{}
	err := l.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var made scrollback.KeyID
		var text string
		if err := r.Scan(&made, &text); err != nil {
			return err
		}
		var set scrollback.Limits
		if err := sqlrow.Parse(text, &set); err != nil {
			return err
		}
		makers[made] = set.Maker
		return nil
	}, `SELECT key_id, limits FROM key_limits WHERE limits LIKE '%"maker":%'`)
	return driver.Made(id, makers), l.Wrap("sqlaccess.MadeBy", err)
}

// SetKeyLimits implements [driver.Limits].
func (l limits) SetKeyLimits(ctx context.Context, id scrollback.KeyID, set scrollback.Limits) error {
	return l.Write(ctx, "sqlaccess.SetKeyLimits", func(ctx context.Context, tx *sqlrow.Session) error {
		if set == (scrollback.Limits{}) {
			return tx.Run(ctx, `DELETE FROM key_limits WHERE key_id = $1`, id)
		}
		text, err := sqlrow.JSON(set)
		if err != nil {
			return err
		}
		return tx.Run(ctx, `INSERT INTO key_limits (key_id, limits) VALUES ($1, $2)
			ON CONFLICT (key_id) DO UPDATE SET limits = excluded.limits`, id, text)
	})
}
