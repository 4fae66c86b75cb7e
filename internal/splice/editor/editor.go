// Package editor inserts, replaces and removes one value in a file of settings, in JSON with or without comments,
// JSON5, TOML or YAML, and leaves every other byte as it is.
//
// Words it adds: format (how a file is written), path (keys that lead to a value), edit (bytes that take the place of
// others), change (the edits that one operation made).
//
// Invariants: after each operation the file is read again, and means what it meant before with that one value changed,
// or the operation is refused and the file stays; a refusal is a [splice.Fault] with the line that stands in the way.
//
// It may not know files, agents, or what the values are for.
package editor

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/splice"
)

// Format is how a file is written.
type Format string

// The formats. JSONC is JSON with comments and commas behind the last value.
const (
	JSON  Format = "json"
	JSONC Format = "jsonc"
	JSON5 Format = "json5"
	TOML  Format = "toml"
	YAML  Format = "yaml"
)

// FormatOf returns the format that a file's name says; JSON if it says none.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonc":
		return JSONC
	case ".json5":
		return JSON5
	case ".toml":
		return TOML
	case ".yaml", ".yml":
		return YAML
	}
	return JSON
}

// Field is a key with its value: a string, a bool, an int, an Object, or a list ([]any) of them.
type Field struct {
	Key   string
	Value any
}

// Object is a table whose fields have an order.
type Object []Field

// Edit is a place where New stands instead of Old; At is its offset in the text before.
type Edit struct {
	At  int    `json:"at"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

// Change is what an operation made of a text.
type Change struct {
	Text  []byte
	Edits []Edit // in the order of the text
	Made  int    // how many tables or lists around the value are new
}

// Bounds of a text, in bytes, and of nesting: libraries for the last two formats go a call deeper with each bracket.
const (
	maxJSON   = 16 << 20
	maxOthers = 256 << 10
	maxDepth  = 1000
)

// document is a text that was read.
type document interface {
	// value returns what the text means: maps, lists, texts, numbers, bools and nil; an empty table for a text that
	// says nothing.
	value() any
	placeOf(path []string) int // where a path, or as much of it as is there, begins
	insert(path []string, v any) (edits []Edit, made int, err error)
	appendTo(path []string, v any) (edits []Edit, made int, err error)
	replace(path []string, v any) ([]Edit, error)
	remove(path []string) ([]Edit, error)
	removeItem(path []string, i int) ([]Edit, error)
	replaceItem(path []string, i int, v any) ([]Edit, error)
}

// read reads a text.
func read(text []byte, f Format) (document, error) {
	most := maxJSON
	if f == TOML || f == YAML {
		most = maxOthers
	}
	if len(text) > most {
		return nil, newFault(text, 0, "the file is too large")
	}
	switch f {
	case TOML:
		return readTOML(text)
	case YAML:
		return readYAML(text)
	}
	return readJSON(text, f)
}

// Lookup returns what a path leads to: maps, lists, texts, numbers, bools or nil.
func Lookup(text []byte, f Format, path ...string) (v any, ok bool, err error) {
	d, err := read(text, f)
	if err != nil {
		return nil, false, err
	}
	v, ok = lookUp(d.value(), path)
	return v, ok, nil
}

// Insert adds a value, with the tables around it that are missing. What is there already is refused.
func Insert(text []byte, f Format, path []string, v any) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		return d.insert(path, v)
	}, func(was any) any { return setValue(was, path, plain(v)) })
}

// Append adds a value to a list, with the list and the tables around it if they are missing.
func Append(text []byte, f Format, path []string, v any) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		return d.appendTo(path, v)
	}, func(was any) any {
		list, _ := lookUp(was, path)
		items, _ := list.([]any)
		return setValue(was, path, append(slices.Clone(items), plain(v)))
	})
}

// Replace gives what is there another value.
func Replace(text []byte, f Format, path []string, v any) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		edits, err := d.replace(path, v)
		return edits, 0, err
	}, func(was any) any { return setValue(was, path, plain(v)) })
}

// Remove takes a value away. The table that it stood in stays, also if it is empty then; but for TOML, where a table
// may be there only because it has something in it.
func Remove(text []byte, f Format, path []string) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		edits, err := d.remove(path)
		return edits, 0, err
	}, func(was any) any {
		out := removeValue(was, path)
		if f == TOML {
			return withoutEmpty(out, path)
		}
		return out
	})
}

// RemoveItem takes an item out of a list.
func RemoveItem(text []byte, f Format, path []string, i int) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		edits, err := d.removeItem(path, i)
		return edits, 0, err
	}, func(was any) any {
		list, _ := lookUp(was, path)
		items, _ := list.([]any)
		if i < 0 || i >= len(items) {
			return was
		}
		return setValue(was, path, slices.Delete(slices.Clone(items), i, i+1))
	})
}

// ReplaceItem gives an item of a list another value.
func ReplaceItem(text []byte, f Format, path []string, i int, v any) (Change, error) {
	return operate(text, f, path, func(d document) ([]Edit, int, error) {
		edits, err := d.replaceItem(path, i, v)
		return edits, 0, err
	}, func(was any) any {
		list, _ := lookUp(was, path)
		items, _ := list.([]any)
		if i < 0 || i >= len(items) {
			return was
		}
		items = slices.Clone(items)
		items[i] = plain(v)
		return setValue(was, path, items)
	})
}

// operate reads a text, changes it, and reads the result back.
func operate(text []byte, f Format, path []string, do func(d document) ([]Edit, int, error),
	mean func(was any) any) (Change, error) {
	d, err := read(text, f)
	if err != nil {
		return Change{}, err
	}
	edits, made, err := do(d)
	if err != nil {
		return Change{}, err
	}
	out := apply(text, edits)
	again, err := read(out, f)
	if err != nil || !sameMeaning(f, path, again.value(), mean(d.value())) {
		return Change{}, newFault(text, d.placeOf(path), fmt.Sprintf("%q cannot be changed here without changing more",
			strings.Join(path, ".")))
	}
	return Change{Text: out, Edits: edits, Made: made}, nil
}

// sameMeaning compares what is read again with what was meant. A table of TOML that has lost its last value may have
// gone with it, or may have a head that stays.
func sameMeaning(f Format, path []string, is, meant any) bool {
	return sameValue(is, meant) || f == TOML && sameValue(withoutEmpty(is, path), meant)
}

// withoutEmpty returns a table without the empty ones along a path.
func withoutEmpty(v any, path []string) any {
	inner, ok := lookUp(v, path[:min(len(path), 1)])
	if !ok || len(path) == 0 {
		return v
	}
	inner = withoutEmpty(inner, path[1:])
	if table, is := inner.(map[string]any); is && len(table) == 0 {
		return removeValue(v, path[:1])
	}
	return setValue(v, path[:1], inner)
}

// apply makes the edits of a text.
func apply(text []byte, edits []Edit) []byte {
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at:e.At])
		out.WriteString(e.New)
		at = e.At + len(e.Old)
	}
	out.Write(text[at:])
	return out.Bytes()
}

// Undo returns the text as it was before edits were made; ok is false where it is not what they made.
func Undo(text []byte, edits []Edit) (out []byte, ok bool) {
	at := 0
	shift := 0
	for _, e := range edits {
		from := e.At + shift
		to := from + len(e.New)
		if from < at || to > len(text) || string(text[from:to]) != e.New {
			return nil, false
		}
		out = append(append(out, text[at:from]...), e.Old...)
		at = to
		shift += len(e.New) - len(e.Old)
	}
	return append(out, text[at:]...), true
}

// newFault returns what stands in the way, with its line.
func newFault(text []byte, offset int, reason string) error {
	line, column := splice.LineAndColumn(text, offset)
	return &splice.Fault{Line: line, Column: column, Reason: reason}
}

// lookUp follows a path through tables.
func lookUp(v any, path []string) (any, bool) {
	for _, key := range path {
		table, _ := v.(map[string]any)
		next, ok := table[key]
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// setValue returns a table with another value at a path; what it was is not changed.
func setValue(was any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	out := cloneTable(was)
	out[path[0]] = setValue(out[path[0]], path[1:], v)
	return out
}

// removeValue returns a table without the value at a path.
func removeValue(was any, path []string) any {
	if _, ok := lookUp(was, path); !ok || len(path) == 0 {
		return was
	}
	out := cloneTable(was)
	if len(path) == 1 {
		delete(out, path[0])
	} else {
		out[path[0]] = removeValue(out[path[0]], path[1:])
	}
	return out
}

func cloneTable(v any) map[string]any {
	out := map[string]any{}
	table, _ := v.(map[string]any)
	for key, inner := range table {
		out[key] = inner
	}
	return out
}

// plain returns a value as it is read back.
func plain(v any) any {
	switch v := v.(type) {
	case Object:
		out := map[string]any{}
		for _, f := range v {
			out[f.Key] = plain(f.Value)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	}
	return v
}

// Same reports whether what was read is a value that this program writes.
func Same(read, written any) bool { return sameValue(read, plain(written)) }

// sameValue compares what was read. Numbers that are read as their text are compared with integers, and what is not a
// number is itself.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for key, v := range a {
			if w, ok := other[key]; !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, sameValue)
	case float64:
		other, ok := b.(float64)
		return ok && (a == other || math.IsNaN(a) && math.IsNaN(other))
	}
	if n, ok := integer(a); ok {
		m, also := integer(b)
		return also && n == m
	}
	return reflect.DeepEqual(a, b)
}

// integer returns a whole number, however it was read, as its text.
func integer(v any) (string, bool) {
	switch v := v.(type) {
	case int, int64, uint64:
		return fmt.Sprint(v), true
	case number:
		return string(v), true
	}
	return "", false
}

// number is a number as it is spelled.
type number string

// newlineOf returns how lines of a text end.
func newlineOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// isBlank reports whether there is nothing but space.
func isBlank(b []byte) bool { return len(bytes.TrimLeft(b, " \t\r\n")) == 0 }

// afterMark returns where a text begins behind a byte order mark.
func afterMark(text []byte) int {
	if bytes.HasPrefix(text, []byte("\uFEFF")) {
		return 3
	}
	return 0
}

// lineStart returns where the line of an offset begins.
func lineStart(text []byte, at int) int {
	from := bytes.LastIndexByte(text[:at], '\n') + 1
	if from == 0 {
		from = min(afterMark(text), at)
	}
	return from
}

// indentAt returns the space at the beginning of the line of an offset.
func indentAt(text []byte, at int) string {
	from := lineStart(text, at)
	to := from
	for to < at && (text[to] == ' ' || text[to] == '\t') {
		to++
	}
	return string(text[from:to])
}
