package sqlrow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kept is a table whose rows the writer keeps: the query that reads one by its key. A kept
// row is one that this connection read or wrote; it is forgotten when its transaction is
// undone, when another connection has written, and when a statement writes to its table
// that does not say what becomes of it. Where others write meanwhile nothing is kept, and a
// row is locked as it is read, unless it is loose: of what is only learned the last word
// counts, and what is only ever added cannot change.
type Kept struct {
	name, query string
	loose       bool
}

// At is a row of a table by its key.
type At struct {
	of  *Kept
	key []any
}

// At is the row with a key.
func (of *Kept) At(key ...any) At { return At{of, key} }

// The tables whose rows are kept.
var (
	Conversations = &Kept{name: "conversations",
		query: `SELECT ` + ConversationColumns + ` FROM conversations WHERE id = $1`}
	Branches = &Kept{name: "branches", query: `SELECT ` + BranchColumns + ` FROM branches WHERE id = $1`}
	Turns    = &Kept{name: "turns", query: `SELECT ` + TurnColumns + ` FROM turns WHERE id = $1`}
	Days     = &Kept{name: "usage_days", query: `SELECT ` + DayColumns +
		` FROM usage_days WHERE day = $1 AND model = $2 AND project = $3 AND currency = $4`}
	Knowledge = &Kept{name: "models_learned", query: `SELECT ` + KnownColumns + ` FROM models_learned WHERE model = $1`,
		loose: true}
	Uses = &Kept{name: "sent_text_uses",
		query: `SELECT conversation_id, sha256 FROM sent_text_uses WHERE conversation_id = $1 AND sha256 = $2`, loose: true}
)

var keeping = []*Kept{Conversations, Branches, Turns, Days, Knowledge, Uses}

// Bounds of what is kept.
const (
	maxKept      = 4096
	maxKeptBytes = 8 << 20
)

// kept are rows by their keys.
type kept struct {
	rows  map[rowKey]Row
	bytes int
}

type rowKey struct {
	of  *Kept
	key string
}

func (a At) rowKey() rowKey {
	of := a.of
	key := a.key
	if len(key) == 1 {
		if v, err := value(key[0]); err == nil {
			if s, ok := v.(string); ok {
				return rowKey{of, s}
			}
		}
	}
	var b strings.Builder
	for _, part := range key {
		v, _ := value(part) // what is wrong with it the statement says
		switch v := v.(type) {
		case string:
			b.WriteString(strconv.Itoa(len(v)) + ":" + v)
		case int64:
			b.WriteString(strconv.FormatInt(v, 10) + ";")
		}
	}
	return rowKey{of, b.String()}
}

func (k *kept) put(at rowKey, row Row) {
	n := size(row)
	if was, ok := k.rows[at]; ok {
		k.bytes -= size(was)
	}
	if len(k.rows) >= maxKept || k.bytes+n > maxKeptBytes {
		k.clear()
	}
	if n <= maxKeptBytes/64 {
		k.rows[at] = row
		k.bytes += n
	}
}

func (k *kept) drop(at rowKey) {
	if was, ok := k.rows[at]; ok {
		k.bytes -= size(was)
		delete(k.rows, at)
	}
}

// forget drops the rows of a table that a statement writes to.
func (k *kept) forget(table string) {
	if table == everyTable {
		k.clear()
	}
	if !slices.ContainsFunc(keeping, func(of *Kept) bool { return of.name == table }) {
		return
	}
	for at := range k.rows {
		if at.of.name == table {
			k.drop(at)
		}
	}
}

func (k *kept) clear() {
	clear(k.rows)
	k.bytes = 0
}

func size(row Row) int {
	n := 64
	for _, v := range row {
		n += 16
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}

// Known is [Session.Row] for a row that may be kept.
func (s *Session) Known(ctx context.Context, scan func(Scanner) error, row At) error {
	if s.locks && !row.of.loose {
		return s.Row(ctx, scan, row.of.query+lock, row.key...)
	}
	if s.conn == nil {
		return s.Row(ctx, scan, row.of.query, row.key...)
	}
	at := row.rowKey()
	if row, ok := s.kept.rows[at]; ok {
		return scan(row)
	}
	return s.Row(ctx, func(r Scanner) error {
		err := scan(r)
		if row, ok := r.(Row); ok && err == nil {
			s.kept.put(at, slices.Clone(row))
		}
		return err
	}, row.of.query, row.key...)
}

// Put runs a statement after which the row with a key is the given one, and no other row of
// its table another.
func (s *Session) Put(ctx context.Context, to At, row []any, query string, args ...any) error {
	at := to.rowKey()
	if err := s.sole(ctx, at, query, args); err != nil || s.conn == nil {
		return err
	}
	stored := make(Row, len(row))
	for i, v := range row {
		var err error
		if stored[i], err = asStored(v); err != nil {
			return err
		}
	}
	s.kept.put(at, stored)
	return nil
}

// Change is columns of a row, by their number from 0, and what they become.
type Change map[int]any

// Patch runs a statement that changes some columns of the row with a key, and no other row
// of its table.
func (s *Session) Patch(ctx context.Context, to At, change Change, query string, args ...any) error {
	at := to.rowKey()
	row, ok := s.kept.rows[at]
	if err := s.sole(ctx, at, query, args); err != nil || !ok {
		return err
	}
	row = slices.Clone(row)
	for i, v := range change {
		var err error
		if row[i], err = asStored(v); err != nil {
			return err
		}
	}
	s.kept.put(at, row)
	return nil
}

// sole runs a statement that writes to one row of a kept table.
func (s *Session) sole(ctx context.Context, at rowKey, query string, args []any) error {
	if s.conn == nil {
		return s.Run(ctx, query, args...)
	}
	d, err := s.own(ctx, query)
	if err != nil {
		return err
	}
	if d.writes != at.of.name {
		return fmt.Errorf("sqlrow: a statement for %s writes to %s", at.of.name, d.writes)
	}
	s.kept.drop(at)
	_, err = s.exec(ctx, d, args)
	return err
}

// asStored is an argument as it is read back.
func asStored(arg any) (driver.Value, error) {
	v, err := value(arg)
	if b, ok := v.(bool); ok {
		v = int64(0)
		if b {
			v = int64(1)
		}
	}
	return v, err
}

// Undone forgets every kept row: what was written is undone, or others wrote.
func (s *Session) Undone() { s.kept.clear() }

// Stale compares what is kept with fresh reads, and returns an error for a row that differs.
func (s *Session) Stale(ctx context.Context) error {
	for at, row := range s.kept.rows {
		var fresh Row
		key := []any{at.key}
		if at.of == Days || at.of == Uses {
			key = keyIn(at.of, row)
		}
		err := s.Row(ctx, func(r Scanner) error { fresh = slices.Clone(r.(Row)); return nil }, at.of.query, key...)
		if err != nil || !slices.Equal(fresh, row) {
			return errors.Join(fmt.Errorf("%s %s is kept as\n%q, and stored as\n%q", at.of.name, at.key, row, fresh), err)
		}
	}
	return nil
}

// keyIn is the key of a row: its first columns.
func keyIn(of *Kept, row Row) (key []any) {
	for _, v := range row[:strings.Count(of.query, "$")] {
		key = append(key, v)
	}
	return key
}

// everyTable is what a statement may write to that is not understood.
const everyTable = "*"

// writesTo is the table that a statement writes to, or empty for none.
func writesTo(query string) string {
	words := strings.Fields(query[:min(len(query), 100)])
	at := -1
	switch strings.ToUpper(words[0]) {
	case "SELECT", "BEGIN", "COMMIT", "SAVEPOINT", "RELEASE":
		return ""
	case "PRAGMA":
		return "pragma"
	case "UPDATE":
		at = 1
	case "INSERT", "DELETE": // INTO, FROM
		at = 2
	}
	if at < 0 || at >= len(words) || strings.EqualFold(words[1], "OR") {
		return everyTable
	}
	name, _, _ := strings.Cut(words[at], "(")
	return name
}
