package reference

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// Characters around a path without brackets.
const (
	stops    = "\"'<>|*?`\t\r\n\u3000，。；：！？、（）「」『』【】《》“”‘’…" // it ends before these
	trailing = ".,;:!)]}"                                    // its end may be these, or not
	email    = "._%+-/@=&"                                   // in front of @ these make it an address
)

// scanPlain reads @path at i. Its text is as long as a path could be there.
func (s *scanner) scanPlain(i int) (*Mark, int) {
	if before, _ := utf8.DecodeLastRuneInString(s.text[:i]); i > 0 && joinsWord(before) {
		return nil, i
	}
	rest := s.text[i+1 : min(len(s.text), i+1+maxName)]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r == ' ' || strings.ContainsRune(stops, r) || unicode.IsControl(r) || r == utf8.RuneError
	})
	if end >= 0 {
		rest = rest[:end]
	}
	name := strings.TrimRight(rest, trailing)
	if strings.Trim(name, "./") == "" {
		return nil, i
	}
	m := &Mark{Text: name, Kind: scrollback.ReferenceFile, bare: true}
	m.Path, m.First, m.Last = splitLines(name)
	return m, i + 1 + len(name)
}

// joinsWord reports whether a character in front of @ makes it part of a word, as in an
// address. Chinese, Japanese and Korean are written without spaces.
func joinsWord(r rune) bool {
	return strings.ContainsRune(email, r) || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isEastern(r)
}

func isEastern(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// maxShorter bounds the shorter names that a path without brackets is tried as.
const maxShorter = 8

// shorterNames returns the names that a path without brackets may be, the longest first: people
// write on behind it without a space, as in @main.go的第三行.
func shorterNames(name string) []string {
	out := []string{name}
	for end := len(name); end > 0 && len(out) <= maxShorter; {
		last, n := utf8.DecodeLastRuneInString(name[:end])
		end -= n
		before, _ := utf8.DecodeLastRuneInString(name[:end])
		if end > 0 && isEastern(last) && !isEastern(before) {
			out = append(out, strings.TrimRight(name[:end], trailing))
		}
	}
	return out
}
