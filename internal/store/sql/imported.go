package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var importedTable = table[driver.ImportedCall]{columns: []column[driver.ImportedCall]{
	{"conversation_id", func(c *driver.ImportedCall) any { return &c.Conversation }},
	{"call", func(c *driver.ImportedCall) any { return &c.Call }},
	{"project", func(c *driver.ImportedCall) any { return &c.Project }},
	{"tool", func(c *driver.ImportedCall) any { return &c.Tool }},
	{"model", func(c *driver.ImportedCall) any { return &c.Model }},
	{"at", func(c *driver.ImportedCall) any { return &c.At }},
	{"input_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.InputTokens} }},
	{"cached_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.CachedTokens} }},
	{"cache_write_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.CacheWriteTokens} }},
	{"output_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.OutputTokens} }},
	{"reasoning_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.ReasoningTokens} }},
	{"total_tokens", func(c *driver.ImportedCall) any { return lenientInt{&c.TotalTokens} }},
	{"cost", func(c *driver.ImportedCall) any { return lenientFloat{&c.Cost} }},
	{"currency", func(c *driver.ImportedCall) any { return &c.Currency }},
	{"estimated", func(c *driver.ImportedCall) any { return &c.Estimated }},
}}

// ImportedColumns are those of imported_calls.
var ImportedColumns = importedTable.columnList()

// EnterImported implements [driver.Access].
func (db access) EnterImported(ctx context.Context, all []driver.ImportedCall) error {
	return db.write(ctx, "sqlstore.EnterImported", func(ctx context.Context, w *writeTx) error {
		own, err := bookedNear(ctx, w.tx, all)
		for i := range all {
			var known bool
			if err == nil {
				known, err = findCall(ctx, w.tx, all[i], own)
			}
			if err == nil && !known {
				var values []any
				if values, err = importedTable.values(&all[i]); err == nil {
					err = w.tx.Queue(ctx, insertImported, values...)
				}
			}
			if err != nil {
				return err
			}
		}
		return err
	})
}

var insertImported = `INSERT INTO imported_calls ` + importedTable.insertClause() + ` ON CONFLICT DO NOTHING`

// bookedNear reports whether any own call is booked at about the time of some imported ones: seldom, for most of what
// is imported is older than the books.
func bookedNear(ctx context.Context, tx Tx, all []driver.ImportedCall) (found bool, err error) {
	if len(all) == 0 {
		return false, nil
	}
	first := all[0].At
	last := all[0].At
	for _, c := range all {
		first = min(first, c.At)
		last = max(last, c.At)
	}
	err = tx.Query(ctx, func(Row) error { found = true; return nil },
		`SELECT 1 FROM usage_records WHERE at >= $1 AND at <= $2 LIMIT 1`, first-driver.CallWindow, last+driver.CallWindow)
	return found, err
}

// findCall reports whether a call is known, whatever conversation has it, or, if any own ones may be, was booked here
// when it was made.
func findCall(ctx context.Context, tx Tx, c driver.ImportedCall, own bool) (found bool, err error) {
	err = tx.Query(ctx, func(Row) error { found = true; return nil },
		`SELECT 1 FROM imported_calls WHERE call = $1 LIMIT 1`, c.Call)
	if err != nil || found || !own || c.OutputTokens <= 0 {
		return found, err
	}
	err = tx.Query(ctx, func(r Row) error {
		var e usageEntry
		if err := e.scan(r); err != nil {
			return err
		}
		found = found || c.IsSameCall(e.UsageRecord)
		return nil
	}, selectUsage+` WHERE u.at >= $1 AND u.at <= $2 AND u.output_tokens = $3 AND u.input_tokens = $4`,
		c.At-driver.CallWindow, c.At+driver.CallWindow, c.OutputTokens, c.InputTokens)
	return found, err
}

// DivideImported implements [driver.Access].
func (db access) DivideImported(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	parts := q.NewSums()
	query := `SELECT ` + ImportedColumns + ` FROM imported_calls WHERE at >= $1 AND at < $2`
	args := []any{scrollback.DayStart(q.Zone, q.First), scrollback.DayStart(q.Zone, q.Last+1)}
	if q.Conversation != "" {
		query += ` AND conversation_id = $3`
		args = append(args, q.Conversation)
	}
	err := db.Readers.Query(ctx, importedTable.scanEach(func(c driver.ImportedCall) error {
		if !c.InBounds() {
			c.Usage, _ = c.Checked()
		}
		parts.AddImported(c)
		return nil
	}), query, args...)
	return parts.ListSums(), db.wrapError("sqlstore.DivideImported", err)
}
