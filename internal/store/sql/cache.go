package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// RowCache has the rows of conversations, branches and turns that the one connection which writes has read
// or written, as a fresh read would return them. It is emptied when a transaction is undone and
// when another connection has written; whatever else changes a row says so. A nil one keeps
// nothing.
type RowCache struct {
	conversations tableCache[scrollback.ConversationID]
	branches      tableCache[scrollback.BranchID]
	turns         tableCache[scrollback.TurnID]
	uses          textUses
}

// NewRowCache makes one that is empty.
func NewRowCache() *RowCache {
	k := &RowCache{}
	k.Clear()
	return k
}

// Clear forgets everything.
func (k *RowCache) Clear() {
	if k == nil {
		return
	}
	k.conversations.clear()
	k.branches.clear()
	k.turns.clear()
	k.uses.clear()
}

// Check compares what is kept with fresh reads, and returns an error for a row that differs.
func (k *RowCache) Check(ctx context.Context, tx Tx) error {
	return errors.Join(
		k.conversations.check(ctx, tx, selectConversation),
		k.branches.check(ctx, tx, selectBranch),
		k.turns.check(ctx, tx, selectTurn))
}

// ofConversations is the cache of their rows, or nil.
func (k *RowCache) ofConversations() *tableCache[scrollback.ConversationID] {
	if k == nil {
		return nil
	}
	return &k.conversations
}

// ofBranches is the cache of their rows, or nil.
func (k *RowCache) ofBranches() *tableCache[scrollback.BranchID] {
	if k == nil {
		return nil
	}
	return &k.branches
}

// ofTurns is the cache of their rows, or nil.
func (k *RowCache) ofTurns() *tableCache[scrollback.TurnID] {
	if k == nil {
		return nil
	}
	return &k.turns
}

// Bounds of a cache.
const (
	maxCached      = 4096
	maxCachedBytes = 8 << 20
)

// tableCache has rows of a table by their ids. A nil one has none, and keeps none.
type tableCache[K ~string] struct {
	rows  map[K]Row
	bytes int
}

// read reads the row with an id by a query, unless it is known; sql.ErrNoRows if there is none.
func (c *tableCache[K]) read(ctx context.Context, r Reader, id K, scan func(Row) error, query string) error {
	if c == nil {
		return QueryRow(ctx, r, scan, query, id)
	}
	if row, ok := c.rows[id]; ok {
		return scan(row)
	}
	return QueryRow(ctx, r, func(row Row) error {
		err := scan(row)
		if err == nil {
			c.put(id, slices.Clone(row))
		}
		return err
	}, query, id)
}

// store runs a statement after which the row with an id has these values.
func (c *tableCache[K]) store(ctx context.Context, tx Tx, id K, values []any, statement string, args ...any) error {
	c.forget(id)
	if err := tx.Queue(ctx, statement, args...); err != nil || c == nil {
		return err
	}
	row, err := storedRow(values)
	if err == nil {
		c.put(id, row)
	}
	return err
}

// change runs a statement that changes some columns of the row with an id: those at these places.
func (c *tableCache[K]) change(ctx context.Context, tx Tx, id K, places []int, values []any, statement string,
	args ...any) error {
	var row Row
	if c != nil {
		row = slices.Clone(c.rows[id])
	}
	c.forget(id)
	if err := tx.Queue(ctx, statement, args...); err != nil || row == nil {
		return err
	}
	changed, err := storedRow(values)
	if err != nil {
		return err
	}
	for i, at := range places {
		row[at] = changed[i]
	}
	c.put(id, row)
	return nil
}

// forget forgets the row with an id.
func (c *tableCache[K]) forget(id K) {
	if c == nil {
		return
	}
	c.bytes -= sizeOf(c.rows[id])
	delete(c.rows, id)
}

func (c *tableCache[K]) put(id K, row Row) {
	c.forget(id)
	n := sizeOf(row)
	if len(c.rows) >= maxCached || c.bytes+n > maxCachedBytes {
		c.clear()
	}
	if n <= maxCachedBytes/64 {
		c.rows[id] = row
		c.bytes += n
	}
}

// clear forgets all rows.
func (c *tableCache[K]) clear() {
	if c == nil {
		return
	}
	c.rows = map[K]Row{}
	c.bytes = 0
}

// check compares the rows with fresh reads by a query.
func (c *tableCache[K]) check(ctx context.Context, tx Tx, query string) error {
	for id, row := range c.rows {
		var fresh Row
		err := QueryRow(ctx, tx, func(r Row) error { fresh = slices.Clone(r); return nil }, query, id)
		if err != nil || !slices.Equal(fresh, row) {
			return errors.Join(fmt.Errorf("%s is kept as\n%q, and stored as\n%q", id, row, fresh), err)
		}
	}
	return nil
}

// storedRow is what values are read back as.
func storedRow(values []any) (Row, error) {
	row := make(Row, len(values))
	for i, v := range values {
		var err error
		if row[i], err = BindValue(v); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func sizeOf(row Row) int {
	n := 16 * len(row)
	for _, v := range row {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}
