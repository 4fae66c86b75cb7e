package editor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// node is a value of JSON and where it stands.
type node struct {
	kind     byte // { [ or, for all else, v
	from, to int
	scalar   any
	items    []item
}

// item is a field of an object or a value of a list.
type item struct {
	key   string
	from  int // of the key, or of the value in a list
	value *node
	comma int // where the comma behind it is; -1 without
}

// jsonText is a text in JSON, JSONC or JSON5.
type jsonText struct {
	text   []byte
	format Format
	root   *node // nil for a text that says nothing
	notes  []note
	at     int
	depth  int
}

// note is a comment.
type note struct {
	from, to int
	line     bool // it ends with its line
}

func readJSON(text []byte, f Format) (document, error) {
	d := &jsonText{text: text, format: f, at: afterMark(text)}
	if err := d.skip(); err != nil {
		return nil, err
	}
	if d.at == len(text) {
		return d, nil
	}
	root, err := d.readValue()
	if err != nil {
		return nil, err
	}
	if err := d.skip(); err != nil {
		return nil, err
	}
	if d.at < len(text) {
		return nil, d.fault("something stands behind the end")
	}
	if root.kind != '{' {
		return nil, newFault(text, root.from, "the file is not an object")
	}
	d.root = root
	return d, nil
}

func (d *jsonText) fault(reason string) error { return newFault(d.text, d.at, reason) }

// skip skips space and comments.
func (d *jsonText) skip() error {
	for d.at < len(d.text) {
		c := d.text[d.at]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			d.at++
		case d.format == JSON5 && (c == '\v' || c == '\f'):
			d.at++
		case c == '/' && d.at+1 < len(d.text) && (d.text[d.at+1] == '/' || d.text[d.at+1] == '*'):
			if d.format == JSON {
				return d.fault("a comment stands here, and this file may have none")
			}
			n := note{from: d.at, line: d.text[d.at+1] == '/'}
			if n.line {
				n.to = endOfLine(d.text, d.at)
			} else {
				end := bytes.Index(d.text[d.at+2:], []byte("*/"))
				if end < 0 {
					return d.fault("a comment does not end")
				}
				n.to = d.at + end + 4
			}
			d.at = n.to
			d.notes = append(d.notes, n)
		default:
			return nil
		}
	}
	return nil
}

// endOfLine returns where a line ends, before what ends it.
func endOfLine(text []byte, at int) int {
	n := bytes.IndexByte(text[at:], '\n')
	if n < 0 {
		return len(text)
	}
	if n > 0 && text[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// readValue reads the value that begins here.
func (d *jsonText) readValue() (*node, error) {
	if d.at == len(d.text) {
		return nil, d.fault("the file ends too early")
	}
	n := &node{kind: 'v', from: d.at}
	var err error
	switch c := d.text[d.at]; {
	case c == '{' || c == '[':
		n.kind = c
		err = d.readItems(n)
	case c == '"' || c == '\'' && d.format == JSON5:
		n.scalar, err = d.readString()
	default:
		n.scalar, err = d.readWord()
	}
	n.to = d.at
	return n, err
}

// readItems reads what is in an object or a list.
func (d *jsonText) readItems(n *node) error {
	if d.depth++; d.depth > maxDepth {
		return d.fault("the file is nested too deeply")
	}
	defer func() { d.depth-- }()
	end := byte('}')
	if n.kind == '[' {
		end = ']'
	}
	d.at++
	for {
		if err := d.skip(); err != nil {
			return err
		}
		if d.at == len(d.text) {
			return d.fault("the file ends too early")
		}
		if d.text[d.at] == end {
			break
		}
		if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
			return d.fault("a comma is missing")
		}
		it := item{from: d.at, comma: -1}
		if n.kind == '{' {
			if err := d.readKey(&it); err != nil {
				return err
			}
		}
		var err error
		if it.value, err = d.readValue(); err != nil {
			return err
		}
		if err := d.skip(); err != nil {
			return err
		}
		if d.at < len(d.text) && d.text[d.at] == ',' {
			it.comma = d.at
			d.at++
		}
		n.items = append(n.items, it)
	}
	if k := len(n.items); d.format == JSON && k > 0 && n.items[k-1].comma >= 0 {
		return newFault(d.text, n.items[k-1].comma, "a comma stands behind the last value, and this file may have none")
	}
	d.at++
	return nil
}

// readKey reads the name of a field and the colon.
func (d *jsonText) readKey(it *item) (err error) {
	switch c := d.text[d.at]; {
	case c == '"' || c == '\'' && d.format == JSON5:
		it.key, err = d.readString()
	case d.format == JSON5:
		from := d.at
		for d.at < len(d.text) {
			r, size := utf8.DecodeRune(d.text[d.at:])
			if r != '_' && r != '$' && !unicode.IsLetter(r) && !(d.at > from && unicode.IsDigit(r)) {
				break
			}
			d.at += size
		}
		if it.key = string(d.text[from:d.at]); it.key == "" {
			err = d.fault("a name is missing")
		}
	default:
		err = d.fault("a name in quotes is missing")
	}
	if err != nil {
		return err
	}
	if err := d.skip(); err != nil {
		return err
	}
	if d.at == len(d.text) || d.text[d.at] != ':' {
		return d.fault("a colon is missing")
	}
	d.at++
	return d.skip()
}

// readString reads a text in quotes.
func (d *jsonText) readString() (string, error) {
	from := d.at
	quote := d.text[d.at]
	for d.at++; d.at < len(d.text) && d.text[d.at] != quote; d.at++ {
		switch c := d.text[d.at]; {
		case c == '\\':
			d.at++
		case c < ' ' && (d.format != JSON5 || c == '\n' || c == '\r'):
			return "", d.fault("a text does not end in its line")
		}
	}
	if d.at >= len(d.text) {
		d.at = from
		return "", d.fault("a text does not end")
	}
	d.at++
	raw := d.text[from:d.at]
	if d.format == JSON5 {
		text, ok := unescape(raw[1 : len(raw)-1])
		if !ok {
			return "", newFault(d.text, from, "a text has an escape that is not known")
		}
		return text, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", newFault(d.text, from, "a text has an escape that is not known")
	}
	return text, nil
}

// simple are the escapes of one character.
var simple = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00"}

// unescape returns what a text of JSON5 says.
func unescape(raw []byte) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out.WriteByte(raw[i])
			continue
		}
		if i++; i == len(raw) {
			return "", false
		}
		switch c := raw[i]; c {
		case 'x', 'u':
			size := map[byte]int{'x': 2, 'u': 4}[c]
			r, ok := hex(raw, i+1, size)
			if !ok {
				return "", false
			}
			i += size
			if low, ok := hex(raw, i+3, 4); utf16.IsSurrogate(r) && ok && i+2 < len(raw) && raw[i+1] == '\\' &&
				raw[i+2] == 'u' && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out.WriteRune(r)
		case '\r':
			if i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
		case '\n':
		default:
			if text, ok := simple[c]; ok {
				out.WriteString(text)
			} else {
				out.WriteByte(c)
			}
		}
	}
	return out.String(), true
}

// hex reads a number of some digits.
func hex(raw []byte, from, size int) (rune, bool) {
	if from+size > len(raw) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[from:from+size]), 16, 32)
	return rune(n), err == nil
}

// readWord reads a number or one of the three words.
func (d *jsonText) readWord() (any, error) {
	from := d.at
	for d.at < len(d.text) && !strings.ContainsRune(" \t\r\n\v\f,:{}[]\"'/", rune(d.text[d.at])) {
		d.at++
	}
	word := string(d.text[from:d.at])
	switch word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	}
	if d.format == JSON5 && isNumber5(word) || json.Valid([]byte(word)) {
		return number(word), nil
	}
	return nil, newFault(d.text, from, "a value is missing")
}

// isNumber5 reports whether a word is a number of JSON5.
func isNumber5(word string) bool {
	word = strings.TrimLeft(word, "+-")
	if word == "Infinity" || word == "NaN" {
		return true
	}
	if digits, ok := strings.CutPrefix(strings.ToLower(word), "0x"); ok {
		_, err := strconv.ParseUint(digits, 16, 64)
		return err == nil
	}
	if strings.Trim(word, "0123456789.eE+-") != "" {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err == nil || strings.Contains(fmt.Sprint(err), "range")
}

func (d *jsonText) value() any {
	if d.root == nil {
		return map[string]any{}
	}
	return d.root.plain()
}

// plain returns what a node means. Of a name that stands twice the last counts.
func (n *node) plain() any {
	switch n.kind {
	case '{':
		out := map[string]any{}
		for _, it := range n.items {
			out[it.key] = it.value.plain()
		}
		return out
	case '[':
		out := []any{}
		for _, it := range n.items {
			out = append(out, it.value.plain())
		}
		return out
	}
	return n.scalar
}

// find returns the node that a path leads to, and the index of it in its table; as far as the path leads, and how
// many keys that are. What stands twice is refused: which one counts is not the same for all readers.
func (d *jsonText) find(path []string) (in *node, index, found int, err error) {
	n := d.root
	index = -1
	for i, key := range path {
		if n.kind != '{' {
			return nil, 0, 0, newFault(d.text, n.from, fmt.Sprintf("%q is not a table", strings.Join(path[:i], ".")))
		}
		at := -1
		for k, it := range n.items {
			if it.key != key {
				continue
			}
			if at >= 0 {
				return nil, 0, 0, newFault(d.text, it.from, fmt.Sprintf("%q stands here twice", key))
			}
			at = k
		}
		if at < 0 {
			return n, -1, i, nil
		}
		if i == len(path)-1 {
			return n, at, i + 1, nil
		}
		n = n.items[at].value
	}
	return n, index, len(path), nil
}

func (d *jsonText) placeOf(path []string) int {
	if d.root == nil {
		return 0
	}
	in, index, _, err := d.find(path)
	switch {
	case err != nil:
		return d.root.from
	case index >= 0:
		return in.items[index].from
	}
	return in.from
}

// findThere is find for what must be there.
func (d *jsonText) findThere(path []string) (in *node, index int, err error) {
	if d.root == nil {
		return nil, 0, newFault(d.text, 0, "the file is empty")
	}
	in, index, found, err := d.find(path)
	if err == nil && (found < len(path) || index < 0) {
		err = newFault(d.text, in.from, fmt.Sprintf("%q is not there", strings.Join(path, ".")))
	}
	return in, index, err
}

// wrap puts tables around a value.
func wrap(keys []string, v any) any {
	for _, key := range slices.Backward(keys) {
		v = Object{{key, v}}
	}
	return v
}

func (d *jsonText) insert(path []string, v any) ([]Edit, int, error) {
	if d.root == nil {
		return d.insertWhole(wrap(path, v)), len(path) - 1, nil
	}
	in, index, found, err := d.find(path)
	if err != nil {
		return nil, 0, err
	}
	if index >= 0 {
		return nil, 0, newFault(d.text, in.items[index].from,
			fmt.Sprintf("%q is there already", strings.Join(path, ".")))
	}
	return d.addItem(in, path[found], wrap(path[found+1:], v)), len(path) - 1 - found, nil
}

func (d *jsonText) appendTo(path []string, v any) ([]Edit, int, error) {
	if d.root == nil {
		return d.insertWhole(wrap(path, []any{v})), len(path), nil
	}
	in, index, found, err := d.find(path)
	if err != nil {
		return nil, 0, err
	}
	if index < 0 {
		return d.addItem(in, path[found], wrap(path[found+1:], []any{v})), len(path) - found, nil
	}
	list := in.items[index].value
	if list.kind != '[' {
		return nil, 0, newFault(d.text, list.from, fmt.Sprintf("%q is not a list", strings.Join(path, ".")))
	}
	return d.addItem(list, "", v), 0, nil
}

// insertWhole writes a file that said nothing.
func (d *jsonText) insertWhole(v any) []Edit {
	nl := newlineOf(d.text)
	at := len(d.text)
	text := d.render(v, "", "  ", nl, true)
	if isBlank(d.text[afterMark(d.text):]) {
		at = afterMark(d.text)
	} else if d.text[at-1] != '\n' {
		text = nl + text
	}
	if at == len(d.text) {
		text += nl
	}
	return []Edit{{At: at, New: text}}
}

// layout is how what is in an object or a list is written.
type layout struct {
	lines      bool   // each value on its own
	indent     string // of its values
	base, unit string
	newline    string
}

func (d *jsonText) layoutOf(n *node) layout {
	l := layout{base: indentAt(d.text, n.from), unit: d.unit(), newline: newlineOf(d.text)}
	l.indent = l.base + l.unit
	if k := len(n.items); k > 0 {
		from := n.items[k-1].from
		before := lineStart(d.text, from)
		l.lines = before > n.from && isBlank(d.text[before:from])
		if l.lines {
			l.indent = string(d.text[before:from])
		}
		return l
	}
	l.lines = len(d.root.items) == 0 || bytes.ContainsRune(d.text[d.root.from:d.root.to], '\n')
	return l
}

// unit returns what a level is indented by.
func (d *jsonText) unit() string {
	for _, it := range d.root.items {
		before := lineStart(d.text, it.from)
		space := string(d.text[before:it.from])
		if before <= d.root.from || !isBlank([]byte(space)) {
			continue
		}
		if unit := strings.TrimPrefix(space, indentAt(d.text, d.root.from)); unit != "" {
			return unit
		}
	}
	return "  "
}

// addItem adds a field or a value behind the others.
func (d *jsonText) addItem(n *node, key string, v any) []Edit {
	l := d.layoutOf(n)
	what := d.render(v, l.indent, l.unit, l.newline, l.lines)
	if n.kind == '{' {
		what = quote(key) + ": " + what
	}
	gap := " "
	if l.lines {
		gap = l.newline + l.indent
	}
	if len(n.items) == 0 {
		return d.addFirst(n, l, gap, what)
	}
	last := n.items[len(n.items)-1]
	at := last.value.to
	if last.comma >= 0 {
		at = last.comma + 1
		what += ","
	}
	behind, ended := d.behindNotes(at)
	if ended && !l.lines {
		gap = l.newline + l.indent
	}
	switch {
	case last.comma >= 0:
		return []Edit{{At: behind, New: gap + what}}
	case behind == at:
		return []Edit{{At: at, New: "," + gap + what}}
	}
	return []Edit{{At: at, New: ","}, {At: behind, New: gap + what}}
}

// addFirst adds what is the first field or value.
func (d *jsonText) addFirst(n *node, l layout, gap, what string) []Edit {
	inner := d.text[n.from+1 : n.to-1]
	if isBlank(inner) {
		if l.lines {
			what = gap + what + l.newline + l.base
		}
		return []Edit{{At: n.from + 1, Old: string(inner), New: what}}
	}
	at := n.from + 1
	for _, c := range d.notes {
		if c.from > n.from && c.to < n.to {
			at = c.to
		}
	}
	if !bytes.ContainsRune(inner, '\n') {
		gap = " "
	}
	return []Edit{{At: at, New: gap + what}}
}

// behindNotes returns where the comments end that follow in the same line, and whether the line ends with the last.
func (d *jsonText) behindNotes(at int) (behind int, ended bool) {
	behind = at
	for _, c := range d.notes {
		if c.from < behind || ended {
			continue
		}
		if len(bytes.Trim(d.text[behind:c.from], " \t")) > 0 {
			break
		}
		behind = c.to
		ended = c.line
	}
	return behind, ended
}

func (d *jsonText) replace(path []string, v any) ([]Edit, error) {
	in, index, err := d.findThere(path)
	if err != nil {
		return nil, err
	}
	return d.exchange(in, index, v), nil
}

func (d *jsonText) replaceItem(path []string, i int, v any) ([]Edit, error) {
	list, err := d.listOf(path, i)
	if err != nil {
		return nil, err
	}
	return d.exchange(list, i, v), nil
}

// exchange puts a value in the place of another.
func (d *jsonText) exchange(in *node, index int, v any) []Edit {
	l := d.layoutOf(in)
	old := in.items[index].value
	indent := indentAt(d.text, in.items[index].from)
	return []Edit{{At: old.from, Old: string(d.text[old.from:old.to]),
		New: d.render(v, indent, l.unit, l.newline, l.lines)}}
}

// listOf returns the list that a path leads to, which must have an item.
func (d *jsonText) listOf(path []string, i int) (*node, error) {
	in, index, err := d.findThere(path)
	if err != nil {
		return nil, err
	}
	list := in.items[index].value
	if list.kind != '[' || i < 0 || i >= len(list.items) {
		return nil, newFault(d.text, list.from, fmt.Sprintf("%q has no such item", strings.Join(path, ".")))
	}
	return list, nil
}

func (d *jsonText) remove(path []string) ([]Edit, error) {
	in, index, err := d.findThere(path)
	if err != nil {
		return nil, err
	}
	return d.cutItem(in, index), nil
}

func (d *jsonText) removeItem(path []string, i int) ([]Edit, error) {
	list, err := d.listOf(path, i)
	if err != nil {
		return nil, err
	}
	return d.cutItem(list, i), nil
}

// cutItem takes out a field or a value with its comma and the space before it.
func (d *jsonText) cutItem(n *node, i int) []Edit {
	it := n.items[i]
	from := it.from
	for from > n.from+1 && strings.IndexByte(" \t\r\n", d.text[from-1]) >= 0 {
		from--
	}
	to := it.value.to
	if len(n.items) == 1 && it.comma < 0 && isBlank(d.text[n.from+1:it.from]) && isBlank(d.text[to:n.to-1]) {
		return []Edit{d.cut(n.from+1, n.to-1)}
	}
	rest := to
	if it.comma >= 0 {
		rest = it.comma + 1
	}
	broken := bytes.HasPrefix(bytes.TrimLeft(d.text[rest:], " \t\r"), []byte("\n"))
	for _, c := range d.notes {
		if c.line && c.to == from && !broken { // the line that the comment ends must end
			from = lineStart(d.text, it.from)
		}
	}
	var out []Edit
	if i > 0 && i == len(n.items)-1 && it.comma < 0 {
		out = append(out, d.cut(n.items[i-1].comma, n.items[i-1].comma+1))
		from = max(from, n.items[i-1].comma+1)
	}
	switch {
	case it.comma < 0:
	case it.comma == to:
		to++
		if i == 0 && !bytes.ContainsRune(d.text[from:it.from], '\n') {
			for d.text[to] == ' ' || d.text[to] == '\t' {
				to++
			}
		}
	default:
		return append(out, d.cut(from, to), d.cut(it.comma, it.comma+1))
	}
	if k := len(out); k > 0 && out[k-1].At+1 == from {
		return []Edit{d.cut(out[k-1].At, to)}
	}
	return append(out, d.cut(from, to))
}

func (d *jsonText) cut(from, to int) Edit { return Edit{At: from, Old: string(d.text[from:to])} }

// quote returns a text in quotes.
func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return `""` // a text can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// render writes a value; in lines if it is a table, or a list with tables.
func (d *jsonText) render(v any, indent, unit, nl string, lines bool) string {
	var parts []string
	open := "{"
	end := "}"
	switch v := v.(type) {
	case Object:
		for _, f := range v {
			parts = append(parts, quote(f.Key)+": "+d.render(f.Value, indent+unit, unit, nl, lines))
		}
	case []any:
		open = "["
		end = "]"
		inner := false
		for _, one := range v {
			_, table := one.(Object)
			inner = inner || table
			parts = append(parts, d.render(one, indent+unit, unit, nl, lines))
		}
		lines = lines && inner
	case string:
		return quote(v)
	default:
		return fmt.Sprint(v)
	}
	if len(parts) == 0 {
		return open + end
	}
	if !lines {
		return open + strings.Join(parts, ", ") + end
	}
	gap := nl + indent + unit
	return open + gap + strings.Join(parts, ","+gap) + nl + indent + end
}
