// Package sqlaudit walks every row of a SQL database in one snapshot of it, and reports
// what only the database can see to be wrong.
//
// Words it adds: orphan (a row that belongs to nothing), account (the sums of usage
// of a day, compared with their records).
//
// Invariants: nothing is written; damage is reported as a flaw, and the walk continues
// past it; at most a page of rows is in memory, the sums of usage, and the runs of documents
// that the search index has.
//
// It may not know any one database, or how what it finds is repaired.
package sqlaudit

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Dialect is what one kind of database does its own way when it is checked.
type Dialect struct {
	// Begin starts a transaction in which all reads see one snapshot.
	Begin string
	// Check returns a row of text for each damage to the file, or "ok".
	Check string
	// Damaged reports whether an error is about bytes that cannot be read.
	Damaged func(error) bool
}

// Audit is an audit of a database.
type Audit struct {
	Dialect Dialect
	Conn    *sql.Conn       // for the audit alone
	Read    *sqlrow.Session // on the pool that the connection is of
}

// Walk hands all rows to w, inside a transaction; see [driver.Audit].
// stopped is an error of w, which ended it; err is one of the database.
func (of Audit) Walk(ctx context.Context, w driver.AuditWalk) (stopped, err error) {
	d := of.Dialect
	if _, err := of.Conn.ExecContext(ctx, d.Begin); err != nil {
		return nil, err
	}
	defer func() { _, _ = of.Conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	a := auditor{dialect: d, tx: of.Read.On(of.Conn), w: w}
	err = a.all(ctx)
	if own := (walked{}); errors.As(err, &own) {
		return own.error, nil
	}
	closed := a.tx.Close()
	if d.Damaged(closed) { // of a statement that met damage, which is reported
		closed = nil
	}
	return nil, errors.Join(err, closed)
}

// auditor walks the rows inside one transaction.
type auditor struct {
	dialect Dialect
	tx      *sqlrow.Session
	w       driver.AuditWalk
	runs    []placed // of the search index
}

// walked carries an error of the walk past those of the database.
type walked struct{ error }

func (w walked) Unwrap() error { return w.error }

func (a *auditor) all(ctx context.Context) error {
	d := a.dialect
	var total int64
	err := a.rows(ctx, "messages", func(r sqlrow.Scanner) error { return r.Scan(&total) }, `SELECT count(*) FROM messages`)
	if err == nil {
		err = walk(a.w.Total(total))
	}
	if err == nil {
		err = a.rows(ctx, "the file", func(r sqlrow.Scanner) error {
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
	return a.rows(ctx, "the rows", func(r sqlrow.Scanner) error {
		f := driver.Flaw{Kind: driver.FlawOrphan}
		var first, second string
		if err := r.Scan(&f.Where, &f.Detail, &first, &second); err != nil {
			return err
		}
		if o.mend != nil {
			f.Mend = o.mend(first, second)
		}
		return a.flaw(f)
	}, o.query)
}

// rows runs a query; damage that it meets is a flaw of where, and ends only the query.
func (a *auditor) rows(ctx context.Context, where string, scan func(sqlrow.Scanner) error, query string,
	args ...any) error {
	err := a.tx.Rows(ctx, scan, query, args...)
	if err != nil && !errors.As(err, new(walked)) && a.dialect.Damaged(err) {
		return a.flaw(driver.Flaw{Kind: driver.FlawDamage, Where: where, Detail: err.Error()})
	}
	return err
}
