package sqlindex

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sort"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Marks implements [driver.Index].
func (db Index) Marks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(places)))
	var out []driver.Mark
	err := db.see(ctx, func(s *snapshot) error {
		for _, g := range s.segments {
			if err := s.marks(ctx, g, sorted, &out); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b driver.Mark) int { return cmp.Compare(a.Place, b.Place) })
	return out, db.Wrap("sqldriver.Marks", err)
}

// marks adds those of a segment's documents at places, row by row.
func (s *snapshot) marks(ctx context.Context, g *segment, places []driver.Place, out *[]driver.Mark) error {
	b := g.places.Bounds()
	gone := g.gone
	var row postings.Walk
	start := -1
	for i := sort.Search(len(places), func(i int) bool { return uint64(places[i]) >= b.First }); i < len(places) && uint64(places[i]) <= b.Last; i++ {
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
		if first := int(o) / marksEach * marksEach; first != start {
			all, err := s.marksRow(ctx, g.id, first)
			if err != nil {
				return err
			}
			row, start = all.Walk(), first
		}
		m, err := row.To(int(o) - start)
		if err != nil {
			return err
		}
		*out = append(*out, driver.Mark{Place: places[i], Role: scrollback.Role(m.Kind), CreatedAt: m.Time, Length: m.Length})
	}
	return nil
}

func (s *snapshot) marksRow(ctx context.Context, id int64, start int) (out postings.Marks, err error) {
	err = s.tx.Row(ctx, func(r sqlrow.Scanner) error {
		var data []byte
		err := r.Scan(&data)
		if err == nil {
			out, err = postings.ParseMarks(data)
		}
		return err
	}, marksFrom, id, start)
	if errors.Is(err, sql.ErrNoRows) {
		err = postings.ErrDamaged
	}
	return out, err
}
