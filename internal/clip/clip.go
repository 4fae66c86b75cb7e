// Package clip makes text shorter: it cuts between characters, and brings lines into one.
//
// It knows nothing else of this program.
package clip

import (
	"strings"
	"unicode/utf8"
)

// HeadBytes returns at most the first n bytes of s.
func HeadBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// TailBytes returns at most the last n bytes of s.
func TailBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// ClipLine returns at most the first n characters of s, with an ellipsis if something was
// left out.
func ClipLine(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// JoinLines returns s on one line, without control characters and with single spaces.
func JoinLines(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
