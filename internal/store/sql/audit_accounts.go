package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// auditAccounts checks what is known of models, and sums of usage against their records.
// It has the sums of all days in memory, as [driver.Access.ListUsageDays] has.
func (a *auditor) auditAccounts(ctx context.Context) error {
	err := auditPages(ctx, a, "", auditedTable[learnedModel, string]{what: "what is known of models",
		query: `SELECT ` + LearnedColumns + ` FROM models_learned WHERE model > $1 ORDER BY model LIMIT $2`,
		scan: func(k *learnedModel, r Row) error {
			if err := k.scan(r); err != nil {
				return err
			}
			return k.broken
		},
		key:  func(k learnedModel) (string, bool) { return k.model, k.model != "" },
		name: func(k learnedModel) string { return "model " + k.model },
		each: func(learnedModel) error { return nil },
		mend: func(k learnedModel) *driver.Repair { return &driver.Repair{Learned: k.model} }})
	if err != nil {
		return err
	}
	all := map[driver.UsageRepair]*driver.Account{}
	of := func(day int64, model string) *driver.Account {
		key := driver.UsageRepair{Day: day, Model: model}
		if all[key] == nil {
			all[key] = &driver.Account{}
		}
		return all[key]
	}
	err = a.readRows(ctx, "the sums of usage", scanUsageDay(func(d scrollback.UsageDay, broken bool) error {
		of(d.Day, d.Model).AddSums(d, broken)
		return nil
	}), a.dialect.AllUsageDays)
	if err != nil {
		return err
	}
	err = auditPages(ctx, a, 0, auditedTable[usageEntry, int64]{what: "the records of usage",
		query: selectUsage + ` WHERE u.n > $1 ORDER BY u.n LIMIT $2`,
		scan:  func(e *usageEntry, r Row) error { return e.scan(r) },
		key:   func(e usageEntry) (int64, bool) { return e.n, e.n > 0 },
		name:  func(e usageEntry) string { return fmt.Sprint("usage record ", e.n) },
		each: func(e usageEntry) error {
			day := scrollback.DayOf(e.At)
			of(day, e.Model).AddRecord(e.BookedRecord)
			if !e.broken {
				return nil
			}
			return a.reportFlaw(driver.Flaw{Kind: driver.FlawUsage, Where: fmt.Sprint("usage record ", e.n),
				Detail: "its numbers cannot be those of a call",
				Repair: &driver.Repair{Usage: &driver.UsageRepair{Day: day, Model: e.Model}}})
		}})
	if err != nil {
		return err
	}
	order := func(x, y driver.UsageRepair) int {
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Model, y.Model))
	}
	for _, key := range slices.SortedFunc(maps.Keys(all), order) {
		for _, j := range all[key].CompareSums() {
			if j.Wrong == "" {
				continue
			}
			where := fmt.Sprintf("usage of %s, %s %s", time.UnixMilli(key.Day*scrollback.DayMS).UTC().Format(time.DateOnly),
				key.Model, j.Currency)
			if err := a.reportFlaw(driver.Flaw{Kind: driver.FlawUsage, Where: where, Detail: j.Wrong,
				Repair: &driver.Repair{Usage: &key}}); err != nil {
				return err
			}
		}
	}
	return nil
}
