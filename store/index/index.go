// Package index keeps the full-text index behind the log, and looks things up in both: the
// index, and the messages behind its watermark as they stand. So what was acknowledged is
// found at once, and no turn waits for an index.
//
// Words it adds: look (the index and what is behind it, at one moment), tail (the documents
// that are behind it).
//
// Invariants: the watermark moves only together with the documents it passes; a look finds
// every message that was stored before it began, and each of them once.
//
// It may not know SQL, ranking, or where the texts of artifacts are.
package index

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Bounds of a batch.
const (
	batchMessages = 64
	batchBytes    = 256 << 10
)

// Index is the index of one database.
type Index struct {
	driver.Index
	cut     func(context.Context, scrollback.Message) ([]string, error)
	version int
}

// New makes an index over d. cut lists the terms of a message, and version names the way in
// which it cuts: an index of another version is made again.
func New(d driver.Index, version int, cut func(context.Context, scrollback.Message) ([]string, error)) *Index {
	return &Index{d, cut, version}
}

// Look is what can be found at one moment.
type Look struct {
	*Index
	State driver.IndexState
	tail  []driver.Document // by place
}

// Look reads how far the index reaches, and what is behind it.
func (x *Index) Look(ctx context.Context) (*Look, error) {
	s, err := x.State(ctx)
	if err != nil {
		return nil, err
	}
	if s.Cut != x.version {
		s = driver.IndexState{Cut: x.version, Newest: s.Newest}
	}
	l := &Look{Index: x, State: s}
	for after := s.Watermark; after < s.Newest; {
		batch, err := x.Behind(ctx, driver.BehindQuery{After: after, Limit: 512})
		if err != nil {
			return nil, err
		}
		if len(batch) == 0 {
			break
		}
		for _, m := range batch {
			d, err := x.document(ctx, m)
			if err != nil {
				return nil, err
			}
			l.tail = append(l.tail, d)
			after = m.Number
		}
	}
	slices.SortFunc(l.tail, func(a, b driver.Document) int {
		if a.Place < b.Place {
			return -1
		}
		return 1
	})
	return l, nil
}

func (x *Index) document(ctx context.Context, m driver.Numbered) (driver.Document, error) {
	terms, err := x.cut(ctx, m.Message)
	return driver.Document{Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(terms)}, Terms: terms}, err
}

// CatchUp indexes a batch of what is behind, if there is a whole one or all is set, and
// reports whether there may be more.
func (x *Index) CatchUp(ctx context.Context, all bool) (more bool, err error) {
	s, err := x.State(ctx)
	if err != nil {
		return false, err
	}
	if s.Cut != x.version {
		return true, x.Reset(ctx, x.version)
	}
	batch, err := x.Behind(ctx, driver.BehindQuery{After: s.Watermark, Limit: 16 * batchMessages, Bytes: 8 * batchBytes})
	if err != nil || len(batch) == 0 || len(batch) < batchMessages && !all {
		return false, err
	}
	d := driver.Documents{Cut: x.version, From: s.Watermark, To: batch[len(batch)-1].Number}
	for _, m := range batch {
		one, err := x.document(ctx, m)
		if err != nil {
			return false, err
		}
		if len(one.Terms) > 0 {
			d.All = append(d.All, one)
		}
	}
	_, err = x.Put(ctx, d)
	return true, err
}

// Postings are those of the index and of what is behind it.
func (l *Look) Postings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	var out []driver.Postings
	if l.State.Watermark == 0 {
		out = make([]driver.Postings, len(q.Terms))
	} else {
		var err error
		if out, err = l.Index.Postings(ctx, q); err != nil {
			return nil, err
		}
	}
	for i, want := range q.Terms {
		own := inTail(l.tail, want, q)
		out[i] = merge(out[i], own)
	}
	return out, nil
}

// inTail is where a term is in documents.
func inTail(tail []driver.Document, want string, q driver.PostingQuery) driver.Postings {
	var out driver.Postings
	begin, prefix := strings.CutSuffix(want, "*")
	for _, d := range tail {
		n := 0
		for _, t := range d.Terms {
			if t == want || prefix && strings.HasPrefix(t, begin) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		out.Holding++
		if q.Lets(d.Mark) {
			out.Places, out.Counts = append(out.Places, d.Place), append(out.Counts, uint8(min(n, 255)))
		}
	}
	return out
}

// merge joins postings of different documents.
func merge(a, b driver.Postings) driver.Postings {
	out := driver.Postings{Holding: a.Holding + b.Holding}
	for len(a.Places) > 0 || len(b.Places) > 0 {
		from := &a
		if len(a.Places) == 0 || len(b.Places) > 0 && b.Places[0] < a.Places[0] {
			from = &b
		}
		out.Places, out.Counts = append(out.Places, from.Places[0]), append(out.Counts, from.Counts[0])
		from.Places, from.Counts = from.Places[1:], from.Counts[1:]
	}
	return out
}

// Marks are those of the index and of what is behind it.
func (l *Look) Marks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	var out []driver.Mark
	if l.State.Watermark > 0 {
		var err error
		if out, err = l.Index.Marks(ctx, places); err != nil {
			return nil, err
		}
	}
	for _, p := range places {
		i := sort.Search(len(l.tail), func(i int) bool { return l.tail[i].Place >= p })
		if i < len(l.tail) && l.tail[i].Place == p {
			out = append(out, l.tail[i].Mark)
		}
	}
	slices.SortFunc(out, func(a, b driver.Mark) int {
		if a.Place < b.Place {
			return -1
		}
		return 1
	})
	return out, nil
}
