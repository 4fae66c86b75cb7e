package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// bracketScanner follows the brackets and strings of JSON over several pieces of it.
type bracketScanner struct {
	depth   int
	quoted  bool
	escaped bool
}

// scanText reads on, and returns where the outermost bracket closes.
func (s *bracketScanner) scanText(text []byte) (end int, closed bool) {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}

// valueExtent returns how long the object or list is that a text begins with; closed is false if the text
// ends within it.
func valueExtent(text []byte) (n int, closed bool) {
	s := bracketScanner{}
	return s.scanText(text)
}

// wholeValue returns a JSON value, in which control characters within strings, such as line breaks
// that were not escaped, are escaped.
func wholeValue(text []byte) ([]byte, bool) {
	if json.Valid(text) {
		return text, true
	}
	var out []byte
	quoted := false
	escaped := false
	for i, c := range text {
		switch {
		case quoted && c < ' ':
			if out == nil {
				out = append(make([]byte, 0, len(text)+16), text[:i]...)
			}
			if escaped { // a backslash before a raw line break
				out = append(out, '\\')
				escaped = false
			}
			out = fmt.Appendf(out, `\u%04x`, c)
			continue
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		}
		if out != nil {
			out = append(out, c)
		}
	}
	return out, out != nil && json.Valid(out)
}

// maxQuoted bounds what a reason shows of damage, in bytes.
const maxQuoted = 40

// explainCutOff returns what is wrong with a text that cannot be read as a record.
func explainCutOff(text []byte) string {
	shown := strings.ToValidUTF8(string(text[:min(len(text), maxQuoted)]), "\uFFFD")
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return fmt.Sprintf("malformed JSON: a record of which only a part is there, %d bytes that begin with %q", len(text),
			shown)
	}
	return fmt.Sprintf("malformed JSON: %d bytes that begin with %q", len(text), shown)
}

// maxShapes bounds how many ways to begin a record are remembered.
const maxShapes = 64

// recordShapes are the ways in which the records of a file begin: their first two keys. They tell a
// record from an object within one.
type recordShapes []string

// learnShape remembers how a record begins.
func (s *recordShapes) learnShape(record []byte) {
	if shape := readShape(record); shape != "" && len(*s) < maxShapes && !slices.Contains(*s, shape) {
		*s = append(*s, shape)
	}
}

// isRecord reports whether a line is a record, or the beginning of one.
func (s recordShapes) isRecord(line []byte) bool {
	line = bytes.TrimPrefix(line, byteOrderMark)
	return bytes.HasPrefix(line, []byte("{")) && (slices.Contains(s, readShape(line)) || json.Valid(bytes.TrimSpace(line)))
}

// readShape returns the first two keys of an object, or as many as it has; empty if a text does not
// show them.
func readShape(text []byte) string {
	rest, ok := bytes.CutPrefix(text, []byte("{"))
	if !ok {
		return ""
	}
	first, rest, ok := readKey(rest)
	if !ok {
		return ""
	}
	n, ok := valueEnd(rest)
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest[n:], " \t\r\n")
	if bytes.HasPrefix(rest, []byte("}")) {
		return first
	}
	second, _, ok := readKey(bytes.TrimPrefix(rest, []byte(",")))
	if !ok {
		return ""
	}
	return first + "\n" + second
}

// maxKey bounds a key, in bytes.
const maxKey = 256

// readKey returns the key that a text begins with, and what follows its colon.
func readKey(text []byte) (key string, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	n, ok := valueEnd(text)
	if !ok || text[0] != '"' || n > maxKey || json.Unmarshal(text[:n], &key) != nil {
		return "", nil, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(text[n:], " \t\r\n"), []byte(":"))
	return key, bytes.TrimLeft(rest, " \t\r\n"), ok
}

// valueEnd returns where the value ends that a text begins with, by its brackets and quotes alone;
// ok is false if the text ends within it.
func valueEnd(text []byte) (n int, ok bool) {
	if len(text) == 0 {
		return 0, false
	}
	switch text[0] {
	case '{', '[':
		return valueExtent(text)
	case '"':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, true
			}
		}
		return len(text), false
	}
	n = bytes.IndexAny(text, ",}] \t\r\n")
	return max(n, 0), n > 0
}

// maxShown bounds where the first two keys of a record are looked for, in bytes.
const maxShown = 16 << 10

// maxTries bounds how many beginnings of records are tried in one text, so that a hostile one
// costs no more than some times its length.
const maxTries = 20_000

// recordSplitter tells the whole records of a text apart, which follow each other with or without a
// comma.
type recordSplitter struct {
	shapes *recordShapes
	text   []byte
	list   bool // the brackets of a list are between records; else a list is a record
	tries  int
	budget int // bytes that may still be looked at
}

func newSplitter(s *recordShapes, text []byte, list bool) *recordSplitter {
	return &recordSplitter{shapes: s, text: text, list: list, budget: 16<<20 + 8*len(text)}
}

// skipBetween returns where the next thing stands that is not between records.
func (s *recordSplitter) skipBetween(at int) int {
	between := " \t\r\n,"
	if s.list {
		between += "[]"
	}
	for at < len(s.text) && strings.IndexByte(between, s.text[at]) >= 0 {
		at++
	}
	return at
}

// mayBegin reports whether a record may begin at a place.
func (s *recordSplitter) mayBegin(at int) bool {
	return s.text[at] == '{' || !s.list && s.text[at] == '['
}

// valueAt returns the whole value at a place, nil if that is damaged; closed is false if the text ends
// within it.
func (s *recordSplitter) valueAt(at int) (value []byte, n int, closed bool) {
	n, closed = valueExtent(s.text[at:])
	s.tries++
	if s.budget -= 2 * n; !closed {
		return nil, n, false
	}
	value, ok := wholeValue(s.text[at : at+n])
	if !ok {
		return nil, n, true
	}
	return value, n, true
}

// nextWhole returns where the next whole record begins, or -1.
func (s *recordSplitter) nextWhole(at int) int {
	for s.tries <= maxTries && s.budget >= 0 && at < len(s.text) {
		i := bytes.IndexByte(s.text[at:], '{')
		if i < 0 {
			break
		}
		if at += i; s.looksLikeRecord(at) {
			if value, _, _ := s.valueAt(at); value != nil {
				return at
			}
		}
		at++
	}
	return -1
}

// looksLikeRecord reports whether what begins at a place is a record by the look of it, and not an
// object within one: it begins as others do, or stands where no value of a record does.
func (s *recordSplitter) looksLikeRecord(at int) bool {
	if _, _, ok := readKey(s.text[at+1 : min(len(s.text), at+1+2*maxKey)]); !ok {
		return false
	}
	before := bytes.TrimRight(s.text[max(0, at-64):at], " \t\r\n")
	n := len(before)
	if n == 0 || strings.IndexByte(":,[", before[n-1]) < 0 {
		return true
	}
	shown := min(len(s.text)-at, maxShown)
	if s.budget -= shown; slices.Contains(*s.shapes, readShape(s.text[at:at+shown])) {
		return true
	}
	if before[n-1] != ',' || s.list {
		return false
	}
	size, closed := valueExtent(s.text[at:]) // an object within another has something behind it
	s.tries++
	s.budget -= size
	return closed && len(bytes.TrimSpace(s.text[at+size:])) == 0
}
