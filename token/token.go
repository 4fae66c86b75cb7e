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
	"sync"

	"github.com/scrollback-ai/scrollback/token/o200k"
)

// AssumedLimit is the window, in tokens, of a model about which nothing is known.
const AssumedLimit = 32768

var counter = sync.OnceValue(o200k.New)

// Count returns the number of o200k tokens of s.
func Count(s string) int { return counter().Count(s) }

// ImageTokens returns what an image of the given size in pixels costs, by the published
// formula of 85 tokens and 170 per tile of 512 pixels after scaling to 768 on the
// short side. Unknown sizes count as the largest.
func ImageTokens(width, height int, detail string) int {
	if detail == "low" {
		return 85
	}
	if width <= 0 || height <= 0 {
		width = 2048
		height = 768
	}
	w := float64(width)
	h := float64(height)
	if m := max(w, h); m > 2048 {
		w = w * 2048 / m
		h = h * 2048 / m
	}
	if m := min(w, h); m > 768 {
		w = w * 768 / m
		h = h * 768 / m
	}
	tiles := func(side float64) int { return max(1, int((side+511)/512)) }
	return 85 + 170*tiles(w)*tiles(h)
}
