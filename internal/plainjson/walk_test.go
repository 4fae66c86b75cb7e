package plainjson_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// FuzzWalk holds what is walked against what encoding/json reads, and lets other bytes do no harm.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{`{"a": 1, "b":[true ,{"c":"}\\\""}],"a":null}`,
		`[]`, `{}`, ` [ 1 , "x\n\u00e9" , [ ] , {} ] `, `"\ud83d\ude00"`,
		`"\ud83d"`, `"\ud83d\ud83d\ude00\u0000\/"`, `"\udc00\u4e2d"`,
		"\"a\xffb\\n\"", `-1.5e3`, `{"`, `[1,`, `"\`, `{"a`, `{"a":`, `[`,
		`{"a":{"b":[{"c":[1,2,{"d":"e"}]}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var names []string
		values := map[string]string{}
		for name, value := range plainjson.Members(raw) {
			text, _ := plainjson.Text(name)
			names = append(names, text)
			values[text] = string(value)
		}
		elements := []string{}
		for e := range plainjson.Elements(raw) {
			elements = append(elements, string(e))
		}
		text, isText := plainjson.Text(bytes.TrimSpace(raw))
		if !json.Valid(raw) {
			return
		}
		want := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &want) != nil {
			want = map[string]json.RawMessage{}
		}
		if len(want) != len(values) || len(names) < len(values) {
			t.Fatalf("%q has %q, want %q", raw, values, want)
		}
		for name, value := range want {
			if values[name] != string(value) {
				t.Fatalf("%q of %q is %q, want %q", name, raw, values[name], value)
			}
		}
		wanted := []string{}
		var list []json.RawMessage
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) && json.Unmarshal(raw, &list) == nil {
			for _, e := range list {
				wanted = append(wanted, string(e))
			}
		}
		if !reflect.DeepEqual(elements, wanted) {
			t.Fatalf("%q has %q, want %q", raw, elements, wanted)
		}
		var asText any
		_ = json.Unmarshal(raw, &asText) // it is valid
		if read, is := asText.(string); is != isText || read != text {
			t.Fatalf("%q is %q, %v, want %q", raw, text, isText, asText)
		}
	})
}
