package tooltest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
)

// changeDocument picks a line that is JSON, or the whole file, and changes it.
func changeDocument(r *rand.Rand, data []byte, change func(doc any) any) []byte {
	edit := func(raw []byte) ([]byte, bool) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var doc any
		if dec.Decode(&doc) != nil {
			return nil, false
		}
		out, err := json.Marshal(change(doc))
		return out, err == nil
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for range 4 {
		i := r.IntN(len(lines))
		line := bytes.TrimSpace(lines[i])
		if len(line) < 2 || line[0] != '{' && line[0] != '[' {
			continue
		}
		if out, ok := edit(line); ok {
			lines[i] = append(out, '\n')
			return bytes.Join(lines, nil)
		}
	}
	if out, ok := edit(data); ok {
		return out
	}
	return data
}

// documentSlot is a place in a document that can be set.
type documentSlot struct {
	value any
	set   func(any)
}

// listSlots returns all places in a document, in order.
func listSlots(doc any, set func(any)) []documentSlot {
	out := []documentSlot{{doc, set}}
	switch doc := doc.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(doc)) {
			out = append(out, listSlots(doc[k], func(v any) { doc[k] = v })...)
		}
	case []any:
		for i := range doc {
			out = append(out, listSlots(doc[i], func(v any) { doc[i] = v })...)
		}
	}
	return out
}

// spliceValue puts another value in the place of one: of the same document or of the wrong
// type, too large, too deep, or none.
func spliceValue(r *rand.Rand, data, _ []byte) []byte {
	return changeDocument(r, data, func(doc any) any {
		root := doc
		all := listSlots(doc, func(v any) { root = v })
		s := all[r.IntN(len(all))]
		values := []any{
			nil, true, "", "x", "../../etc/passwd", "\x00\ufffd\U0001F600", []any{}, map[string]any{},
			[]any{nil, 1, "x", map[string]any{}},
			json.Number("1e308"), json.Number("-1"), json.Number("99999999999999999999"), json.Number("1767225600.5"),
			deepValue(2000),
		}
		if i := r.IntN(2 * len(values)); i < len(values) {
			s.set(values[i])
			return root
		}
		raw, err := json.Marshal(all[r.IntN(len(all))].value) // a copy: a document must not hold itself
		if err == nil {
			s.set(json.RawMessage(raw))
		}
		return root
	})
}

func deepValue(n int) any {
	return json.RawMessage(append(bytes.Repeat([]byte("["), n), bytes.Repeat([]byte("]"), n)...))
}

// sameTexts gives one text the value of another: ids meet, parents lead in circles.
func sameTexts(r *rand.Rand, data, other []byte) []byte {
	var texts []string
	changeDocument(r, other, func(doc any) any {
		for _, s := range listSlots(doc, func(any) {}) {
			if text, ok := s.value.(string); ok {
				texts = append(texts, text)
			}
		}
		return doc
	})
	return changeDocument(r, data, func(doc any) any {
		var own []documentSlot
		for _, s := range listSlots(doc, func(any) {}) {
			if _, ok := s.value.(string); ok {
				own = append(own, s)
			}
		}
		if len(own) > 0 && len(texts) > 0 {
			own[r.IntN(len(own))].set(texts[r.IntN(len(texts))])
		}
		return doc
	})
}
