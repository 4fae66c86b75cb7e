package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

var projectTable = table[scrollback.Project]{columns: []column[scrollback.Project]{
	{"name", func(p *scrollback.Project) any { return &p.Name }},
	{"title", func(p *scrollback.Project) any { return &p.Title }},
	{"version", func(p *scrollback.Project) any { return &p.Version }},
	{"created_at", func(p *scrollback.Project) any { return &p.CreatedAt }},
	{"updated_at", func(p *scrollback.Project) any { return &p.UpdatedAt }},
	{"model", func(p *scrollback.Project) any { return &p.Model }},
	{"policy", func(p *scrollback.Project) any { return &p.Policy }},
	{"limit_tokens", func(p *scrollback.Project) any { return &p.Limit }},
	{"settings", func(p *scrollback.Project) any { return asJSON(&p.Settings) }},
	{"budget", func(p *scrollback.Project) any { return asJSON(&p.Budget) }},
	{"instructions", func(p *scrollback.Project) any { return &p.Instructions }},
}}

// Columns of projects that a list shows.
var projectSummary = projectTable.subset("name", "title", "version", "created_at", "updated_at")

// ProjectColumns are those of projects.
var ProjectColumns = projectTable.columnList()

// ListProjects implements [driver.Access]. If a write comes between its two reads, what is
// stored is the newer one.
func (db access) ListProjects(ctx context.Context) ([]scrollback.Project, error) {
	count := map[string]int64{}
	err := db.Readers.Query(ctx, func(r Row) error {
		var name string
		var n int64
		err := r.Scan(&name, &n)
		count[name] = n
		return err
	}, `SELECT project, count(*) FROM conversations WHERE deleted_at = 0 AND agent_of = '' GROUP BY project`)
	if err != nil {
		return nil, db.wrapError("sqlstore.ListProjects", err)
	}
	var out []scrollback.Project
	err = db.Readers.Query(ctx, projectSummary.scanEach(func(p scrollback.Project) error {
		p.Conversations = count[p.Name]
		delete(count, p.Name)
		out = append(out, p)
		return nil
	}), `SELECT `+projectSummary.columnList()+` FROM projects WHERE name > ''`)
	for name, n := range count {
		out = append(out, scrollback.Project{Name: name, Conversations: n})
	}
	slices.SortFunc(out, func(a, b scrollback.Project) int { return cmp.Compare(a.Name, b.Name) })
	return out, db.wrapError("sqlstore.ListProjects", err)
}

// findProject reads a project; sql.ErrNoRows for one that is not stored.
func findProject(ctx context.Context, r Reader, name string) (p scrollback.Project, err error) {
	err = QueryRow(ctx, r, func(row Row) error { return projectTable.scan(&p, row) },
		`SELECT `+ProjectColumns+` FROM projects WHERE name = $1`, name)
	return p, err
}

// ReadProject implements [driver.Access].
func (db access) ReadProject(ctx context.Context, name string) (scrollback.Project, error) {
	p, err := findProject(ctx, db.Readers, name)
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Project{Name: name}, nil
	}
	return p, db.wrapError("sqlstore.ReadProject", err)
}

// PutProject implements [driver.Access].
func (db access) PutProject(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (p scrollback.Project, err error) {
	var refusal error
	err = db.write(ctx, "sqlstore.PutProject", func(ctx context.Context, w *writeTx) error {
		p = scrollback.Project{}
		refusal = nil
		if err := w.holdName(ctx, "project "+name); err != nil {
			return err
		}
		was, err := findProject(ctx, w.tx, name)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		p = was
		p.Name = name
		if refusal = edit(&p); refusal != nil {
			return refusal
		}
		p.Name = name
		p.Conversations = 0
		p.Version = was.Version + 1
		p.CreatedAt = cmp.Or(was.CreatedAt, now)
		p.UpdatedAt = now
		values, err := projectTable.values(&p)
		if err != nil {
			return err
		}
		if err := w.stampProject(ctx, was, p, now); err != nil {
			return err
		}
		w.noteWritten(scrollback.ConversationID(stamp.OfProject(name)))
		return w.tx.Queue(ctx, `INSERT INTO projects `+projectTable.insertClause()+`
			ON CONFLICT (name) DO UPDATE SET `+projectTable.upsertClause("name"), values...)
	})
	if err = cmp.Or(refusal, err); err != nil {
		return scrollback.Project{}, err
	}
	return p, nil
}

// DeleteProject implements [driver.Access].
func (db access) DeleteProject(ctx context.Context, name string, now int64,
	judge func(scrollback.Project) error) error {
	const op = "sqlstore.DeleteProject"
	var refusal error
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		refusal = nil
		if err := w.holdName(ctx, "project "+name); err != nil {
			return err
		}
		p, err := findProject(ctx, w.tx, name)
		if errors.Is(err, sql.ErrNoRows) {
			return scrollback.Errorf(scrollback.NotFound, op, i18n.NothingStoredOfProject, name)
		}
		if err != nil && p.Version == 0 { // one that is damaged can be deleted
			return err
		}
		if refusal = judge(p); refusal != nil {
			return refusal
		}
		p.Name = name
		if err := w.stampProject(ctx, p, scrollback.Project{Name: name}, now); err != nil {
			return err
		}
		w.noteWritten(scrollback.ConversationID(stamp.OfProject(name)))
		return w.tx.Queue(ctx, `DELETE FROM projects WHERE name = $1`, name)
	})
	return cmp.Or(refusal, err)
}

// stampProject gives what has changed of a project a stamp; one that is not stored has version 0. What is set when a
// project is stored for the first time is as old as the project.
func (w *writeTx) stampProject(ctx context.Context, was, is scrollback.Project, now int64) error {
	owner := stamp.OfProject(is.Name)
	changed, err := stamp.ProjectChanges(was, is)
	if err != nil {
		return err
	}
	if was.Version == 0 && is.Version != 0 {
		deleted := ""
		err := QueryRow(ctx, w.tx, scanInto(&deleted), `SELECT value FROM clocks WHERE owner = $1 AND field = $2`, owner,
			stamp.FieldDeleted)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return w.stampChanges(ctx, owner, now, stamp.AddDeleted(changed, was, is))
}
