package plainjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape is a JSON document with the characters of its texts as they are, where JSON lets them stand:
// \u0026 is &, \u4e2d is 中 and \/ is /. Quotation marks, backslashes and what nobody sees stay escaped.
// Nothing else changes; what is not JSON is returned as it is.
func Unescape(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) && !bytes.Contains(raw, []byte(`\/`)) || !json.Valid(raw) {
		return raw
	}
	out := make(json.RawMessage, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' { // only texts have them
			out = append(out, raw[i])
			i++
			continue
		}
		r, n := readEscape(raw[i:])
		if r == 0 {
			out = append(out, raw[i:i+n]...)
		} else {
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return out
}

// escapeBytes is the length of an escape such as \u0026.
const escapeBytes = 6

// readEscape returns the character that the escape at the beginning of raw stands for, or 0 if it stays as it is,
// and the length of the escape.
func readEscape(raw []byte) (r rune, n int) {
	switch raw[1] {
	case '/':
		return '/', 2
	case 'u':
	default:
		return 0, 2
	}
	r = escapedUnit(raw)
	n = escapeBytes
	if utf16.IsSurrogate(r) {
		if len(raw) < 2*escapeBytes || raw[escapeBytes] != '\\' || raw[escapeBytes+1] != 'u' {
			return 0, n
		}
		if r = utf16.DecodeRune(r, escapedUnit(raw[escapeBytes:])); r == unicode.ReplacementChar {
			return 0, n
		}
		n = 2 * escapeBytes
	}
	if r == '"' || r == '\\' || !unicode.IsPrint(r) {
		return 0, n
	}
	return r, n
}

// escapedUnit returns the unit of UTF-16 that \uXXXX names, at the beginning of raw.
func escapedUnit(raw []byte) rune {
	unit, err := strconv.ParseUint(string(raw[2:escapeBytes]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
