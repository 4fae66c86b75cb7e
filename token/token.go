// Package token counts how much of a model's window text and images take.
//
// Text is counted with o200k, a real tokenizer with a built-in vocabulary; models
// with other tokenizers have a factor on the sums. Images follow the published
// tile formula.
//
// Invariants: a text weighs the same everywhere; a longer text never weighs less than
// its beginning by more than the merge at the seam.
//
// It may not know conversations, models' protocols or the store.
package token

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// AssumedLimit is the window, in tokens, of a model about which nothing is known.
const AssumedLimit = 32768

// piece bounds how much text is handed to the tokenizer at once, so that memory
// stays small whatever is counted. Cuts are at spaces or between characters.
const piece = 64 << 10

var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// Count is the number of o200k tokens of s.
func Count(s string) int {
	enc, err := codec()
	if err != nil {
		return Estimate(s) // the vocabulary is part of the program: not reached
	}
	n := 0
	for s != "" {
		head := s
		if len(head) > piece {
			head = cut(s)
		}
		s = s[len(head):]
		c, err := enc.Count(head)
		if err != nil {
			c = Estimate(head)
		}
		n += c
	}
	return n
}

// cut is the beginning of s, at most piece bytes, that ends before a space if
// one is near, else between characters.
func cut(s string) string {
	if i := strings.LastIndexAny(s[:piece], " \n"); i > piece/2 {
		return s[:i]
	}
	end := piece
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}

// Image is what an image of the given size in pixels costs, by the published
// formula of 85 tokens and 170 per tile of 512 pixels after scaling to 768 on the
// short side. Unknown sizes count as the largest.
func Image(width, height int, detail string) int {
	if detail == "low" {
		return 85
	}
	if width <= 0 || height <= 0 {
		width, height = 2048, 768
	}
	w, h := float64(width), float64(height)
	if m := max(w, h); m > 2048 {
		w, h = w*2048/m, h*2048/m
	}
	if m := min(w, h); m > 768 {
		w, h = w*768/m, h*768/m
	}
	tiles := func(side float64) int { return max(1, int((side+511)/512)) }
	return 85 + 170*tiles(w)*tiles(h)
}
