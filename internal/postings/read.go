package postings

import (
	"encoding/binary"
	"math"
)

// List is the list of a term, or a part of it. Holding is how many documents the whole list
// has; Part says that other blocks have the rest.
type List struct {
	Holding int
	Part    bool

	start uint32
	data  []byte
}

// Find looks a term up in the block of its segment that is the last to begin at or before it
// (of parts, the last one). A term that is not there has no documents.
func (b Block) Find(term string) (List, error) {
	if len(b.Data) == 0 {
		return List{}, ErrDamaged
	}
	if b.Data[0] == part {
		if b.Term != term {
			return List{}, nil
		}
		return b.readPart()
	}
	if b.Data[0] != whole {
		return List{}, ErrDamaged
	}
	if b.Term == term {
		l, _, ok := readList(b.Data[1:])
		if !ok {
			return List{}, ErrDamaged
		}
		return l, nil
	}
	return b.seekTerm(term)
}

// seekTerm goes through terms that ascend, and compares no byte twice: equal is how much of term
// the last one shared, and those that share more than their predecessor did come before it.
func (b Block) seekTerm(term string) (List, error) {
	equal := 0
	for equal < min(len(b.Term), len(term)) && b.Term[equal] == term[equal] {
		equal++
	}
	_, rest, ok := readList(b.Data[1:])
	for ok && len(rest) > 0 {
		var l List
		var shared int
		var own []byte
		if shared, own, rest, ok = readTerm(rest); !ok {
			break
		}
		found := false
		switch {
		case shared < equal:
			return List{}, nil // it left what they had in common: it comes after
		case shared == equal:
			n := 0
			for n < min(len(own), len(term)-equal) && own[n] == term[equal+n] {
				n++
			}
			equal += n
			found = n == len(own) && equal == len(term)
			if !found && (equal == len(term) || n < len(own) && own[n] > term[equal]) {
				return List{}, nil
			}
		}
		if l, rest, ok = readList(rest); ok && found {
			return l, nil
		}
	}
	if !ok {
		return List{}, ErrDamaged
	}
	return List{}, nil
}

// readPart returns the list of a part.
func (b Block) readPart() (List, error) {
	holding, n := binary.Uvarint(b.Data[1:])
	if n <= 0 || holding == 0 || holding > MaxDocuments {
		return List{}, ErrDamaged
	}
	return List{Holding: int(holding), Part: true, start: b.Start, data: b.Data[1+n:]}, nil
}

// Each calls yield for the terms of a block in order until it returns false. The term is
// overwritten by the next one.
func (b Block) Each(yield func(term []byte, l List) bool) error {
	if len(b.Data) == 0 {
		return ErrDamaged
	}
	if b.Data[0] == part {
		l, err := b.readPart()
		if err == nil {
			yield([]byte(b.Term), l)
		}
		return err
	}
	c := blockEntries{term: []byte(b.Term), rest: b.Data[1:]}
	if b.Data[0] != whole || len(c.rest) == 0 {
		return ErrDamaged
	}
	for {
		l, more, err := c.nextTerm()
		if err != nil || !more || !yield(c.term, l) {
			return err
		}
	}
}

// blockEntries goes through a block of whole lists.
type blockEntries struct {
	term []byte // that of the block before the first
	rest []byte
	went bool
}

// nextTerm goes to the next term.
func (c *blockEntries) nextTerm() (l List, more bool, err error) {
	if len(c.rest) == 0 {
		return List{}, false, nil
	}
	var ok bool
	if c.went {
		var shared int
		var own []byte
		shared, own, c.rest, ok = readTerm(c.rest)
		if !ok || shared > len(c.term) {
			return List{}, false, ErrDamaged
		}
		c.term = append(c.term[:shared], own...)
	}
	c.went = true
	if l, c.rest, ok = readList(c.rest); !ok {
		return List{}, false, ErrDamaged
	}
	return l, true, nil
}

// readTerm reads what a term shares with the one before, and what follows.
func readTerm(b []byte) (shared int, own, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, nil, false
	}
	shared = int(b[0] >> 4)
	n := int(b[0] & 15)
	b = b[1:]
	for _, length := range []*int{&shared, &n} {
		if *length == 15 {
			more, w := binary.Uvarint(b)
			if w <= 0 || more > math.MaxUint16 {
				return 0, nil, nil, false
			}
			*length = 15 + int(more)
			b = b[w:]
		}
	}
	if n > len(b) {
		return 0, nil, nil, false
	}
	return shared, b[:n], b[n:], true
}

// readList reads a list without decoding it.
func readList(b []byte) (l List, rest []byte, ok bool) {
	head, n := binary.Uvarint(b)
	if n <= 0 {
		return l, nil, false
	}
	if head&1 == 0 {
		return List{Holding: 1, data: b[:n]}, b[n:], true
	}
	b = b[n:]
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) || head>>1 == 0 || head>>1 > MaxDocuments {
		return l, nil, false
	}
	return List{Holding: int(head >> 1), data: b[n : n+int(length)]}, b[n+int(length):], true
}

// readPosting reads one document of a list; n is 0 if there is none that can be read.
func readPosting(b []byte, next uint32) (at uint32, count uint8, n int) {
	v, n := binary.Uvarint(b)
	if n <= 0 || v>>1 > MaxDocuments || uint64(next)+v>>1 >= MaxDocuments {
		return 0, 0, 0
	}
	count = 1
	if v&1 != 0 {
		if n == len(b) {
			return 0, 0, 0
		}
		count = b[n]
		n++
	}
	return next + uint32(v>>1), count, n
}

// Decode appends the ordinals of a list and how often its term is in each.
func (l List) Decode(ordinals []uint32, counts []uint8) ([]uint32, []uint8, error) {
	next := l.start
	b := l.data
	before := len(ordinals)
	for i := 0; i < len(b); {
		v := uint32(b[i])
		i++
		if v >= 0x80 {
			long, n := binary.Uvarint(b[i-1:])
			if n <= 0 || long > 2*MaxDocuments {
				return ordinals, counts, ErrDamaged
			}
			v = uint32(long)
			i = i - 1 + n
		}
		count := uint8(1)
		if v&1 != 0 {
			if i == len(b) {
				return ordinals, counts, ErrDamaged
			}
			count = b[i]
			i++
		}
		next += v >> 1
		if next >= MaxDocuments {
			return ordinals, counts, ErrDamaged
		}
		ordinals = append(ordinals, next)
		counts = append(counts, count)
		next++
	}
	if got := len(ordinals) - before; got == 0 || got != l.Holding && (!l.Part || got > l.Holding) {
		return ordinals, counts, ErrDamaged
	}
	return ordinals, counts, nil
}
