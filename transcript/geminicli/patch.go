package geminicli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// A patch turns one JSON value into another: nil changes nothing, {"v": value} puts
// the value in its place, {"o": {key: patch}, "d": [keys]} goes into an object and
// {"a": {index: patch}} into a list of the same length.

// decode reads JSON, keeping numbers as they are written; invalid JSON is nil.
func decode(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// diff is the patch from one value to another.
func diff(from, to any) map[string]any {
	if equal(from, to) {
		return nil
	}
	whole := map[string]any{"v": to}
	switch a := from.(type) {
	case map[string]any:
		b, ok := to.(map[string]any)
		if !ok {
			return whole
		}
		inside, gone := map[string]any{}, []any{}
		for key, value := range b {
			old, had := a[key]
			switch p := diff(old, value); {
			case !had:
				inside[key] = map[string]any{"v": value}
			case p != nil:
				inside[key] = p
			}
		}
		for key := range a {
			if _, stays := b[key]; !stays {
				gone = append(gone, key)
			}
		}
		out := map[string]any{"o": inside}
		if len(gone) > 0 {
			out["d"] = gone
		}
		return out
	case []any:
		b, ok := to.([]any)
		if !ok || len(a) != len(b) {
			return whole
		}
		inside := map[string]any{}
		for i := range a {
			if p := diff(a[i], b[i]); p != nil {
				inside[strconv.Itoa(i)] = p
			}
		}
		return map[string]any{"a": inside}
	}
	return whole
}

// apply applies a patch. One that does not fit the value is an error.
func apply(v any, p any) (any, error) {
	patch, ok := p.(map[string]any)
	if !ok || len(patch) == 0 {
		return v, nil
	}
	if value, whole := patch["v"]; whole {
		return value, nil
	}
	if inside, ok := patch["a"].(map[string]any); ok {
		list, ok := v.([]any)
		for key, inner := range inside {
			i, err := strconv.Atoi(key)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return nil, fmt.Errorf("a patch of a list does not fit")
			}
			if list[i], err = apply(list[i], inner); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a patch of an object does not fit")
	}
	if inside, ok := patch["o"].(map[string]any); ok {
		for key, inner := range inside {
			value, err := apply(fields[key], inner)
			if err != nil {
				return nil, err
			}
			fields[key] = value
		}
	}
	if gone, ok := patch["d"].([]any); ok {
		for _, key := range gone {
			if name, ok := key.(string); ok {
				delete(fields, name)
			}
		}
	}
	return fields, nil
}
