package sqlstore

import (
	"context"
	"math"
	"sort"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// FindPostings implements [driver.Index].
func (db index) FindPostings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	out := make([]driver.Postings, len(q.Terms))
	err := db.readSnapshot(ctx, func(s *indexSnapshot) error {
		f := postingFinder{indexSnapshot: s, q: q, by: map[int64]*segmentScope{}}
		if q.Within != nil {
			f.within = make([]postings.Run, 0, len(q.Within))
		}
		for _, r := range q.Within {
			f.within = append(f.within, postings.Run{First: uint64(r.First), Last: uint64(r.Last)})
		}
		for _, g := range s.segments {
			f.by[g.id] = &segmentScope{indexSegment: g}
		}
		for i, t := range q.Terms {
			var err error
			if begin, ok := strings.CutSuffix(t, "*"); ok {
				out[i], err = f.findPrefix(ctx, begin)
			} else {
				out[i], err = f.findTerm(ctx, t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, db.wrapError("sqlstore.FindPostings", err)
}

// postingFinder answers one query.
type postingFinder struct {
	*indexSnapshot
	q      driver.PostingQuery
	within []postings.Run
	by     map[int64]*segmentScope

	ordinals []uint32
	counts   []uint8
}

// segmentScope is a segment with what of it a query may find.
type segmentScope struct {
	*indexSegment
	narrowed bool
	spans    []postings.Span // within the runs of the query
	lets     []bool          // by role and time; nil: all
}

// termHit is the list of a term in a segment, or its last part.
type termHit struct {
	*segmentScope
	term string
	list postings.List
}

// readBlocks hands on the blocks of a query with the segments they are of.
func (f *postingFinder) readBlocks(ctx context.Context, each func(*segmentScope, postings.Block) error,
	query string, args ...any) error {
	return f.tx.Query(ctx, func(r Row) error {
		var segment int64
		var b postings.Block
		if err := r.Scan(&segment, &b.Term, &b.Start, &b.Data); err != nil {
			return err
		}
		if in := f.by[segment]; in != nil {
			return each(in, b)
		}
		return nil
	}, query, args...)
}

// findTerm finds a whole term.
func (f *postingFinder) findTerm(ctx context.Context, term string) (driver.Postings, error) {
	var hits []termHit
	var out driver.Postings
	err := f.readBlocks(ctx, func(in *segmentScope, b postings.Block) error {
		l, err := b.Find(term)
		if err == nil && l.Holding > 0 {
			hits = append(hits, termHit{in, term, l})
		}
		return err
	}, f.db.Dialect.LastBlocks, term)
	if err != nil {
		return out, err
	}
	sort.Slice(hits, func(i, j int) bool { return hits[i].id < hits[j].id })
	for _, h := range hits {
		if len(h.gone) == 0 {
			out.Holding += int64(h.list.Holding)
			continue
		}
		if err := f.decodeList(ctx, h, nil); err != nil {
			return out, err
		}
		f.leaveOut(h.gone)
		out.Holding += int64(len(f.ordinals))
	}
	if f.q.Most > 0 && out.Holding > int64(f.q.Most) {
		return out, nil
	}
	var lists placeLists
	if f.within == nil {
		lists.grow(int(out.Holding))
	}
	for _, h := range hits {
		if err := f.narrowScope(ctx, h.segmentScope); err != nil {
			return out, err
		}
		if f.within != nil && len(h.spans) == 0 {
			continue
		}
		if err := f.decodeList(ctx, h, h.spans); err != nil {
			return out, err
		}
		f.leaveOut(h.gone)
		if err := f.addFound(h.segmentScope, &lists); err != nil {
			return out, err
		}
	}
	out.Places, out.Counts = lists.mergeAll()
	return out, nil
}

// findPrefix finds all terms that begin so.
func (f *postingFinder) findPrefix(ctx context.Context, begin string) (driver.Postings, error) {
	var out driver.Postings
	held := map[*segmentScope][]uint8{}
	var failed error
	collect := func(in *segmentScope, b postings.Block) error {
		err := b.Each(func(term []byte, l postings.List) bool {
			if !strings.HasPrefix(string(term), begin) {
				return string(term) < begin
			}
			f.ordinals, f.counts, failed = l.Decode(f.ordinals[:0], f.counts[:0])
			if failed == nil && int(f.ordinals[len(f.ordinals)-1]) >= in.documents {
				failed = postings.ErrDamaged
			}
			if failed != nil {
				return false
			}
			if held[in] == nil {
				held[in] = make([]uint8, in.documents)
			}
			for i, o := range f.ordinals {
				held[in][o] = uint8(min(int(held[in][o])+int(f.counts[i]), 255))
			}
			return true
		})
		if failed != nil {
			return failed
		}
		return err
	}
	// The last block may be a part of what is read next.
	err := f.readBlocks(ctx, func(in *segmentScope, b postings.Block) error {
		if b.Term == begin {
			return nil
		}
		return collect(in, b)
	}, f.db.Dialect.LastBlocks, begin)
	if err == nil {
		err = f.readBlocks(ctx, collect, blocksFrom, begin, begin+"\U0010ffff")
	}
	if err != nil {
		return out, err
	}
	var lists placeLists
	for _, g := range f.segments {
		in := f.by[g.id]
		f.ordinals = f.ordinals[:0]
		f.counts = f.counts[:0]
		for o, n := range held[in] {
			if n > 0 {
				f.ordinals = append(f.ordinals, uint32(o))
				f.counts = append(f.counts, n)
			}
		}
		f.leaveOut(in.gone)
		out.Holding += int64(len(f.ordinals))
		if err := f.narrowScope(ctx, in); err != nil {
			return out, err
		}
		if err := f.addFound(in, &lists); err != nil {
			return out, err
		}
	}
	if f.q.Most == 0 || out.Holding <= int64(f.q.Most) {
		out.Places, out.Counts = lists.mergeAll()
	}
	return out, nil
}

// decodeList reads a list, of its parts those that spans need (nil: all).
func (f *postingFinder) decodeList(ctx context.Context, h termHit, spans []postings.Span) (err error) {
	f.ordinals = f.ordinals[:0]
	f.counts = f.counts[:0]
	if !h.list.Part {
		f.ordinals, f.counts, err = h.list.Decode(f.ordinals, f.counts)
		return err
	}
	all := postings.Span{To: math.MaxInt32}
	if len(spans) > 0 {
		all = postings.Span{From: spans[0].From, To: spans[len(spans)-1].To}
	}
	return f.readBlocks(ctx, func(_ *segmentScope, b postings.Block) error {
		l, err := b.Find(h.term)
		if err == nil {
			f.ordinals, f.counts, err = l.Decode(f.ordinals, f.counts)
		}
		return err
	}, partsOf, h.id, h.term, all.From, all.To)
}

// leaveOut removes ordinals within spans.
func (f *postingFinder) leaveOut(spans []postings.Span) {
	if len(spans) == 0 {
		return
	}
	n := 0
	for i, o := range f.ordinals {
		for len(spans) > 0 && spans[0].To <= o {
			spans = spans[1:]
		}
		if len(spans) == 0 || o < spans[0].From {
			f.ordinals[n] = o
			f.counts[n] = f.counts[i]
			n++
		}
	}
	f.ordinals = f.ordinals[:n]
	f.counts = f.counts[:n]
}

// addFound keeps what the query lets through of the ordinals of a segment, and adds its places.
func (f *postingFinder) addFound(in *segmentScope, to *placeLists) error {
	n := 0
	spans := in.spans
	for i, o := range f.ordinals {
		if f.within != nil {
			for len(spans) > 0 && spans[0].To <= o {
				spans = spans[1:]
			}
			if len(spans) == 0 {
				break
			}
			if o < spans[0].From {
				continue
			}
		}
		if in.lets != nil && (int(o) >= len(in.lets) || !in.lets[o]) {
			continue
		}
		f.ordinals[n] = o
		f.counts[n] = f.counts[i]
		n++
	}
	return to.add(in.places, f.ordinals[:n], f.counts[:n])
}

// narrowScope finds out what of a segment the query may find.
func (f *postingFinder) narrowScope(ctx context.Context, in *segmentScope) error {
	if in.narrowed {
		return nil
	}
	in.narrowed = true
	if f.within != nil {
		in.spans = in.places.Spans(f.within)
	}
	q := f.q
	if q.Role == "" && q.From <= 0 && q.To == 0 || f.within != nil && len(in.spans) == 0 {
		return nil
	}
	if q.To == 0 {
		q.To = math.MaxInt64
	}
	in.lets = make([]bool, in.documents)
	var row []postings.Mark
	return f.tx.Query(ctx, func(r Row) error {
		var start int
		var from, to int64
		var data []byte
		if err := r.Scan(&start, &from, &to, &data); err != nil {
			return err
		}
		marks, err := postings.ParseMarks(data)
		if err == nil {
			row, err = marks.Append(row[:0])
		}
		if err != nil || start < 0 || start+len(row) > len(in.lets) {
			return postings.ErrDamaged
		}
		for i, m := range row {
			in.lets[start+i] = (q.Role == "" || m.Kind == string(q.Role)) && m.Time >= q.From && m.Time < q.To
		}
		return nil
	}, marksBetween, in.id, q.From, q.To)
}
