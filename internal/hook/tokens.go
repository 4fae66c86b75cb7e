package hook

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// common are the Chinese characters that are one token each by themselves. Others may be three.
//
//go:embed common.txt
var common string

var commonCharacters = sync.OnceValue(func() map[rune]bool {
	out := make(map[rune]bool, utf8.RuneCountInString(common))
	for _, r := range strings.ReplaceAll(common, "\n", "") {
		out[r] = true
	}
	return out
})

// EstimateTokens returns how many tokens a text has at most. To count them exactly a table is read, which takes a
// third of the time that a hook has.
func EstimateTokens(s string) int {
	n := 0.0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case isASCIILetter(s[i]):
			end := i
			for end < len(s) && isASCIILetter(s[end]) {
				end++
			}
			n += wordTokens(s[i:end])
			size = end - i
		case r < utf8.RuneSelf && unicode.IsDigit(r):
			n += 0.5
		case r == ' ' && i+1 < len(s) && isASCIILetter(s[i+1]): // it belongs to the word
		case r < utf8.RuneSelf:
			n += 0.8
		case r >= 0x4e00 && r <= 0x9fff && commonCharacters()[r], unicode.IsPunct(r):
			n++
		case r >= 0x80 && r < 0x600, r >= 0x3040 && r <= 0x30ff:
			n += 1.5
		default:
			n += float64(size)
		}
		i += size
	}
	return int(n) + 1
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// wordTokens returns how many tokens a word of ASCII letters has at most: few if it can be spoken.
func wordTokens(w string) float64 {
	run := 0
	longest := 0
	var vowel bool
	capitals := 0
	for i := range len(w) {
		v := strings.IndexByte("aeiouyAEIOUY", w[i]) >= 0
		if v != vowel {
			vowel = v
			run = 0
		}
		run++
		longest = max(longest, run)
		if w[i] <= 'Z' && i > 0 {
			capitals++
		}
	}
	if longest > 3 || capitals > 0 {
		return float64(len(w))*0.6 + 1
	}
	return float64(len(w))*0.12 + 0.75
}
