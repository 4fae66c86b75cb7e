package editor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// statement is a head of a table, or a key with its value.
type statement struct {
	from, to int // without the space before it and the comment behind it
	head     bool
	list     bool     // the head of a table in a list
	keys     []string // whole, with those of the table
}

// tomlText is a text in TOML.
type tomlText struct {
	text []byte
	all  []statement
	mean map[string]any
	at   int
}

func readTOML(text []byte) (document, error) {
	d := &tomlText{text: text, at: afterMark(text), mean: map[string]any{}}
	if err := toml.Unmarshal(text[d.at:], &d.mean); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			row, _ := bad.Position()
			return nil, newFault(text, startOfLine(text, row), "malformed TOML: "+bad.Error())
		}
		return nil, newFault(text, 0, "malformed TOML: "+err.Error())
	}
	var table []string
	for d.next() {
		s := statement{from: d.at}
		if text[d.at] == '[' {
			s.head = true
			s.list = bytes.HasPrefix(text[d.at:], []byte("[["))
			d.at++
			if s.list {
				d.at++
			}
			s.keys = d.readKeys()
			d.at += bytes.IndexByte(text[d.at:], ']') + 1
			if s.list {
				d.at++
			}
			table = s.keys
		} else {
			s.keys = append(slices.Clone(table), d.readKeys()...)
			d.at++ // the sign of equality
			d.skipValue()
		}
		if s.to = d.at; d.at > len(text) || s.to <= s.from {
			return nil, newFault(text, s.from, "malformed TOML") // it was read: this cannot be
		}
		d.all = append(d.all, s)
	}
	return d, nil
}

// startOfLine returns where a line begins, by its number from 1.
func startOfLine(text []byte, row int) int {
	at := 0
	for ; row > 1; row-- {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return at
}

// next goes to the next statement, and reports whether there is one.
func (d *tomlText) next() bool {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\r', '\n':
			d.at++
		case '#':
			d.at = endOfLine(d.text, d.at)
		default:
			return true
		}
	}
	return false
}

func (d *tomlText) blanks() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\t') {
		d.at++
	}
}

// readKeys reads a key with its points, up to what follows it.
func (d *tomlText) readKeys() (keys []string) {
	for d.at < len(d.text) {
		d.blanks()
		from := d.at
		if c := d.text[d.at]; c == '"' || c == '\'' {
			d.skipString()
			raw := string(d.text[from:d.at])
			key := strings.Trim(raw, "'")
			if c == '"' {
				var in struct{ K string }
				_ = toml.Unmarshal([]byte("K = "+raw), &in) // the whole file was read
				key = in.K
			}
			keys = append(keys, key)
		} else {
			for d.at < len(d.text) && strings.IndexByte(" \t.=]\r\n", d.text[d.at]) < 0 {
				d.at++
			}
			keys = append(keys, string(d.text[from:d.at]))
		}
		d.blanks()
		if d.at == len(d.text) || d.text[d.at] != '.' {
			return keys
		}
		d.at++
	}
	return keys
}

// skipString skips a text in any quotes.
func (d *tomlText) skipString() {
	quote := d.text[d.at]
	triple := []byte{quote, quote, quote}
	long := bytes.HasPrefix(d.text[d.at:], triple)
	if d.at++; long {
		d.at += 2
	}
	for d.at < len(d.text) {
		switch {
		case d.text[d.at] == '\\' && quote == '"':
			d.at += 2
		case long && bytes.HasPrefix(d.text[d.at:], triple):
			d.at += 3
			for d.at < len(d.text) && d.text[d.at] == quote { // up to two belong to the text
				d.at++
			}
			return
		case !long && d.text[d.at] == quote:
			d.at++
			return
		default:
			d.at++
		}
	}
}

// skipValue skips the value of a key.
func (d *tomlText) skipValue() {
	d.blanks()
	end := d.at
	for depth := 0; d.at < len(d.text); {
		switch c := d.text[d.at]; c {
		case '"', '\'':
			d.skipString()
			end = d.at
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#', '\n', '\r':
			if depth == 0 {
				d.at = end
				return
			}
			if c == '#' {
				d.at = endOfLine(d.text, d.at)
				continue
			}
		}
		if d.at++; strings.IndexByte(" \t", d.text[d.at-1]) < 0 {
			end = d.at
		}
	}
	d.at = end
}

func (d *tomlText) value() any { return d.mean }

// hasPrefix reports whether keys begin with others.
func hasPrefix(keys, path []string) bool {
	return len(keys) >= len(path) && slices.Equal(keys[:len(path)], path)
}

// placeOf returns where a path is first spoken of, or the nearest table around it.
func (d *tomlText) placeOf(path []string) int {
	for n := len(path); n > 0; n-- {
		for _, s := range d.all {
			if hasPrefix(s.keys, path[:n]) {
				return s.from
			}
		}
	}
	return 0
}

func (d *tomlText) insert(path []string, v any) ([]Edit, int, error) {
	if _, ok := lookUp(d.mean, path); ok {
		return nil, 0, newFault(d.text, d.placeOf(path), fmt.Sprintf("%q is there already", strings.Join(path, ".")))
	}
	made := len(path) - 1
	for n := 1; n < len(path); n++ {
		if _, ok := lookUp(d.mean, path[:n]); ok {
			made = len(path) - 1 - n
		}
	}
	table, ok := v.(Object)
	if !ok {
		return nil, 0, newFault(d.text, 0, "only a table can be added")
	}
	nl := newlineOf(d.text)
	block := renderTable(path, table, nl)
	rest := d.text[afterMark(d.text):]
	switch {
	case len(rest) == 0:
		block += nl
	case rest[len(rest)-1] == '\n':
		block = nl + block + nl
	default:
		block = nl + nl + block
	}
	return []Edit{{At: len(d.text), New: block}}, made, nil
}

func (d *tomlText) appendTo(path []string, _ any) ([]Edit, int, error) {
	return nil, 0, newFault(d.text, d.placeOf(path), "lists cannot be changed here")
}

// tableOf returns the statements of the table of a path, which has a head of its own.
func (d *tomlText) tableOf(path []string) (from, to int, err error) {
	for i, s := range d.all {
		if !s.head || s.list || !slices.Equal(s.keys, path) {
			continue
		}
		to = s.to
		for _, inner := range d.all[i+1:] {
			if inner.head {
				break
			}
			to = inner.to
		}
		return s.from, to, nil
	}
	return 0, 0, newFault(d.text, d.placeOf(path), fmt.Sprintf("%q is not a table with a header of its own here",
		strings.Join(path, ".")))
}

func (d *tomlText) replace(path []string, v any) ([]Edit, error) {
	from, to, err := d.tableOf(path)
	if err != nil {
		return nil, err
	}
	table, _ := v.(Object)
	return []Edit{{At: from, Old: string(d.text[from:to]), New: renderTable(path, table, newlineOf(d.text))}}, nil
}

// remove takes out what belongs to a path: tables with heads and what they hold, and single keys.
func (d *tomlText) remove(path []string) (out []Edit, err error) {
	cut := func(from, to int) {
		if k := len(out); k > 0 && from < out[k-1].At+len(out[k-1].Old) {
			from = out[k-1].At + len(out[k-1].Old)
		}
		if to > from {
			out = append(out, Edit{At: from, Old: string(d.text[from:to])})
		}
	}
	for i := 0; i < len(d.all); i++ {
		s := d.all[i]
		if !hasPrefix(s.keys, path) {
			continue
		}
		from := lineStart(d.text, s.from)
		to := s.to
		if s.head {
			for i+1 < len(d.all) && !d.all[i+1].head {
				i++
				to = d.all[i].to
			}
			from = d.emptyLineBefore(from)
		}
		to = endOfLine(d.text, to)
		switch rest := d.text[to:]; {
		case bytes.HasPrefix(rest, []byte("\r\n")):
			to += 2
		case len(rest) > 0:
			to++
		default: // nothing ended this line, so nothing ended the last one either
			from = len(bytes.TrimSuffix(bytes.TrimSuffix(d.text[:from], []byte("\n")), []byte("\r")))
		}
		cut(from, to)
	}
	if len(out) == 0 {
		return nil, newFault(d.text, d.placeOf(path), fmt.Sprintf("%q has no line of its own here", strings.Join(path, ".")))
	}
	return out, nil
}

// emptyLineBefore returns where the empty line before a line begins, or the line itself if there is none.
func (d *tomlText) emptyLineBefore(from int) int {
	if from <= afterMark(d.text) {
		return from
	}
	before := lineStart(d.text, from-1)
	if isBlank(d.text[before:from]) {
		return before
	}
	return from
}

func (d *tomlText) removeItem(path []string, _ int) ([]Edit, error) {
	return nil, newFault(d.text, d.placeOf(path), "lists cannot be changed here")
}

func (d *tomlText) replaceItem(path []string, i int, _ any) ([]Edit, error) {
	return d.removeItem(path, i)
}

// renderTable writes a table with its head, and no end of the last line.
func renderTable(path []string, v Object, nl string) string {
	var keys []string
	for _, key := range path {
		keys = append(keys, tomlKey(key))
	}
	out := "[" + strings.Join(keys, ".") + "]"
	for _, f := range v {
		out += nl + tomlKey(f.Key) + " = " + tomlValue(f.Value)
	}
	return out
}

// tomlKey returns a key, in quotes if it needs them.
func tomlKey(key string) string {
	if key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return key
	}
	return tomlString(key)
}

// tomlString returns a text in quotes.
func tomlString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func tomlValue(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		for _, one := range v {
			parts = append(parts, tomlValue(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Object:
		for _, f := range v {
			parts = append(parts, tomlKey(f.Key)+" = "+tomlValue(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}
