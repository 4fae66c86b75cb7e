package o200k

import (
	"strings"
	"sync/atomic"
)

// Bounds of what is remembered: at most places pieces of at most longestSeen bytes, 2 MiB
// with what they need besides.
const (
	cachePlaces = 1 << 14
	longestSeen = 64
)

// countCache has the counts of pieces that were seen more than once lately. A piece has one
// place, by its hash, and the newest there stays, so that reading and writing need no lock.
type countCache struct {
	kept   [cachePlaces]atomic.Pointer[countedPiece]
	passed [cachePlaces]atomic.Uint32 // marks of those that were seen once
}

type countedPiece struct {
	piece string
	count int
}

func newCache() *countCache { return new(countCache) }

// cacheSlot of a hash: not of the bits that are used for the vocabulary's slots, in which
// texts of the vocabulary are spread.
func cacheSlot(h uint64) uint64 { return h >> 45 & (cachePlaces - 1) }

// getCount returns the count of a piece with hash h, 0 if it is not known.
func (c *countCache) getCount(piece string, h uint64) int {
	if k := c.kept[cacheSlot(h)].Load(); k != nil && k.piece == piece {
		return k.count
	}
	return 0
}

// putCount remembers a piece, if it is not the first time: what is seen once costs no memory.
func (c *countCache) putCount(piece string, h uint64, count int) {
	at := cacheSlot(h)
	mark := uint32(h) | 1
	if c.passed[at].Swap(mark) != mark {
		return
	}
	c.kept[at].Store(&countedPiece{strings.Clone(piece), count})
}
