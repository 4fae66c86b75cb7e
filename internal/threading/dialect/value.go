package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// readObject reads a JSON object; numbers keep their digits.
func readObject(body []byte) (map[string]any, error) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("the body is not JSON: more follows the object")
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the body is not a JSON object")
	}
	return fields, nil
}

// text returns a value that is a string, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

// object returns a value that is an object, or nil, of which every field is nil.
func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// elements returns a value that is a list, or nil.
func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// field returns what stands at a path of names in a value, or nil.
func field(v any, path ...string) any {
	for _, name := range path {
		v = object(v)[name]
	}
	return v
}

// firstOf returns the first value that is there.
func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// without returns an object without some of its fields.
func without(o map[string]any, names ...string) map[string]any {
	out := maps.Clone(o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// canonical returns a value as JSON that is the same however it was written: fields in their order, no white space,
// numbers in their shortest form. A string that is JSON itself is read first, and any other string is trimmed.
func canonical(v any) string {
	if s, ok := v.(string); ok {
		var inner any
		decoder := json.NewDecoder(strings.NewReader(s))
		decoder.UseNumber()
		if err := decoder.Decode(&inner); err != nil || decoder.More() {
			return strings.TrimSpace(s)
		}
		v = inner
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(shorten(v)); err != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// CanonicalArguments returns the arguments of a call as those of items are.
func CanonicalArguments(arguments string) string { return canonicalArguments(arguments) }

// shorten returns a value with its numbers in their shortest form.
func shorten(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shorten(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = shorten(e)
		}
		return out
	}
	return v
}

// digest returns what stands for an image or a file.
func digest(v any) string { return threading.HashOf(canonical(v)).String() }

// changing are the fields that a client fills in otherwise each time it tries again.
var changing = []string{"client_metadata", "metadata"}

// attribution is how the block begins that Claude Code puts before its instructions; a part of it is new each time.
const attribution = "x-anthropic-billing-header"

// hashBody returns a hash of a body that is a JSON object, without what changes from try to try.
func hashBody(body []byte) threading.Hash {
	members := splice.ListMembers(body)
	slices.SortStableFunc(members, func(a, b splice.Member) int { return strings.Compare(a.Name, b.Name) })
	var parts [][]byte
	for _, m := range members {
		if slices.Contains(changing, m.Name) {
			continue
		}
		parts = append(parts, []byte(m.Name))
		value := body[m.Value.From:m.Value.To]
		if m.Name != "system" || !bytes.HasPrefix(value, []byte("[")) {
			parts = append(parts, value)
			continue
		}
		for _, block := range splice.ListValues(value) {
			if !bytes.Contains(block, []byte(attribution)) {
				parts = append(parts, block)
			}
		}
	}
	return threading.HashOf(parts...)
}
