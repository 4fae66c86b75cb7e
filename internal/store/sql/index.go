package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// The full-text index is segments that never change, joined by tiers, and the watermark up to which
// messages are in them. A batch is documents that are put together; the tier of a segment is how
// large it is, as a power of eight; to publish one lets readers see it, and what it replaces no more;
// a run is places of a branch that were purged, with a number; a segment is clean up to the number
// of the last run of which it holds nothing.
//
// What can be read is published in one transaction, with the watermark or instead of the parts.
// Encoding and joining is done outside of transactions, and each transaction writes a bounded amount.
// Who joins segments has claimed them, and a claim that was lost publishes nothing. A run is
// remembered until no segment can hold it, however late it was begun. What a crash leaves behind is
// removed when the claim has run out.

// indexState is the row of index_state.
type indexState struct {
	cut                int
	watermark          int64
	dropped, forgotten int64
}

func loadIndexState(ctx context.Context, r Reader) (out indexState, err error) {
	err = QueryRow(ctx, r, scanInto(&out.cut, &out.watermark, &out.dropped, &out.forgotten), selectIndexState)
	return out, err
}

// ReadState implements [driver.Index].
func (db index) ReadState(ctx context.Context) (driver.IndexState, error) {
	const op = "sqlstore.ReadState"
	var s driver.IndexState
	if err := db.numberCommits(ctx); err != nil {
		return s, db.wrapError(op, err)
	}
	err := QueryRow(ctx, db.Readers, scanInto(&s.Cut, &s.Watermark, &s.Documents, &s.Terms), `SELECT cut, watermark,
		coalesce((SELECT sum(documents) FROM index_segments WHERE state = 1), 0), coalesce((SELECT sum(terms) FROM index_segments WHERE state = 1), 0)
		FROM index_state WHERE id = 1`)
	if err == nil { // last, so that no watermark is beyond it
		err = QueryRow(ctx, db.Readers, scanInto(&s.Newest), db.Dialect.NewestMessage)
	}
	return s, db.wrapError(op, err)
}

// Reset implements [driver.Index]. The rows are removed when the index is tended. It also repairs
// what it can: no row of the index is so wrong that it is not made again, or removed by tending.
func (db index) Reset(ctx context.Context, cut int) error {
	return db.write(ctx, "sqlstore.Reset", func(ctx context.Context, w *writeTx) error {
		for _, statement := range resetIndex {
			if err := w.tx.Queue(ctx, statement); err != nil {
				return err
			}
		}
		return w.tx.Queue(ctx, `UPDATE index_state SET cut = $1, watermark = 0 WHERE id = 1`, cut)
	})
}

var resetIndex = []string{
	`UPDATE index_segments SET state = 2, into_segment = 0 WHERE state IN (0, 1)`,
	`INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			SELECT b.segment, 2, 0, 0, 0, 0, 0, 0, '' FROM (SELECT DISTINCT segment FROM index_blocks) b WHERE b.segment NOT IN (SELECT id FROM index_segments)`,
	`INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			SELECT m.segment, 2, 0, 0, 0, 0, 0, 0, '' FROM (SELECT DISTINCT segment FROM index_marks) m WHERE m.segment NOT IN (SELECT id FROM index_segments)`,
	`INSERT INTO index_state (id, cut, watermark, segment, dropped, forgotten) VALUES (1, 0, 0, 0, 0, 0) ON CONFLICT (id) DO NOTHING`,
	`UPDATE index_state SET segment = (SELECT max(id) FROM index_segments) WHERE id = 1 AND segment < (SELECT max(id) FROM index_segments)`}

// ReadUnindexed implements [driver.Index].
func (db index) ReadUnindexed(ctx context.Context, q driver.UnindexedQuery) ([]driver.NumberedMessage, error) {
	const op = "sqlstore.ReadUnindexed"
	if err := db.numberCommits(ctx); err != nil {
		return nil, db.wrapError(op, err)
	}
	if q.Known != nil {
		if out, err := db.numberKnown(ctx, q); err != nil || len(out) > 0 {
			return out, db.wrapError(op, err)
		}
	}
	var out []driver.NumberedMessage
	bytes := int64(0)
	var number, branch int64
	err := db.Readers.Query(ctx, messageTable.scanEachWith(func(m scrollback.Message) error {
		out = append(out, driver.NumberedMessage{Message: m, Number: number, Place: driver.NewPlace(branch, m.Seq)})
		if bytes += m.Weight.Bytes; q.Bytes > 0 && bytes >= q.Bytes {
			return errEnough
		}
		return nil
	}, &number, &branch), db.Dialect.MessagesBehind, q.After, q.Limit)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, db.wrapError(op, err)
}

// numberKnown returns the first messages behind an index, as long as the caller knows them.
func (db index) numberKnown(ctx context.Context, q driver.UnindexedQuery) (out []driver.NumberedMessage, err error) {
	bytes := int64(0)
	err = db.Readers.Query(ctx, func(r Row) error {
		var id scrollback.MessageID
		var seq, number, branch int64
		if err := r.Scan(&id, &seq, &number, &branch); err != nil {
			return err
		}
		m, known := q.Known(id)
		if !known {
			return errEnough
		}
		out = append(out, driver.NumberedMessage{Message: m, Number: number, Place: driver.NewPlace(branch, seq)})
		if bytes += m.Weight.Bytes; q.Bytes > 0 && bytes >= q.Bytes {
			return errEnough
		}
		return nil
	}, db.Dialect.NumbersBehind, q.After, q.Limit)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// lineColumns are those of a [driver.IndexedBranch], and what it is judged by.
const lineColumns = `SELECT b.n, b.id, b.conversation_id, coalesce((SELECT p.n FROM branches p WHERE p.id = b.parent_branch), 0), b.at_seq + 1, b.head_seq`

func scanLine(l *driver.IndexedBranch, more ...any) func(Row) error {
	return func(r Row) error {
		return r.Scan(append([]any{&l.Number, &l.Branch, &l.Conversation, &l.Parent, &l.First, &l.Head}, more...)...)
	}
}

// FindBranches implements [driver.Index].
func (db index) FindBranches(ctx context.Context, q driver.IndexedBranchQuery) (map[int64]driver.IndexedBranch, error) {
	const op = "sqlstore.FindBranches"
	list, err := encodeJSON(append([]int64{}, q.Numbers...))
	if err != nil {
		return nil, db.wrapError(op, err)
	}
	out := map[int64]driver.IndexedBranch{}
	var trashed []driver.IndexedBranch
	err = db.Readers.Query(ctx, func(r Row) error {
		var l driver.IndexedBranch
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
	}, db.Dialect.LinesNumbered, list)
	if err != nil || len(trashed) == 0 {
		return out, db.wrapError(op, err)
	}
	forks, err := db.forksBelow(ctx, trashed, q.Projects)
	for _, l := range trashed {
		if inherited, ok := l.InheritFrom(forks); ok && err == nil {
			out[l.Number] = inherited
		}
	}
	return out, db.wrapError(op, err)
}

// forksBelow are the branches that were forked from some lines in the trash, and from those of
// them that are in the trash as well, by what they were forked from.
func (db index) forksBelow(ctx context.Context, lines []driver.IndexedBranch,
	projects []string) (map[scrollback.BranchID][]driver.BranchFork, error) {
	numbers := make([]int64, len(lines))
	for i, l := range lines {
		numbers[i] = l.Number
	}
	list, err := encodeJSON(numbers)
	if err != nil {
		return nil, err
	}
	out := map[scrollback.BranchID][]driver.BranchFork{}
	err = db.Readers.Query(ctx, func(r Row) error {
		var f driver.BranchFork
		var parent scrollback.BranchID
		var project string
		err := r.Scan(&parent, &f.Branch, &f.At, &f.Conversation, &project, &f.Trashed)
		f.Wanted = !f.Trashed && (projects == nil || slices.Contains(projects, project))
		out[parent] = append(out[parent], f)
		return err
	}, db.Dialect.ForksBelow, list)
	return out, err
}

// ListBranchesOf implements [driver.Index].
func (db index) ListBranchesOf(ctx context.Context, ids []scrollback.ConversationID) ([]driver.IndexedBranch, error) {
	var out []driver.IndexedBranch
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		err := db.Readers.Query(ctx, func(r Row) error {
			out = append(out, driver.IndexedBranch{})
			return scanLine(&out[len(out)-1])(r)
		}, lineColumns+` FROM branches b WHERE b.conversation_id = $1`, id)
		if err != nil {
			return nil, db.wrapError("sqlstore.ListBranchesOf", err)
		}
	}
	slices.SortFunc(out, func(a, b driver.IndexedBranch) int { return int(a.Number - b.Number) })
	return out, nil
}

// locatedOnce bounds how many messages one statement reads.
const locatedOnce = 500

// ReadMessagesAt implements [driver.Index]: many are read together, because a server may be far away.
func (db index) ReadMessagesAt(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	type located struct {
		scrollback.Message
		at int64
	}
	all := make([]located, 0, len(places))
	for some := range slices.Chunk(places, locatedOnce) {
		list, err := encodeJSON(some)
		if err == nil {
			var at int64
			err = db.Readers.Query(ctx, messageTable.scanEachWith(func(m scrollback.Message) error {
				all = append(all, located{m, at})
				return nil
			}, &at), db.Dialect.MessagesAtPlaces, list)
		}
		if err != nil {
			return nil, db.wrapError("sqlstore.ReadMessagesAt", err)
		}
	}
	slices.SortFunc(all, func(a, b located) int { return cmp.Compare(a.at, b.at) })
	out := make([]scrollback.Message, len(all))
	for i, l := range all {
		out[i] = l.Message
	}
	return out, nil
}

// NotePurged notes for the index that the messages of a branch from a seq on are purged, before they
// are.
func NotePurged(ctx context.Context, d *Dialect, tx Tx, branch scrollback.BranchID, from int64) error {
	err := lockRows(ctx, tx, d.HoldNewestMessage)
	if err == nil {
		err = tx.Queue(ctx, d.KeepNumbers, branch, from)
	}
	if err == nil {
		err = tx.Queue(ctx, `UPDATE index_state SET dropped = dropped + 1 WHERE id = 1`)
	}
	if err == nil {
		err = tx.Queue(ctx,
			`DELETE FROM index_dropped WHERE branch = (SELECT b.n FROM branches b WHERE b.id = $1) AND first_seq >= $2`, branch,
			from)
	}
	if err == nil {
		err = tx.Queue(ctx, `INSERT INTO index_dropped (branch, first_seq, n)
			SELECT b.n, $2, (SELECT dropped FROM index_state WHERE id = 1) FROM branches b WHERE b.id = $1`, branch, from)
	}
	return err
}
