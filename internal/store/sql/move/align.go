package move

import (
	"context"
	"database/sql/driver"
	"slices"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// alignTable makes the target's rows of a table those of the source: all of them, or those of a
// conversation. Fresh says that there are none yet.
func (b *batch) alignTable(ctx context.Context, t *table, id string, fresh bool) error {
	switch {
	case fresh:
		return b.m.from.eachTableRow(ctx, t, id, func(row sqlstore.Row) error { return b.insertRow(ctx, t, row) })
	case t.key == 0:
		return b.alignList(ctx, t, id)
	}
	there := map[digest]digest{}
	err := b.m.to.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		there[digestOf(row[:t.key])] = digestOf(row[t.key:])
		return nil
	})
	if err != nil {
		return err
	}
	err = b.m.from.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		key := digestOf(row[:t.key])
		has, ok := there[key]
		delete(there, key)
		switch {
		case !ok:
			return b.insertRow(ctx, t, row)
		case has == digestOf(row[t.key:]):
			return nil
		case t.sums: // storing adds to what is there
			if err := b.addStatement(ctx, t.deleteStatement(), rowArgs(row[:t.key])...); err != nil {
				return err
			}
			return b.insertRow(ctx, t, row)
		}
		return b.addStatement(ctx, t.updateStatement(), rowArgs(row)...)
	})
	if err != nil || len(there) == 0 {
		return err
	}
	var gone [][]driver.Value
	err = b.m.to.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		if _, left := there[digestOf(row[:t.key])]; left {
			gone = append(gone, slices.Clone(row[:t.key]))
		}
		return nil
	})
	for _, key := range gone {
		if err == nil {
			err = b.addStatement(ctx, t.deleteStatement(), rowArgs(key)...)
		}
	}
	return err
}

// alignList is alignTable for rows that only their order tells apart: from the first that differs on,
// those of the target are replaced.
func (b *batch) alignList(ctx context.Context, t *table, id string) error {
	var there []digest
	err := b.m.to.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		there = append(there, digestOf(row))
		return nil
	})
	if err != nil {
		return err
	}
	at := 0
	cut := false
	err = b.m.from.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		if !cut && at < len(there) && there[at] == digestOf(row) {
			at++
			return nil
		}
		if !cut && at < len(there) {
			if err := b.cutList(ctx, t, id, at); err != nil {
				return err
			}
		}
		cut = true
		return b.insertRow(ctx, t, row)
	})
	if err == nil && !cut && at < len(there) {
		err = b.cutList(ctx, t, id, at)
	}
	return err
}

// cutList removes the rows of a list behind the first ones.
func (b *batch) cutList(ctx context.Context, t *table, id string, kept int) error {
	var from int64
	err := sqlstore.QueryRow(ctx, b.m.to.Readers, func(r sqlstore.Row) error { return r.Scan(&from) },
		`SELECT n FROM `+t.name+` WHERE `+b.m.to.conversationCondition(t)+` ORDER BY n LIMIT 1 OFFSET $2`, id, kept)
	if err != nil {
		return b.m.to.wrapError(err)
	}
	return b.addStatement(ctx, `DELETE FROM `+t.name+` WHERE `+b.m.to.conversationCondition(t)+` AND n >= $2`, id, from)
}
