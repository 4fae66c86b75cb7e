package sqlrow

import (
	"errors"
	"fmt"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// whole scans what should be a whole number: anything else is read as -1, and a number
// beyond int64, which SQLite stores as a real number, as the greatest. Neither is in bounds.
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

// amount scans a real number in the same way.
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

// DayColumns are those of usage_days.
const DayColumns = `day, model, project, currency, calls, estimated_calls, input_tokens, cached_tokens,
	cache_write_tokens, output_tokens, reasoning_tokens, total_tokens, cost`

const (
	// DaySums begins a query for sums, with a condition on day and model to follow, and then
	// DayOrder.
	DaySums  = `SELECT ` + DayColumns + ` FROM usage_days WHERE `
	DayOrder = ` ORDER BY day, model, project, currency`
)

// StoreSums stores sums in the place of those that are there. Where the database [Session.Adds],
// it adds to them.
var StoreSums = `INSERT INTO usage_days (` + DayColumns + `) VALUES (` + Marks(13) + `)
	ON CONFLICT (day, model, project, currency) DO UPDATE SET calls = excluded.calls, estimated_calls = excluded.estimated_calls,
	input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens, cache_write_tokens = excluded.cache_write_tokens,
	output_tokens = excluded.output_tokens, reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost = excluded.cost`

// InsertUse stores a record of usage.
var InsertUse = `INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
	cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated, project, total_tokens, key_id) VALUES (` + Marks(17) + `)`

// ScanDay reads sums as far as they can be believed.
func ScanDay(d *scrollback.UsageDay) func(Scanner) error {
	return func(r Scanner) error { return ScanSums(d, new(bool))(r) }
}

// ScanSums is ScanDay, and also reports whether something else is stored.
func ScanSums(d *scrollback.UsageDay, broken *bool) func(Scanner) error {
	return func(r Scanner) error {
		err := r.Scan(whole{&d.Day}, &d.Model, &d.Project, &d.Currency, whole{&d.Calls}, whole{&d.EstimatedCalls},
			whole{&d.InputTokens},
			whole{&d.CachedTokens}, whole{&d.CacheWriteTokens}, whole{&d.OutputTokens}, whole{&d.ReasoningTokens},
			whole{&d.TotalTokens}, amount{&d.Cost})
		d.Estimated = d.EstimatedCalls > 0
		*d, *broken = d.Checked()
		return err
	}
}

// Known is a row of models_learned. Broken says that some of it cannot be read; the
// rest is there.
type Known struct {
	scrollback.Learned
	Model  string
	Broken error
}

// KnownColumns are those of models_learned.
const KnownColumns = `model, factor, facts`

// Scan reads a row.
func (k *Known) Scan(r Scanner) error {
	var factor float64
	var facts string
	if err := r.Scan(&k.Model, amount{&factor}, &facts); err != nil {
		return err
	}
	if err := Parse(facts, &k.Learned); err != nil {
		k.Learned = scrollback.Learned{}
		k.Broken = fmt.Errorf("what is known of it cannot be read: %w", err)
	}
	if k.Factor = factor; !(factor >= 0) || math.IsInf(factor, 0) {
		k.Factor = 0
		k.Broken = errors.New("its factor is not a number")
	}
	return nil
}

// Entry is a row of usage_records.
type Entry struct {
	driver.Entered
	N      int64
	Broken bool // its numbers are impossible; they are read as far as they can be believed
}

// Entries is the query for usage_records, without a condition and an order.
const Entries = `SELECT u.n, u.model, u.at, coalesce(u.project, c.project, ''), u.project IS NOT NULL, u.total_tokens IS NOT NULL, u.input_tokens,
	u.cached_tokens, u.cache_write_tokens, u.output_tokens, u.reasoning_tokens, u.total_tokens, u.cost, u.currency, u.estimated, u.key_id, u.conversation_id, u.purpose
	FROM usage_records u LEFT JOIN conversations c ON c.id = u.conversation_id`

// EntriesOf is the query for the entries that are divided, and its arguments.
func EntriesOf(q driver.UsageParts) (string, []any) {
	where := ` WHERE u.at >= $1 AND u.at < $2`
	args := []any{scrollback.DayStart(q.Zone, q.First), scrollback.DayStart(q.Zone, q.Last+1)}
	if q.Conversation != "" {
		where = where + ` AND u.conversation_id = $3`
		args = append(args, q.Conversation)
	}
	return Entries + where, args
}

// Scan reads a row.
func (e *Entry) Scan(r Scanner) error {
	var estimated int64
	if err := r.Scan(&e.N, &e.Model, &e.At, &e.Project, &e.Placed, &e.Totaled, whole{&e.InputTokens},
		whole{&e.CachedTokens}, whole{&e.CacheWriteTokens}, whole{&e.OutputTokens}, whole{&e.ReasoningTokens},
		whole{&e.TotalTokens},
		amount{&e.Cost}, &e.Currency, whole{&estimated}, &e.Key, &e.Conversation, &e.Purpose); err != nil {
		return err
	}
	e.Estimated = estimated != 0
	if !e.Totaled {
		e.TotalTokens = 0
	}
	if e.Broken = !e.InBounds(); e.Broken {
		e.Usage, _ = e.Checked()
	}
	if !e.Totaled {
		e.TotalTokens = e.InputTokens + e.OutputTokens
	}
	return nil
}
