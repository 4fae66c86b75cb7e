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

// measuredTerms are the messages around those that are picked: how often each has each term, and
// how long it is.
type measuredTerms struct {
	p      *queryPostings
	places []driver.Place
	length []int
	counts [][]uint8 // by term, then by place; nil if none has it
	mean   float64   // terms of a message
}

// measureAround reads what BM25 takes around the messages at some places.
func (p *queryPostings) measureAround(ctx context.Context, o *scope,
	ms map[driver.Place]scrollback.Message) (*measuredTerms, error) {
	s := o.s
	m := &measuredTerms{p: p}
	for place := range ms {
		m.places = append(m.places, o.windowAround(place)...)
	}
	slices.Sort(m.places)
	m.places = slices.Compact(m.places)
	m.length = make([]int, len(m.places))
	marks, err := s.look.Marks(ctx, m.places)
	if err != nil {
		return nil, err
	}
	for _, k := range marks {
		if i, ok := m.findPlace(k.Place); ok {
			m.length[i] = k.Length
		}
	}
	m.counts = make([][]uint8, len(p.lists))
	for t, l := range p.lists {
		m.counts[t] = m.countTerm(l)
	}
	m.countSkipped(&s.finder, ms)
	documents := s.countDocuments()
	m.mean = min(max(float64(s.look.State.Terms)/float64(documents), 10), longTerms)
	return m, nil
}

// windowAround returns the places on the path around one, and itself.
func (o *scope) windowAround(p driver.Place) []driver.Place {
	out := make([]driver.Place, 0, 2*maxReach+1)
	for d := int64(-maxReach); d <= maxReach; d++ {
		if at, ok := o.placeOnPath(p.Branch(), p.Seq()+d); ok {
			out = append(out, at)
		}
	}
	return out
}

func (m *measuredTerms) findPlace(p driver.Place) (int, bool) {
	return sort.Find(len(m.places), func(i int) int { return comparePlaces(p, m.places[i]) })
}

// countSkipped counts the terms that were skipped in what is picked: around it they would say
// little, and their places take long to read.
func (m *measuredTerms) countSkipped(f *terms.Finder, ms map[driver.Place]scrollback.Message) {
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
		at, ok := m.findPlace(place)
		if !ok {
			continue
		}
		found, _ := f.TermPlaces(IndexedText(message.Parts), want, MaxTerms)
		for n, i := range of {
			m.counts[i][at] = uint8(min(len(found[n]), 255))
		}
	}
}

// countTerm returns how often a term is at each place.
func (m *measuredTerms) countTerm(l driver.Postings) []uint8 {
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

// windowPart is a place of a window, how far away it is, and how much of it counts.
type windowPart struct {
	at       int
	distance int64
	share    float64
}

// windowParts returns the messages around a place, in order. Of a long one beside it only the reply
// counts, and of that about the beginning.
func (m *measuredTerms) windowParts(o *scope, p driver.Place, out []windowPart) []windowPart {
	for d := int64(-maxReach); d <= maxReach; d++ {
		at, ok := o.placeOnPath(p.Branch(), p.Seq()+d)
		if !ok {
			continue
		}
		i, ok := m.findPlace(at)
		switch {
		case !ok:
		case d == 0 || m.length[i] <= longTerms:
			out = append(out, windowPart{i, d, 1})
		case d == 1:
			out = append(out, windowPart{i, d, longTerms / float64(m.length[i])})
		}
	}
	return out
}

// partsWithin returns the parts that are at most n away.
func partsWithin(all []windowPart, n int64) []windowPart {
	for len(all) > 0 && all[0].distance < -n {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].distance > n {
		all = all[:len(all)-1]
	}
	return all
}

// scoreBM25 scores some messages as one text.
func (m *measuredTerms) scoreBM25(of []windowPart, mean float64) float64 {
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

// wordsAt returns the words that some messages hold.
func (m *measuredTerms) wordsAt(a *parsedQuery, of []windowPart) (words uint64) {
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
