package oracle

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// indexContent is the index: its documents as they were put.
type indexContent struct {
	cut       int
	watermark int64
	documents map[driver.Place]driver.Document
}

// ReadState implements [driver.Index].
func (db index) ReadState(ctx context.Context) (driver.IndexState, error) {
	end, err := db.beginRead(ctx, "oracle.ReadState")
	defer end()
	s := driver.IndexState{Cut: db.indexed.cut, Watermark: db.indexed.watermark, Newest: newestNumber(db.database),
		Documents: int64(len(db.indexed.documents))}
	for _, d := range db.indexed.documents {
		s.Terms += int64(d.Length)
	}
	return s, err
}

// ReadUnindexed implements [driver.Index].
func (db index) ReadUnindexed(ctx context.Context, q driver.UnindexedQuery) ([]driver.NumberedMessage, error) {
	end, err := db.beginRead(ctx, "oracle.ReadUnindexed")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.NumberedMessage
	bytes := int64(0)
	from := slices.IndexFunc(db.rows, func(r *messageRow) bool { return r.n > q.After })
	for i := from; from >= 0 && i < len(db.rows) && len(out) < q.Limit && (q.Bytes == 0 || bytes < q.Bytes); i++ {
		r := db.rows[i]
		out = append(out, driver.NumberedMessage{Message: deepCopy(r.Message), Number: r.n, Place: placeOf(db.database, r)})
		bytes += r.Weight.Bytes
	}
	return out, nil
}

// placeOf returns where a row stands.
func placeOf(db *database, r *messageRow) driver.Place {
	return driver.NewPlace(db.branches[r.Message.Branch].number, r.Seq)
}

// PutDocuments implements [driver.Index].
func (db index) PutDocuments(ctx context.Context, d driver.DocumentBatch) (bool, error) {
	end, err := db.beginWrite(ctx, "oracle.PutDocuments")
	defer end()
	if err != nil || d.Cut != db.indexed.cut || d.From != db.indexed.watermark {
		return false, err
	}
	for _, one := range d.All {
		db.indexed.documents[one.Place] = deepCopy(one)
	}
	db.indexed.watermark = d.To
	return true, nil
}

// Reset implements [driver.Index].
func (db index) Reset(ctx context.Context, cut int) error {
	end, err := db.beginWrite(ctx, "oracle.Reset")
	defer end()
	if err == nil {
		db.indexed = indexContent{cut: cut, documents: map[driver.Place]driver.Document{}}
	}
	return err
}

// Maintain implements [driver.Index]: it forgets what was purged.
func (db index) Maintain(ctx context.Context) (bool, error) {
	end, err := db.beginWrite(ctx, "oracle.Maintain")
	defer end()
	if err != nil {
		return false, err
	}
	there := rowsAt(db.database)
	maps.DeleteFunc(db.indexed.documents, func(p driver.Place, _ driver.Document) bool { return there[p] == nil })
	return false, nil
}

// rowsAt returns all rows by their places.
func rowsAt(db *database) map[driver.Place]*messageRow {
	out := map[driver.Place]*messageRow{}
	for _, r := range db.rows {
		out[placeOf(db, r)] = r
	}
	return out
}

// FindPostings implements [driver.Index].
func (db index) FindPostings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	end, err := db.beginRead(ctx, "oracle.FindPostings")
	defer end()
	if err != nil {
		return nil, err
	}
	there := rowsAt(db.database)
	out := make([]driver.Postings, len(q.Terms))
	for _, p := range slices.Sorted(maps.Keys(db.indexed.documents)) {
		d := db.indexed.documents[p]
		for i, want := range q.Terms {
			n := 0
			for i, t := range d.Terms {
				switch {
				case !termIs(t, want):
				case d.Counts != nil:
					n += int(d.Counts[i])
				default:
					n++
				}
			}
			if n == 0 || there[p] == nil {
				continue
			}
			out[i].Holding++
			if q.Matches(d.Mark) {
				out[i].Places = append(out[i].Places, p)
				out[i].Counts = append(out[i].Counts, uint8(min(n, 255)))
			}
		}
	}
	for i := range out {
		if q.Most > 0 && out[i].Holding > int64(q.Most) {
			out[i].Places = nil
			out[i].Counts = nil
		}
	}
	return out, nil
}

// FindBranches implements [driver.Index].
func (db index) FindBranches(ctx context.Context, q driver.IndexedBranchQuery) (map[int64]driver.IndexedBranch, error) {
	end, err := db.beginRead(ctx, "oracle.FindBranches")
	defer end()
	if err != nil {
		return nil, err
	}
	out := map[int64]driver.IndexedBranch{}
	for _, b := range db.branches {
		th := db.threads[b.Conversation]
		switch {
		case !slices.Contains(q.Numbers, b.number):
		case th.DeletedAt != 0 && !q.Trash:
			if l, ok := lineOf(db.database, b).InheritFrom(forksOf(db.database, q.Projects)); ok {
				out[b.number] = l
			}
		case isAmong(q.Projects, th.Project):
			out[b.number] = lineOf(db.database, b)
		}
	}
	return out, nil
}

// forksOf returns all branches by those that they were forked from.
func forksOf(db *database, projects []string) map[scrollback.BranchID][]driver.BranchFork {
	out := map[scrollback.BranchID][]driver.BranchFork{}
	for _, b := range db.branches {
		th := db.threads[b.Conversation]
		trashed := th.DeletedAt != 0
		f := driver.BranchFork{Branch: b.ID, At: b.AtSeq, Conversation: b.Conversation, Trashed: trashed,
			Wanted: !trashed && isAmong(projects, th.Project)}
		out[b.Parent] = append(out[b.Parent], f)
	}
	return out
}

// ListBranchesOf implements [driver.Index].
func (db index) ListBranchesOf(ctx context.Context, ids []scrollback.ConversationID) ([]driver.IndexedBranch, error) {
	end, err := db.beginRead(ctx, "oracle.ListBranchesOf")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.IndexedBranch
	for _, b := range db.branches {
		if slices.Contains(ids, b.Conversation) {
			out = append(out, lineOf(db.database, b))
		}
	}
	slices.SortFunc(out, func(a, b driver.IndexedBranch) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

func lineOf(db *database, b *branchRow) driver.IndexedBranch {
	l := driver.IndexedBranch{Number: b.number, Branch: b.ID, Conversation: b.Conversation, First: b.AtSeq + 1,
		Head: b.HeadSeq}
	if parent := db.branches[b.Parent]; parent != nil {
		l.Parent = parent.number
	}
	return l
}

// ReadMarks implements [driver.Index].
func (db index) ReadMarks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	end, err := db.beginRead(ctx, "oracle.ReadMarks")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.Mark
	for _, p := range places {
		if d, ok := db.indexed.documents[p]; ok {
			out = append(out, d.Mark)
		}
	}
	return out, nil
}

// ReadMessagesAt implements [driver.Index].
func (db index) ReadMessagesAt(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	end, err := db.beginRead(ctx, "oracle.ReadMessagesAt")
	defer end()
	if err != nil {
		return nil, err
	}
	there := rowsAt(db.database)
	var out []scrollback.Message
	for _, p := range places {
		if r := there[p]; r != nil {
			out = append(out, deepCopy(r.Message))
		}
	}
	return out, nil
}

// termIs judges a term by one that is wanted, which may be a beginning.
func termIs(term, want string) bool {
	if begin, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(term, begin)
	}
	return term == want
}
