package o200k

import (
	_ "embed"
	"math"
	"math/bits"
)

// noRank is the rank of what is no token.
const noRank = math.MaxUint32

// Sizes of the vocabulary.
const (
	tokens       = 199_998
	longestToken = 128 // bytes
)

// table is the vocabulary as it is searched, so that nothing is read or built before the first count, and only those
// pages of the program are loaded that have what is looked for. TestVocabulary writes it. It has four parts, all
// numbers with the least byte first:
//
//   - a displacement of two bytes for each bucket of hashes, chosen so that no two tokens share a slot
//   - slots of four bytes: where a token's text begins, plus one, and above that a mark of its hash; 0 is empty
//   - the places of the tokens that have two bytes, four bytes each
//   - the texts of the tokens by rank, each behind a byte with its length
//
// Where a text begins stands for its rank: the order is the same, and only that matters.
//
//go:embed vocabulary.table
var table string

const (
	bucketBits = 16
	slotCount  = 204_800
	twoCount   = 4653 // tokens of two bytes
	placeBits  = 21
	placeMask  = 1<<placeBits - 1

	slotsBegin = 2 << bucketBits
	twosBegin  = slotsBegin + 4*slotCount
	textsBegin = twosBegin + 4*twoCount
)

// vocabulary finds the ranks of tokens.
type vocabulary struct {
	slots, texts string
	pairs        [1 << 16]uint32 // ranks of the tokens of two bytes
}

// newVocabulary makes a vocabulary.
func newVocabulary() *vocabulary {
	v := &vocabulary{slots: table[slotsBegin:twosBegin], texts: table[textsBegin:]}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	for i := range twoCount {
		rank := load32(table, twosBegin+4*i)
		v.pairs[int(v.texts[rank+1])<<8|int(v.texts[rank+2])] = rank
	}
	return v
}

// slotOf returns the slot of a hash in a bucket with a displacement.
func slotOf(h uint64, displacement uint16) int {
	mixed := h * (uint64(displacement)*0x9E3779B97F4A7C15 | 1)
	slot, _ := bits.Mul64(mixed, slotCount)
	return int(slot)
}

// slotMark returns the upper bits of a slot for a hash.
func slotMark(h uint64) uint32 { return uint32(h) &^ placeMask }

// findRank of a text with hash h, none if it is no token.
func (v *vocabulary) findRank(s string, h uint64) uint32 {
	bucket := int(h & (1<<bucketBits - 1))
	displacement := uint16(table[2*bucket]) | uint16(table[2*bucket+1])<<8
	slot := load32(v.slots, 4*slotOf(h, displacement))
	if slot&^placeMask != slotMark(h) || slot&placeMask == 0 {
		return noRank
	}
	rank := slot&placeMask - 1
	if text := v.texts[rank:]; int(text[0]) == len(s) && text[1:1+len(s)] == s {
		return rank
	}
	return noRank
}

// mergedRank returns the rank of what two neighbours are together.
func (v *vocabulary) mergedRank(s string) uint32 {
	if len(s) == 2 {
		return v.pairs[int(s[0])<<8|int(s[1])]
	}
	if len(s) > longestToken {
		return noRank
	}
	return v.findRank(s, hashText(s))
}

// hashText returns the hash by which texts are found. It is the same in every process: the table is made with it. Texts
// that were chosen to have the same hash only miss what is remembered of them.
func hashText(s string) uint64 {
	const (
		first  = 0xa0761d6478bd642f
		second = 0xe7037ed1a0b428db
	)
	h := uint64(len(s)) * first
	for len(s) > 16 {
		h = foldProduct(load64(s, 0)^first, load64(s, 8)^h)
		s = s[16:]
	}
	var low, high uint64
	switch n := len(s); {
	case n >= 8:
		low = load64(s, 0)
		high = load64(s, n-8)
	case n >= 4:
		low = uint64(load32(s, 0))
		high = uint64(load32(s, n-4))
	case n > 0:
		low = uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	}
	return foldProduct(foldProduct(low^second, high^h), first)
}

// foldProduct mixes two numbers.
func foldProduct(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// load32 reads four bytes of s from i.
func load32(s string, i int) uint32 {
	_ = s[i+3]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// load64 reads eight bytes of s from i.
func load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}
