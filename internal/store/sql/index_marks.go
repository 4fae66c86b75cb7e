package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// marksOnce bounds how many rows of marks one statement reads.
const marksOnce = 500

// ReadMarks implements [driver.Index].
func (db index) ReadMarks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(places)))
	var out []driver.Mark
	err := db.readSnapshot(ctx, func(s *indexSnapshot) error {
		for _, g := range s.segments {
			if err := s.readMarks(ctx, g, sorted, &out); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b driver.Mark) int { return cmp.Compare(a.Place, b.Place) })
	return out, db.wrapError("sqlstore.ReadMarks", err)
}

// readMarks adds those of a segment's documents at places, row by row.
func (s *indexSnapshot) readMarks(ctx context.Context, g *indexSegment, places []driver.Place,
	out *[]driver.Mark) error {
	b := g.places.Bounds()
	gone := g.gone
	var found []driver.Place
	var ordinals, starts []int
	for i := sort.Search(len(places), func(i int) bool { return uint64(places[i]) >= b.First }); i < len(places) &&
		uint64(places[i]) <= b.Last; i++ {
		o, at := g.places.Find(uint64(places[i]))
		if !at {
			continue
		}
		for len(gone) > 0 && gone[0].To <= o {
			gone = gone[1:]
		}
		if len(gone) > 0 && gone[0].From <= o {
			continue
		}
		found = append(found, places[i])
		ordinals = append(ordinals, int(o))
		starts = append(starts, int(o)/marksEach*marksEach)
	}
	rows, err := s.readMarkRows(ctx, g.id, starts)
	if err != nil {
		return err
	}
	var row postings.Walk
	for i, place := range found {
		if i == 0 || starts[i] != starts[i-1] {
			row = rows[starts[i]].Walk()
		}
		m, err := row.MoveTo(ordinals[i] - starts[i])
		if err != nil {
			return err
		}
		*out = append(*out, driver.Mark{Place: place, Role: scrollback.Role(m.Kind), CreatedAt: m.Time, Length: m.Length})
	}
	return nil
}

// readMarkRows reads the rows of marks that begin at starts, which ascend, by where they begin.
func (s *indexSnapshot) readMarkRows(ctx context.Context, id int64, starts []int) (map[int]postings.Marks, error) {
	starts = slices.Compact(slices.Clone(starts))
	out := make(map[int]postings.Marks, len(starts))
	for some := range slices.Chunk(starts, marksOnce) {
		list, err := encodeJSON(some)
		if err != nil {
			return nil, err
		}
		err = s.tx.Query(ctx, func(r Row) error {
			var start int
			var data []byte
			err := r.Scan(&start, &data)
			if err == nil {
				out[start], err = postings.ParseMarks(data)
			}
			return err
		}, s.db.Dialect.MarksListed, id, list)
		if err != nil {
			return nil, err
		}
	}
	if len(out) < len(starts) {
		return nil, postings.ErrDamaged
	}
	return out, nil
}
