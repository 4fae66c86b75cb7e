package o200k

import (
	"strings"
	"sync/atomic"
)

// Bounds of what is remembered: at most places pieces of at most longestSeen bytes, 2 MiB
// with what they need besides.
const (
	places      = 1 << 14
	longestSeen = 64
)

// cache has the counts of pieces that were seen more than once lately. A piece has one
// place, by its hash, and the newest there stays, so that reading and writing need no lock.
type cache struct {
	kept   [places]atomic.Pointer[counted]
	passed [places]atomic.Uint32 // marks of those that were seen once
}

type counted struct {
	piece string
	count int
}

func newCache() *cache { return new(cache) }

// place of a hash: not of the bits that are used for the vocabulary's slots, in which
// texts of the vocabulary are spread.
func place(h uint64) uint64 { return h >> 45 & (places - 1) }

// get is the count of a piece with hash h, 0 if it is not known.
func (c *cache) get(piece string, h uint64) int {
	if k := c.kept[place(h)].Load(); k != nil && k.piece == piece {
		return k.count
	}
	return 0
}

// put remembers a piece, if it is not the first time: what is seen once costs no memory.
func (c *cache) put(piece string, h uint64, count int) {
	at := place(h)
	mark := uint32(h) | 1
	if c.passed[at].Swap(mark) != mark {
		return
	}
	c.kept[at].Store(&counted{strings.Clone(piece), count})
}
