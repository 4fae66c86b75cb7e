package o200k

import (
	"unicode"
	"unicode/utf8"
)

// charClass is what the pattern tells characters apart by.
type charClass uint8

const (
	symbol  charClass = iota // whatever is not below: punctuation, controls, unassigned
	upper                    // Lu, Lt
	lower                    // Ll
	either                   // Lm, Lo: they stand among upper and lower ones
	mark                     // M: as either, and among symbols
	number                   // N
	space                    // White_Space except the next
	newline                  // CR, LF
)

func (k charClass) isWord() bool { return k == upper || k == lower || k == either || k == mark }

// classTable has the class of each character of the first two planes; the others are rare.
type classTable [0x20000]charClass

// tables has the characters of each class.
var tables = []struct {
	*unicode.RangeTable
	charClass
}{{unicode.Lu, upper}, {unicode.Lt, upper}, {unicode.Ll, lower}, {unicode.Lm, either}, {unicode.Lo, either},
	{unicode.M, mark}, {unicode.N, number}, {unicode.White_Space, space}}

func buildClasses() *classTable {
	out := new(classTable)
	fill := func(from, to, step rune, k charClass) {
		if int(from) >= len(out) {
			return
		}
		run := out[from:min(int(to)+1, len(out))]
		if step == 1 {
			for i := range run {
				run[i] = k
			}
			return
		}
		for i := 0; i < len(run); i += int(step) {
			run[i] = k
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			fill(rune(r.Lo), rune(r.Hi), rune(r.Stride), t.charClass)
		}
		for _, r := range t.R32 {
			fill(rune(r.Lo), rune(r.Hi), rune(r.Stride), t.charClass)
		}
	}
	out['\r'] = newline
	out['\n'] = newline
	return out
}

// classAt returns the class of the character that begins at s[i], and how many bytes it has.
func (c *classTable) classAt(s string, i int) (charClass, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return c[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if int(r) < len(c) {
		return c[r], n
	}
	for _, t := range tables {
		if unicode.Is(t.RangeTable, r) {
			return t.charClass, n
		}
	}
	return symbol, n
}

// pieceLength returns how many bytes the first piece of s has, which must not be empty and UTF-8. It
// is the leftmost match of the pattern of o200k_base, whose alternatives are, in this
// order: a word with at most one character before it, which has lower letters at its end,
// or else has none; numbers; symbols with the newlines and slashes behind them; white
// space up to its last newline; white space except the character before something else;
// white space.
func (c *classTable) pieceLength(s string) int {
	k, n := c.classAt(s, 0)
	switch k {
	case upper, lower, either, mark:
		return c.wordEnd(s, 0)
	case number:
		return c.numbersEnd(s, n)
	case newline:
		return c.blankEnd(s)
	}
	if n == len(s) {
		return n
	}
	next, m := c.classAt(s, n)
	switch {
	case next.isWord():
		return c.wordEnd(s, n)
	case k == symbol:
		return c.symbolsEnd(s, n)
	case next == symbol && s[0] == ' ':
		return c.symbolsEnd(s, n+m)
	}
	return c.blankEnd(s)
}

// wordEnd returns the end of the word that begins at s[i]: upper letters, then lower ones, then a
// contraction. Letters without case are both: where no lower letter follows, the word ends
// behind the last of them, and upper letters behind that are the next word.
func (c *classTable) wordEnd(s string, i int) int {
	begin := i
	both := 0
	k := symbol
	n := 0
	for ; i < len(s); i += n {
		if k, n = c.classAt(s, i); k == either || k == mark {
			both = i + n
		} else if k != upper {
			break
		}
	}
	switch {
	case i < len(s) && k == lower:
		for i += n; i < len(s); i += n {
			if k, n = c.classAt(s, i); k != lower && k != either && k != mark {
				break
			}
		}
	case both > begin:
		i = both
	}
	return i + contractionLength(s[i:])
}

// contractionLength returns how many bytes of the beginning of s are 's, 't, 're, 've, 'm, 'll or 'd,
// in either case; a long s is one too.
func contractionLength(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	second := byte(0)
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		second = 'e'
	case 'l':
		second = 'l'
	case 0xc5 | 0x20:
		if len(s) > 2 && s[1:3] == "ſ" {
			return 3
		}
	}
	if second != 0 && len(s) > 2 && s[2]|0x20 == second {
		return 3
	}
	return 0
}

// numbersEnd returns the end of at most three, of which the first ends at s[i].
func (c *classTable) numbersEnd(s string, i int) int {
	for range 2 {
		if i == len(s) {
			break
		}
		k, n := c.classAt(s, i)
		if k != number {
			break
		}
		i += n
	}
	return i
}

// symbolsEnd returns the end of a run of symbols, of which the first ends at s[i].
func (c *classTable) symbolsEnd(s string, i int) int {
	for i < len(s) {
		k, n := c.classAt(s, i)
		if k != symbol && k != mark {
			break
		}
		i += n
	}
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || s[i] == '/') {
		i++
	}
	return i
}

// blankEnd returns the end of the white space with which s begins.
func (c *classTable) blankEnd(s string) int {
	// last: where its last character begins
	i := 0
	last := 0
	lines := 0
	for i < len(s) {
		k, n := c.classAt(s, i)
		if k != space && k != newline {
			break
		}
		last = i
		if i += n; k == newline {
			lines = i
		}
	}
	switch {
	case lines > 0:
		return lines
	case i == len(s) || last == 0:
		return i
	}
	return last
}
