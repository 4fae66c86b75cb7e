package postings

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// Source is a segment to be joined with others.
type Source struct {
	Places  *Places
	Dropped []Run                 // places to be left out, ascending
	Next    func() (Block, error) // its blocks in order, then io.EOF
}

// Joined says where the documents of a join come from.
type Joined struct {
	Places *Places
	Kept   [][]uint32 // by source: the new ordinal of each of its documents, or Gone
}

// Gone is the ordinal of a document that was left out.
const Gone = ^uint32(0)

// Join renumbers the documents of sources. A place that two of them have is the later
// one's.
func Join(sources []Source) Joined {
	type standing struct {
		place  uint64
		source int
		at     uint32
	}
	var all []standing
	j := Joined{Places: &Places{}}
	for s, from := range sources {
		kept := make([]uint32, from.Places.Len())
		spans := from.Places.Spans(from.Dropped)
		at := uint32(0)
		for i, r := range from.Places.runs {
			for ; at < from.Places.runEnd(i); at++ {
				kept[at] = Gone
				for len(spans) > 0 && spans[0].To <= at {
					spans = spans[1:]
				}
				if len(spans) == 0 || at < spans[0].From {
					all = append(all, standing{r.first + uint64(at-r.at), s, at})
				}
			}
		}
		j.Kept = append(j.Kept, kept)
	}
	slices.SortFunc(all, func(a, b standing) int {
		if a.place != b.place {
			if a.place < b.place {
				return -1
			}
			return 1
		}
		return a.source - b.source
	})
	for i, d := range all {
		if i+1 < len(all) && all[i+1].place == d.place {
			continue
		}
		j.Kept[d.source][d.at] = uint32(j.Places.Len())
		j.Places.addPlace(d.place)
	}
	return j
}

// Merge encodes the segment that joined says, block by block: of each source one block is in
// memory, and the list of one term.
func Merge(sources []Source, joined Joined, size int, emit func(Block) error) error {
	if joined.Places.Len() > MaxDocuments {
		return errors.New("postings: too many documents to be joined")
	}
	var open []*sourceCursor
	for i, s := range sources {
		c := &sourceCursor{next: s.Next, kept: joined.Kept[i]}
		ok, err := c.nextTerm()
		if err != nil {
			return err
		}
		if ok {
			open = append(open, c)
		}
	}
	w := blockWriter{size: size, emit: emit}
	var g termDocuments
	var term []byte
	for len(open) > 0 {
		least := open[0]
		for _, c := range open[1:] {
			if bytes.Compare(c.term, least.term) < 0 {
				least = c
			}
		}
		term = append(term[:0], least.term...)
		g.all = g.all[:0]
		for i := 0; i < len(open); i++ {
			ok := true
			for ok && bytes.Equal(open[i].term, term) {
				err := g.takeList(open[i])
				if err == nil {
					ok, err = open[i].nextTerm()
				}
				if err != nil {
					return err
				}
			}
			if !ok {
				open = slices.Delete(open, i, i+1)
				i--
			}
		}
		if len(g.all) > 0 {
			if err := w.addTerm(string(term), g.encodeList()); err != nil {
				return err
			}
		}
	}
	return w.flushBlock()
}

// termDocuments are the documents of one term: a new ordinal above eight bits of count.
type termDocuments struct {
	all      []uint64
	ordinals []uint32
	counts   []uint8
	data     []byte
}

func (g *termDocuments) takeList(c *sourceCursor) (err error) {
	g.ordinals, g.counts, err = c.list.Decode(g.ordinals[:0], g.counts[:0])
	for i, o := range g.ordinals {
		if int(o) >= len(c.kept) {
			return ErrDamaged
		}
		if to := c.kept[o]; to != Gone {
			g.all = append(g.all, uint64(to)<<8|uint64(g.counts[i]))
		}
	}
	return err
}

// encodeList encodes them; it is valid until the next.
func (g *termDocuments) encodeList() encodedList {
	if !slices.IsSorted(g.all) {
		slices.Sort(g.all)
	}
	l := encodedList{data: g.data[:0]}
	for i, v := range g.all {
		if at := uint32(v >> 8); i == 0 || at >= l.next {
			l.addDocument(at, int(v&255))
		}
	}
	g.data = l.data
	return l
}

// sourceCursor goes through the terms of a source.
type sourceCursor struct {
	next func() (Block, error)
	kept []uint32

	entries blockEntries
	term    []byte
	list    List
}

// nextTerm goes to the next term, or to the next part of the same one.
func (c *sourceCursor) nextTerm() (ok bool, err error) {
	l, more, err := c.entries.nextTerm()
	if err != nil {
		return false, err
	}
	if more {
		if bytes.Compare(c.entries.term, c.term) <= 0 {
			return false, ErrDamaged
		}
		c.list = l
		c.term = append(c.term[:0], c.entries.term...)
		return true, nil
	}
	b, err := c.next()
	if err == io.EOF { //nolint:errorlint // an end that something else wraps is that of a connection
		return false, nil
	}
	if err != nil {
		return false, err
	}
	order := bytes.Compare([]byte(b.Term), c.term)
	if len(b.Data) < 2 || order < 0 || order == 0 && (len(c.term) > 0) && b.Data[0] != part {
		return false, ErrDamaged
	}
	switch b.Data[0] {
	case part:
		c.entries = blockEntries{}
		c.term = append(c.term[:0], b.Term...)
		c.list, err = b.readPart()
		return true, err
	case whole:
		c.entries = blockEntries{term: []byte(b.Term), rest: b.Data[1:]}
		if c.list, more, err = c.entries.nextTerm(); err == nil && !more {
			err = ErrDamaged
		}
		c.term = append(c.term[:0], c.entries.term...)
		return true, err
	}
	return false, ErrDamaged
}
