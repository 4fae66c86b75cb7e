// Package splice changes JSON in place: what is not set stays byte for byte, with its
// order, its spelling and its duplicates, and what is set is written with the indentation
// of the rest.
//
// Words it adds: form (how a file is indented), list (a list whose items can be changed one
// by one), item (one of them with what stands before it).
//
// Invariants: values that are passed in are JSON, as [CheckJSON] says (of anything else, what is found is
// as good as nothing); where a name stands twice, the last one counts, as in JavaScript, Python and Go.
package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// CheckJSON returns an error that names the line and column, both from 1, where b is not one
// JSON value.
func CheckJSON(b []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(b, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return newFault(b, int(syntax.Offset)-1, "malformed JSON: "+syntax.Error())
	}
	return err
}

// Fault is what is wrong with a file, and where: a line and a column, both from 1.
type Fault struct {
	Line, Column int
	Reason       string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Reason)
}

func newFault(b []byte, offset int, reason string) error {
	line, column := LineAndColumn(b, offset)
	return &Fault{line, column, reason}
}

// LineAndColumn returns the line and the column of an offset, both from 1; columns count characters.
func LineAndColumn(b []byte, offset int) (line, column int) {
	before := b[:min(max(offset, 0), len(b))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// Span is where a value begins and ends.
type Span struct{ From, To int }

// Member is a field of an object.
type Member struct {
	Name  string
	At    int // of the name
	Value Span
}

// ListMembers lists the fields of an object, or none if it is something else.
func ListMembers(object []byte) (out []Member) {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return nil
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] != '}'; i = skipSpace(object, i) {
		if object[i] == ',' {
			i = skipSpace(object, i+1)
		}
		m := Member{At: i}
		end := skipValue(object, i)
		if json.Unmarshal(object[i:end], &m.Name) != nil {
			return out // it is a text: the value was checked
		}
		m.Value.From = skipSpace(object, min(skipSpace(object, end)+1, len(object)))
		m.Value.To = skipValue(object, m.Value.From)
		if m.Value.To == m.Value.From {
			return out
		}
		out = append(out, m)
		i = m.Value.To
	}
	return out
}

// GetField returns the value of a field, or nil.
func GetField(object []byte, name string) json.RawMessage {
	if v, ok := findMember(object, name); ok {
		return object[v.From:v.To:v.To]
	}
	return nil
}

func findMember(object []byte, name string) (at Span, ok bool) {
	for _, m := range ListMembers(object) {
		if m.Name == name {
			at = m.Value
			ok = true
		}
	}
	return at, ok
}

// ListSpans returns where the values of a list stand in it.
func ListSpans(list []byte) (out []Span) {
	i := skipSpace(list, 0)
	if i == len(list) || list[i] != '[' {
		return nil
	}
	for i = skipSpace(list, i+1); i < len(list) && list[i] != ']'; i = skipSpace(list, i) {
		if list[i] == ',' {
			i = skipSpace(list, i+1)
		}
		end := skipValue(list, i)
		if end == i {
			return out
		}
		out = append(out, Span{i, end})
		i = end
	}
	return out
}

// skipSpace returns where the next token begins.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns where the value that begins at i ends.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipText(b, i+1)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\r', '\t', ',', ':':
			i++
			continue
		default:
			for i < len(b) && !bytes.ContainsRune([]byte(",]} \n\r\t"), rune(b[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// skipText returns the end of a text from behind its first quote.
func skipText(b []byte, i int) int {
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		escapes := 0
		for at := i + n - 1; at >= i && b[at] == '\\'; at-- {
			escapes++
		}
		if i += n + 1; escapes%2 == 0 {
			return i
		}
	}
	return len(b)
}
