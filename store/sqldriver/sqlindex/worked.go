package sqlindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Worked implements [driver.Index].
func (db Index) Worked(ctx context.Context, q driver.WorkedQuery) ([]driver.Worked, error) {
	const op = "sqldriver.Worked"
	if len(q.Folders) == 0 {
		return nil, nil
	}
	there, args, err := inFolders(q)
	if err != nil {
		return nil, db.Wrap(op, err)
	}
	var out []driver.Worked
	err = db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var w driver.Worked
		if err := scanLine(&w.Line, &w.Project, &w.Agent, &w.Current, &w.At)(r); err != nil {
			return err
		}
		if q.Projects == nil || slices.Contains(q.Projects, w.Project) {
			out = append(out, w)
		}
		return nil
	}, there+lineColumns+`, c.project, c.agent_of <> '', c.branch = b.id, 
			coalesce((SELECT m.created_at FROM messages m WHERE m.branch = b.id AND m.seq = b.head_seq), 0)
		`+LinesHere, args...)
	slices.SortFunc(out, func(a, b driver.Worked) int { return cmp.Compare(a.Number, b.Number) })
	return out, db.Wrap(op, err)
}

// WorkedLines implements [driver.Index].
func (db Index) WorkedLines(ctx context.Context, q driver.WorkedQuery) ([]int64, error) {
	const op = "sqldriver.WorkedLines"
	if len(q.Folders) == 0 {
		return nil, nil
	}
	there, args, err := inFolders(q)
	if err != nil {
		return nil, db.Wrap(op, err)
	}
	var out []int64
	err = db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var n int64
		err := r.Scan(&n)
		out = append(out, n)
		return err
	}, there+`SELECT b.n `+BranchesHere, args...)
	slices.Sort(out)
	return out, db.Wrap(op, err)
}

// inFolders makes a table here of the conversations that were worked on in the query's
// folders.
func inFolders(q driver.WorkedQuery) (string, []any, error) {
	var origins, own []string
	var args []any
	arg := func(v string) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	between := func(from, to string) {
		origins = append(origins, `o.folder BETWEEN `+arg(from)+` AND `+arg(to))
	}
	holding := func(begin, end string) error {
		quoted, err := sqlrow.JSON([]string{begin})
		quoted = strings.TrimSuffix(strings.TrimPrefix(quoted, "["), `"]`) + end
		// which, unlike LIKE, tells capitals apart everywhere
		own = append(own, `replace(c.roots, `+arg(quoted)+`, '') <> c.roots`)
		return err
	}
	for _, f := range q.Folders {
		if f != "" {
			between(f, f)
			if err := holding(f, `"`); err != nil {
				return "", nil, err
			}
		}
		for _, begin := range driver.Below(f) {
			between(begin, begin+"\U0010FFFF")
			if err := holding(begin, ""); err != nil {
				return "", nil, err
			}
		}
	}
	return `WITH RECURSIVE here (id) AS (
		SELECT o.conversation_id FROM origins o WHERE o.folder <> '' AND (` + strings.Join(origins, " OR ") + `)
		UNION SELECT c.id FROM conversations c WHERE c.roots <> '[]' AND c.roots <> '' AND (` + strings.Join(own, " OR ") + `)
		UNION ` + AgentsHere + `) `, args, nil
}
