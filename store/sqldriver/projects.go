package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Projects implements [driver.Reader]. If a write comes between its two reads, what is
// stored is the newer one.
func (db reader) Projects(ctx context.Context) ([]scrollback.Project, error) {
	count := map[string]int64{}
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var name string
		var n int64
		err := r.Scan(&name, &n)
		count[name] = n
		return err
	}, `SELECT project, count(*) FROM conversations WHERE deleted_at = 0 AND agent_of = '' GROUP BY project`)
	if err != nil {
		return nil, db.wrap("sqldriver.Projects", err)
	}
	var out []scrollback.Project
	err = db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var p scrollback.Project
		err := r.Scan(&p.Name, &p.Title, &p.Version, &p.CreatedAt, &p.UpdatedAt)
		p.Conversations = count[p.Name]
		delete(count, p.Name)
		out = append(out, p)
		return err
	}, `SELECT name, title, version, created_at, updated_at FROM projects WHERE name > ''`)
	for name, n := range count {
		out = append(out, scrollback.Project{Name: name, Conversations: n})
	}
	slices.SortFunc(out, func(a, b scrollback.Project) int { return cmp.Compare(a.Name, b.Name) })
	return out, db.wrap("sqldriver.Projects", err)
}

func loadProject(ctx context.Context, s *sqlrow.Session, name string) (p scrollback.Project, err error) {
	err = s.Row(ctx, sqlrow.ScanProject(&p), `SELECT `+sqlrow.ProjectColumns+` FROM projects WHERE name = $1`, name)
	return p, err
}

// Get implements [driver.Projects].
func (db projects) Get(ctx context.Context, name string) (scrollback.Project, error) {
	p, err := loadProject(ctx, db.Read, name)
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Project{Name: name}, nil
	}
	return p, db.wrap("sqldriver.Project", err)
}

// Put implements [driver.Projects].
func (db projects) Put(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (p scrollback.Project, err error) {
	var refusal error
	err = db.write(ctx, "sqldriver.PutProject", func(ctx context.Context, tx *sqlrow.Session) error {
		p = scrollback.Project{}
		refusal = nil
		if err := tx.Alone(ctx, "project "+name); err != nil {
			return err
		}
		was, err := loadProject(ctx, tx, name)
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
		v, err := sqlrow.ProjectValues(&p)
		if err != nil {
			return err
		}
		return tx.Run(ctx, `INSERT INTO projects (`+sqlrow.ProjectColumns+`) VALUES (`+sqlrow.Marks(11)+`)
			ON CONFLICT (name) DO UPDATE SET title = excluded.title, instructions = excluded.instructions, model = excluded.model,
			policy = excluded.policy, limit_tokens = excluded.limit_tokens, settings = excluded.settings, budget = excluded.budget,
			version = excluded.version, created_at = excluded.created_at, updated_at = excluded.updated_at`, v...)
	})
	if err = cmp.Or(refusal, err); err != nil {
		return scrollback.Project{}, err
	}
	return p, nil
}

// Delete implements [driver.Projects].
func (db projects) Delete(ctx context.Context, name string, judge func(scrollback.Project) error) error {
	const op = "sqldriver.DeleteProject"
	var refusal error
	err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		refusal = nil
		if err := tx.Alone(ctx, "project "+name); err != nil {
			return err
		}
		p, err := loadProject(ctx, tx, name)
		if errors.Is(err, sql.ErrNoRows) {
			return scrollback.Errorf(scrollback.NotFound, op, "nothing is stored of the project %s", name)
		}
		if err != nil && p.Version == 0 { // one that is damaged can be deleted
			return err
		}
		if refusal = judge(p); refusal != nil {
			return refusal
		}
		return tx.Run(ctx, `DELETE FROM projects WHERE name = $1`, name)
	})
	return cmp.Or(refusal, err)
}

// Entitle implements [driver.Log].
func (db log) Entitle(ctx context.Context, e driver.Entitle) (moved bool, err error) {
	err = db.write(ctx, "sqldriver.Entitle", func(ctx context.Context, tx *sqlrow.Session) error {
		moved = false
		var c sqlrow.Conversation
		if err := loadConversation(ctx, tx, e.Conversation, &c); err != nil {
			return err
		}
		if err := enter(ctx, tx, c.Project, e.Usage, nil); err != nil {
			return err
		}
		moved = c.DeletedAt == 0 && c.TitleBy == e.From
		switch {
		case !moved:
			return nil
		case e.Title == "":
			return tx.Patch(ctx, sqlrow.Conversations.At(c.ID), sqlrow.Change{22: e.To},
				`UPDATE conversations SET title_by = $2 WHERE id = $1`, c.ID, e.To)
		}
		c.Title = e.Title
		c.TitleBy = e.To
		return storeConversation(ctx, tx, &c, e.Now)
	})
	return moved && err == nil, err
}
