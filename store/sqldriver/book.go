package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// enter books calls: each by itself, in the sums of its day, and in what is known about
// its model.
func enter(ctx context.Context, tx *sqlrow.Session, project string, records []scrollback.UsageRecord,
	learn driver.Learn) error {
	for _, u := range records {
		err := tx.Run(ctx, sqlrow.InsertUse,
			u.Conversation, u.TurnID, u.Model, u.Purpose, u.RequestID, u.At, u.InputTokens, u.CachedTokens,
			u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.Cost, u.Currency, u.Estimated, project, u.TotalTokens,
			u.Key)
		if err != nil {
			return err
		}
		// Added up here, where a sum stops at its bounds and a broken one is repaired: in
		// SQL it would become a real number that no reader expects.
		d := scrollback.UsageDay{Day: scrollback.DayOf(u.At), Model: u.Model, Project: project}
		if !tx.Adds() {
			err = tx.Known(ctx, sqlrow.ScanDay(&d), sqlrow.Days.At(d.Day, d.Model, d.Project, u.Currency))
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		d.Currency = u.Currency
		d.Entry(u.Usage)
		if err := storeDay(ctx, tx, d); err != nil {
			return err
		}
		if !learn.Teaches(u) {
			continue
		}
		if err := learnFrom(ctx, tx, u, learn); err != nil {
			return err
		}
	}
	return nil
}

func storeDay(ctx context.Context, tx *sqlrow.Session, d scrollback.UsageDay) error {
	v := []any{d.Day, d.Model, d.Project, d.Currency, d.Calls, d.EstimatedCalls, d.InputTokens, d.CachedTokens,
		d.CacheWriteTokens, d.OutputTokens, d.ReasoningTokens, d.TotalTokens, d.Cost}
	return tx.Put(ctx, sqlrow.Days.At(v[:4]...), v, sqlrow.StoreSums, v...)
}

// UsageDays implements [driver.Book].
func (db book) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	var out []scrollback.UsageDay
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		out = append(out, scrollback.UsageDay{})
		return sqlrow.ScanDay(&out[len(out)-1])(r)
	}, sqlrow.DaySums+`day >= $1 AND day <= $2`+sqlrow.DayOrder, first, last)
	return out, db.wrap("sqldriver.UsageDays", err)
}

// factsOf is what is known besides the factor, as it is stored.
func factsOf(l scrollback.Learned) (string, error) {
	l.Factor = 0
	return sqlrow.JSON(l)
}

func loadKnown(ctx context.Context, s *sqlrow.Session, model string) (k sqlrow.Known, err error) {
	err = s.Known(ctx, k.Scan, sqlrow.Knowledge.At(model))
	return k, err
}

func storeKnown(ctx context.Context, tx *sqlrow.Session, model string, l scrollback.Learned) error {
	facts, err := factsOf(l)
	if err != nil {
		return err
	}
	v := []any{model, l.Factor, facts}
	return tx.Put(ctx, sqlrow.Knowledge.At(v[0]), v, `INSERT INTO models_learned (model, factor, facts) VALUES (`+sqlrow.Marks(3)+`)
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, facts = excluded.facts`, v...)
}

// LearnFactor stores the factor of a model.
const LearnFactor = `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, '') ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`

// learnFrom changes the factor of a model, and nothing else.
func learnFrom(ctx context.Context, tx *sqlrow.Session, u scrollback.UsageRecord, learn driver.Learn) error {
	k, err := loadKnown(ctx, tx, u.Model)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now := learn(k.Factor, u)
	if now == k.Factor {
		return nil
	}
	return tx.Patch(ctx, sqlrow.Knowledge.At(u.Model), sqlrow.Change{1: now}, LearnFactor, u.Model, now)
}

// Learned implements [driver.Book].
func (db book) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	k, err := loadKnown(ctx, db.Read, model)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return k.Learned, db.wrap("sqldriver.Learned", err)
}

// Teach implements [driver.Book].
func (db book) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return db.write(ctx, "sqldriver.Teach", func(ctx context.Context, tx *sqlrow.Session) error {
		if err := tx.Alone(ctx, "model "+model); err != nil {
			return err
		}
		if err := tx.Hold(ctx, `SELECT model FROM models_learned WHERE model = $1`, model); err != nil {
			return err
		}
		k, err := loadKnown(ctx, tx, model)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		was := k.Factor
		before, err := factsOf(k.Learned)
		if err != nil {
			return err
		}
		edit(&k.Learned)
		after, err := factsOf(k.Learned)
		if err != nil || after == before && k.Factor == was {
			return err
		}
		return storeKnown(ctx, tx, model, k.Learned)
	})
}

// UsageParts implements [driver.Book].
func (db book) UsageParts(ctx context.Context, q driver.UsageParts) ([]scrollback.UsageDay, error) {
	parts := q.Divide()
	entries, args := sqlrow.EntriesOf(q)
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var e sqlrow.Entry
		if err := e.Scan(r); err != nil {
			return err
		}
		parts.Enter(e.UsageRecord, e.Project)
		return nil
	}, entries, args...)
	return parts.Sums(), db.wrap("sqldriver.UsageParts", err)
}

// Spent implements [driver.Book]. It adds up as real numbers, which do not overflow.
func (db book) Spent(ctx context.Context, q driver.Spending) (scrollback.Usage, error) {
	const sums = `SELECT coalesce(sum(CAST(total_tokens AS DOUBLE PRECISION)), 0),
		coalesce(sum(CASE WHEN currency = $1 THEN CAST(cost AS DOUBLE PRECISION) END), 0) FROM `
	query := sums + `usage_days WHERE day = $2 AND project = $3`
	args := []any{q.Currency, q.Day, q.Project}
	if q.Key != "" {
		query = sums + `usage_records WHERE key_id = $2 AND key_id <> '' AND at >= $3 AND at < $4`
		args = []any{q.Currency, q.Key, q.Day * scrollback.DayMS, (q.Day + 1) * scrollback.DayMS}
	}
	var tokens, cost float64
	err := db.Read.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&tokens, &cost) }, query, args...)
	sum := scrollback.Usage{TotalTokens: int64(min(tokens, scrollback.MaxSumTokens)), Cost: cost}
	return scrollback.Usage{Currency: q.Currency}.Add(sum), db.wrap("sqldriver.Spent", err)
}
