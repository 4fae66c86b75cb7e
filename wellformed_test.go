package scrollback

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

func TestWellFormed(t *testing.T) {
	for in, want := range map[string]string{
		``: ``, `{}`: `{}`, `"\ud83d\ude00"`: `"\ud83d\ude00"`, `"😀"`: `"😀"`, `"\\ud83d"`: `"\\ud83d"`,
		`"\u00e9\n"`:                `"\u00e9\n"`,
		`"\ud83d"`:                  `"\ufffd"`,
		`"\uDE00"`:                  `"\ufffd"`,
		`"\ud83d\ud83d\ude00"`:      `"\ufffd\ud83d\ude00"`,
		`"\ud83d x \\\udE00\""`:     `"\ufffd x \\\ufffd\""`,
		`{"\udc00k":["a\ud800"]}`:   `{"\ufffdk":["a\ufffd"]}`,
		`"\ud83d\u0041"`:            `"\ufffd\u0041"`,
		"\"a\xed\xa0\xbdb\xff\"":    "\"a\uFFFDb\uFFFD\"",
		"\"\\ud83d\xff\\ude00 ok\"": "\"\\ufffd\uFFFD\\ufffd ok\"",
	} {
		if got := string(WellFormed(json.RawMessage(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Every kind of part is made well-formed, in each of its fields, and one that is stays as it is.
func TestPartsWellFormed(t *testing.T) {
	raw := json.RawMessage(`{"q":"\ud83d"}`)
	bad := Parts{Text{Text: "a\xff", Opaque: raw}, Image{Name: "a\xff", URL: "http://x/\xff", Opaque: raw},
		File{Name: "\xff", Opaque: raw},
		ToolCall{ID: "c\xff", Name: "n\xff", Arguments: raw, Opaque: raw},
		ToolResult{CallID: "c\xff", Name: "n\xff", Text: "\xff", Opaque: raw},
		Reasoning{Text: "a\xff", Opaque: raw}}
	kept := append(Parts{}, bad...)
	fixed := bad.WellFormed()
	b, err := json.Marshal(fixed)
	if err != nil || !utf8.Valid(b) || bytes.Contains(b, []byte(`\ud83d`)) {
		t.Errorf("%s, %v", b, err)
	}
	if !reflect.DeepEqual(bad, kept) {
		t.Error("the parts themselves were changed")
	}
	if again := fixed.WellFormed(); !reflect.DeepEqual(again, fixed) || &again[0] != &fixed[0] {
		t.Errorf("again: %+v", again)
	}
}

func FuzzWellFormed(f *testing.F) {
	for _, s := range []string{
		`{"a":"\ud83d"}`, `"\ud83d\ude00"`, "\"\xff\"", `"\\ud83d\u"`, `\ud8`, `\`, "\xed\xa0\xbd",
		`["\uDBFF\uDFFF","\udc00"]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		kept := bytes.Clone(in)
		out := WellFormed(in)
		switch {
		case !bytes.Equal(kept, in):
			t.Fatalf("%q was changed in place", kept)
		case !utf8.Valid(out):
			t.Fatalf("%q: %q is not UTF-8", in, out)
		case !bytes.Equal(WellFormed(out), out):
			t.Fatalf("%q: %q changes again", in, out)
		case json.Valid(in) && !json.Valid(out):
			t.Fatalf("%q: %q is no JSON any more", in, out)
		}
		var a, b any
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(out, &b) != nil {
			return
		}
		// What Go reads is the same, but for the number of U+FFFD that stand for a run of bytes.
		if utf8.Valid(in) && !reflect.DeepEqual(a, b) {
			t.Fatalf("%q: %v became %v", in, a, b)
		}
		plain, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(WellFormed(plain), plain) {
			t.Fatalf("what is well-formed was changed: %q", plain)
		}
	})
}
