// Package postings encodes inverted indexes: which documents hold which terms, as immutable
// segments that are cut into blocks, and joined into larger ones.
//
// Words: place (where a document stands: a number whose upper half names a line of
// documents, and whose lower half is its position there), segment (an index of some
// documents), ordinal (a document's number in its segment, from 0, by place), list (the
// ordinals of a term, with how often it is in each), block (terms with their lists, ordered,
// or a part of the list of one term), part (such a block).
//
// Invariants: terms and ordinals ascend; the blocks of a segment follow from its documents
// alone, whether they were built at once or joined; bytes that were damaged lead to an error
// or to wrong lists, never to a panic, and never to more memory than they could stand for.
//
// It may not know where blocks are kept, or what the terms are of.
package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxDocuments is how many documents a segment can have.
const MaxDocuments = 1 << 22

// ErrDamaged is the error for bytes that nothing here has written.
var ErrDamaged = errors.New("a block of the index is damaged")

// Document is what is to be indexed: its terms in any order, repeated as often as they occur. With Counts, as many as
// Terms, each of these says how often its term occurs instead.
type Document struct {
	Place  uint64
	Terms  []string
	Counts []int32
}

// countAt returns how often the i-th of the terms occurs where it stands.
func (d *Document) countAt(i int) int {
	if d.Counts == nil {
		return 1
	}
	return int(d.Counts[i])
}

// Block is a piece of a segment. It begins with Term. Start tells parts of one term from each
// other: it is the first ordinal of a part, and 0 for a block of whole lists.
type Block struct {
	Term  string
	Start uint32
	Data  []byte
}

// The kinds of block, as the first byte says.
const (
	whole = 0 // terms with their lists; the first term is that of the block
	part  = 1 // a part of the list of the block's term
)

// Build encodes documents, whose places ascend, and hands on the blocks in order, each of at
// most size bytes unless a single entry is larger.
func Build(docs []Document, size int, emit func(Block) error) (*Places, error) {
	if len(docs) > MaxDocuments {
		return nil, fmt.Errorf("postings: %d documents are too many", len(docs))
	}
	places := &Places{}
	all := map[string]*growingList{}
	for i, d := range docs {
		if i > 0 && d.Place <= docs[i-1].Place {
			return nil, fmt.Errorf("postings: place %d after %d", d.Place, docs[i-1].Place)
		}
		if d.Counts != nil && len(d.Counts) != len(d.Terms) {
			return nil, fmt.Errorf("postings: %d counts of %d terms", len(d.Counts), len(d.Terms))
		}
		places.addPlace(d.Place)
		for k, t := range d.Terms {
			g := all[t]
			if g == nil {
				g = &growingList{term: t}
				all[t] = g
			}
			g.addOccurrences(uint32(i), d.countAt(k))
		}
	}
	sorted := make([]*growingList, 0, len(all))
	for _, g := range all {
		sorted = append(sorted, g)
	}
	slices.SortFunc(sorted, func(a, b *growingList) int { return strings.Compare(a.term, b.term) })
	w := blockWriter{size: size, emit: emit}
	for _, g := range sorted {
		g.flushList()
		if err := w.addTerm(g.term, g.list); err != nil {
			return nil, err
		}
	}
	return places, w.flushBlock()
}

// growingList is a list while documents are read.
type growingList struct {
	term  string
	at    uint32
	count int // in document at; 0 before the first
	list  encodedList
}

func (g *growingList) addOccurrences(at uint32, n int) {
	if g.count > 0 && g.at == at {
		g.count += n
		return
	}
	g.flushList()
	g.at = at
	g.count = n
}

func (g *growingList) flushList() {
	if g.count > 0 {
		g.list.addDocument(g.at, g.count)
		g.count = 0
	}
}

// encodedList is an encoded list: for each document how many ordinals are skipped, shifted by one
// bit that says whether a byte with the count follows.
type encodedList struct {
	holding int
	next    uint32 // the smallest ordinal that can follow
	data    []byte
}

func (l *encodedList) addDocument(at uint32, count int) {
	v := uint64(at-l.next) << 1
	if count > 1 {
		l.data = append(binary.AppendUvarint(l.data, v|1), uint8(min(count, 255)))
	} else {
		l.data = binary.AppendUvarint(l.data, v)
	}
	l.next = at + 1
	l.holding++
}

// isSingle reports whether a list is one document that holds its term once.
func (l *encodedList) isSingle() bool { return l.holding == 1 && l.data[0]&1 == 0 }

// blockWriter cuts terms with their lists into blocks.
type blockWriter struct {
	size int
	emit func(Block) error

	first, last string
	data, entry []byte
}

// addTerm adds a term, which comes after those before it.
func (w *blockWriter) addTerm(term string, l encodedList) error {
	if len(l.data) > w.size/2 {
		return w.writeParts(term, l)
	}
	w.entry = w.entry[:0]
	if len(w.data) > 0 {
		w.entry = appendTerm(w.entry, w.last, term)
	}
	w.entry = appendList(w.entry, l)
	if len(w.data)+len(w.entry) > w.size {
		if err := w.flushBlock(); err != nil {
			return err
		}
	}
	if len(w.data) == 0 {
		w.first = term
		w.data = append(make([]byte, 0, w.size), whole)
		w.entry = appendList(w.entry[:0], l)
	}
	w.data = append(w.data, w.entry...)
	w.last = term
	return nil
}

// flushBlock ends the block.
func (w *blockWriter) flushBlock() error {
	if len(w.data) == 0 {
		return nil
	}
	b := Block{Term: w.first, Data: w.data}
	w.data = nil
	return w.emit(b)
}

// writeParts writes a list that has blocks of its own.
func (w *blockWriter) writeParts(term string, l encodedList) error {
	if err := w.flushBlock(); err != nil {
		return err
	}
	head := binary.AppendUvarint([]byte{part}, uint64(l.holding))
	next := uint32(0)
	rest := l.data
	for len(rest) > 0 {
		b := Block{Term: term, Data: append(make([]byte, 0, w.size), head...)}
		for p := (encodedList{}); len(rest) > 0; {
			at, count, n := readPosting(rest, next)
			if n == 0 {
				return ErrDamaged
			}
			if p.holding == 0 {
				b.Start = at
				p.next = at
			}
			from := len(p.data)
			p.addDocument(at, int(count))
			if len(b.Data)+len(p.data)-from > w.size && from > 0 {
				break
			}
			b.Data = append(b.Data, p.data[from:]...)
			next = at + 1
			rest = rest[n:]
		}
		if err := w.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// appendTerm writes a term by what it shares with the one before.
func appendTerm(to []byte, last, term string) []byte {
	shared := 0
	for shared < min(len(last), len(term)) && last[shared] == term[shared] {
		shared++
	}
	own := len(term) - shared
	to = append(to, byte(min(shared, 15)<<4|min(own, 15)))
	if shared >= 15 {
		to = binary.AppendUvarint(to, uint64(shared-15))
	}
	if own >= 15 {
		to = binary.AppendUvarint(to, uint64(own-15))
	}
	return append(to, term[shared:]...)
}

// appendList writes a list with what it takes to skip it. A single document is its own
// length.
func appendList(to []byte, l encodedList) []byte {
	if l.isSingle() {
		return append(to, l.data...)
	}
	to = binary.AppendUvarint(to, uint64(l.holding)<<1|1)
	to = binary.AppendUvarint(to, uint64(len(l.data)))
	return append(to, l.data...)
}
