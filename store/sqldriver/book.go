package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// enter books calls: each by itself, in the sums of its day, and in what is known
// of its model.
func enter(ctx context.Context, tx *session, project string, records []scrollback.UsageRecord, learn driver.Learn) error {
	for _, u := range records {
		err := tx.run(ctx, `INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
			cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated) VALUES (`+marks(14)+`)`,
			u.Conversation, u.TurnID, u.Model, u.Purpose, u.RequestID, u.At, u.InputTokens,
			u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.Cost, u.Currency, u.Estimated)
		if err != nil {
			return err
		}
		err = tx.run(ctx, `INSERT INTO usage_days AS d (day, model, project, currency, calls, estimated_calls, input_tokens, cached_tokens,
			cache_write_tokens, output_tokens, reasoning_tokens, total_tokens, cost) VALUES (`+marks(13)+`)
			ON CONFLICT (day, model, project, currency) DO UPDATE SET calls = d.calls + 1, estimated_calls = d.estimated_calls + excluded.estimated_calls,
			input_tokens = d.input_tokens + excluded.input_tokens, cached_tokens = d.cached_tokens + excluded.cached_tokens,
			cache_write_tokens = d.cache_write_tokens + excluded.cache_write_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
			reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens, total_tokens = d.total_tokens + excluded.total_tokens,
			cost = d.cost + excluded.cost`,
			scrollback.DayOf(u.At), u.Model, project, u.Currency, 1, u.Estimated, u.InputTokens, u.CachedTokens,
			u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.TotalTokens, u.Cost)
		if err != nil {
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

func learnFrom(ctx context.Context, tx *session, u scrollback.UsageRecord, learn driver.Learn) error {
	was, err := factor(ctx, tx, u.Model)
	if err != nil {
		return err
	}
	now := learn(was, u)
	if now == was {
		return nil
	}
	return tx.run(ctx, `INSERT INTO model_factors (model, factor) VALUES ($1, $2) ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`, u.Model, now)
}

func factor(ctx context.Context, s *session, model string) (f float64, err error) {
	err = s.row(ctx, func(r scanner) error { return r.Scan(&f) }, `SELECT factor FROM model_factors WHERE model = $1`, model)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return f, err
}

// Factor implements driver.Book.
func (db *DB) Factor(ctx context.Context, model string) (float64, error) {
	f, err := factor(ctx, db.read, model)
	return f, db.wrap("sqldriver.Factor", err)
}

// UsageDays implements driver.Book.
func (db *DB) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	var out []scrollback.UsageDay
	err := db.read.rows(ctx, func(r scanner) error {
		var d scrollback.UsageDay
		err := r.Scan(&d.Day, &d.Model, &d.Project, &d.Currency, &d.Calls, &d.EstimatedCalls, &d.InputTokens, &d.CachedTokens,
			&d.CacheWriteTokens, &d.OutputTokens, &d.ReasoningTokens, &d.TotalTokens, &d.Cost)
		d.Estimated = d.EstimatedCalls > 0
		out = append(out, d)
		return err
	}, `SELECT day, model, project, currency, calls, estimated_calls, input_tokens, cached_tokens, cache_write_tokens, output_tokens,
		reasoning_tokens, total_tokens, cost FROM usage_days WHERE day >= $1 AND day <= $2 ORDER BY day, model, project, currency`, first, last)
	return out, db.wrap("sqldriver.UsageDays", err)
}
