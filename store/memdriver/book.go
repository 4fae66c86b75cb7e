package memdriver

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// enter books calls of a conversation that is in project.
func (db *database) enter(project string, records []scrollback.UsageRecord, learn driver.Learn) {
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
		db.days[i].Entry(u.Usage)
		if learn.Teaches(u) {
			known := db.learned[u.Model]
			known.Factor = learn(known.Factor, u)
			db.learned[u.Model] = known
		}
	}
}

// UsageDays implements [driver.Book].
func (db book) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	end, err := db.read(ctx, "memdriver.UsageDays")
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
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Currency, b.Currency))
	})
	return out, nil
}

// Learned implements [driver.Book].
func (db book) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	end, err := db.read(ctx, "memdriver.Learned")
	defer end()
	if err != nil {
		return scrollback.Learned{}, err
	}
	return clone(db.learned[model]), nil
}

// Teach implements [driver.Book].
func (db book) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	end, err := db.write(ctx, "memdriver.Teach")
	defer end()
	if err != nil {
		return err
	}
	known := clone(db.learned[model])
	edit(&known)
	db.learned[model] = clone(known)
	return nil
}
