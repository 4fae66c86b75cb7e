package plainjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf16"
	"unicode/utf8"
)

// What follows walks documents that are known to be valid JSON, so that a value within a long one is not checked again
// each time something looks into it. Of other bytes it makes something, or nothing, but it neither fails nor goes on
// for ever.

// Members yields the members of an object that is valid JSON: the names as they are written, with their quotation
// marks, and the values without the space around them. Of any other value it yields nothing.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(raw, 0)
		if i >= len(raw) || raw[i] != '{' {
			return
		}
		for i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '"'; {
			end := skipText(raw, i)
			name := raw[i:end]
			i = skipSpace(raw, end)
			i = skipSpace(raw, min(i+1, len(raw))) // the colon
			end = skipValue(raw, i)
			if !yield(name, raw[i:end]) {
				return
			}
			i = skipSpace(raw, end)
			i = skipSpace(raw, min(i+1, len(raw))) // the comma, or the end
		}
	}
}

// Elements yields the values of a list that is valid JSON, without the space around them. Of any other value it yields
// nothing.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(raw, 0)
		if i >= len(raw) || raw[i] != '[' {
			return
		}
		for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != ']'; {
			end := skipValue(raw, i)
			if end == i || !yield(raw[i:end]) {
				return
			}
			i = skipSpace(raw, end)
			i = skipSpace(raw, min(i+1, len(raw))) // the comma, or the end
		}
	}
}

// Text returns the text that a valid JSON value is, as encoding/json reads it, or false if it is none.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	at := bytes.IndexByte(in, '\\')
	if !utf8.Valid(in) {
		var text string
		return text, json.Unmarshal(raw, &text) == nil
	}
	if at < 0 {
		return string(in), true
	}
	out := make([]byte, 0, len(in))
	for at >= 0 && at+1 < len(in) {
		out = append(out, in[:at]...)
		in = in[at:]
		n := 2
		switch in[1] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			var r rune
			r, n = readUnit(in)
			out = utf8.AppendRune(out, r)
		default: // a quotation mark, a backslash or a slash
			out = append(out, in[1])
		}
		in = in[n:]
		at = bytes.IndexByte(in, '\\')
	}
	return string(append(out, in...)), true
}

// readUnit returns the character that \uXXXX stands for at the beginning of raw, with the second half that follows it,
// and how long that is. A half that stands alone is the replacement character.
func readUnit(raw []byte) (r rune, n int) {
	if len(raw) < escapeBytes {
		return utf8.RuneError, len(raw)
	}
	r = escapedUnit(raw)
	if !utf16.IsSurrogate(r) {
		return r, escapeBytes
	}
	if rest := raw[escapeBytes:]; len(rest) >= escapeBytes && rest[0] == '\\' && rest[1] == 'u' {
		if both := utf16.DecodeRune(r, escapedUnit(rest)); both != utf8.RuneError {
			return both, 2 * escapeBytes
		}
	}
	return utf8.RuneError, escapeBytes
}

// skipSpace returns where the space that begins at i ends.
func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipText returns where the text that begins at i ends.
func skipText(raw []byte, i int) int {
	for i++; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		end := i + n
		slashes := 0
		for end-slashes > i && raw[end-slashes-1] == '\\' {
			slashes++
		}
		if i = end + 1; slashes%2 == 0 {
			return i
		}
	}
	return len(raw)
}

// skipValue returns where the value that begins at i ends.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = skipText(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default: // a number or a word
			for i < len(raw) && isPlain(raw[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(raw)
}

// isPlain reports whether a byte may be within a number, true, false or null; what cannot be in JSON is taken as well.
func isPlain(b byte) bool {
	switch b {
	case '"', '{', '}', '[', ']', ',', ':', ' ', '\n', '\t', '\r':
		return false
	}
	return true
}
