package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// threadIndex is what a matcher asks, as it is at a time.
type threadIndex struct {
	*database
	at int64
}

// IndexAt implements [driver.Threads].
func (db threads) IndexAt(now int64) threading.Index { return threadIndex{db.database, now} }

// selectThread begins a query for threads x, and behind their columns how many requests of each run; the times are
// $1, and $2 before which a side call began that is gone.
var selectThread = `SELECT ` + columnsOf("x", ThreadColumns) + `, (SELECT count(*) FROM thread_requests r
		LEFT JOIN turns t ON t.id = r.id WHERE r.conversation_id = x.conversation_id AND r.state = 'running' AND r.side = ''
		AND (t.id IS NULL AND r.at > $2 OR t.state = 'open' AND t.lease_until > $1 AND t.lease_until <= $3)) FROM `

// readThreads reads threads by a query that goes on from selectThread.
func (x threadIndex) readThreads(ctx context.Context, from string, args ...any) ([]threading.ThreadRow, error) {
	var out []threading.ThreadRow
	var open int
	args = append([]any{x.at, x.at - driver.SideCallMax, x.at + driver.LeaseMax}, args...)
	err := x.Readers.Query(ctx, threadTable.scanEachWith(func(t threadRow) error {
		t.Open = open
		out = append(out, t.ThreadRow)
		return nil
	}, &open), selectThread+from, args...)
	return out, x.wrapError("sqlstore.readThreads", err)
}

// Thread implements [threading.Index].
func (x threadIndex) Thread(ctx context.Context, id threading.ThreadID) (*threading.ThreadRow, error) {
	return firstRow(x.readThreads(ctx, `threads x WHERE x.conversation_id = $4`, id))
}

// firstRow returns the first of some rows, or nil.
func firstRow[T any](rows []T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Named implements [threading.Index].
func (x threadIndex) Named(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.ThreadRow, error) {
	const newest = `thread_names m JOIN threads x ON x.conversation_id = m.conversation_id
		WHERE m.scope = $4 AND m.name = $5 ORDER BY m.n DESC LIMIT $6`
	out, err := x.readThreads(ctx, newest, hashScope(scope), name, limit)
	if err != nil || len(out) < limit {
		slices.Reverse(out)
		return out, err
	}
	const oldest = `thread_names m JOIN threads x ON x.conversation_id = m.conversation_id
		WHERE m.scope = $4 AND m.name = $5 ORDER BY m.n LIMIT 1`
	first, err := x.readThreads(ctx, oldest, hashScope(scope), name)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	out[limit-1] = first[0]
	slices.Reverse(out)
	return out, nil
}

// readRequests reads requests by a query that goes on from SelectThreadRequests.
func (x threadIndex) readRequests(ctx context.Context, query string, args ...any) ([]threading.RequestRow, error) {
	out, err := x.readNumbered(ctx, query, args...)
	return bareRequests(out), err
}

// readNumbered reads requests with their numbers.
func (x threadIndex) readNumbered(ctx context.Context, query string, args ...any) ([]requestRow, error) {
	var out []requestRow
	err := x.Readers.Query(ctx, scanRequests(x.at, func(r requestRow) error {
		out = append(out, r)
		return nil
	}), query, args...)
	return out, x.wrapError("sqlstore.readRequests", err)
}

// bareRequests returns requests without what only the database knows.
func bareRequests(rows []requestRow) []threading.RequestRow {
	var out []threading.RequestRow
	for _, r := range rows {
		out = append(out, r.RequestRow)
	}
	return out
}

// The queries for requests, each by an index.
var (
	selectRequest = SelectThreadRequests + `thread_requests r` + JoinRunningTurns + `WHERE r.id = $1`
	sameRequests  = SelectThreadRequests + `thread_requests r` + JoinRunningTurns + `WHERE r.scope = $1 AND r.body = $2
		ORDER BY r.n DESC LIMIT $3`
	basedRequests = SelectThreadRequests + `thread_requests r` + JoinRunningTurns + `WHERE r.conversation_id = $1
		AND r.base_branch = $2 AND r.base_seq = $3 AND r.side = '' ORDER BY r.n DESC LIMIT $4`
	besideRequests = SelectThreadRequests + `thread_requests r` + JoinRunningTurns + `WHERE r.conversation_id = $1
		AND r.beside = 1 AND r.leaf = 0 ORDER BY r.n DESC LIMIT $2`
)

// Request implements [threading.Index].
func (x threadIndex) Request(ctx context.Context, id threading.RequestID) (*threading.RequestRow, error) {
	return firstRow(x.readRequests(ctx, selectRequest, id))
}

// Rolled implements [threading.Index].
func (x threadIndex) Rolled(ctx context.Context, scope threading.Scope, hashes []threading.Hash,
	limit int) ([]threading.RequestRow, error) {
	list, order, err := listHashes(hashes)
	if err != nil || len(hashes) == 0 {
		return nil, err
	}
	out, err := x.readNumbered(ctx, x.Dialect.ThreadRequestsRolled, hashScope(scope), list, limit)
	slices.SortFunc(out, func(a, b requestRow) int {
		return cmp.Or(cmp.Compare(order[a.Rolling], order[b.Rolling]), cmp.Compare(b.n, a.n))
	})
	return bareRequests(out), err
}

// FindSpan implements [driver.Threads].
func (db threads) FindSpan(ctx context.Context, name string) (first, last int64, err error) {
	err = QueryRow(ctx, db.Readers, scanInto(&first, &last), `SELECT coalesce(min(r.at), 0), coalesce(max(r.at), 0)
		FROM thread_names m JOIN thread_requests r ON r.conversation_id = m.conversation_id WHERE m.name = $1`, name)
	return first, last, db.wrapError("sqlstore.FindSpan", err)
}

// ListLeaves implements [driver.Threads].
func (db threads) ListLeaves(ctx context.Context, id scrollback.ConversationID) ([]scrollback.TurnID, error) {
	var out []scrollback.TurnID
	err := db.Readers.Query(ctx, func(r Row) error {
		var turn scrollback.TurnID
		if err := r.Scan(&turn); err != nil {
			return err
		}
		out = append(out, turn)
		return nil
	}, `SELECT id FROM thread_requests WHERE conversation_id = $1 AND leaf = 1 ORDER BY id`, id)
	return out, db.wrapError("sqlstore.ListLeaves", err)
}

// listHashes returns hashes as a JSON list, and where each is in it.
func listHashes(hashes []threading.Hash) (string, map[threading.Hash]int, error) {
	texts := make([]string, len(hashes))
	order := make(map[threading.Hash]int, len(hashes))
	for i, h := range hashes {
		texts[i] = h.String()
		order[h] = i
	}
	list, err := encodeJSON(texts)
	return list, order, err
}

// Same implements [threading.Index].
func (x threadIndex) Same(ctx context.Context, scope threading.Scope, body threading.Hash, since time.Time,
	limit int) ([]threading.RequestRow, int, error) {
	rows, err := x.readRequests(ctx, sameRequests, hashScope(scope), body[:], limit)
	if err != nil {
		return nil, 0, err
	}
	rows = slices.DeleteFunc(rows, func(row threading.RequestRow) bool {
		return row.State != threading.Running && row.At.Before(since)
	})
	asked := 0
	err = x.Readers.Query(ctx, func(r Row) error {
		var at int64
		err := r.Scan(&at)
		if at >= since.UnixMilli() {
			asked++
		}
		return err
	}, `SELECT at FROM thread_asked WHERE scope = $1 AND body = $2 ORDER BY n DESC LIMIT $3`, hashScope(scope), body[:],
		limit)
	return rows, asked, x.wrapError("sqlstore.Same", err)
}

// Beside implements [threading.Index].
func (x threadIndex) Beside(ctx context.Context, thread threading.ThreadID, base threading.Place,
	limit int) ([]threading.RequestRow, error) {
	out, err := x.readRequests(ctx, basedRequests, thread, []byte(packID(base.Branch)), base.Seq, limit)
	if err != nil {
		return nil, err
	}
	more, err := x.readRequests(ctx, besideRequests, thread, limit)
	for _, row := range more {
		if !slices.ContainsFunc(out, func(o threading.RequestRow) bool { return o.ID == row.ID }) {
			out = append(out, row)
		}
	}
	return out, err
}

// readAtoms reads atoms by a query.
func (x threadIndex) readAtoms(ctx context.Context, query string, args ...any) ([]threading.AtomRow, error) {
	var out []threading.AtomRow
	err := x.Readers.Query(ctx, scanAtoms(&out), query, args...)
	return out, x.wrapError("sqlstore.readAtoms", err)
}

// The queries for atoms, each by an index. What follows an atom on its own branch has no parent of its own.
var (
	selectAtom   = `SELECT ` + ThreadAtomColumns + ` FROM thread_atoms WHERE branch = $1 AND seq = $2`
	leavingAtoms = `SELECT ` + ThreadAtomColumns + ` FROM thread_atoms WHERE parent = $1 AND seq = $2 ORDER BY n DESC LIMIT $3`
	partialAtoms = `SELECT ` + ThreadAtomColumns + ` FROM thread_atoms WHERE conversation_id = $1 AND partial = 1
		ORDER BY n DESC LIMIT $2`
	lineageOfPath = `WITH RECURSIVE path (branch, seq) AS (
			SELECT parent, seq - 1 FROM thread_atoms WHERE branch = $1 AND parent IS NOT NULL
			UNION ALL
			SELECT a.parent, a.seq - 1 FROM path p CROSS JOIN thread_atoms a
				WHERE a.branch = p.branch AND a.parent IS NOT NULL AND a.seq <= p.seq
		) SELECT branch, seq FROM path`
)

// Anchored implements [threading.Index].
func (x threadIndex) Anchored(ctx context.Context, q threading.AnchorQuery) ([]threading.AtomRow, error) {
	anchors, order, err := listHashes(q.Anchors)
	if err != nil || len(q.Anchors) == 0 {
		return nil, err
	}
	var in any = hashScope(q.Scope)
	d := &x.Dialect
	queries := []string{d.ThreadAtomsByKeyInScope, d.ThreadAtomsByCallInScope, d.ThreadAtomsByQuoteInScope}
	places := map[threading.ThreadID]int{}
	if len(q.Threads) > 0 {
		queries = []string{d.ThreadAtomsByKey, d.ThreadAtomsByCall, d.ThreadAtomsByQuote}
		if in, err = encodeJSON(q.Threads); err != nil {
			return nil, err
		}
		for i, id := range q.Threads {
			places[id] = i
		}
	}
	// An anchor is of one kind, so that no atom comes twice for one.
	type found struct {
		threading.AtomRow
		anchor, thread int
	}
	var all []found
	anchorOf := []func(threading.AtomRow) threading.Hash{
		func(a threading.AtomRow) threading.Hash { return a.Key },
		func(a threading.AtomRow) threading.Hash { return a.Call },
		func(a threading.AtomRow) threading.Hash { return a.Quote.Anchor },
	}
	for i, query := range queries {
		rows, err := x.readAtoms(ctx, query, in, anchors, q.Limit)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all = append(all, found{row, order[anchorOf[i](row)], places[row.Thread]})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.anchor, b.anchor), cmp.Compare(a.thread, b.thread), cmp.Compare(b.Order, a.Order))
	})
	out := make([]threading.AtomRow, len(all))
	for i, f := range all {
		out[i] = f.AtomRow
	}
	return out, nil
}

// At implements [threading.Index].
func (x threadIndex) At(ctx context.Context, place threading.Place) (*threading.AtomRow, error) {
	return firstRow(x.readAtoms(ctx, selectAtom, []byte(packID(place.Branch)), place.Seq))
}

// Lineage implements [threading.Index].
func (x threadIndex) Lineage(ctx context.Context, branch threading.BranchID) ([]threading.Reach, error) {
	out := []threading.Reach{{Branch: branch}}
	err := x.Readers.Query(ctx, func(r Row) error {
		var id []byte
		var reach threading.Reach
		err := r.Scan(&id, &reach.Seq)
		reach.Branch = threading.BranchID(packedID(id).unpack())
		out = append(out, reach)
		return err
	}, lineageOfPath, []byte(packID(branch)))
	return out, x.wrapError("sqlstore.Lineage", err)
}

// Following implements [threading.Index].
func (x threadIndex) Following(ctx context.Context, place threading.Place, limit int) ([]threading.AtomRow, error) {
	branch := []byte(packID(place.Branch))
	out, err := x.readAtoms(ctx, leavingAtoms, branch, place.Seq+1, limit)
	if err != nil {
		return nil, err
	}
	next, err := x.readAtoms(ctx, selectAtom, branch, place.Seq+1)
	for _, row := range next {
		if row.Parent == place {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b threading.AtomRow) int { return cmp.Compare(b.Order, a.Order) })
	return out[:min(len(out), limit)], err
}

// Partials implements [threading.Index].
func (x threadIndex) Partials(ctx context.Context, threads []threading.ThreadID,
	limit int) ([]threading.AtomRow, error) {
	var out []threading.AtomRow
	for _, id := range threads {
		rows, err := x.readAtoms(ctx, partialAtoms, id, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Summaries implements [threading.Index].
func (x threadIndex) Summaries(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.SummaryRow, error) {
	var out []threading.SummaryRow
	scan := summaryTable.scanEach(func(s summaryRow) error {
		out = append(out, s.SummaryRow)
		return nil
	})
	var err error
	if name == "" {
		err = x.Readers.Query(ctx, scan, `SELECT `+ThreadSummaryColumns+` FROM thread_summaries WHERE scope = $1
			ORDER BY n DESC LIMIT $2`, hashScope(scope), limit)
	} else {
		err = x.Readers.Query(ctx, scan, `SELECT `+ThreadSummaryColumns+` FROM thread_summaries WHERE scope = $1 AND name = $2
			ORDER BY n DESC LIMIT $3`, hashScope(scope), name, limit)
	}
	return out, x.wrapError("sqlstore.Summaries", err)
}

// Answer implements [threading.Index].
func (x threadIndex) Answer(ctx context.Context, scope threading.Scope, id string) (*threading.AnswerRow, error) {
	var row answerRow
	err := QueryRow(ctx, x.Readers, func(r Row) error { return answerTable.scan(&row, r) },
		`SELECT `+ThreadAnswerColumns+` FROM thread_answers WHERE scope = $1 AND id = $2 ORDER BY n DESC LIMIT 1`,
		hashScope(scope), id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, x.wrapError("sqlstore.Answer", err)
	}
	row.Scope = scope
	return &row.AnswerRow, nil
}
