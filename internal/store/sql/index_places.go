package sqlstore

import (
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// placeLists are lists of places, each ascending, one behind the other.
type placeLists struct {
	places []driver.Place
	counts []uint8
	starts []int
}

// grow makes room for that number of places.
func (l *placeLists) grow(n int) {
	l.places = make([]driver.Place, 0, n)
	l.counts = make([]uint8, 0, n)
}

// add adds the places of ordinals.
func (l *placeLists) add(of *postings.Places, ordinals []uint32, counts []uint8) error {
	if len(ordinals) == 0 {
		return nil
	}
	start := len(l.places)
	places, ok := postings.Resolve(of, l.places, ordinals)
	if !ok {
		return postings.ErrDamaged
	}
	l.places = places
	l.counts = append(l.counts, counts...)
	if start == 0 || l.places[start] <= l.places[start-1] {
		l.starts = append(l.starts, start)
	}
	return nil
}

// mergeAll returns one list of them all: neighbours are merged until there is only one.
func (l *placeLists) mergeAll() ([]driver.Place, []uint8) {
	var spare placeLists
	for len(l.starts) > 1 {
		spare.places = spare.places[:0]
		spare.counts = spare.counts[:0]
		spare.starts = spare.starts[:0]
		for i := 0; i < len(l.starts); i += 2 {
			spare.starts = append(spare.starts, len(spare.places))
			a := l.listAt(i)
			b := l.listAt(i + 1)
			spare.merge(a, b)
		}
		*l, spare = spare, *l
	}
	return l.places, l.counts
}

// listAt returns the i-th list; the one after the last is empty.
func (l *placeLists) listAt(i int) placeLists {
	if i >= len(l.starts) {
		return placeLists{}
	}
	end := len(l.places)
	if i+1 < len(l.starts) {
		end = l.starts[i+1]
	}
	return placeLists{places: l.places[l.starts[i]:end], counts: l.counts[l.starts[i]:end]}
}

// merge adds two lists as one. What is in both is taken from b, the newer.
func (l *placeLists) merge(a, b placeLists) {
	i := 0
	j := 0
	for i < len(a.places) && j < len(b.places) {
		switch {
		case a.places[i] < b.places[j]:
			l.places = append(l.places, a.places[i])
			l.counts = append(l.counts, a.counts[i])
			i++
		case a.places[i] > b.places[j]:
			l.places = append(l.places, b.places[j])
			l.counts = append(l.counts, b.counts[j])
			j++
		default:
			i++
		}
	}
	l.places = append(append(l.places, a.places[i:]...), b.places[j:]...)
	l.counts = append(append(l.counts, a.counts[i:]...), b.counts[j:]...)
}
