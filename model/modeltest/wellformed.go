package modeltest

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// IllFormed reports whether JSON holds what cannot be text: bytes that are not UTF-8, or an
// escape that is half of a surrogate pair. Go's decoder puts U+FFFD for these; the decoders
// of providers refuse the request.
func IllFormed(text []byte) bool {
	if !utf8.Valid(text) {
		return true
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return false
		}
		text = text[i:]
		first := escapedUnit(text)
		switch {
		case first < 0:
			text = text[min(2, len(text)):]
		case !utf16.IsSurrogate(first):
			text = text[6:]
		case utf16.DecodeRune(first, escapedUnit(text[6:])) == utf8.RuneError:
			return true
		default:
			text = text[12:]
		}
	}
}

// escapedUnit returns the unit that a text begins with as an escape, or -1.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
