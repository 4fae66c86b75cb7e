package o200k

import (
	"hash/maphash"
	"math"

	"github.com/tiktoken-go/tokenizer/codec"
)

// none is the rank of what is no token.
const none = math.MaxUint32

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

// read makes a vocabulary of the library's, which has it as a map, which nobody can reach:
// but it decodes any id.
func read() *vocabulary {
	from := codec.NewO200kBase()
	v := &vocabulary{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<slotBits), begin: make([]uint32, 1, tokens+1)}
	for i := range v.pairs {
		v.pairs[i] = none
	}
	text := make([]byte, 0, 7*tokens)
	for rank := range uint32(tokens) {
		token, err := from.Decode([]uint{uint(rank)})
		if err != nil {
			token = "" // there are as many as that: not reached
		}
		text = append(text, token...)
		v.begin = append(v.begin, uint32(len(text)))
		if len(token) == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = rank
		}
		h := maphash.String(v.seed, token)
		i := h & (1<<slotBits - 1)
		for v.slots[i] != 0 {
			i = (i + 1) & (1<<slotBits - 1)
		}
		v.slots[i] = marked(h) | (rank + 1)
	}
	v.text = string(text)
	return v
}

// marked is the upper bits of a slot for a hash.
func marked(h uint64) uint32 { return uint32(h>>32) &^ rankMask }

// rank of a text with hash h, none if it is no token.
func (v *vocabulary) rank(s string, h uint64) uint32 {
	mark := marked(h)
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
	return none
}

// merged is the rank of what two neighbours are together.
func (v *vocabulary) merged(s string) uint32 {
	if len(s) == 2 {
		return v.pairs[int(s[0])<<8|int(s[1])]
	}
	if len(s) > longestToken {
		return none
	}
	return v.rank(s, maphash.String(v.seed, s))
}
