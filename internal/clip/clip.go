// Package clip cuts text short between characters.
//
// It knows nothing else of this program.
package clip

import "unicode/utf8"

// Bytes returns at most the first n bytes of s.
func Bytes(s string, n int) string {
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

// Line returns at most the first n characters of s, with an ellipsis if something was
// left out.
func Line(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
