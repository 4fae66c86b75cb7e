package sqlstore

import (
	"cmp"
	"context"
	"maps"
	mathbits "math/bits"
	"slices"
	"strconv"
	"strings"

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
	if db.Dialect.WorkedParts != "" {
		out, err := db.readWorkedParts(ctx, q)
		return out, db.wrapError(op, err)
	}
	ids, err := db.workedIn(ctx, q)
	if err != nil || ids == "" {
		return nil, db.wrapError(op, err)
	}
	var lists []string // one text each: a row for each number takes longer than finding it
	if err = db.Readers.Query(ctx, listInto(&lists), db.Dialect.BranchesWorkedOn, ids); err != nil {
		return nil, db.wrapError(op, err)
	}
	var out []int64
	for _, list := range lists {
		for text := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, db.wrapError(op, err)
			}
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// partBranches is how many branches a row of index_worked is about.
const partBranches = 60

// readWorkedParts lists the branches of the query's folders by what the database keeps of each folder.
func (db index) readWorkedParts(ctx context.Context, q driver.FolderQuery) ([]int64, error) {
	if len(q.Folders) == 0 {
		return nil, nil
	}
	var args []any
	var each []string
	for _, f := range q.Folders {
		if f != "" {
			args = append(args, f)
			each = append(each, `SELECT part, bits FROM index_worked WHERE folder = `+parameter(len(args)))
		}
		for _, begin := range driver.PrefixesBelow(f) {
			args = append(args, begin, begin+"\U0010FFFF")
			each = append(each, `SELECT part, bits FROM index_worked WHERE folder BETWEEN `+parameter(len(args)-1)+` AND `+
				parameter(len(args)))
		}
	}
	var texts []string // one: a row for each part takes longer than finding it
	err := db.Readers.Query(ctx, listInto(&texts), `SELECT `+db.Dialect.WorkedParts+` FROM (`+
		strings.Join(each, ` UNION ALL `)+`)`, args...)
	if err != nil {
		return nil, err
	}
	parts := map[int64]uint64{}
	var held int
	for text := range strings.FieldsFuncSeq(strings.Join(texts, ","), func(r rune) bool { return r == ',' }) {
		part, bits, _ := strings.Cut(text, " ")
		p, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, err
		}
		b, err := strconv.ParseUint(bits, 10, partBranches)
		if err != nil {
			return nil, err
		}
		held -= mathbits.OnesCount64(parts[p])
		parts[p] |= b
		held += mathbits.OnesCount64(parts[p])
	}
	out := make([]int64, 0, held)
	for _, p := range slices.Sorted(maps.Keys(parts)) {
		for b := parts[p]; b != 0; b &= b - 1 {
			out = append(out, p*partBranches+int64(mathbits.TrailingZeros64(b)))
		}
	}
	return out, nil
}

// workedIn lists, as JSON, the conversations that were worked on in the query's folders, some of them twice; empty for
// none.
func (db index) workedIn(ctx context.Context, q driver.FolderQuery) (string, error) {
	if len(q.Folders) == 0 {
		return "", nil
	}
	text, args, err := selectInFolders(q)
	if err != nil {
		return "", err
	}
	var ids []string
	all := `SELECT ` + db.Dialect.ListedIDs + ` FROM (` + text + `) listed`
	err = db.Readers.Query(ctx, listInto(&ids), all, args...)
	if err != nil || len(ids) == 0 || ids[0] == "[]" {
		return "", err
	}
	return ids[0], nil
}

// selectInFolders is the query for the conversations that were worked on in the query's folders: by where they were
// imported from, and by the folders of their own. Each folder is looked for by itself: alternatives in one condition
// are not read from an index alone.
func selectInFolders(q driver.FolderQuery) (text string, args []any, err error) {
	var origins, roots []string
	between := func(from, to string) {
		args = append(args, from, to)
		origins = append(origins, `SELECT o.conversation_id AS id FROM origins o WHERE o.folder <> '' AND o.folder BETWEEN `+
			parameter(len(args)-1)+` AND `+parameter(len(args)))
	}
	holding := func(begin, end string) error {
		quoted, err := encodeJSON([]string{begin})
		quoted = strings.TrimSuffix(strings.TrimPrefix(quoted, "["), `"]`) + end
		args = append(args, quoted)
		// which, unlike LIKE, tells capitals apart everywhere
		roots = append(roots, `replace(c.roots, `+parameter(len(args))+`, '') <> c.roots`)
		return err
	}
	for _, f := range q.Folders {
		if f != "" {
			between(f, f)
			if err := holding(f, `"`); err != nil {
				return "", nil, err
			}
		}
		for _, begin := range driver.PrefixesBelow(f) {
			between(begin, begin+"\U0010FFFF")
			if err := holding(begin, ""); err != nil {
				return "", nil, err
			}
		}
	}
	return strings.Join(origins, ` UNION ALL `) + ` UNION ALL SELECT c.id FROM conversations c
		WHERE c.roots <> '[]' AND c.roots <> '' AND (` + strings.Join(roots, " OR ") + `)`, args, nil
}
