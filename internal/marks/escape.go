package marks

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// EscapeText returns s as it may stand in a block: the bracket that opens what could be read
// as a mark is written as &lt;, and invisible characters are spelled out, as \u202e. Line
// breaks and tabs stay, and so do the joiners and selectors that words and emoji are
// written with. Bytes that are not UTF-8 are spelled out too.
func EscapeText(s string) string { return escapeFor(s, text) }

// EscapeLine is EscapeText for a name or another text that must stay within its line: line breaks
// and tabs are spelled out as well.
func EscapeLine(s string) string { return escapeFor(s, line) }

// EscapeJSON is EscapeText for the EscapeJSON of a value, as [encoding/json] writes it: what is replaced
// becomes an escape of EscapeJSON's own, so that the value stays the same.
func EscapeJSON(b []byte) []byte { return []byte(escapeFor(string(b), values)) }

// escapeForm is where a text is to stand.
type escapeForm int

const (
	text escapeForm = iota
	line
	values
)

func escapeFor(s string, to escapeForm) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < utf8.RuneSelf-1 && c != '<' {
			i++
			continue
		} else if c >= 0xE4 && c <= 0xEC && i+2 < len(s) && s[i+1]&0xC0 == 0x80 && s[i+2]&0xC0 == 0x80 {
			i += 3 // U+4000 to U+CFFF: Chinese, Japanese and Korean words, for speed
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		with := ""
		switch {
		case isOpening(r):
			if beginsMark(s[i+n:]) {
				with = escapeBracket(r, to)
				if rest := s[i+n:]; to != values && strings.HasPrefix(rest, "\u200b") {
					n += len("\u200b") // an older version escaped a mark with it
				}
			}
		case r == utf8.RuneError && n == 1:
			with = `\x` + hexDigits(rune(s[i]), 2)
		case to == line && (r == '\n' || r == '\r' || r == '\t') || isHidden(s, i, r, n):
			with = spellRune(r, to)
		}
		if with != "" {
			b.WriteString(s[done:i])
			b.WriteString(with)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func escapeBracket(r rune, to escapeForm) string {
	if to == values {
		return spellRune(r, to)
	}
	return "&lt;"
}

func spellRune(r rune, to escapeForm) string {
	if r > 0xFFFF && to == values {
		high, low := utf16.EncodeRune(r)
		return spellRune(high, to) + spellRune(low, to)
	}
	if r > 0xFFFF {
		return `\U` + hexDigits(r, 8)
	}
	return `\u` + hexDigits(r, 4)
}

func hexDigits(r rune, digits int) string {
	s := strconv.FormatInt(int64(r), 16)
	return "00000000"[:digits-len(s)] + s
}

// isOpening reports whether r is the bracket that a tag begins with, full-width and small
// forms included.
func isOpening(r rune) bool { return r == '<' || r == '＜' || r == '﹤' }

// beginsMark reports whether what follows an opening bracket could be read as the rest of a
// mark, or as a part of one that the text behind it completes.
func beginsMark(rest string) bool {
	var r markReader
	for i, c := range rest {
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			r.takeRune(c)
		} else if c == utf8.RuneError && !strings.HasPrefix(rest[i:], "\uFFFD") {
			r.takeRune(' ') // a byte that is not text
		} else {
			for _, plain := range norm.NFKD.String(string(c)) {
				r.takeRune(unicode.ToLower(unicode.ToUpper(plain)))
			}
		}
		if r.known {
			return r.mark
		}
	}
	return true // so far it could be
}

// markReader follows what comes after an opening bracket, one character at a time.
type markReader struct {
	name        [20]byte // the letters so far; every name is shorter
	n           int
	known, mark bool
}

func (r *markReader) takeRune(c rune) {
	switch {
	case r.known:
	case c >= 'a' && c <= 'z':
		r.name[r.n] = byte(c)
		if r.n++; !r.mayBeName() {
			r.decideMark(false)
		}
	case c == '>':
		r.decideMark(r.isName())
	case unicode.IsSpace(c), isUnseen(c), unicode.Is(unicode.M, c): // they part a name or end it
		if r.isName() {
			r.decideMark(true)
		}
	case unicode.In(c, unicode.Pc, unicode.Pd):
	case c >= '0' && c <= '9':
		r.decideMark(false)
	case r.n == 0 && strings.ContainsRune(`/\⁄∕`, c):
	default:
		r.decideMark(r.isName())
	}
}

func (r *markReader) decideMark(mark bool) {
	r.known = true
	r.mark = mark
}

// isName reports whether the letters so far are a name.
func (r *markReader) isName() bool {
	for _, name := range names {
		if name == string(r.name[:r.n]) {
			return true
		}
	}
	return false
}

// mayBeName reports whether a name begins with the letters so far.
func (r *markReader) mayBeName() bool {
	for _, name := range names {
		if strings.HasPrefix(name, string(r.name[:r.n])) {
			return true
		}
	}
	return false
}
