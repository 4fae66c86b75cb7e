package editor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlText is a text in YAML, of one document.
type yamlText struct {
	text []byte
	root *yaml.Node // nil for a text that says nothing
	mean map[string]any
}

func readYAML(text []byte) (document, error) {
	d := &yamlText{text: text, mean: map[string]any{}}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return d, nil
	case err != nil:
		return nil, yamlFault(text, err)
	}
	if next := (yaml.Node{}); !errors.Is(dec.Decode(&next), io.EOF) {
		return nil, newFault(text, startOfLine(text, next.Line), "more than one document stands here")
	}
	if len(doc.Content) != 1 {
		return d, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" && root.Value == "" {
		return d, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, newFault(text, startOfLine(text, root.Line), "the file is not a table")
	}
	if err := root.Decode(&d.mean); err != nil {
		return nil, yamlFault(text, err)
	}
	d.root = root
	return d, nil
}

// yamlFault returns the line that an error of the library names.
func yamlFault(text []byte, err error) error {
	row := 1
	if _, rest, ok := strings.Cut(err.Error(), "line "); ok {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, err := strconv.Atoi(digits); err == nil {
			row = n
		}
	}
	return newFault(text, startOfLine(text, row), "malformed YAML: "+strings.TrimPrefix(err.Error(), "yaml: "))
}

func (d *yamlText) value() any { return d.mean }

// find follows a path; found keys lead to a key node and its value.
func (d *yamlText) find(path []string) (key, value *yaml.Node, found int) {
	value = d.root
	for i, name := range path {
		at := -1
		if value != nil && value.Kind == yaml.MappingNode {
			for k := 0; k+1 < len(value.Content); k += 2 {
				if value.Content[k].Value == name {
					at = k
				}
			}
		}
		if at < 0 {
			return key, value, i
		}
		key = value.Content[at]
		value = value.Content[at+1]
	}
	return key, value, len(path)
}

// offset returns where a node begins. Columns of the library count characters.
func (d *yamlText) offset(n *yaml.Node) int {
	at := startOfLine(d.text, n.Line)
	if n.Line == 1 {
		at = afterMark(d.text)
	}
	for range n.Column - 1 {
		if at >= len(d.text) {
			break
		}
		at++
		for at < len(d.text) && d.text[at]&0xC0 == 0x80 {
			at++
		}
	}
	return at
}

func (d *yamlText) insert(path []string, v any) ([]Edit, int, error) {
	key, value, found := d.find(path)
	if found == len(path) {
		return nil, 0, newFault(d.text, d.offset(key), fmt.Sprintf("%q is there already", strings.Join(path, ".")))
	}
	made := len(path) - 1 - found
	entry := Object{{path[found], wrap(path[found+1:], v)}}
	nl := newlineOf(d.text)
	switch {
	case value == nil || found == 0 && value.Style&yaml.FlowStyle == 0:
		return d.insertLast(renderYAML(entry, "", nl), nl), made, nil
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null" && value.Value == "" && value.Anchor == "":
		indent := indentAt(d.text, d.offset(key)) + "  "
		return d.insertBehind(key, renderYAML(entry, indent, nl), nl), made, nil
	case value.Kind != yaml.MappingNode:
		return nil, 0, newFault(d.text, d.offset(value), fmt.Sprintf("%q is not a table", strings.Join(path[:found], ".")))
	case value.Style&yaml.FlowStyle != 0:
		at := d.offset(value)
		if at >= len(d.text) || d.text[at] != '{' {
			return nil, 0, newFault(d.text, min(at, len(d.text)), "the table begins in a way that is not known")
		}
		inner := flowYAML(entry)
		inner = inner[1 : len(inner)-1]
		if len(value.Content) > 0 {
			inner += ", "
		}
		return []Edit{{At: at + 1, New: inner}}, made, nil
	}
	first := d.offset(value.Content[0])
	indent := indentAt(d.text, first)
	return d.insertBehind(key, renderYAML(entry, indent, nl), nl), made, nil
}

// insertLast adds lines at the end of the file.
func (d *yamlText) insertLast(lines, nl string) []Edit {
	switch rest := d.text[afterMark(d.text):]; {
	case len(rest) == 0 || rest[len(rest)-1] == '\n':
		lines += nl
	default:
		lines = nl + lines
	}
	return []Edit{{At: len(d.text), New: lines}}
}

// insertBehind adds lines behind the line of a key.
func (d *yamlText) insertBehind(key *yaml.Node, lines, nl string) []Edit {
	at := d.offset(key)
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return []Edit{{At: len(d.text), New: nl + lines}}
	}
	return []Edit{{At: at + n + 1, New: lines + nl}}
}

func (d *yamlText) appendTo(path []string, _ any) ([]Edit, int, error) {
	return nil, 0, d.unable(path)
}

func (d *yamlText) removeItem(path []string, _ int) ([]Edit, error) { return nil, d.unable(path) }

func (d *yamlText) replaceItem(path []string, _ int, _ any) ([]Edit, error) {
	return nil, d.unable(path)
}

func (d *yamlText) unable(path []string) error {
	return newFault(d.text, d.placeOf(path), "lists cannot be changed here")
}

func (d *yamlText) placeOf(path []string) int {
	key, _, _ := d.find(path)
	if key == nil {
		return 0
	}
	return d.offset(key)
}

// lastLine returns the last line that a node takes, as far as its parts say.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, inner := range n.Content {
		last = max(last, lastLine(inner))
	}
	return last
}

// spanOf returns the key of a path, and where what belongs to it begins and ends: whole lines, or a place in braces.
func (d *yamlText) spanOf(path []string) (key *yaml.Node, from, to int, flow bool, err error) {
	key, value, found := d.find(path)
	if found < len(path) {
		return nil, 0, 0, false, newFault(d.text, 0, fmt.Sprintf("%q is not there", strings.Join(path, ".")))
	}
	_, parent, _ := d.find(path[:len(path)-1])
	at := d.offset(key)
	if parent.Style&yaml.FlowStyle == 0 {
		return key, lineStart(d.text, at), endOfLine(d.text, startOfLine(d.text, lastLine(value))), false, nil
	}
	to = d.offset(value)
	depth := 0
	for ; to < len(d.text); to++ {
		c := d.text[to]
		if c == '{' || c == '[' {
			depth++
		}
		if depth == 0 && (c == ',' || c == '}') {
			break
		}
		if c == '}' || c == ']' {
			depth--
		}
		if c == '"' || c == '\'' { // a quote within a quote is refused when the text is read again
			end := bytes.IndexByte(d.text[to+1:], c)
			if end < 0 {
				break
			}
			to += end + 1
		}
	}
	return key, at, to, true, nil
}

func (d *yamlText) replace(path []string, v any) ([]Edit, error) {
	_, from, to, flow, err := d.spanOf(path)
	if err != nil {
		return nil, err
	}
	entry := Object{{path[len(path)-1], v}}
	text := renderYAML(entry, indentAt(d.text, endOfIndent(d.text, from)), newlineOf(d.text))
	if flow {
		text = flowYAML(entry)
		text = text[1 : len(text)-1]
	}
	return []Edit{{At: from, Old: string(d.text[from:to]), New: text}}, nil
}

// endOfIndent returns where the space at the beginning of a line ends.
func endOfIndent(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

func (d *yamlText) remove(path []string) ([]Edit, error) {
	_, from, to, flow, err := d.spanOf(path)
	if err != nil {
		return nil, err
	}
	_, parent, _ := d.find(path[:len(path)-1])
	switch {
	case flow && to < len(d.text) && d.text[to] == ',':
		to = endOfIndent(d.text, to+1)
	case flow:
		from = len(bytes.TrimRight(d.text[:from], " \t"))
		from = len(bytes.TrimSuffix(d.text[:from], []byte(",")))
	case bytes.HasPrefix(d.text[to:], []byte("\r\n")):
		to += 2
	case to < len(d.text):
		to++
	default:
		from = len(bytes.TrimSuffix(bytes.TrimSuffix(d.text[:from], []byte("\n")), []byte("\r")))
	}
	out := Edit{At: from, Old: string(d.text[from:to])}
	if !flow && len(parent.Content) == 2 && parent != d.root { // a key without a value would be null, and not a table
		key, _, _ := d.find(path[:len(path)-1])
		at := d.offset(key)
		colon := bytes.IndexByte(d.text[at:from], ':')
		if colon < 0 {
			return nil, newFault(d.text, at, "the table begins in a way that is not known")
		}
		colon += at + 1
		return []Edit{{At: colon, New: " {}"}, out}, nil
	}
	return []Edit{out}, nil
}

// renderYAML writes a table in lines, without the end of the last.
func renderYAML(v Object, indent, nl string) string {
	var lines []string
	for _, f := range v {
		inner, ok := f.Value.(Object)
		if ok && len(inner) > 0 {
			lines = append(lines, indent+yamlScalar(f.Key)+":", renderYAML(inner, indent+"  ", nl))
			continue
		}
		lines = append(lines, indent+yamlScalar(f.Key)+": "+flowYAML(f.Value))
	}
	return strings.Join(lines, nl)
}

// flowYAML writes a value in one line.
func flowYAML(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return yamlScalar(v)
	case []any:
		for _, one := range v {
			parts = append(parts, flowYAML(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Object:
		for _, f := range v {
			parts = append(parts, yamlScalar(f.Key)+": "+flowYAML(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// yamlScalar returns a text, in quotes if it could mean something else without them.
func yamlScalar(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-/"
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if text != "" && strings.Trim(text, plain) == "" && text[0] != '-' && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return quote(text)
}
