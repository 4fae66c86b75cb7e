// Package sqlindex keeps the full-text index in a SQL database: segments that never change,
// joined by tiers, and the watermark up to which messages are in them.
//
// Words it adds: batch (documents that are put together), tier (how large a segment is, as a
// power of eight), publish (to let readers see a segment, and what it replaces no more),
// run (places of a branch that were purged, with a number), clean (a segment is, up to the
// number of the last run of which it holds nothing).
//
// Invariants: what can be read is published in one transaction, with the watermark or instead
// of the parts; encoding and joining is done outside of transactions, and each transaction
// writes a bounded amount; whoever joins segments has claimed them, and a claim that was lost
// publishes nothing; a run is remembered until no segment can hold it, however late it was
// begun; what a crash leaves behind is removed when the claim has run out.
//
// It may not know any one database, or what terms are.
package sqlindex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Index implements [driver.Index].
type Index struct {
	Readers sqlrow.Pool
	Read    *sqlrow.Session // on Readers
	Write   func(ctx context.Context, op string, fn func(ctx context.Context, tx *sqlrow.Session) error) error
	Wrap    func(op string, err error) error // classifies an error of the database

	Clock   func() time.Time
	Settled func(context.Context) error // numbers what is committed and has no number yet
}

var _ driver.Index = Index{}

// state is the row of index_state.
type state struct {
	cut                int
	watermark          int64
	dropped, forgotten int64
}

func loadState(ctx context.Context, s *sqlrow.Session) (out state, err error) {
	return out, s.Row(ctx, func(r sqlrow.Scanner) error {
		return r.Scan(&out.cut, &out.watermark, &out.dropped, &out.forgotten)
	},
		theState)
}

// State implements [driver.Index].
func (db Index) State(ctx context.Context) (driver.IndexState, error) {
	const op = "sqldriver.IndexState"
	var s driver.IndexState
	if err := db.Settled(ctx); err != nil {
		return s, db.Wrap(op, err)
	}
	err := db.Read.Row(ctx, func(r sqlrow.Scanner) error {
		return r.Scan(&s.Cut, &s.Watermark, &s.Newest, &s.Documents, &s.Terms)
	}, `SELECT cut, watermark, `+Newest+`,
		coalesce((SELECT sum(documents) FROM index_segments WHERE state = 1), 0), coalesce((SELECT sum(terms) FROM index_segments WHERE state = 1), 0)
		FROM index_state WHERE id = 1`)
	return s, db.Wrap(op, err)
}

// Reset implements [driver.Index]. The rows are removed when the index is tended.
func (db Index) Reset(ctx context.Context, cut int) error {
	return db.Write(ctx, "sqldriver.IndexReset",
		func(ctx context.Context, tx *sqlrow.Session) error { return Reset(ctx, tx, cut) })
}

// Reset is [driver.Index]'s inside a transaction. It also repairs what it can: no row of the
// index is so wrong that it is not made again, or removed by tending.
func Reset(ctx context.Context, tx *sqlrow.Session, cut int) error {
	for _, statement := range []string{
		`UPDATE index_segments SET state = 2, into_segment = 0 WHERE state IN (0, 1)`,
		`INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			SELECT b.segment, 2, 0, 0, 0, 0, 0, 0, '' FROM (SELECT DISTINCT segment FROM index_blocks) b WHERE b.segment NOT IN (SELECT id FROM index_segments)`,
		`INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			SELECT m.segment, 2, 0, 0, 0, 0, 0, 0, '' FROM (SELECT DISTINCT segment FROM index_marks) m WHERE m.segment NOT IN (SELECT id FROM index_segments)`,
		`INSERT INTO index_state (id, cut, watermark, segment, dropped, forgotten) VALUES (1, 0, 0, 0, 0, 0) ON CONFLICT (id) DO NOTHING`,
		`UPDATE index_state SET segment = (SELECT max(id) FROM index_segments) WHERE id = 1 AND segment < (SELECT max(id) FROM index_segments)`} {
		if err := tx.Run(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Run(ctx, `UPDATE index_state SET cut = $1, watermark = 0 WHERE id = 1`, cut)
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough")

// Behind implements [driver.Index].
func (db Index) Behind(ctx context.Context, q driver.BehindQuery) ([]driver.Numbered, error) {
	const op = "sqldriver.Behind"
	if err := db.Settled(ctx); err != nil {
		return nil, db.Wrap(op, err)
	}
	var out []driver.Numbered
	bytes := int64(0)
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var m driver.Numbered
		var branch int64
		if err := sqlrow.ScanMessage(&m.Message)(more{r, []any{&m.Number, &branch}}); err != nil {
			return err
		}
		m.Place = driver.PlaceOf(branch, m.Seq)
		out = append(out, m)
		if bytes += m.Weight.Bytes; q.Bytes > 0 && bytes >= q.Bytes {
			return errEnough
		}
		return nil
	}, messagesFrom, q.After, q.Limit)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, db.Wrap(op, err)
}

// more scans columns behind those that are asked for.
type more struct {
	sqlrow.Scanner
	columns []any
}

// Scan implements [sqlrow.Scanner].
func (m more) Scan(dest ...any) error { return m.Scanner.Scan(append(dest, m.columns...)...) }

// lineColumns are those of a [driver.Line], and what it is judged by.
const lineColumns = `SELECT b.n, b.id, b.conversation_id, coalesce((SELECT p.n FROM branches p WHERE p.id = b.parent_branch), 0), b.at_seq + 1, b.head_seq`

func scanLine(l *driver.Line, more ...any) func(sqlrow.Scanner) error {
	return func(r sqlrow.Scanner) error {
		return r.Scan(append([]any{&l.Number, &l.Branch, &l.Conversation, &l.Parent, &l.First, &l.Head}, more...)...)
	}
}

// Lines implements [driver.Index].
func (db Index) Lines(ctx context.Context, q driver.LineQuery) (map[int64]driver.Line, error) {
	const op = "sqldriver.Lines"
	list, err := sqlrow.JSON(append([]int64{}, q.Numbers...))
	if err != nil {
		return nil, db.Wrap(op, err)
	}
	out := map[int64]driver.Line{}
	var trashed []driver.Line
	err = db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var l driver.Line
		var project string
		var deleted int64
		if err := scanLine(&l, &project, &deleted)(r); err != nil {
			return err
		}
		switch {
		case deleted != 0 && !q.Trash:
			trashed = append(trashed, l)
		case q.Projects == nil || slices.Contains(q.Projects, project):
			out[l.Number] = l
		}
		return nil
	}, lineColumns+
		`, c.project, c.deleted_at FROM branches b JOIN conversations c ON c.id = b.conversation_id WHERE b.n IN `+Listed,
		list)
	if err != nil || len(trashed) == 0 {
		return out, db.Wrap(op, err)
	}
	forks, err := db.forksBelow(ctx, trashed, q.Projects)
	for _, l := range trashed {
		if inherited, ok := l.InheritedBy(forks); ok && err == nil {
			out[l.Number] = inherited
		}
	}
	return out, db.Wrap(op, err)
}

// forksBelow are the branches that were forked from some lines in the trash, and from those of
// them that are in the trash as well, by what they were forked from.
func (db Index) forksBelow(ctx context.Context, lines []driver.Line,
	projects []string) (map[scrollback.BranchID][]driver.Fork, error) {
	numbers := make([]int64, len(lines))
	for i, l := range lines {
		numbers[i] = l.Number
	}
	list, err := sqlrow.JSON(numbers)
	if err != nil {
		return nil, err
	}
	out := map[scrollback.BranchID][]driver.Fork{}
	return out, db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var f driver.Fork
		var parent scrollback.BranchID
		var project string
		err := r.Scan(&parent, &f.Branch, &f.At, &f.Conversation, &project, &f.Trashed)
		f.Lets = !f.Trashed && (projects == nil || slices.Contains(projects, project))
		out[parent] = append(out[parent], f)
		return err
	}, forksBelow, list)
}

// LinesOf implements [driver.Index].
func (db Index) LinesOf(ctx context.Context, ids []scrollback.ConversationID) ([]driver.Line, error) {
	var out []driver.Line
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
			out = append(out, driver.Line{})
			return scanLine(&out[len(out)-1])(r)
		}, lineColumns+` FROM branches b WHERE b.conversation_id = $1`, id)
		if err != nil {
			return nil, db.Wrap("sqldriver.LinesOf", err)
		}
	}
	slices.SortFunc(out, func(a, b driver.Line) int { return int(a.Number - b.Number) })
	return out, nil
}

// locatedOnce bounds how many messages one statement reads.
const locatedOnce = 500

// Located implements [driver.Index]: many are read together, because a server may be far away.
func (db Index) Located(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	type located struct {
		scrollback.Message
		at int64
	}
	all := make([]located, 0, len(places))
	for some := range slices.Chunk(places, locatedOnce) {
		list, err := sqlrow.JSON(some)
		if err == nil {
			err = db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
				var l located
				err := sqlrow.ScanMessage(&l.Message)(more{r, []any{&l.at}})
				all = append(all, l)
				return err
			}, messagesAt, list)
		}
		if err != nil {
			return nil, db.Wrap("sqldriver.Located", err)
		}
	}
	slices.SortFunc(all, func(a, b located) int { return cmp.Compare(a.at, b.at) })
	out := make([]scrollback.Message, len(all))
	for i, l := range all {
		out[i] = l.Message
	}
	return out, nil
}

// Number is a number for a new branch, which never comes twice.
func Number(ctx context.Context, tx *sqlrow.Session) (n int64, err error) {
	if n, none, err := sqlrow.Branch(ctx, tx); !none {
		return n, err
	}
	if err = tx.Run(ctx, `UPDATE numbers SET last = last + 1 WHERE name = 'branch'`); err != nil {
		return 0, err
	}
	return n, tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&n) },
		`SELECT last FROM numbers WHERE name = 'branch'`)
}

// Drop notes that the messages of a branch from a seq on are purged, before they are.
func Drop(ctx context.Context, tx *sqlrow.Session, branch scrollback.BranchID, from int64) error {
	err := tx.Hold(ctx, `SELECT last FROM numbers WHERE name = 'message'`)
	if err == nil {
		err = tx.Run(ctx, KeepNewest, branch, from)
	}
	if err == nil {
		err = tx.Run(ctx, `UPDATE index_state SET dropped = dropped + 1 WHERE id = 1`)
	}
	if err == nil {
		err = tx.Run(ctx,
			`DELETE FROM index_dropped WHERE branch = (SELECT b.n FROM branches b WHERE b.id = $1) AND first_seq >= $2`, branch,
			from)
	}
	if err == nil {
		err = tx.Run(ctx, `INSERT INTO index_dropped (branch, first_seq, n)
			SELECT b.n, $2, (SELECT dropped FROM index_state WHERE id = 1) FROM branches b WHERE b.id = $1`, branch, from)
	}
	return err
}
