// Package terms cuts text into the terms that search and extraction work with.
//
// Runs of Chinese, Japanese and Korean become overlapping pairs of characters
// plus the run's last character alone, so that a word of two characters is one
// term, a longer one a phrase, and a single character the beginning of some
// term. Other letters and digits become lower-case words, English ones stemmed.
// Everything else separates. Widths are folded as NFKC has them, Latin letters lose their
// accents, and traditional Chinese characters become simplified ones, one by one.
//
// A term holds only letters, marks and digits; it never holds a space. The cut
// of a text never depends on what comes before or after it, beyond the run of letters it
// is in.
//
// It knows no database and no other room.
package terms

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// MaxBytes is how long a word may be; a longer one is cut to that.
const MaxBytes = 64

// SplitTerms lists the terms of s in order.
func SplitTerms(s string) []string {
	var out []string
	EachTerm(s, func(term string) bool {
		out = append(out, term)
		return true
	})
	return out
}

// EachTerm calls yield for the terms of s in order until it returns false.
func EachTerm(s string, yield func(term string) bool) {
	EachTermAt(s, func(term string, _, _ int) bool { return yield(term) })
}

// EachTermAt is [EachTerm] with the bytes of s that each term came from.
func EachTermAt(s string, yield func(term string, from, to int) bool) {
	c := cutter{text: s, yield: yield, start: -1}
	c.cutText()
}

// cutText cuts the text.
func (c *cutter) cutText() {
	s := c.text
	prev := none
	for i, r := range s {
		if prev == dense && isVoicingMark(r) {
			continue // of the character before
		}
		k := runeKind(r, prev)
		if k != prev {
			if !c.flushRun(i) {
				return
			}
			c.kind = k
		}
		if k == dense {
			if !c.emitPair(i, i+characterLen(s[i:])) {
				return
			}
		} else if k == word && c.start < 0 {
			c.start = i
		}
		prev = k
	}
	c.flushRun(len(s))
}

// TermPlaces lists where each of want occurs among the terms of s, counted from 0 and
// ascending, and how many terms there are in all, at most limit. A term of want that ends
// in '*' stands for all with that beginning.
func TermPlaces(s string, want []string, limit int) (places [][]int, length int) {
	places = make([][]int, len(want))
	c := cutter{text: s, start: -1}
	for _, w := range want { // a stem begins like its word: other words need no stemming
		if w != "" {
			c.first[w[0]] = true
		}
	}
	c.filtered = true
	c.yield = func(term string, _, _ int) bool {
		for i, w := range want {
			if begin, ok := strings.CutSuffix(w, "*"); term == w || ok && term != "" && strings.HasPrefix(term, begin) {
				places[i] = append(places[i], length)
			}
		}
		length++
		return length < limit
	}
	c.cutText()
	return places, length
}

type kind int

const (
	none kind = iota
	word
	dense // scripts written without spaces
)

func runeKind(r rune, prev kind) kind {
	switch {
	case r < 0x80:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return word
		}
		return none
	case IsDense(r):
		return dense
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return word
	case unicode.IsMark(r) && prev != none:
		return prev
	}
	return none
}

// IsDense reports whether r is of a script written without spaces between words.
func IsDense(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ' || r == '々'
}

type cutter struct {
	text  string
	yield func(string, int, int) bool
	kind  kind
	start int // of the current word, or -1
	last  [2]int
	held  bool // last holds the previous character of a dense run

	// filtered words come as an empty term unless they begin with one of first.
	filtered bool
	first    [256]bool
}

// emitPair emits the previous dense character together with this one.
func (c *cutter) emitPair(from, to int) bool {
	ok := true
	if c.held {
		ok = c.yield(foldDense(c.text[c.last[0]:to]), c.last[0], to)
	}
	c.last = [2]int{from, to}
	c.held = true
	return ok
}

// flushRun ends the current run before byte i.
func (c *cutter) flushRun(i int) bool {
	switch {
	case c.kind == dense && c.held:
		c.held = false
		return c.yield(foldDense(c.text[c.last[0]:c.last[1]]), c.last[0], c.last[1])
	case c.kind == word && c.start >= 0:
		from := c.start
		c.start = -1
		// Letters become lower case; digits stay as they are.
		if b := c.text[from]; c.filtered && b < 0x80 && !c.first[b|0x20] {
			return c.yield("", from, i)
		}
		return c.yield(normalWord(c.text[from:i]), from, i)
	}
	c.start = -1
	c.held = false
	return true
}

// normalWord returns the stored form of a word.
func normalWord(w string) string {
	if len(w) > MaxBytes {
		w = strings.ToValidUTF8(w[:MaxBytes], "")
	}
	if w = strings.ToLower(w); !isASCII(w) {
		if w = foldWide(w); len(w) > MaxBytes {
			w = strings.ToValidUTF8(w[:MaxBytes], "")
		}
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w // not an English word: digits and other scripts stay as they are
		}
	}
	if len(w) < 3 {
		return w
	}
	env := snowballstem.NewEnv(w)
	english.Stem(env)
	return env.Current()
}

// characterLen returns how long the first character of s is, with marks that voice it.
func characterLen(s string) int {
	for i, r := range s {
		if i > 0 && !isVoicingMark(r) {
			return i
		}
	}
	return len(s)
}
