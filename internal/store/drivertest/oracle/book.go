package oracle

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// bookUsage books calls of a conversation that is in project.
func (db *database) bookUsage(project string, records []scrollback.UsageRecord, learn driver.FactorUpdate) {
	for _, u := range records {
		key := scrollback.UsageDay{Day: scrollback.DayOf(u.At), Model: u.Model, Project: project}
		key.Currency = u.Currency
		i := slices.IndexFunc(db.days, func(d scrollback.UsageDay) bool {
			return d.Day == key.Day && d.Model == key.Model && d.Project == key.Project && d.Currency == key.Currency
		})
		if i < 0 {
			i = len(db.days)
			db.days = append(db.days, key)
		}
		db.days[i].AddCall(u.Usage)
		db.calls = append(db.calls, bookedUsage{deepCopy(u), project})
		if learn.LearnsFrom(u) {
			known := db.learned[u.Model]
			known.Factor = learn(known.Factor, u)
			db.learned[u.Model] = known
		}
	}
}

// ListUsageDays implements [driver.Access].
func (db access) ListUsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	end, err := db.beginRead(ctx, "oracle.ListUsageDays")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.UsageDay
	for _, d := range db.days {
		if d.Day >= first && d.Day <= last {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.UsageDay) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Project, b.Project),
			cmp.Compare(a.Currency, b.Currency))
	})
	return out, nil
}

// bookedUsage is a record of usage, and the project in whose sums it is.
type bookedUsage struct {
	scrollback.UsageRecord
	project string
}

// DivideUsage implements [driver.Access].
func (db access) DivideUsage(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	end, err := db.beginRead(ctx, "oracle.DivideUsage")
	defer end()
	if err != nil {
		return nil, err
	}
	parts := q.NewSums()
	for _, c := range db.calls {
		parts.AddCall(c.UsageRecord, c.project)
	}
	return parts.ListSums(), nil
}

// EnterUsage implements [driver.Access].
func (db access) EnterUsage(ctx context.Context, project string, all []scrollback.UsageRecord) error {
	end, err := db.beginWrite(ctx, "oracle.EnterUsage")
	defer end()
	if err == nil {
		db.bookUsage(project, all, nil)
	}
	return err
}

// EnterImported implements [driver.Access].
func (db access) EnterImported(ctx context.Context, all []driver.ImportedCall) error {
	end, err := db.beginWrite(ctx, "oracle.EnterImported")
	defer end()
	if err != nil {
		return err
	}
	for _, c := range all {
		known := slices.ContainsFunc(db.imported, func(o driver.ImportedCall) bool { return o.Call == c.Call })
		own := slices.ContainsFunc(db.calls, func(u bookedUsage) bool { return c.IsSameCall(u.UsageRecord) })
		if !known && !own {
			db.imported = append(db.imported, c)
		}
	}
	return nil
}

// DivideImported implements [driver.Access].
func (db access) DivideImported(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	end, err := db.beginRead(ctx, "oracle.DivideImported")
	defer end()
	if err != nil {
		return nil, err
	}
	parts := q.NewSums()
	for _, c := range db.imported {
		parts.AddImported(c)
	}
	return parts.ListSums(), nil
}

// SumSpending implements [driver.Access].
func (db access) SumSpending(ctx context.Context, q driver.SpendingQuery) (scrollback.Usage, error) {
	end, err := db.beginRead(ctx, "oracle.SumSpending")
	defer end()
	sum := scrollback.Usage{Currency: q.Currency}
	if err != nil {
		return sum, err
	}
	for _, c := range db.calls {
		if scrollback.DayOf(c.At) != q.Day || q.Key != "" && c.Key != q.Key || q.Key == "" && c.project != q.Project {
			continue
		}
		more := scrollback.Usage{TotalTokens: c.TotalTokens}
		if c.Currency == q.Currency {
			more.Cost = c.Cost
		}
		sum = sum.Add(more)
	}
	return sum, nil
}

// readTally returns how much an actor has begun in a window.
func readTally(db *database, t driver.Tally) int64 {
	if now := db.tallies[t.Actor]; now.Start == t.Start && now.Until == t.Until {
		return now.Most
	}
	return 0
}

// storeTally stores a tally, and forgets those that have ended.
func storeTally(db *database, t driver.Tally, used int64) {
	maps.DeleteFunc(db.tallies, func(_ string, old driver.Tally) bool { return old.Until <= t.Start })
	if t.Within != nil {
		storeTally(db, *t.Within, readTally(db, *t.Within)+1)
	}
	t.Most = used
	t.Within = nil
	db.tallies[t.Actor] = t
}

// CountTally implements [driver.Access].
func (db access) CountTally(ctx context.Context, t driver.Tally) (int64, error) {
	end, err := db.beginWrite(ctx, "oracle.CountTally")
	defer end()
	if err != nil {
		return 0, err
	}
	used, err := countOne(db.database, t)
	if err == nil {
		storeTally(db.database, t, used)
	}
	return used, err
}

// countOne returns a tally with one more, if it and those around it have room.
func countOne(db *database, t driver.Tally) (int64, error) {
	used, err := t.CountOne(readTally(db, t))
	if err == nil && t.Within != nil {
		if _, err = countOne(db, *t.Within); err != nil {
			used--
		}
	}
	return used, err
}

// ReadTally implements [driver.Access].
func (db access) ReadTally(ctx context.Context, t driver.Tally) (int64, error) {
	end, err := db.beginRead(ctx, "oracle.ReadTally")
	defer end()
	return readTally(db.database, t), err
}

// ReadKeyLimits implements [driver.Access].
func (db access) ReadKeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error) {
	end, err := db.beginRead(ctx, "oracle.ReadKeyLimits")
	defer end()
	return db.allowed[id], err
}

// ListKeysMadeBy implements [driver.Access].
func (db access) ListKeysMadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	end, err := db.beginRead(ctx, "oracle.ListKeysMadeBy")
	defer end()
	makers := map[scrollback.KeyID]scrollback.KeyID{}
	for made, set := range db.allowed {
		makers[made] = set.Maker
	}
	return driver.CollectMadeKeys(id, makers), err
}

// SetKeyLimits implements [driver.Access].
func (db access) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error {
	end, err := db.beginWrite(ctx, "oracle.SetKeyLimits")
	defer end()
	if err != nil {
		return err
	}
	if delete(db.allowed, id); l != (scrollback.KeyLimits{}) {
		db.allowed[id] = l
	}
	return nil
}

// ReadLearned implements [driver.Turns].
func (db turns) ReadLearned(ctx context.Context, model string) (scrollback.Learned, error) {
	end, err := db.beginRead(ctx, "oracle.ReadLearned")
	defer end()
	if err != nil {
		return scrollback.Learned{}, err
	}
	return deepCopy(db.learned[model]), nil
}

// UpdateLearned implements [driver.Turns].
func (db turns) UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	end, err := db.beginWrite(ctx, "oracle.UpdateLearned")
	defer end()
	if err != nil {
		return err
	}
	known := deepCopy(db.learned[model])
	edit(&known)
	db.learned[model] = deepCopy(known)
	return nil
}
