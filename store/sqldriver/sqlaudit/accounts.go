package sqlaudit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// accounts checks what is known of models, and sums of usage against their records.
// It has the sums of all days in memory, as [driver.Book.UsageDays] has.
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
	}, sqlrow.DaySums+`true`+sqlrow.DayOrder)
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
			return a.flaw(driver.Flaw{Kind: driver.FlawUsage, Where: fmt.Sprint("usage record ", e.N),
				Detail: "its numbers cannot be those of a call",
				Mend:   &driver.Mend{Usage: &driver.MendUsage{Day: day, Model: e.Model}}})
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
			where := fmt.Sprintf("usage of %s, %s %s", time.UnixMilli(key.Day*scrollback.DayMS).UTC().Format(time.DateOnly),
				key.Model, j.Currency)
			if err := a.flaw(driver.Flaw{Kind: driver.FlawUsage, Where: where, Detail: j.Wrong,
				Mend: &driver.Mend{Usage: &key}}); err != nil {
				return err
			}
		}
	}
	return nil
}
