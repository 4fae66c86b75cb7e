package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wire"
)

// What servers write in another form than the documented one is read as what they
// mean.
func TestLoose(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":7,"created":1.6,"choices":null,"usage":null}`: `{"id":"7","created":2,` +
			`"choices":null}`,
		`{"id":null,"created":"12","choices":[{"index":"0","delta":{"content":null},"finish_reason":null}]}`: `{"id":"","created":12,` +
			`"choices":[{"index":0,"delta":{},"finish_reason":null}]}`,
		`{"id":"a","choices":[],"usage":{"prompt_tokens":"x","completion_tokens":1e300,"total_tokens":-1e300}}`: `{"id":"a","choices":[],` +
			`"usage":{"prompt_tokens":0,"completion_tokens":9223372036854775807,"total_tokens":-9223372036854775808}}`,
		`{"id":"a","choices":[],"usage":{"prompt_tokens_details":[],"prompt_tokens":3,"cost":"0.5","is_byok":3}}`: `{"id":"a","choices":[],` +
			`"usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"cost":0.5}}`,
		`{"id":"a","choices":[],"usage":"none"}`: `{"id":"a","choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`,
		`{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[` +
			`{"id":3,"function":{"arguments":{"a":"<"}}}]}}]}`: `{"id":"a","choices":[` +
			`{"index":0,"delta":{"tool_calls":[{"id":"3","function":{"arguments":"{\"a\":\"\u003c\"}"}}]},"finish_reason":null}]}`,
		`{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[` +
			`{"index":null,"function":{"arguments":null}}]}}]}`: `{"id":"a","choices":[` +
			`{"index":0,"delta":{"tool_calls":[{"function":{"arguments":""}}]},"finish_reason":null}]}`,
	} {
		var c wire.Chunk
		if err := json.Unmarshal([]byte(in), &c); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, err := json.Marshal(c); err != nil || string(got) != want {
			t.Errorf("%s is read as\n%s (%v), want\n%s", in, got, err, want)
		}
	}
	for _, in := range []string{`{"id":"a`, `{"choices":3}`, `{"choices":[{"delta":{"content":7}}]}`} {
		if json.Unmarshal([]byte(in), new(wire.Chunk)) == nil {
			t.Errorf("%s is read", in)
		}
	}
}

// Content is written in its shortest form, and read in every one.
func TestContent(t *testing.T) {
	for in, want := range map[string]struct{ text, thought, out string }{
		`null`:                         {"", "", `null`},
		`""`:                           {"", "", `""`},
		`"a<b"`:                        {"a<b", "", `"a<b"`},
		`[{"type":"text","text":"a"}]`: {"a", "", `"a"`},
		`{"type":"text","text":"a"}`:   {"a", "", `"a"`},
		`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]`: {"a", "",
			`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]`},
		`[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]`: {"", "h",
			`[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]`},
	} {
		var c wire.Content
		err := json.Unmarshal([]byte(in), &c)
		got, err2 := c.MarshalJSON()
		if err != nil || err2 != nil || c.Text() != want.text || c.Thought() != want.thought || string(got) != want.out {
			t.Errorf("%s: %q, %q, %s (%v, %v)", in, c.Text(), c.Thought(), got, err, err2)
		}
	}
	if got, err := json.Marshal(wire.NoText()); err != nil || string(got) != `""` {
		t.Errorf("no text is %s (%v)", got, err)
	}
}
