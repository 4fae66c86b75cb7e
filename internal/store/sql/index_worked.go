package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// FindWorkedBranches implements [driver.Index].
func (db index) FindWorkedBranches(ctx context.Context, q driver.FolderQuery) ([]driver.WorkedBranch, error) {
	const op = "sqlstore.FindWorkedBranches"
	ids, err := db.workedIn(ctx, q)
	if err != nil || ids == "" {
		return nil, db.wrapError(op, err)
	}
	var out []driver.WorkedBranch
	err = db.Readers.Query(ctx, func(r Row) error {
		var w driver.WorkedBranch
		if err := scanLine(&w.IndexedBranch, &w.Project, &w.Agent, &w.Current, &w.At)(r); err != nil {
			return err
		}
		if q.Projects == nil || slices.Contains(q.Projects, w.Project) {
			out = append(out, w)
		}
		return nil
	}, db.Dialect.LinesWorkedOn, ids)
	slices.SortFunc(out, func(a, b driver.WorkedBranch) int { return cmp.Compare(a.Number, b.Number) })
	return out, db.wrapError(op, err)
}

// ListWorkedNumbers implements [driver.Index].
func (db index) ListWorkedNumbers(ctx context.Context, q driver.FolderQuery) ([]int64, error) {
	const op = "sqlstore.ListWorkedNumbers"
	ids, err := db.workedIn(ctx, q)
	if err != nil || ids == "" {
		return nil, db.wrapError(op, err)
	}
	var out []int64
	err = db.Readers.Query(ctx, listInto(&out), db.Dialect.BranchesWorkedOn, ids)
	slices.Sort(out)
	return out, db.wrapError(op, err)
}

// workedIn lists, as JSON, the conversations that were worked on in the query's folders; empty
// for none.
func (db index) workedIn(ctx context.Context, q driver.FolderQuery) (string, error) {
	if len(q.Folders) == 0 {
		return "", nil
	}
	byOrigin, ownFolders, err := inFolders(q)
	if err != nil {
		return "", err
	}
	var ids []scrollback.ConversationID
	err = db.Readers.Query(ctx, listInto(&ids), byOrigin.text, byOrigin.args...)
	if err == nil {
		err = db.Readers.Query(ctx, listInto(&ids), ownFolders.text, ownFolders.args...)
	}
	if err != nil || len(ids) == 0 {
		return "", err
	}
	slices.Sort(ids)
	return encodeJSON(slices.Compact(ids))
}

// builtQuery is a query and its arguments.
type builtQuery struct {
	text string
	args []any
}

// inFolders are the queries for the conversations that were worked on in the query's folders: by
// where they were imported from, and by the folders of their own.
func inFolders(q driver.FolderQuery) (byOrigin, own builtQuery, err error) {
	var origins, roots []string
	between := func(from, to string) {
		byOrigin.args = append(byOrigin.args, from, to)
		n := len(byOrigin.args)
		origins = append(origins, `o.folder BETWEEN `+parameter(n-1)+` AND `+parameter(n))
	}
	holding := func(begin, end string) error {
		quoted, err := encodeJSON([]string{begin})
		quoted = strings.TrimSuffix(strings.TrimPrefix(quoted, "["), `"]`) + end
		own.args = append(own.args, quoted)
		// which, unlike LIKE, tells capitals apart everywhere
		roots = append(roots, `replace(c.roots, `+parameter(len(own.args))+`, '') <> c.roots`)
		return err
	}
	for _, f := range q.Folders {
		if f != "" {
			between(f, f)
			if err := holding(f, `"`); err != nil {
				return byOrigin, own, err
			}
		}
		for _, begin := range driver.PrefixesBelow(f) {
			between(begin, begin+"\U0010FFFF")
			if err := holding(begin, ""); err != nil {
				return byOrigin, own, err
			}
		}
	}
	byOrigin.text = `SELECT o.conversation_id FROM origins o WHERE o.folder <> '' AND (` + strings.Join(origins, " OR ") + `)`
	own.text = `SELECT c.id FROM conversations c WHERE c.roots <> '[]' AND c.roots <> '' AND (` + strings.Join(roots, " OR ") + `)`
	return byOrigin, own, nil
}
