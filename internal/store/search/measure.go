package search

import (
	"context"
	"slices"
	"sort"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// BM25, and what of a long message counts as a neighbour: about its beginning.
const (
	bmK1      = 1.2
	bmB       = 0.75
	longTerms = 150
)

// measured are the messages around those that are picked: how often each has each term, and
// how long it is.
type measured struct {
	p      *posted
	places []driver.Place
	length []int
	counts [][]uint8 // by term, then by place; nil if none has it
	mean   float64   // terms of a message
}

// measure reads what BM25 takes around the messages at some places.
func (p *posted) measure(ctx context.Context, o *scope, ms map[driver.Place]scrollback.Message) (*measured, error) {
	s := o.s
	m := &measured{p: p}
	for place := range ms {
		m.places = append(m.places, o.window(place)...)
	}
	slices.Sort(m.places)
	m.places = slices.Compact(m.places)
	m.length = make([]int, len(m.places))
	marks, err := s.look.Marks(ctx, m.places)
	if err != nil {
		return nil, err
	}
	for _, k := range marks {
		if i, ok := m.find(k.Place); ok {
			m.length[i] = k.Length
		}
	}
	m.counts = make([][]uint8, len(p.lists))
	for t, l := range p.lists {
		m.counts[t] = m.count(l)
	}
	m.common(ms)
	documents := s.documents()
	m.mean = min(max(float64(s.look.State.Terms)/float64(documents), 10), longTerms)
	return m, nil
}

// window are the places on the path around one, and itself.
func (o *scope) window(p driver.Place) []driver.Place {
	out := make([]driver.Place, 0, 2*reach+1)
	for d := int64(-reach); d <= reach; d++ {
		if at, ok := o.at(p.Branch(), p.Seq()+d); ok {
			out = append(out, at)
		}
	}
	return out
}

func (m *measured) find(p driver.Place) (int, bool) {
	return sort.Find(len(m.places), func(i int) int { return comparePlaces(p, m.places[i]) })
}

// common counts the terms that were skipped in what is picked: around it they would say
// little, and their places take long to read.
func (m *measured) common(ms map[driver.Place]scrollback.Message) {
	var want []string
	var of []int
	for i, skipped := range m.p.skipped {
		if skipped {
			want = append(want, m.p.terms[i])
			of = append(of, i)
			m.counts[i] = make([]uint8, len(m.places))
		}
	}
	if len(of) == 0 {
		return
	}
	for place, message := range ms {
		at, ok := m.find(place)
		if !ok {
			continue
		}
		found, _ := terms.TermPlaces(Text(message.Parts), want, MaxTerms)
		for n, i := range of {
			m.counts[i][at] = uint8(min(len(found[n]), 255))
		}
	}
}

// count is how often a term is at each place.
func (m *measured) count(l driver.Postings) []uint8 {
	if len(l.Places) == 0 {
		return nil
	}
	var out []uint8
	i := 0
	for at, p := range m.places {
		step := 1
		for i+step < len(l.Places) && l.Places[i+step] < p { // gallop, then search between
			i += step
			step = 2 * step
		}
		end := min(i+step+1, len(l.Places))
		i += sort.Search(end-i, func(n int) bool { return l.Places[i+n] >= p })
		if i == len(l.Places) {
			break
		}
		if l.Places[i] == p {
			if out == nil {
				out = make([]uint8, len(m.places))
			}
			out[at] = l.Counts[i]
		}
	}
	return out
}

// part is a place of a window, how far away it is, and how much of it counts.
type part struct {
	at       int
	distance int64
	share    float64
}

// parts are the messages around a place, in order. Of a long one beside it only the reply
// counts, and of that about the beginning.
func (m *measured) parts(o *scope, p driver.Place, out []part) []part {
	for d := int64(-reach); d <= reach; d++ {
		at, ok := o.at(p.Branch(), p.Seq()+d)
		if !ok {
			continue
		}
		i, ok := m.find(at)
		switch {
		case !ok:
		case d == 0 || m.length[i] <= longTerms:
			out = append(out, part{i, d, 1})
		case d == 1:
			out = append(out, part{i, d, longTerms / float64(m.length[i])})
		}
	}
	return out
}

// nearer are the parts that are at most n away.
func nearer(all []part, n int64) []part {
	for len(all) > 0 && all[0].distance < -n {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].distance > n {
		all = all[:len(all)-1]
	}
	return all
}

// bm25 scores some messages as one text.
func (m *measured) bm25(of []part, mean float64) float64 {
	length := 0.0
	for _, c := range of {
		length += c.share * float64(m.length[c.at])
	}
	norm := bmK1 * (1 - bmB + bmB*length/mean)
	sum := 0.0
	for t, counts := range m.counts {
		if counts == nil {
			continue
		}
		tf := 0.0
		for _, c := range of {
			tf += c.share * float64(counts[c.at])
		}
		if tf > 0 {
			sum += m.p.weights[t] * tf * (bmK1 + 1) / (tf + norm)
		}
	}
	return sum
}

// wordsAt are the words that some messages hold.
func (m *measured) wordsAt(a *ask, of []part) (words uint64) {
	for t, counts := range m.counts {
		if counts == nil {
			continue
		}
		for _, c := range of {
			if counts[c.at] > 0 {
				for _, w := range a.Stands[t] {
					words |= 1 << w
				}
				break
			}
		}
	}
	return words
}
