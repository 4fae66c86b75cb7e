package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// enter books calls: each by itself, in the sums of its day, and in what is known
// of its model.
func enter(ctx context.Context, tx *sqlrow.Session, project string, records []scrollback.UsageRecord, learn driver.Learn) error {
	for _, u := range records {
		err := tx.Run(ctx, `INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
			cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated, project, total_tokens) VALUES (`+sqlrow.Marks(16)+`)`,
			u.Conversation, u.TurnID, u.Model, u.Purpose, u.RequestID, u.At, u.InputTokens, u.CachedTokens,
			u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.Cost, u.Currency, u.Estimated, project, u.TotalTokens)
		if err != nil {
			return err
		}
		// Added up here, where a sum stops at its bounds and a broken one is put right:
		// in SQL it would become a real number that no reader expects.
		d := scrollback.UsageDay{Day: scrollback.DayOf(u.At), Model: u.Model, Project: project}
		err = tx.Row(ctx, sqlrow.ScanDay(&d), `SELECT `+sqlrow.DayColumns+` FROM usage_days WHERE day = $1 AND model = $2 AND project = $3 AND currency = $4`,
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

func storeDay(ctx context.Context, tx *sqlrow.Session, d scrollback.UsageDay) error {
	return tx.Run(ctx, `INSERT INTO usage_days (`+sqlrow.DayColumns+`) VALUES (`+sqlrow.Marks(13)+`)
		ON CONFLICT (day, model, project, currency) DO UPDATE SET calls = excluded.calls, estimated_calls = excluded.estimated_calls,
		input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens, cache_write_tokens = excluded.cache_write_tokens,
		output_tokens = excluded.output_tokens, reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost = excluded.cost`,
		d.Day, d.Model, d.Project, d.Currency, d.Calls, d.EstimatedCalls, d.InputTokens, d.CachedTokens,
		d.CacheWriteTokens, d.OutputTokens, d.ReasoningTokens, d.TotalTokens, d.Cost)
}

// UsageDays implements [driver.Book].
func (db book) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	var out []scrollback.UsageDay
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		out = append(out, scrollback.UsageDay{})
		return sqlrow.ScanDay(&out[len(out)-1])(r)
	}, `SELECT `+sqlrow.DayColumns+` FROM usage_days WHERE day >= $1 AND day <= $2 ORDER BY day, model, project, currency`, first, last)
	return out, db.wrap("sqldriver.UsageDays", err)
}

// factsOf is what is known beside the factor, as it is stored.
func factsOf(l scrollback.Learned) (string, error) {
	l.Factor = 0
	return sqlrow.JSON(l)
}

func loadKnown(ctx context.Context, s *sqlrow.Session, model string) (k sqlrow.Known, err error) {
	err = s.Row(ctx, k.Scan, `SELECT `+sqlrow.KnownColumns+` FROM models_learned WHERE model = $1`, model)
	return k, err
}

func storeKnown(ctx context.Context, tx *sqlrow.Session, model string, l scrollback.Learned) error {
	facts, err := factsOf(l)
	if err != nil {
		return err
	}
	return tx.Run(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES (`+sqlrow.Marks(3)+`)
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, facts = excluded.facts`, model, l.Factor, facts)
}

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
	return tx.Run(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, '')
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`, u.Model, now)
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

// accounts checks what is known of models, and sums of usage against their records.
// It has the sums of all days in memory, as [DB.UsageDays] has.
func (a *auditor) accounts(ctx context.Context) error {
	err := pages(ctx, a, "", paged[sqlrow.Known, string]{what: "what is known of models",
		query: `SELECT ` + sqlrow.KnownColumns + ` FROM models_learned WHERE model > $1 ORDER BY model LIMIT $2`,
		scan: func(k *sqlrow.Known, r sqlrow.Scanner) error {
			if err := k.Scan(r); err != nil {
				return err
			}
			return k.Broken
		},
		key:  func(k sqlrow.Known) (string, bool) { return k.Model, k.Model != "" },
		name: func(k sqlrow.Known) string { return "model " + k.Model },
		each: func(sqlrow.Known) error { return nil },
		mend: func(k sqlrow.Known) *driver.Mend { return &driver.Mend{Learned: k.Model} }})
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
	err = a.rows(ctx, "the sums of usage", func(r sqlrow.Scanner) error {
		var d scrollback.UsageDay
		var broken bool
		err := sqlrow.ScanSums(&d, &broken)(r)
		if err == nil {
			of(d.Day, d.Model).Sum(d, broken)
		}
		return err
	}, `SELECT `+sqlrow.DayColumns+` FROM usage_days ORDER BY day, model, project, currency`)
	if err != nil {
		return err
	}
	err = pages(ctx, a, 0, paged[sqlrow.Entry, int64]{what: "the records of usage",
		query: sqlrow.Entries + ` WHERE u.n > $1 ORDER BY u.n LIMIT $2`,
		scan:  func(e *sqlrow.Entry, r sqlrow.Scanner) error { return e.Scan(r) },
		key:   func(e sqlrow.Entry) (int64, bool) { return e.N, e.N > 0 },
		name:  func(e sqlrow.Entry) string { return fmt.Sprint("usage record ", e.N) },
		each: func(e sqlrow.Entry) error {
			day := scrollback.DayOf(e.At)
			of(day, e.Model).Enter(e.Entered)
			if !e.Broken {
				return nil
			}
			return a.flaw(driver.Flaw{Kind: driver.FlawUsage, Where: fmt.Sprint("usage record ", e.N), Detail: "its numbers cannot be those of a call",
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
	if err != nil || k.Broken == nil {
		return err
	}
	return storeKnown(ctx, r.tx, model, k.Learned)
}

// usage brings records of a day within their bounds, and writes sums that do not
// agree with them.
func (r mending) usage(ctx context.Context, m driver.MendUsage) error {
	var account driver.Account
	var broken []sqlrow.Entry
	found := false
	err := r.tx.Rows(ctx, func(row sqlrow.Scanner) error {
		var d scrollback.UsageDay
		var wrong bool
		err := sqlrow.ScanSums(&d, &wrong)(row)
		account.Sum(d, wrong)
		found = true
		return err
	}, `SELECT `+sqlrow.DayColumns+` FROM usage_days WHERE day = $1 AND model = $2 ORDER BY project, currency`, m.Day, m.Model)
	if err == nil {
		err = r.tx.Rows(ctx, func(row sqlrow.Scanner) error {
			var e sqlrow.Entry
			if err := e.Scan(row); err != nil {
				return err
			}
			account.Enter(e.Entered)
			if found = true; e.Broken {
				broken = append(broken, e)
			}
			return nil
		}, sqlrow.Entries+` WHERE u.at >= $1 AND u.at < $2 AND u.model = $3 ORDER BY u.at, u.n`, m.Day*scrollback.DayMS, (m.Day+1)*scrollback.DayMS, m.Model)
	}
	if err == nil && !found {
		err = scrollback.Errorf(scrollback.NotFound, "sqldriver.Mend", "no usage of model %s on day %d", m.Model, m.Day)
	}
	for _, e := range broken {
		if err == nil {
			err = r.tx.Run(ctx, `UPDATE usage_records SET input_tokens = $2, cached_tokens = $3, cache_write_tokens = $4, output_tokens = $5, reasoning_tokens = $6,
				total_tokens = CASE WHEN total_tokens IS NULL THEN NULL ELSE $7 END, cost = $8, currency = $9, estimated = $10 WHERE n = $1`,
				e.N, e.InputTokens, e.CachedTokens, e.CacheWriteTokens, e.OutputTokens, e.ReasoningTokens, e.TotalTokens, e.Cost, e.Currency, e.Estimated)
		}
	}
	all := account.Judge()
	if err != nil || !slices.ContainsFunc(all, func(j driver.Judged) bool { return j.Wrong != "" }) {
		return err
	}
	if err := r.tx.Run(ctx, `DELETE FROM usage_days WHERE day = $1 AND model = $2`, m.Day, m.Model); err != nil {
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
