package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// maxPruned bounds how many tallies that have ended one count removes: more than can be
// added meanwhile, and never a long write.
const maxPruned = 8

// count adds one to an actor's tally.
func count(ctx context.Context, tx *sqlrow.Session, t driver.Tally) (int64, error) {
	used, err := tallied(ctx, tx, t)
	if err != nil {
		return 0, err
	}
	if used, err = t.Tallied(used); err != nil {
		return used, err
	}
	err = tx.Run(ctx, `INSERT INTO tallies (actor, start, until, count) VALUES ($1, $2, $3, $4)
		ON CONFLICT (actor) DO UPDATE SET start = excluded.start, until = excluded.until, count = excluded.count`, t.Actor, t.Start, t.Until, used)
	if err == nil {
		err = tx.Run(ctx, `DELETE FROM tallies WHERE actor IN (SELECT actor FROM tallies WHERE until <= $1 ORDER BY until LIMIT $2)`, t.Start, maxPruned)
	}
	return used, err
}

// tallied is how much an actor has begun in a window.
func tallied(ctx context.Context, s *sqlrow.Session, t driver.Tally) (used int64, err error) {
	err = s.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&used) },
		`SELECT count FROM tallies WHERE actor = $1 AND start = $2 AND until = $3`, t.Actor, t.Start, t.Until)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return used, err
}

// Count implements [driver.Limits].
func (db limits) Count(ctx context.Context, t driver.Tally) (used int64, err error) {
	err = db.write(ctx, "sqldriver.Count", func(ctx context.Context, tx *sqlrow.Session) (err error) {
		used, err = count(ctx, tx, t)
		return err
	})
	return used, err
}

// Counted implements [driver.Limits].
func (db limits) Counted(ctx context.Context, t driver.Tally) (int64, error) {
	used, err := tallied(ctx, db.Read, t)
	return used, db.wrap("sqldriver.Counted", err)
}

// KeyLimits implements [driver.Limits].
func (db limits) KeyLimits(ctx context.Context, id scrollback.KeyID) (l scrollback.Limits, err error) {
	err = db.Read.Row(ctx, func(r sqlrow.Scanner) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		return sqlrow.Parse(text, &l)
	}, `SELECT limits FROM key_limits WHERE key_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return l, db.wrap("sqldriver.KeyLimits", err)
}

// SetKeyLimits implements [driver.Limits].
func (db limits) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.Limits) error {
	return db.write(ctx, "sqldriver.SetKeyLimits", func(ctx context.Context, tx *sqlrow.Session) error {
		if l == (scrollback.Limits{}) {
			return tx.Run(ctx, `DELETE FROM key_limits WHERE key_id = $1`, id)
		}
		text, err := sqlrow.JSON(l)
		if err != nil {
			return err
		}
		return tx.Run(ctx, `INSERT INTO key_limits (key_id, limits) VALUES ($1, $2)
			ON CONFLICT (key_id) DO UPDATE SET limits = excluded.limits`, id, text)
	})
}

// UsageParts implements [driver.Book].
func (db book) UsageParts(ctx context.Context, q driver.UsageParts) ([]scrollback.UsageDay, error) {
	parts := q.Divide()
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var e sqlrow.Entry
		if err := e.Scan(r); err != nil {
			return err
		}
		parts.Enter(e.UsageRecord, e.Project)
		return nil
	}, sqlrow.Entries+` WHERE u.at >= $1 AND u.at < $2`, q.First*scrollback.DayMS, (q.Last+1)*scrollback.DayMS)
	return parts.Sums(), db.wrap("sqldriver.UsageParts", err)
}

// Spent implements [driver.Book]. It adds up as real numbers, which do not overflow.
func (db book) Spent(ctx context.Context, q driver.Spending) (scrollback.Usage, error) {
	const sums = `SELECT coalesce(sum(CAST(total_tokens AS DOUBLE PRECISION)), 0),
		coalesce(sum(CASE WHEN currency = $1 THEN CAST(cost AS DOUBLE PRECISION) END), 0) FROM `
	query, args := sums+`usage_days WHERE day = $2 AND project = $3`, []any{q.Currency, q.Day, q.Project}
	if q.Key != "" {
		query = sums + `usage_records WHERE key_id = $2 AND key_id <> '' AND at >= $3 AND at < $4`
		args = []any{q.Currency, q.Key, q.Day * scrollback.DayMS, (q.Day + 1) * scrollback.DayMS}
	}
	var tokens, cost float64
	err := db.Read.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&tokens, &cost) }, query, args...)
	sum := scrollback.Usage{TotalTokens: int64(min(tokens, scrollback.MaxSumTokens)), Cost: cost}
	return scrollback.Usage{Currency: q.Currency}.Add(sum), db.wrap("sqldriver.Spent", err)
}
