package plainjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

func TestUnescape(t *testing.T) {
	for given, want := range map[string]string{
		`{"q":"a \u0026\u0026 b \u003C c \u003e d"}`: `{"q":"a && b < c > d"}`,
		`{"q":"\u5f20\u4e09 \ud83d\ude00"}`:          `{"q":"张三 😀"}`,
		`{"\u0061":"\/srv\/a","n":1.0,"a":2}`:        `{"a":"/srv/a","n":1.0,"a":2}`,
		`{"q":"\u0022 \u005c \\u0026 \\\u0026 \n"}`:  `{"q":"\u0022 \u005c \\u0026 \\& \n"}`,
		`{"q":"\u200b\u2028\u0000\ud83d \ud83dx"}`:   `{"q":"\u200b\u2028\u0000\ud83d \ud83dx"}`,
		`{"q":"\ud83d\u0026 \udc00"}`:                `{"q":"\ud83d& \udc00"}`,
		`{"q":"\u0026"`:                              `{"q":"\u0026"`,
		`no \u0026 JSON`:                             `no \u0026 JSON`,
		``:                                           ``,
	} {
		if got := string(plainjson.Unescape(json.RawMessage(given))); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}

// Whatever the document, it says the same, and once is enough.
func FuzzUnescape(f *testing.F) {
	for _, s := range []string{`{"a":"\u0026"}`, `"\ud83d\ud83d\ude00"`, `["\\\\u0026","\/"]`, `"\u00e9\u0301"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want, got any
		if json.Unmarshal(raw, &want) != nil {
			return
		}
		plain := plainjson.Unescape(raw)
		if err := json.Unmarshal(plain, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q becomes %q: %v", raw, plain, err)
		}
		if again := plainjson.Unescape(plain); string(again) != string(plain) {
			t.Fatalf("%q becomes %q, and then %q", raw, plain, again)
		}
	})
}
