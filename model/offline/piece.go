package offline

import (
	"iter"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// pieceRunes is how many characters of an unspaced script make one piece.
const pieceRunes = 4

// cutPieces cuts s as it is streamed: a word with the space after it, or a few
// characters of an unspaced script. Joined they are s.
func cutPieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		packed := 0
		spaced := false
		for i, r := range s {
			cut := spaced && !unicode.IsSpace(r) || packed >= pieceRunes
			if cut && i > start {
				if !yield(s[start:i]) {
					return
				}
				start = i
				packed = 0
			}
			spaced = unicode.IsSpace(r)
			if terms.IsDense(r) {
				packed++
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

// weighText estimates s in quarters of a token: a character of an unspaced script is
// a token, four Latin letters are one, and other characters lie between.
func weighText(s string) int64 {
	var n int64
	for _, r := range s {
		switch {
		case terms.IsDense(r):
			n += 4
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == ' ':
			n++
		default:
			n += 2
		}
	}
	return n
}

func toTokens(quarters int64) int64 { return (quarters + 3) / 4 }
