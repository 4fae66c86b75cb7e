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
		if err != nil {
			return err
		}
		known, err := w.listKnownCalls(ctx, all)
		if err != nil {
			return err
		}
		for i := range all {
			there := known[all[i].Call]
			if !there && own {
				if there, err = isBooked(ctx, w.tx, all[i]); err != nil {
					return err
				}
			}
			if there {
				continue
			}
			values, err := importedTable.values(&all[i])
			if err == nil {
				err = w.tx.Queue(ctx, insertImported, values...)
			}
			if err != nil {
				return err
			}
			known[all[i].Call] = true
		}
		return nil
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
		`SELECT 1 FROM usage_records WHERE at >= $1 AND at <= $2 LIMIT 1`,
		first-driver.CallWindow, last+driver.CallWindow)
	return found, err
}

// listKnownCalls returns which of some calls are known, whatever conversation has them.
func (w *writeTx) listKnownCalls(ctx context.Context, all []driver.ImportedCall) (map[string]bool, error) {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Call
	}
	list, err := encodeJSON(names)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	return known, w.tx.Query(ctx, func(r Row) error {
		var name string
		err := r.Scan(&name)
		known[name] = true
		return err
	}, w.Dialect.CallsListed, list)
}

// isBooked reports whether a call was booked here when it was made.
func isBooked(ctx context.Context, tx Tx, c driver.ImportedCall) (found bool, err error) {
	if c.OutputTokens <= 0 {
		return false, nil
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
