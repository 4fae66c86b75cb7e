// Package clip cuts text short between characters.
//
// It knows nothing else of this program.
package clip

import "unicode/utf8"

// Bytes is at most n bytes of the beginning of s.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// TailBytes is at most n bytes of the end of s.
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

// Line is at most n characters of the beginning of s, with an ellipsis where
// something was left out.
func Line(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
