package sqlstore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Sizes.
const (
	// blockSize lets a row fill its pages of 512 bytes or 1 KB, with a key of usual length.
	blockSize = 4140
	// marksEach is how many documents a row of marks has.
	marksEach = 1024
	// fanIn is how many segments of a tier are joined into one of the next. The largest
	// tier stays as it is: its segments have at least largest documents.
	fanIn   = 8
	largest = 1 << 15
)

// tierOf is the tier of a segment with that number of documents.
func tierOf(documents int) (tier int) {
	for n := min(documents, largest); n >= fanIn; n /= fanIn {
		tier++
	}
	return tier
}

// indexSegment is a row of index_segments.
type indexSegment struct {
	id, clean int64
	tier      int
	documents int
	terms     int64
	places    *postings.Places
	dropped   []postings.Run  // that it may hold
	gone      []postings.Span // ordinals of its documents in those
}

// scan reads a row, and finds out what of it was dropped.
func (g *indexSegment) scan(r Row, runs []droppedRun) error {
	var places []byte
	if err := r.Scan(&g.id, &g.tier, &g.documents, &g.terms, &g.clean, &places); err != nil {
		return err
	}
	var err error
	if g.places, err = postings.ParsePlaces(places); err != nil {
		return err
	}
	if g.places.Len() != g.documents {
		return postings.ErrDamaged
	}
	for _, d := range runs {
		if d.n > g.clean {
			g.dropped = append(g.dropped, d.Run)
		}
	}
	if len(g.dropped) > 0 {
		g.dropped = mergeRuns(g.dropped)
		g.gone = g.places.Spans(g.dropped)
	}
	return nil
}

// droppedRun is a row of index_dropped.
type droppedRun struct {
	n int64
	postings.Run
}

// mergeRuns returns runs in order, without overlaps.
func mergeRuns(runs []postings.Run) []postings.Run {
	slices.SortFunc(runs, func(a, b postings.Run) int { return cmp.Compare(a.First, b.First) })
	out := runs[:0]
	for _, r := range runs {
		if k := len(out) - 1; k >= 0 && r.First <= out[k].Last+1 {
			out[k].Last = max(out[k].Last, r.Last)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// indexSnapshot is the index as it was at one moment.
type indexSnapshot struct {
	db index
	tx Reader
	indexState
	segments []*indexSegment // live, by id
}

// readSnapshot calls fn with the index as it is now, and as it stays until fn returns.
func (db index) readSnapshot(ctx context.Context, fn func(*indexSnapshot) error) error {
	return db.Readers.Snapshot(ctx, func(r Reader) error {
		s := &indexSnapshot{db: db, tx: r}
		if err := s.load(ctx); err != nil {
			return err
		}
		return fn(s)
	})
}

// load reads the state and the segments.
func (s *indexSnapshot) load(ctx context.Context) (err error) {
	if s.indexState, err = loadIndexState(ctx, s.tx); err != nil {
		return err
	}
	var runs []droppedRun
	if s.dropped > s.forgotten {
		err = s.tx.Query(ctx, func(r Row) error {
			var n, branch, seq int64
			err := r.Scan(&n, &branch, &seq)
			runs = append(runs, droppedRun{n, postings.Run{First: uint64(driver.NewPlace(branch, seq)),
				Last: uint64(driver.NewPlace(branch, math.MaxUint32))}})
			return err
		}, selectDroppedRuns, s.forgotten)
	}
	if err == nil {
		err = s.tx.Query(ctx, func(r Row) error {
			s.segments = append(s.segments, &indexSegment{})
			return s.segments[len(s.segments)-1].scan(r, runs)
		}, selectLiveSegments)
	}
	return err
}
