package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var aliasTable = table[driver.Alias]{columns: []column[driver.Alias]{
	{"kind", func(a *driver.Alias) any { return &a.Kind }},
	{"id", func(a *driver.Alias) any { return &a.ID }},
	{"now", func(a *driver.Alias) any { return &a.Now }},
}}

// AliasColumns are those of aliases.
var AliasColumns = aliasTable.columnList()

// PutAliases implements [driver.Log].
func (db log) PutAliases(ctx context.Context, all []driver.Alias) error {
	return db.write(ctx, "sqlstore.PutAliases", func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, "aliases"); err != nil {
			return err
		}
		for _, a := range all {
			if err := w.putAlias(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *writeTx) putAlias(ctx context.Context, a driver.Alias) error {
	if a.ID == a.Now {
		return nil
	}
	var on string // what Now was given up for
	err := QueryRow(ctx, w.tx, scanInto(&on), `SELECT now FROM aliases WHERE kind = $1 AND id = $2`, a.Kind, a.Now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = nil
	case err == nil && on == a.ID:
		err = w.tx.Queue(ctx, `DELETE FROM aliases WHERE kind = $1 AND id = $2`, a.Kind, a.Now)
	case err == nil:
		a.Now = on
	}
	if err == nil {
		err = w.tx.Queue(ctx, `UPDATE aliases SET now = $3 WHERE kind = $1 AND now = $2`, a.Kind, a.ID, a.Now)
	}
	if err != nil {
		return err
	}
	w.noteWritten(driver.SilentOther + "aliases")
	values, err := aliasTable.values(&a)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO aliases `+aliasTable.insertClause()+
		` ON CONFLICT (kind, id) DO UPDATE SET `+aliasTable.upsertClause("kind", "id"), values...)
}

// FindAliases implements [driver.Log].
func (db log) FindAliases(ctx context.Context, kind driver.AliasKind, prefix string,
	limit int) ([]driver.Alias, error) {
	var out []driver.Alias
	err := db.Readers.Query(ctx, aliasTable.appendTo(&out), `SELECT `+AliasColumns+
		` FROM aliases WHERE kind = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4`,
		kind, prefix, prefix+"\U0010FFFF", limit)
	return out, db.wrapError("sqlstore.FindAliases", err)
}
