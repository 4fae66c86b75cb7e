package scrollback

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// replacement stands for what is no character: half a surrogate pair, or bytes that are not
// UTF-8.
const replacement = "\uFFFD"

// WellFormed returns JSON in which every text can be written as UTF-8: an escape of half a
// surrogate pair becomes an escape of U+FFFD, and a run of bytes that are not UTF-8 becomes
// U+FFFD. Providers refuse a request that holds either. What is well-formed already is
// returned as it is, and valid JSON stays valid.
func WellFormed(raw json.RawMessage) json.RawMessage {
	if utf8.Valid(raw) && !mayHoldSurrogates(raw) {
		return raw
	}
	var out []byte
	done := 0 // of raw, what is in out
	replace := func(from, to int, by string) {
		out = append(append(out, raw[done:from]...), by...)
		done = to
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			size, whole := scanEscape(raw[i:])
			if !whole {
				replace(i, i+size, `\ufffd`)
			}
			i += size
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			from := i
			i += size
			if r != utf8.RuneError || size != 1 {
				continue
			}
			for i < len(raw) && raw[i] >= utf8.RuneSelf {
				if r, size := utf8.DecodeRune(raw[i:]); r != utf8.RuneError || size != 1 {
					break
				}
				i++
			}
			replace(from, i, replacement)
		}
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// mayHoldSurrogates reports whether JSON holds an escape that may be of a surrogate.
func mayHoldSurrogates(raw []byte) bool {
	for {
		i := bytes.Index(raw, []byte(`\u`))
		if i < 0 || i+2 >= len(raw) {
			return false
		}
		if c := raw[i+2]; c == 'd' || c == 'D' {
			return true
		}
		raw = raw[i+2:]
	}
}

// scanEscape returns the length of the escape that b begins with, and false if it is of half a
// surrogate pair.
func scanEscape(b []byte) (size int, whole bool) {
	switch unit, ok := decodeCodeUnit(b); {
	case !ok:
		return min(2, len(b)), true
	case unit < 0xD800 || unit > 0xDFFF:
		return 6, true
	case unit < 0xDC00:
		if low, ok := decodeCodeUnit(b[6:]); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 12, true
		}
	}
	return 6, false
}

// decodeCodeUnit returns the code unit of UTF-16 whose escape b begins with.
func decodeCodeUnit(b []byte) (unit int, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c)
		if c >= 'A' && c <= 'F' {
			digit = int(c-'A') + 10
		}
		if digit < 0 {
			return 0, false
		}
		unit = unit<<4 | digit
	}
	return unit, true
}

// replaceInvalid returns a text in which a run of bytes that are not UTF-8 is U+FFFD.
func replaceInvalid(text string) string { return strings.ToValidUTF8(text, replacement) }

// WellFormed returns the parts with each text and each payload as [WellFormed] has them.
// Parts that are well-formed already are returned as they are.
func (ps Parts) WellFormed() Parts {
	var out Parts
	for i, p := range ps {
		var changed bool
		if p, changed = wellFormedPart(p); !changed {
			continue
		}
		if out == nil {
			out = append(Parts{}, ps...)
		}
		out[i] = p
	}
	if out == nil {
		return ps
	}
	return out
}

// wellFormedPart returns a part made well-formed, and whether it was not.
func wellFormedPart(p Part) (Part, bool) {
	changed := false
	texts := func(fields ...*string) {
		for _, f := range fields {
			if !utf8.ValidString(*f) {
				*f = replaceInvalid(*f)
				changed = true
			}
		}
	}
	values := func(fields ...*json.RawMessage) {
		for _, f := range fields {
			if fixed := WellFormed(*f); !bytes.Equal(fixed, *f) {
				*f = fixed
				changed = true
			}
		}
	}
	switch q := p.(type) {
	case Text:
		texts(&q.Text)
		values(&q.Opaque)
		p = q
	case Image:
		texts(&q.URL, &q.MediaType, &q.Name, &q.Detail)
		values(&q.Opaque)
		p = q
	case File:
		texts(&q.MediaType, &q.Name)
		values(&q.Opaque)
		p = q
	case ToolCall:
		texts(&q.ID, &q.Name)
		values(&q.Arguments, &q.Opaque)
		p = q
	case ToolResult:
		texts(&q.CallID, &q.Name, &q.Text)
		values(&q.Opaque)
		p = q
	case Reasoning:
		texts(&q.Text)
		values(&q.Opaque)
		p = q
	}
	return p, changed
}

// WellFormed returns the tool with its texts and its schema as [WellFormed] has them.
func (t Tool) WellFormed() Tool {
	t.Name = replaceInvalid(t.Name)
	t.Description = replaceInvalid(t.Description)
	t.Parameters = WellFormed(t.Parameters)
	return t
}
