package o200k

import (
	_ "embed"
	"hash/maphash"
	"math"

	"github.com/klauspost/compress/zstd"
)

// noRank is the rank of what is no token.
const noRank = math.MaxUint32

// Sizes of the vocabulary.
const (
	tokens       = 199_998
	longestToken = 128 // bytes
)

// A slot has the rank of a token and one, and above it a mark of its hash, so that what is
// no token is hardly ever compared.
const (
	slotBits = 19 // a little more than a third of the slots is used
	rankBits = 18
	rankMask = 1<<rankBits - 1
)

// vocabulary finds the ranks of tokens.
type vocabulary struct {
	seed  maphash.Seed
	slots []uint32        // an open hash table
	begin []uint32        // of each token in text, and the end of the last
	text  string          // all tokens, by rank
	pairs [1 << 16]uint32 // ranks of the tokens of two bytes
}

// packed is the vocabulary: the length of each token in a byte, then the tokens, both by
// rank, compressed. TestVocabulary writes it.
//
//go:embed vocabulary.zst
var packed []byte

// unpackVocabulary returns the lengths and the tokens. It panics if they are damaged, which no program
// that was tested has.
func unpackVocabulary() []byte {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer dec.Close()
	out, err := dec.DecodeAll(packed, make([]byte, 0, 8*tokens))
	if err != nil {
		panic(err)
	}
	return out
}

// readVocabulary makes a vocabulary.
func readVocabulary() *vocabulary {
	all := unpackVocabulary()
	lengths := all[:tokens]
	v := &vocabulary{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<slotBits), begin: make([]uint32, 1, tokens+1),
		text: string(all[tokens:])}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	end := uint32(0)
	for rank, n := range lengths {
		token := v.text[end : end+uint32(n)]
		end += uint32(n)
		v.begin = append(v.begin, end)
		if n == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = uint32(rank)
		}
		h := maphash.String(v.seed, token)
		i := h & (1<<slotBits - 1)
		for v.slots[i] != 0 {
			i = (i + 1) & (1<<slotBits - 1)
		}
		v.slots[i] = slotMark(h) | uint32(rank+1)
	}
	return v
}

// slotMark returns the upper bits of a slot for a hash.
func slotMark(h uint64) uint32 { return uint32(h>>32) &^ rankMask }

// findRank of a text with hash h, none if it is no token.
func (v *vocabulary) findRank(s string, h uint64) uint32 {
	mark := slotMark(h)
	for i := h & (1<<slotBits - 1); v.slots[i] != 0; i = (i + 1) & (1<<slotBits - 1) {
		slot := v.slots[i]
		if slot&^rankMask != mark {
			continue
		}
		rank := slot&rankMask - 1
		if v.text[v.begin[rank]:v.begin[rank+1]] == s {
			return rank
		}
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
	return v.findRank(s, maphash.String(v.seed, s))
}
