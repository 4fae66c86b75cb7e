package sqlstore

import (
	"context"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// lenientInt scans what should be a whole number: anything else is read as -1, and a number
// beyond int64, which SQLite stores as a real number, as the greatest. Neither is in bounds.
type lenientInt struct{ n *int64 }

// Scan implements sql.Scanner.
func (w lenientInt) Scan(v any) error {
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

// lenientFloat scans a real number in the same way.
type lenientFloat struct{ n *float64 }

// Scan implements sql.Scanner.
func (a lenientFloat) Scan(v any) error {
	*a.n = -1
	switch v := v.(type) {
	case int64:
		*a.n = float64(v)
	case float64:
		*a.n = v
	}
	return nil
}

var usageDayTable = table[scrollback.UsageDay]{columns: []column[scrollback.UsageDay]{
	{"day", func(d *scrollback.UsageDay) any { return lenientInt{&d.Day} }},
	{"model", func(d *scrollback.UsageDay) any { return &d.Model }},
	{"project", func(d *scrollback.UsageDay) any { return &d.Project }},
	{"currency", func(d *scrollback.UsageDay) any { return &d.Currency }},
	{"calls", func(d *scrollback.UsageDay) any { return lenientInt{&d.Calls} }},
	{"estimated_calls", func(d *scrollback.UsageDay) any { return lenientInt{&d.EstimatedCalls} }},
	{"input_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.InputTokens} }},
	{"cached_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.CachedTokens} }},
	{"cache_write_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.CacheWriteTokens} }},
	{"output_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.OutputTokens} }},
	{"reasoning_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.ReasoningTokens} }},
	{"total_tokens", func(d *scrollback.UsageDay) any { return lenientInt{&d.TotalTokens} }},
	{"cost", func(d *scrollback.UsageDay) any { return lenientFloat{&d.Cost} }},
}}

// UsageDayColumns are those of usage_days.
var UsageDayColumns = usageDayTable.columnList()

// scanUsageDay reads sums as far as they can be believed, and reports whether something else is
// stored.
func scanUsageDay(each func(d scrollback.UsageDay, broken bool) error) func(Row) error {
	return usageDayTable.scanEach(func(d scrollback.UsageDay) error {
		d.Estimated = d.EstimatedCalls > 0
		d, broken := d.Checked()
		return each(d, broken)
	})
}

var usageTable = table[usageRecord]{columns: []column[usageRecord]{
	{"conversation_id", func(u *usageRecord) any { return &u.Conversation }},
	{"turn_id", func(u *usageRecord) any { return &u.TurnID }},
	{"model", func(u *usageRecord) any { return &u.Model }},
	{"purpose", func(u *usageRecord) any { return &u.Purpose }},
	{"request_id", func(u *usageRecord) any { return &u.RequestID }},
	{"at", func(u *usageRecord) any { return &u.At }},
	{"input_tokens", func(u *usageRecord) any { return &u.InputTokens }},
	{"cached_tokens", func(u *usageRecord) any { return &u.CachedTokens }},
	{"cache_write_tokens", func(u *usageRecord) any { return &u.CacheWriteTokens }},
	{"output_tokens", func(u *usageRecord) any { return &u.OutputTokens }},
	{"reasoning_tokens", func(u *usageRecord) any { return &u.ReasoningTokens }},
	{"cost", func(u *usageRecord) any { return &u.Cost }},
	{"currency", func(u *usageRecord) any { return &u.Currency }},
	{"estimated", func(u *usageRecord) any { return &u.Estimated }},
	{"project", func(u *usageRecord) any { return &u.project }},
	{"total_tokens", func(u *usageRecord) any { return &u.TotalTokens }},
	{"key_id", func(u *usageRecord) any { return &u.Key }},
}}

// usageRecord is a row of usage_records as it is inserted: with the project in whose sums it is.
type usageRecord struct {
	scrollback.UsageRecord
	project string
}

// UsageColumns are those of usage_records, without the number.
var UsageColumns = usageTable.columnList()

// enterUsage books calls: each by itself, in the sums of its day, and in what is known about
// its model, unless the lesson is empty.
func (w *writeTx) enterUsage(ctx context.Context, project string, records []scrollback.UsageRecord,
	taught lesson) error {
	for _, u := range records {
		values, err := usageTable.values(&usageRecord{u, project})
		if err == nil {
			err = w.tx.Queue(ctx, w.Dialect.InsertUsage, values...)
		}
		if err == nil {
			err = w.addUsage(ctx, project, u)
		}
		if err == nil && taught.learn.LearnsFrom(u) {
			err = w.learnFactor(ctx, u, taught)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addUsage adds a call to the sums of its day: here, where a sum stops at its bounds and a broken
// one is repaired. In SQL it would become a real number that no reader expects.
func (w *writeTx) addUsage(ctx context.Context, project string, u scrollback.UsageRecord) error {
	d := scrollback.UsageDay{Day: scrollback.DayOf(u.At), Model: u.Model, Project: project}
	if !w.Dialect.AddsUsage {
		err := w.tx.Query(ctx, scanUsageDay(func(sums scrollback.UsageDay, _ bool) error { d = sums; return nil }),
			`SELECT `+UsageDayColumns+` FROM usage_days WHERE day = $1 AND model = $2 AND project = $3 AND currency = $4`,
			d.Day, d.Model, d.Project, u.Currency)
		if err != nil {
			return err
		}
	}
	d.Currency = u.Currency
	d.AddCall(u.Usage)
	return w.storeUsageDay(ctx, d)
}

func (w *writeTx) storeUsageDay(ctx context.Context, d scrollback.UsageDay) error {
	values, err := usageDayTable.values(&d)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, w.Dialect.StoreUsageDay, values...)
}

// ListUsageDays implements [driver.Access].
func (db access) ListUsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	var out []scrollback.UsageDay
	err := db.Readers.Query(ctx, scanUsageDay(func(d scrollback.UsageDay, _ bool) error {
		out = append(out, d)
		return nil
	}), db.Dialect.UsageDays, first, last)
	return out, db.wrapError("sqlstore.ListUsageDays", err)
}

// DivideUsage implements [driver.Access].
func (db access) DivideUsage(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	parts := q.NewSums()
	where := ` WHERE u.at >= $1 AND u.at < $2`
	args := []any{scrollback.DayStart(q.Zone, q.First), scrollback.DayStart(q.Zone, q.Last+1)}
	if q.Conversation != "" {
		where = where + ` AND u.conversation_id = $3`
		args = append(args, q.Conversation)
	}
	err := db.Readers.Query(ctx, func(r Row) error {
		var e usageEntry
		if err := e.scan(r); err != nil {
			return err
		}
		parts.AddCall(e.UsageRecord, e.Project)
		return nil
	}, selectUsage+where, args...)
	return parts.ListSums(), db.wrapError("sqlstore.DivideUsage", err)
}

// EnterUsage implements [driver.Access].
func (db access) EnterUsage(ctx context.Context, project string, all []scrollback.UsageRecord) error {
	return db.write(ctx, "sqlstore.EnterUsage", func(ctx context.Context, w *writeTx) error {
		return w.enterUsage(ctx, project, all, lesson{})
	})
}

// SumSpending implements [driver.Access]. It adds up as real numbers, which do not overflow.
func (db access) SumSpending(ctx context.Context, q driver.SpendingQuery) (scrollback.Usage, error) {
	const sums = `SELECT coalesce(sum(CAST(total_tokens AS DOUBLE PRECISION)), 0),
		coalesce(sum(CASE WHEN currency = $1 THEN CAST(cost AS DOUBLE PRECISION) END), 0) FROM `
	query := sums + `usage_days WHERE day = $2 AND project = $3`
	args := []any{q.Currency, q.Day, q.Project}
	if q.Key != "" {
		query = sums + `usage_records WHERE key_id = $2 AND key_id <> '' AND at >= $3 AND at < $4`
		args = []any{q.Currency, q.Key, q.Day * scrollback.DayMS, (q.Day + 1) * scrollback.DayMS}
	}
	var tokens, cost float64
	err := QueryRow(ctx, db.Readers, scanInto(&tokens, &cost), query, args...)
	sum := scrollback.Usage{TotalTokens: int64(min(tokens, scrollback.MaxSumTokens)), Cost: cost}
	return scrollback.Usage{Currency: q.Currency}.Add(sum), db.wrapError("sqlstore.SumSpending", err)
}

// usageEntry is a row of usage_records as it is read.
type usageEntry struct {
	driver.BookedRecord
	n      int64
	broken bool // its numbers are impossible; they are read as far as they can be believed
}

// selectUsage is the query for usage_records, without a condition and an order.
const selectUsage = `SELECT u.n, u.model, u.at, coalesce(u.project, c.project, ''), u.project IS NOT NULL, u.total_tokens IS NOT NULL, u.input_tokens,
	u.cached_tokens, u.cache_write_tokens, u.output_tokens, u.reasoning_tokens, u.total_tokens, u.cost, u.currency, u.estimated, u.key_id, u.conversation_id, u.purpose
	FROM usage_records u LEFT JOIN conversations c ON c.id = u.conversation_id`

// scan reads a row.
func (e *usageEntry) scan(r Row) error {
	var estimated int64
	if err := r.Scan(&e.n, &e.Model, &e.At, &e.Project, &e.Placed, &e.Totaled, lenientInt{&e.InputTokens},
		lenientInt{&e.CachedTokens}, lenientInt{&e.CacheWriteTokens}, lenientInt{&e.OutputTokens},
		lenientInt{&e.ReasoningTokens}, lenientInt{&e.TotalTokens},
		lenientFloat{&e.Cost}, &e.Currency, lenientInt{&estimated}, &e.Key, &e.Conversation, &e.Purpose); err != nil {
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
