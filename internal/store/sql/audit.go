package sqlstore

import (
	"context"
	"errors"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// WalkRows implements [driver.Admin]. Damage is reported as a flaw, and the walk continues past it; at most
// a page of rows is in memory, the sums of usage, and the runs of documents that the search index has.
func (db admin) WalkRows(ctx context.Context, w driver.AuditWalk) error {
	const op = "sqlstore.Audit"
	failed, closed := db.Readers.Inspect(ctx, func(r Reader) error {
		a := auditor{dialect: db.Dialect, tx: r, w: w}
		return a.all(ctx)
	})
	if own := (walked{}); errors.As(failed, &own) {
		return own.error
	}
	if db.Dialect.Damaged(closed) { // of a statement that met damage, which is reported
		closed = nil
	}
	if err := errors.Join(failed, closed); err != nil {
		return db.wrap(op, err)
	}
	if db.Unchanged == nil {
		return nil
	}
	return db.Unchanged()
}

// CopyDatabase implements [driver.Admin].
func (db admin) CopyDatabase(ctx context.Context, path string) error {
	return db.wrap("sqlstore.Copy", db.Database.Copy(ctx, path))
}

// auditor walks the rows inside one transaction.
type auditor struct {
	dialect Dialect
	tx      Reader
	w       driver.AuditWalk
	runs    []placed // of the search index
}

// walked carries an error of the walk past those of the database.
type walked struct{ error }

func (w walked) Unwrap() error { return w.error }

func (a *auditor) all(ctx context.Context) error {
	d := a.dialect
	var total int64
	err := a.rows(ctx, "messages", into(&total), `SELECT count(*) FROM messages`)
	if err == nil {
		err = walk(a.w.Total(total))
	}
	if err == nil {
		err = a.rows(ctx, "the file", func(r Row) error {
			var text string
			if err := r.Scan(&text); err != nil || text == "ok" {
				return err
			}
			return a.flaw(driver.Flaw{Kind: driver.FlawDamage, Where: "the file", Detail: text, Whole: true})
		}, d.Check)
	}
	for _, o := range orphans {
		if err == nil {
			err = a.orphans(ctx, o)
		}
	}
	for _, step := range []func(context.Context) error{a.accounts, a.conversations, a.segments, a.artifacts, a.turns,
		a.projects, a.index} {
		if err == nil {
			err = step(ctx)
		}
	}
	return err
}

// walk marks an error as the walk's own.
func walk(err error) error {
	if err == nil {
		return nil
	}
	return walked{err}
}

func (a *auditor) flaw(f driver.Flaw) error { return walk(a.w.Flaw(f)) }

func (a *auditor) orphans(ctx context.Context, o orphan) error {
	return a.rows(ctx, "the rows", func(r Row) error {
		f := driver.Flaw{Kind: driver.FlawOrphan}
		var first, second string
		if err := r.Scan(&f.Where, &f.Detail, &first, &second); err != nil {
			return err
		}
		if o.mend != nil {
			f.Repair = o.mend(first, second)
		}
		return a.flaw(f)
	}, o.query)
}

// rows runs a query; damage that it meets is a flaw of where, and ends only the query.
func (a *auditor) rows(ctx context.Context, where string, scan func(Row) error, query string,
	args ...any) error {
	err := a.tx.Query(ctx, scan, query, args...)
	if err != nil && !errors.As(err, new(walked)) && a.dialect.Damaged(err) {
		return a.flaw(driver.Flaw{Kind: driver.FlawDamage, Where: where, Detail: err.Error()})
	}
	return err
}
