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

// objectField is one entry of an object, its key as it is written, quotes included.
type objectField struct {
	key   string
	value json.RawMessage
}

// compactJSON is JSON without the space between its values; nil if it is not JSON.
func compactJSON(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// diffValues returns the patch from one compact value to another.
func diffValues(from, to json.RawMessage) json.RawMessage { return diffAt(from, to, maxPatchDepth) }

func diffAt(from, to json.RawMessage, depth int) json.RawMessage {
	if bytes.Equal(from, to) {
		return nil
	}
	whole := writeObject([]objectField{{`"v"`, to}})
	a, objects := readFields(from)
	b, both := readFields(to)
	if objects && both && depth > 0 && hasUniqueKeys(a) && hasUniqueKeys(b) {
		return diffObjects(a, b, depth)
	}
	x, lists := splitJSON(from, '[')
	y, both := splitJSON(to, '[')
	if !lists || !both || len(x) != len(y) || depth == 0 {
		return whole
	}
	var inside []objectField
	for i := range x {
		if p := diffAt(x[i], y[i], depth-1); p != nil {
			inside = append(inside, objectField{strconv.Quote(strconv.Itoa(i)), p})
		}
	}
	return writeObject([]objectField{{`"a"`, writeObject(inside)}})
}

func diffObjects(a, b []objectField, depth int) json.RawMessage {
	var inside []objectField
	var gone, added, have []string
	for _, f := range b {
		i := slices.IndexFunc(a, f.sameKey)
		switch {
		case i < 0:
			inside = append(inside, objectField{f.key, writeObject([]objectField{{`"v"`, f.value}})})
			added = append(added, f.key)
		default:
			if p := diffAt(a[i].value, f.value, depth-1); p != nil {
				inside = append(inside, objectField{f.key, p})
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
	out := []objectField{{`"o"`, writeObject(inside)}}
	if len(gone) > 0 {
		out = append(out, objectField{`"d"`, writeList(gone)})
	}
	if order := fieldKeys(b); !slices.Equal(order, append(have, added...)) {
		out = append(out, objectField{`"k"`, writeList(order)})
	}
	return writeObject(out)
}

var errPatch = errors.New("a patch does not fit")

// applyPatch applies a patch to a compact value. One that does not fit is an error.
func applyPatch(v, patch json.RawMessage) (json.RawMessage, error) {
	p, ok := readFields(patch)
	if !ok || len(p) == 0 {
		return v, nil
	}
	if whole, ok := findField(p, `"v"`); ok {
		return whole, nil
	}
	if inside, ok := findField(p, `"a"`); ok {
		return patchList(v, inside)
	}
	fields, ok := readFields(v)
	if !ok {
		return nil, errPatch
	}
	inside, _ := findField(p, `"o"`)
	patches, _ := readFields(inside)
	for _, f := range patches {
		i := slices.IndexFunc(fields, f.sameKey)
		if i < 0 {
			i = len(fields)
			fields = append(fields, objectField{f.key, nil})
		}
		value, err := applyPatch(fields[i].value, f.value)
		if err != nil || value == nil {
			return nil, errPatch
		}
		fields[i].value = value
	}
	gone, _ := findField(p, `"d"`)
	keys, _ := splitJSON(gone, '[')
	for _, key := range keys {
		fields = slices.DeleteFunc(fields, objectField{key: string(key)}.sameKey)
	}
	order, _ := findField(p, `"k"`)
	keys, _ = splitJSON(order, '[')
	var sorted []objectField
	for _, key := range keys {
		if i := slices.IndexFunc(fields, objectField{key: string(key)}.sameKey); i >= 0 {
			sorted = append(sorted, fields[i])
			fields = slices.Delete(fields, i, i+1)
		}
	}
	return writeObject(append(sorted, fields...)), nil
}

func patchList(v, inside json.RawMessage) (json.RawMessage, error) {
	list, ok := splitJSON(v, '[')
	patches, fits := readFields(inside)
	if !ok || !fits {
		return nil, errPatch
	}
	for _, f := range patches {
		i, err := strconv.Atoi(string(bytes.Trim([]byte(f.key), `"`)))
		if err != nil || i < 0 || i >= len(list) {
			return nil, errPatch
		}
		if list[i], err = applyPatch(list[i], f.value); err != nil {
			return nil, err
		}
	}
	items := make([]string, len(list))
	for i := range list {
		items[i] = string(list[i])
	}
	return writeList(items), nil
}

func (f objectField) sameKey(o objectField) bool { return f.key == o.key }

func findField(fields []objectField, key string) (json.RawMessage, bool) {
	if i := slices.IndexFunc(fields, objectField{key: key}.sameKey); i >= 0 {
		return fields[i].value, true
	}
	return nil, false
}

func fieldKeys(fields []objectField) (out []string) {
	for _, f := range fields {
		out = append(out, f.key)
	}
	return out
}

// hasUniqueKeys reports whether no key comes twice. Objects with very many keys are replaced
// as a whole, for they are compared key by key.
func hasUniqueKeys(fields []objectField) bool {
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.key] = true
	}
	return len(seen) == len(fields) && len(fields) <= 256
}

// readFields returns the fields of a compact object.
func readFields(raw json.RawMessage) ([]objectField, bool) {
	pieces, ok := splitJSON(raw, '{')
	if !ok {
		return nil, false
	}
	out := make([]objectField, len(pieces))
	for i, p := range pieces {
		end := stringEnd(p)
		out[i] = objectField{string(p[:end]), p[min(end+1, len(p)):]}
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

// stringEnd returns where the text that raw begins with ends.
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

func writeObject(fields []objectField) json.RawMessage {
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
