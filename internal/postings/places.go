package postings

import (
	"encoding/binary"
	"sort"
)

// Places are the places of a segment's documents, by ordinal: runs of neighbours.
type Places struct {
	runs []placeRun
	n    uint32
}

// placeRun is a run of neighbours; it ends where the next one begins.
type placeRun struct {
	first uint64
	at    uint32 // its first ordinal
}

// Run is a run of places, First to Last.
type Run struct{ First, Last uint64 }

// Span is a run of ordinals, from From to before To.
type Span struct{ From, To uint32 }

// Len returns how many documents there are.
func (p *Places) Len() int { return int(p.n) }

// addPlace appends a place, which is after all others.
func (p *Places) addPlace(place uint64) {
	if k := len(p.runs) - 1; k < 0 || p.runs[k].first+uint64(p.n-p.runs[k].at) != place || uint32(place) == 0 {
		p.runs = append(p.runs, placeRun{place, p.n})
	}
	p.n++
}

// runEnd returns the ordinal after those of run i.
func (p *Places) runEnd(i int) uint32 {
	if i+1 < len(p.runs) {
		return p.runs[i+1].at
	}
	return p.n
}

// Bounds returns the first place and the last.
func (p *Places) Bounds() Run {
	if p.n == 0 {
		return Run{}
	}
	k := len(p.runs) - 1
	return Run{p.runs[0].first, p.runs[k].first + uint64(p.n-1-p.runs[k].at)}
}

// At returns the place of an ordinal.
func (p *Places) At(ordinal uint32) uint64 {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].at > ordinal }) - 1
	return p.runs[i].first + uint64(ordinal-p.runs[i].at)
}

// Resolve appends the places of ordinals, which ascend; it reports whether all of them are
// documents of the segment.
func Resolve[P ~uint64](p *Places, to []P, ordinals []uint32) ([]P, bool) {
	k := len(ordinals)
	if k == 0 {
		return to, true
	}
	if ordinals[k-1] >= p.n {
		return to, false
	}
	sparse := k*16 < len(p.runs)
	i := 0
	for _, o := range ordinals {
		if sparse {
			i = sort.Search(len(p.runs), func(i int) bool { return p.runs[i].at > o }) - 1
		}
		for i+1 < len(p.runs) && p.runs[i+1].at <= o {
			i++
		}
		to = append(to, P(p.runs[i].first+uint64(o-p.runs[i].at)))
	}
	return to, true
}

// Find returns the ordinal of the first document at a place or after it, and whether it is at it.
func (p *Places) Find(place uint64) (ordinal uint32, at bool) {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].first > place }) - 1
	if i < 0 {
		return 0, false
	}
	if off := place - p.runs[i].first; off < uint64(p.runEnd(i)-p.runs[i].at) {
		return p.runs[i].at + uint32(off), true
	}
	return p.runEnd(i), false
}

// Spans returns the ordinals within runs of places, which ascend and do not overlap.
func (p *Places) Spans(runs []Run) []Span {
	var out []Span
	b := p.Bounds()
	for i := sort.Search(len(runs), func(i int) bool { return runs[i].Last >= b.First }); i < len(runs) &&
		runs[i].First <= b.Last; i++ {
		s := Span{}
		s.From, _ = p.Find(runs[i].First)
		last, at := p.Find(runs[i].Last)
		if s.To = last; at {
			s.To++
		}
		if n := len(out); n > 0 && out[n-1].To >= s.From {
			out[n-1].To = max(s.To, out[n-1].To)
		} else if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// Append encodes the places.
func (p *Places) Append(to []byte) []byte {
	var line, next uint64
	for i, r := range p.runs {
		own := r.first >> 32
		seq := r.first & 0xffffffff
		to = binary.AppendUvarint(to, own-line)
		if own == line {
			seq -= next
		}
		to = binary.AppendUvarint(to, seq)
		length := uint64(p.runEnd(i) - r.at)
		to = binary.AppendUvarint(to, length-1)
		line = own
		next = r.first&0xffffffff + length
	}
	return to
}

// ParsePlaces reads what Append wrote.
func ParsePlaces(b []byte) (*Places, error) {
	p := &Places{}
	var line, next uint64
	for len(b) > 0 {
		var v [3]uint64
		for i := range v {
			one, n := binary.Uvarint(b)
			if n <= 0 || one > 0xffffffff {
				return nil, ErrDamaged
			}
			v[i] = one
			b = b[n:]
		}
		if v[0] > 0 {
			next = 0
		}
		line += v[0]
		next += v[1]
		if line > 0xffffffff || next+v[2] > 0xffffffff || v[2]+uint64(p.n) >= MaxDocuments {
			return nil, ErrDamaged
		}
		p.runs = append(p.runs, placeRun{line<<32 | next, p.n})
		p.n += uint32(v[2]) + 1
		next += v[2] + 1
	}
	return p, nil
}

// Runs calls yield for the runs of neighbours that are outside of others, which ascend, until
// it returns an error.
func (p *Places) Runs(without []Run, yield func(Run) error) error {
	for i, r := range p.runs {
		first := r.first
		last := r.first + uint64(p.runEnd(i)-r.at) - 1
		for _, w := range without {
			if w.Last < first || w.First > last {
				continue
			}
			if w.First > first {
				if err := yield(Run{first, w.First - 1}); err != nil {
					return err
				}
			}
			first = w.Last + 1
		}
		if first <= last {
			if err := yield(Run{first, last}); err != nil {
				return err
			}
		}
	}
	return nil
}
