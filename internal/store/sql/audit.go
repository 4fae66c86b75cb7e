package sqlstore

import (
	"context"
	"errors"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// WalkRows implements [driver.Admin]. Damage is reported as a flaw, and the walk continues past it; at most
// a page of rows is in memory, the sums of usage, and the runs of documents that the search index has.
func (db admin) WalkRows(ctx context.Context, w driver.AuditWalk) error {
	const op = "sqlstore.WalkRows"
	failed, closed := db.Readers.Inspect(ctx, func(r Reader) error {
		a := auditor{dialect: db.Dialect, tx: r, w: w}
		return a.auditAll(ctx)
	})
	if own := (walkError{}); errors.As(failed, &own) {
		return own.error
	}
	if db.Dialect.Damaged(closed) { // of a statement that met damage, which is reported
		closed = nil
	}
	if err := errors.Join(failed, closed); err != nil {
		return db.wrapError(op, err)
	}
	if db.Unchanged == nil {
		return nil
	}
	return db.Unchanged()
}

// CopyDatabase implements [driver.Admin].
func (db admin) CopyDatabase(ctx context.Context, path string) error {
	return db.wrapError("sqlstore.CopyDatabase", db.Database.Copy(ctx, path))
}

// auditor walks the rows inside one transaction.
type auditor struct {
	dialect Dialect
	tx      Reader
	w       driver.AuditWalk
	runs    []documentRun // of the search index
}

// walkError carries an error of the walk past those of the database.
type walkError struct{ error }

func (w walkError) Unwrap() error { return w.error }

func (a *auditor) auditAll(ctx context.Context) error {
	d := a.dialect
	var total int64
	err := a.readRows(ctx, "messages", scanInto(&total), `SELECT count(*) FROM messages`)
	if err == nil {
		err = markWalkError(a.w.Total(total))
	}
	if err == nil {
		err = a.readRows(ctx, "the file", func(r Row) error {
			var text string
			if err := r.Scan(&text); err != nil || text == "ok" {
				return err
			}
			return a.reportFlaw(driver.Flaw{Kind: driver.FlawDamage, Where: "the file", Detail: text, Whole: true})
		}, d.Check)
	}
	for _, o := range orphanQueries {
		if err == nil {
			err = a.findOrphans(ctx, o)
		}
	}
	for _, step := range []func(context.Context) error{a.auditAccounts, a.auditConversations, a.auditSegments,
		a.auditArtifacts, a.auditTurns,
		a.auditProjects, a.auditIndex} {
		if err == nil {
			err = step(ctx)
		}
	}
	return err
}

// markWalkError marks an error as the walk's own.
func markWalkError(err error) error {
	if err == nil {
		return nil
	}
	return walkError{err}
}

func (a *auditor) reportFlaw(f driver.Flaw) error { return markWalkError(a.w.Flaw(f)) }

func (a *auditor) findOrphans(ctx context.Context, o orphanQuery) error {
	return a.readRows(ctx, "the rows", func(r Row) error {
		f := driver.Flaw{Kind: driver.FlawOrphan}
		var first, second string
		if err := r.Scan(&f.Where, &f.Detail, &first, &second); err != nil {
			return err
		}
		if o.mend != nil {
			f.Repair = o.mend(first, second)
		}
		return a.reportFlaw(f)
	}, o.query)
}

// readRows runs a query; damage that it meets is a flaw of where, and ends only the query.
func (a *auditor) readRows(ctx context.Context, where string, scan func(Row) error, query string,
	args ...any) error {
	err := a.tx.Query(ctx, scan, query, args...)
	if err != nil && !errors.As(err, new(walkError)) && a.dialect.Damaged(err) {
		return a.reportFlaw(driver.Flaw{Kind: driver.FlawDamage, Where: where, Detail: err.Error()})
	}
	return err
}
