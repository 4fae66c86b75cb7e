package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/stamp"
)

var clockTable = table[stamp.Clock]{columns: []column[stamp.Clock]{
	{"owner", func(c *stamp.Clock) any { return &c.Owner }},
	{"field", func(c *stamp.Clock) any { return &c.Field }},
	{"at", func(c *stamp.Clock) any { return &c.At }},
	{"by", func(c *stamp.Clock) any { return &c.By }},
	{"value", func(c *stamp.Clock) any { return &c.Value }},
}}

// ClockColumns are those of clocks.
var ClockColumns = clockTable.columnList()

// ReadClocks implements [driver.Log].
func (db log) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	var out []stamp.Clock
	err := db.Readers.Query(ctx, clockTable.appendTo(&out),
		`SELECT `+ClockColumns+` FROM clocks WHERE owner = $1 ORDER BY field`, owner)
	return out, db.wrapError("sqlstore.ReadClocks", err)
}

// putClock stores a clock in the place of the one that the field had.
func (w *writeTx) putClock(ctx context.Context, c stamp.Clock) error {
	values, err := clockTable.values(&c)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO clocks `+clockTable.insertClause()+
		` ON CONFLICT (owner, field) DO UPDATE SET `+clockTable.upsertClause("owner", "field"), values...)
}

// nextStamp returns the stamp of a change to an owner that began at created, both in Unix ms.
func (w *writeTx) nextStamp(ctx context.Context, owner string, created, now int64) (stamp.Stamp, error) {
	newest := int64(0)
	err := QueryRow(ctx, w.tx, scanInto(&newest), `SELECT coalesce(max(at), 0) FROM clocks WHERE owner = $1`, owner)
	if err != nil {
		return stamp.Stamp{}, err
	}
	by, err := w.node(ctx, now)
	return stamp.Stamp{At: stamp.Next(now, newest, created), By: by}, err
}

// stampChanges gives the fields that an edit of an owner has changed a new stamp.
func (w *writeTx) stampChanges(ctx context.Context, owner string, created, now int64, changed []stamp.Change) error {
	if len(changed) == 0 {
		return nil
	}
	at, err := w.nextStamp(ctx, owner, created, now)
	for _, c := range changed {
		if err == nil {
			err = w.putClock(ctx, stamp.Clock{Owner: owner, Field: c.Field, Stamp: at, Value: c.Value})
		}
	}
	return err
}

// forgetClocks removes the clocks of an owner that is gone.
func (w *writeTx) forgetClocks(ctx context.Context, owner string) error {
	return w.tx.Queue(ctx, `DELETE FROM clocks WHERE owner = $1`, owner)
}
