package geminicli

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// A patch turns one JSON value into another: nil changes nothing, {"v": value} puts
// the value in its place, {"o": {key: patch}, "d": [keys], "k": [keys]} goes into an
// object, drops keys and puts them in order, and {"a": {index: patch}} goes into a list
// of the same length. Values and keys are never decoded: their order, numbers and
// escapes stay as they were written.

// maxPatchDepth bounds how deep a patch goes; what is deeper is replaced as a whole.
const maxPatchDepth = 12

// field is one entry of an object, its key as it is written, quotes included.
type field struct {
	key   string
	value json.RawMessage
}

// compacted is JSON without the space between its values; nil if it is not JSON.
func compacted(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// diff is the patch from one compact value to another.
func diff(from, to json.RawMessage) json.RawMessage { return diffAt(from, to, maxPatchDepth) }

func diffAt(from, to json.RawMessage, depth int) json.RawMessage {
	if bytes.Equal(from, to) {
		return nil
	}
	whole := writeObject([]field{{`"v"`, to}})
	a, objects := fieldsOf(from)
	b, both := fieldsOf(to)
	if objects && both && depth > 0 && distinct(a) && distinct(b) {
		return diffObjects(a, b, depth)
	}
	x, lists := splitJSON(from, '[')
	y, both := splitJSON(to, '[')
	if !lists || !both || len(x) != len(y) || depth == 0 {
		return whole
	}
	var inside []field
	for i := range x {
		if p := diffAt(x[i], y[i], depth-1); p != nil {
			inside = append(inside, field{strconv.Quote(strconv.Itoa(i)), p})
		}
	}
	return writeObject([]field{{`"a"`, writeObject(inside)}})
}

func diffObjects(a, b []field, depth int) json.RawMessage {
	var inside []field
	var gone, added, have []string
	for _, f := range b {
		i := slices.IndexFunc(a, f.sameKey)
		switch {
		case i < 0:
			inside = append(inside, field{f.key, writeObject([]field{{`"v"`, f.value}})})
			added = append(added, f.key)
		default:
			if p := diffAt(a[i].value, f.value, depth-1); p != nil {
				inside = append(inside, field{f.key, p})
			}
		}
	}
	for _, f := range a {
		if slices.ContainsFunc(b, f.sameKey) {
			have = append(have, f.key)
		} else {
			gone = append(gone, f.key)
		}
	}
	out := []field{{`"o"`, writeObject(inside)}}
	if len(gone) > 0 {
		out = append(out, field{`"d"`, writeList(gone)})
	}
	if order := keysOf(b); !slices.Equal(order, append(have, added...)) {
		out = append(out, field{`"k"`, writeList(order)})
	}
	return writeObject(out)
}

var errPatch = errors.New("a patch does not fit")

// apply applies a patch to a compact value. One that does not fit is an error.
func apply(v, patch json.RawMessage) (json.RawMessage, error) {
	p, ok := fieldsOf(patch)
	if !ok || len(p) == 0 {
		return v, nil
	}
	if whole, ok := find(p, `"v"`); ok {
		return whole, nil
	}
	if inside, ok := find(p, `"a"`); ok {
		return applyList(v, inside)
	}
	fields, ok := fieldsOf(v)
	if !ok {
		return nil, errPatch
	}
	inside, _ := find(p, `"o"`)
	patches, _ := fieldsOf(inside)
	for _, f := range patches {
		i := slices.IndexFunc(fields, f.sameKey)
		if i < 0 {
			i = len(fields)
			fields = append(fields, field{f.key, nil})
		}
		value, err := apply(fields[i].value, f.value)
		if err != nil || value == nil {
			return nil, errPatch
		}
		fields[i].value = value
	}
	gone, _ := find(p, `"d"`)
	keys, _ := splitJSON(gone, '[')
	for _, key := range keys {
		fields = slices.DeleteFunc(fields, field{key: string(key)}.sameKey)
	}
	order, _ := find(p, `"k"`)
	keys, _ = splitJSON(order, '[')
	var sorted []field
	for _, key := range keys {
		if i := slices.IndexFunc(fields, field{key: string(key)}.sameKey); i >= 0 {
			sorted = append(sorted, fields[i])
			fields = slices.Delete(fields, i, i+1)
		}
	}
	return writeObject(append(sorted, fields...)), nil
}

func applyList(v, inside json.RawMessage) (json.RawMessage, error) {
	list, ok := splitJSON(v, '[')
	patches, fits := fieldsOf(inside)
	if !ok || !fits {
		return nil, errPatch
	}
	for _, f := range patches {
		i, err := strconv.Atoi(string(bytes.Trim([]byte(f.key), `"`)))
		if err != nil || i < 0 || i >= len(list) {
			return nil, errPatch
		}
		if list[i], err = apply(list[i], f.value); err != nil {
			return nil, err
		}
	}
	items := make([]string, len(list))
	for i := range list {
		items[i] = string(list[i])
	}
	return writeList(items), nil
}

func (f field) sameKey(o field) bool { return f.key == o.key }

func find(fields []field, key string) (json.RawMessage, bool) {
	if i := slices.IndexFunc(fields, field{key: key}.sameKey); i >= 0 {
		return fields[i].value, true
	}
	return nil, false
}

func keysOf(fields []field) (out []string) {
	for _, f := range fields {
		out = append(out, f.key)
	}
	return out
}

// distinct reports whether no key comes twice. Objects with very many keys are replaced
// as a whole, for they are compared key by key.
func distinct(fields []field) bool {
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.key] = true
	}
	return len(seen) == len(fields) && len(fields) <= 256
}

// fieldsOf are the fields of a compact object.
func fieldsOf(raw json.RawMessage) ([]field, bool) {
	pieces, ok := splitJSON(raw, '{')
	if !ok {
		return nil, false
	}
	out := make([]field, len(pieces))
	for i, p := range pieces {
		end := stringEnd(p)
		out[i] = field{string(p[:end]), p[min(end+1, len(p)):]}
	}
	return out, true
}

// splitJSON splits a valid compact object or list at its commas.
func splitJSON(raw json.RawMessage, open byte) ([]json.RawMessage, bool) {
	if len(raw) < 2 || raw[0] != open {
		return nil, false
	}
	out := []json.RawMessage{}
	depth := 0
	from := 1
	for i := 1; i < len(raw)-1; i++ {
		switch raw[i] {
		case '"':
			i += stringEnd(raw[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, raw[from:i])
				from = i + 1
			}
		}
	}
	if from < len(raw)-1 {
		out = append(out, raw[from:len(raw)-1])
	}
	return out, true
}

// stringEnd is where the text that raw begins with ends.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func writeObject(fields []field) json.RawMessage {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, f.key...), ':'), f.value...)
	}
	return append(out, '}')
}

func writeList(items []string) json.RawMessage {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}
