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
	"hash/maphash"
	"strings"
	"sync/atomic"
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
	return (&Finder{}).TermPlaces(s, want, limit)
}

// Finder finds terms in many texts that are cut again: a word is stemmed once, which is most of the
// work. The zero value is ready; it is for one goroutine at a time.
type Finder struct {
	known map[string]string // terms of words as they are written
}

// knownWords bounds how many words a finder keeps.
const knownWords = 20_000

// TermPlaces is [TermPlaces].
func (f *Finder) TermPlaces(s string, want []string, limit int) (places [][]int, length int) {
	places = make([][]int, len(want))
	f.cutFor(s, want, func(term string, _, _ int) bool {
		for i, w := range want {
			if isTerm(term, w) {
				places[i] = append(places[i], length)
			}
		}
		length++
		return length < limit
	})
	return places, length
}

// EachMatch calls yield for the terms of s that are one of want, with its number and the bytes of s that the
// term came from, until it returns false.
func (f *Finder) EachMatch(s string, want []string, yield func(which, from, to int) bool) {
	f.cutFor(s, want, func(term string, from, to int) bool {
		for i, w := range want {
			if isTerm(term, w) {
				return yield(i, from, to)
			}
		}
		return true
	})
}

// isTerm reports whether a term is the wanted one, or begins with it where that ends in '*'.
func isTerm(term, want string) bool {
	begin, ok := strings.CutSuffix(want, "*")
	return term == want || ok && term != "" && strings.HasPrefix(term, begin)
}

// cutFor cuts a text; words that cannot be one of want come as an empty term.
func (f *Finder) cutFor(s string, want []string, yield func(term string, from, to int) bool) {
	c := cutter{text: s, start: -1, filtered: true, finder: f, yield: yield}
	for _, w := range want { // a stem begins like its word: other words need no stemming
		if w != "" {
			c.first[w[0]] = true
		}
	}
	c.cutText()
}

// normalWord is [normalWord], which is asked once for each word.
func (f *Finder) normalWord(w string) string {
	if term, ok := f.known[w]; ok {
		return term
	}
	term := normalWord(w)
	if len(f.known) < knownWords {
		if f.known == nil {
			f.known = map[string]string{}
		}
		f.known[strings.Clone(w)] = term
	}
	return term
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
	finder   *Finder // nil: words are not kept

	counter *Counter // it takes all terms, instead of yield
}

// emitPair emits the previous dense character together with this one.
func (c *cutter) emitPair(from, to int) bool {
	ok := true
	if c.held {
		ok = c.emitDense(c.last[0], to)
	}
	c.last = [2]int{from, to}
	c.held = true
	return ok
}

// emitDense emits dense characters as a term.
func (c *cutter) emitDense(from, to int) bool {
	if c.counter != nil {
		return c.counter.countPair(c.text[from:to])
	}
	return c.yield(foldDense(c.text[from:to]), from, to)
}

// flushRun ends the current run before byte i.
func (c *cutter) flushRun(i int) bool {
	switch {
	case c.kind == dense && c.held:
		c.held = false
		return c.emitDense(c.last[0], c.last[1])
	case c.kind == word && c.start >= 0:
		from := c.start
		c.start = -1
		if c.counter != nil {
			return c.counter.countWord(c.text[from:i])
		}
		// Letters become lower case; digits stay as they are.
		if b := c.text[from]; c.filtered && b < 0x80 && !c.first[b|0x20] {
			return c.yield("", from, i)
		}
		if c.finder != nil {
			return c.yield(c.finder.normalWord(c.text[from:i]), from, i)
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
	return stems.find(w)
}

// stems remembers the stems of words, since few are frequent.
var stems stemCache

// maxStems is how many words a [stemCache] has room for: a power of two.
const maxStems = 1 << 13

// stemCache has the stems of words, each in the one place that its hash names; another word there takes it over. It is
// safe for concurrent use.
type stemCache struct {
	of [maxStems]atomic.Pointer[stemmedWord]
}

// stemmedWord is a word in small ASCII letters, and its stem.
type stemmedWord struct{ word, stem string }

// wordSeed is of the hashes of words.
var wordSeed = maphash.MakeSeed()

// find returns the stem of a word.
func (c *stemCache) find(word string) string {
	at := &c.of[maphash.String(wordSeed, word)%maxStems]
	if known := at.Load(); known != nil && known.word == word {
		return known.stem
	}
	word = strings.Clone(word) // it may be of a long text
	made := &stemmedWord{word, stemEnglish(word)}
	at.Store(made)
	return made.stem
}

// stemEnglish returns the stem of a word in small ASCII letters.
func stemEnglish(word string) string {
	env := snowballstem.NewEnv(word)
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
