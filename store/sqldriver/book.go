package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// enter books calls: each by itself, in the sums of its day, and in what is known
// of its model.
func enter(ctx context.Context, tx *session, project string, records []scrollback.UsageRecord, learn driver.Learn) error {
	for _, u := range records {
		err := tx.run(ctx, `INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
			cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated, project, total_tokens) VALUES (`+marks(16)+`)`,
			u.Conversation, u.TurnID, u.Model, u.Purpose, u.RequestID, u.At, u.InputTokens, u.CachedTokens,
			u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.Cost, u.Currency, u.Estimated, project, u.TotalTokens)
		if err != nil {
			return err
		}
		// Added up here, where a sum stops at its bounds and a broken one is put right:
		// in SQL it would become a real number that no reader expects.
		d := scrollback.UsageDay{Day: scrollback.DayOf(u.At), Model: u.Model, Project: project}
		err = tx.row(ctx, scanDay(&d), `SELECT `+dayColumns+` FROM usage_days WHERE day = $1 AND model = $2 AND project = $3 AND currency = $4`,
			d.Day, d.Model, d.Project, u.Currency)
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

// whole scans a whole number that may be none: such a one is read as -1, one beyond
// int64, which SQLite keeps as a real number, as the greatest. Neither is in bounds.
type whole struct{ n *int64 }

// Scan implements sql.Scanner.
func (w whole) Scan(v any) error {
	*w.n = -1
	switch v := v.(type) {
	case int64:
		*w.n = v
	case float64:
		if v >= math.MaxInt64 {
			*w.n = math.MaxInt64
		}
	}
	return nil
}

// amount scans a real number likewise.
type amount struct{ n *float64 }

// Scan implements sql.Scanner.
func (a amount) Scan(v any) error {
	*a.n = -1
	switch v := v.(type) {
	case int64:
		*a.n = float64(v)
	case float64:
		*a.n = v
	}
	return nil
}

const dayColumns = `day, model, project, currency, calls, estimated_calls, input_tokens, cached_tokens,
	cache_write_tokens, output_tokens, reasoning_tokens, total_tokens, cost`

// scanDay reads sums as far as they can be believed.
func scanDay(d *scrollback.UsageDay) func(scanner) error {
	return func(r scanner) error { return scanSums(d, new(bool))(r) }
}

// scanSums is scanDay, and says whether something else is stored.
func scanSums(d *scrollback.UsageDay, broken *bool) func(scanner) error {
	return func(r scanner) error {
		err := r.Scan(whole{&d.Day}, &d.Model, &d.Project, &d.Currency, whole{&d.Calls}, whole{&d.EstimatedCalls}, whole{&d.InputTokens},
			whole{&d.CachedTokens}, whole{&d.CacheWriteTokens}, whole{&d.OutputTokens}, whole{&d.ReasoningTokens}, whole{&d.TotalTokens}, amount{&d.Cost})
		d.Estimated = d.EstimatedCalls > 0
		*d, *broken = d.Checked()
		return err
	}
}

func storeDay(ctx context.Context, tx *session, d scrollback.UsageDay) error {
	return tx.run(ctx, `INSERT INTO usage_days (`+dayColumns+`) VALUES (`+marks(13)+`)
		ON CONFLICT (day, model, project, currency) DO UPDATE SET calls = excluded.calls, estimated_calls = excluded.estimated_calls,
		input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens, cache_write_tokens = excluded.cache_write_tokens,
		output_tokens = excluded.output_tokens, reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost = excluded.cost`,
		d.Day, d.Model, d.Project, d.Currency, d.Calls, d.EstimatedCalls, d.InputTokens, d.CachedTokens,
		d.CacheWriteTokens, d.OutputTokens, d.ReasoningTokens, d.TotalTokens, d.Cost)
}

// UsageDays implements driver.Book.
func (db *DB) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	var out []scrollback.UsageDay
	err := db.read.rows(ctx, func(r scanner) error {
		out = append(out, scrollback.UsageDay{})
		return scanDay(&out[len(out)-1])(r)
	}, `SELECT `+dayColumns+` FROM usage_days WHERE day >= $1 AND day <= $2 ORDER BY day, model, project, currency`, first, last)
	return out, db.wrap("sqldriver.UsageDays", err)
}

// known is a row of models_learned. broken says that some of it cannot be read; the
// rest is there.
type known struct {
	scrollback.Learned
	model  string
	broken error
}

const knownColumns = `model, factor, facts`

func (k *known) scan(r scanner) error {
	var factor float64
	var facts string
	if err := r.Scan(&k.model, amount{&factor}, &facts); err != nil {
		return err
	}
	if err := fromJSON(facts, &k.Learned); err != nil {
		k.Learned, k.broken = scrollback.Learned{}, fmt.Errorf("what is known of it cannot be read: %w", err)
	}
	if k.Factor = factor; !(factor >= 0) || math.IsInf(factor, 0) {
		k.Factor, k.broken = 0, errors.New("its factor is no number")
	}
	return nil
}

// factsOf is what is known beside the factor, as it is stored.
func factsOf(l scrollback.Learned) (string, error) {
	l.Factor = 0
	return asJSON(l)
}

func loadKnown(ctx context.Context, s *session, model string) (k known, err error) {
	err = s.row(ctx, k.scan, `SELECT `+knownColumns+` FROM models_learned WHERE model = $1`, model)
	return k, err
}

func storeKnown(ctx context.Context, tx *session, model string, l scrollback.Learned) error {
	facts, err := factsOf(l)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES (`+marks(3)+`)
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, facts = excluded.facts`, model, l.Factor, facts)
}

// learnFrom changes the factor of a model, and nothing else.
func learnFrom(ctx context.Context, tx *session, u scrollback.UsageRecord, learn driver.Learn) error {
	k, err := loadKnown(ctx, tx, u.Model)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now := learn(k.Factor, u)
	if now == k.Factor {
		return nil
	}
	return tx.run(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, '')
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`, u.Model, now)
}

// Learned implements driver.Book.
func (db *DB) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	k, err := loadKnown(ctx, db.read, model)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return k.Learned, db.wrap("sqldriver.Learned", err)
}

// Teach implements driver.Book.
func (db *DB) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return db.write(ctx, "sqldriver.Teach", func(ctx context.Context, tx *session) error {
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

// entry is a row of usage_records.
type entry struct {
	driver.Entered
	n      int64
	broken bool // its numbers cannot be; they are read as far as they can be believed
}

// entries reads them, but for a condition and an order.
const entries = `SELECT u.n, u.model, u.at, coalesce(u.project, c.project, ''), u.project IS NOT NULL, u.total_tokens IS NOT NULL, u.input_tokens,
	u.cached_tokens, u.cache_write_tokens, u.output_tokens, u.reasoning_tokens, u.total_tokens, u.cost, u.currency, u.estimated
	FROM usage_records u LEFT JOIN conversations c ON c.id = u.conversation_id`

func (e *entry) scan(r scanner) error {
	var estimated int64
	if err := r.Scan(&e.n, &e.Model, &e.At, &e.Project, &e.Placed, &e.Totaled, whole{&e.InputTokens},
		whole{&e.CachedTokens}, whole{&e.CacheWriteTokens}, whole{&e.OutputTokens}, whole{&e.ReasoningTokens}, whole{&e.TotalTokens},
		amount{&e.Cost}, &e.Currency, whole{&estimated}); err != nil {
		return err
	}
	e.Estimated = estimated != 0
	if !e.Totaled {
		e.TotalTokens = 0
	}
	if e.broken = !e.InBounds(); e.broken {
		e.Usage, _ = e.Checked()
	}
	if !e.Totaled {
		e.TotalTokens = e.InputTokens + e.OutputTokens
	}
	return nil
}

// accounts checks what is known of models, and sums of usage against their records.
// It has the sums of all days in memory, as [DB.UsageDays] has.
func (a *auditor) accounts(ctx context.Context) error {
	err := pages(ctx, a, "", paged[known, string]{what: "what is known of models",
		query: `SELECT ` + knownColumns + ` FROM models_learned WHERE model > $1 ORDER BY model LIMIT $2`,
		scan: func(k *known, r scanner) error {
			if err := k.scan(r); err != nil {
				return err
			}
			return k.broken
		},
		key:  func(k known) (string, bool) { return k.model, k.model != "" },
		name: func(k known) string { return "model " + k.model },
		each: func(known) error { return nil },
		mend: func(k known) *driver.Mend { return &driver.Mend{Learned: k.model} }})
	if err != nil {
		return err
	}
	all := map[driver.MendUsage]*driver.Account{}
	of := func(day int64, model string) *driver.Account {
		key := driver.MendUsage{Day: day, Model: model}
		if all[key] == nil {
			all[key] = &driver.Account{}
		}
		return all[key]
	}
	err = a.rows(ctx, "the sums of usage", func(r scanner) error {
		var d scrollback.UsageDay
		var broken bool
		err := scanSums(&d, &broken)(r)
		if err == nil {
			of(d.Day, d.Model).Sum(d, broken)
		}
		return err
	}, `SELECT `+dayColumns+` FROM usage_days ORDER BY day, model, project, currency`)
	if err != nil {
		return err
	}
	err = pages(ctx, a, 0, paged[entry, int64]{what: "the records of usage",
		query: entries + ` WHERE u.n > $1 ORDER BY u.n LIMIT $2`,
		scan:  func(e *entry, r scanner) error { return e.scan(r) },
		key:   func(e entry) (int64, bool) { return e.n, e.n > 0 },
		name:  func(e entry) string { return fmt.Sprint("usage record ", e.n) },
		each: func(e entry) error {
			day := scrollback.DayOf(e.At)
			of(day, e.Model).Enter(e.Entered)
			if !e.broken {
				return nil
			}
			return a.flaw(driver.Flaw{Kind: driver.FlawUsage, Where: fmt.Sprint("usage record ", e.n), Detail: "its numbers cannot be those of a call",
				Mend: &driver.Mend{Usage: &driver.MendUsage{Day: day, Model: e.Model}}})
		}})
	if err != nil {
		return err
	}
	order := func(x, y driver.MendUsage) int {
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Model, y.Model))
	}
	for _, key := range slices.SortedFunc(maps.Keys(all), order) {
		for _, j := range all[key].Judge() {
			if j.Wrong == "" {
				continue
			}
			where := fmt.Sprintf("usage of %s, %s %s", time.UnixMilli(key.Day*scrollback.DayMS).UTC().Format(time.DateOnly), key.Model, j.Currency)
			if err := a.flaw(driver.Flaw{Kind: driver.FlawUsage, Where: where, Detail: j.Wrong, Mend: &driver.Mend{Usage: &key}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// learned removes what is known of a model and cannot be read.
func (r mending) learned(ctx context.Context, model string) error {
	k, err := loadKnown(ctx, r.tx, model)
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqldriver.Mend", "nothing is known of model %s", model)
	}
	if err != nil || k.broken == nil {
		return err
	}
	return storeKnown(ctx, r.tx, model, k.Learned)
}

// usage brings records of a day within their bounds, and writes sums that do not
// agree with them.
func (r mending) usage(ctx context.Context, m driver.MendUsage) error {
	var account driver.Account
	var broken []entry
	found := false
	err := r.tx.rows(ctx, func(row scanner) error {
		var d scrollback.UsageDay
		var wrong bool
		err := scanSums(&d, &wrong)(row)
		account.Sum(d, wrong)
		found = true
		return err
	}, `SELECT `+dayColumns+` FROM usage_days WHERE day = $1 AND model = $2 ORDER BY project, currency`, m.Day, m.Model)
	if err == nil {
		err = r.tx.rows(ctx, func(row scanner) error {
			var e entry
			if err := e.scan(row); err != nil {
				return err
			}
			account.Enter(e.Entered)
			if found = true; e.broken {
				broken = append(broken, e)
			}
			return nil
		}, entries+` WHERE u.at >= $1 AND u.at < $2 AND u.model = $3 ORDER BY u.at, u.n`, m.Day*scrollback.DayMS, (m.Day+1)*scrollback.DayMS, m.Model)
	}
	if err == nil && !found {
		err = scrollback.Errorf(scrollback.NotFound, "sqldriver.Mend", "no usage of model %s on day %d", m.Model, m.Day)
	}
	for _, e := range broken {
		if err == nil {
			err = r.tx.run(ctx, `UPDATE usage_records SET input_tokens = $2, cached_tokens = $3, cache_write_tokens = $4, output_tokens = $5, reasoning_tokens = $6,
				total_tokens = CASE WHEN total_tokens IS NULL THEN NULL ELSE $7 END, cost = $8, currency = $9, estimated = $10 WHERE n = $1`,
				e.n, e.InputTokens, e.CachedTokens, e.CacheWriteTokens, e.OutputTokens, e.ReasoningTokens, e.TotalTokens, e.Cost, e.Currency, e.Estimated)
		}
	}
	all := account.Judge()
	if err != nil || !slices.ContainsFunc(all, func(j driver.Judged) bool { return j.Wrong != "" }) {
		return err
	}
	if err := r.tx.run(ctx, `DELETE FROM usage_days WHERE day = $1 AND model = $2`, m.Day, m.Model); err != nil {
		return err
	}
	for _, j := range all {
		for _, d := range j.Sums {
			if err := storeDay(ctx, r.tx, d); err != nil {
				return err
			}
		}
	}
	return nil
}
