package scrollback_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// awkward is text that careless encoders change.
var awkward = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "<script>&amp;</script>", "a\u2028b\u2029c", "记住 <b>&", "\x00\x1f\\\"",
		"</folded_history>", "🙂 é"}),
)

// payload returns a JSON document as a provider might send it, without the white
// space that no encoder keeps.
func payload(t *rapid.T, name string) json.RawMessage {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return nil
	case 1:
		return json.RawMessage(rapid.SampledFrom([]string{`{"b":1,"a":[1.0,1e400,-0]}`, `"<&>"`,
			`{"sig":"a<b>&c==","n":12345678901234567890}`,
			`{"u":"\u003c\u4e2d"}`, `[]`, `0.10`, `{"a":1,"a":2}`}).Draw(t, name))
	}
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{awkward.Draw(t, name+" key"): awkward.Draw(t, name)}); err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(strings.TrimSpace(buf.String()))
}

// anyPart draws a part of any type.
func anyPart(t *rapid.T) scrollback.Part {
	text := awkward.Draw(t, "text")
	op := payload(t, "opaque")
	id := rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(t, "id")
	size := rapid.Int64Min(0).Draw(t, "size")
	switch rapid.SampledFrom(scrollback.PartTypes()).Draw(t, "type") {
	case "text":
		return scrollback.Text{Text: text, Opaque: op}
	case "image":
		return scrollback.Image{Artifact: scrollback.ArtifactID(id), MediaType: "image/png", Name: text, Size: size,
			Width: rapid.IntRange(0, 9).Draw(t, "width"), Height: rapid.IntRange(0, 9).Draw(t, "height"), Detail: "high",
			Opaque: op}
	case "file":
		return scrollback.File{Artifact: scrollback.ArtifactID(id), MediaType: "text/plain", Name: text, Size: size,
			Opaque: op}
	case "tool_call":
		args := payload(t, "arguments")
		if args == nil {
			args = json.RawMessage(`{}`)
		}
		return scrollback.ToolCall{ID: id, Name: text, Arguments: args, Opaque: op}
	case "tool_result":
		return scrollback.ToolResult{CallID: id, Name: "t", Text: text, Artifact: scrollback.ArtifactID(id),
			IsError: rapid.Bool().Draw(t, "error"), Recall: rapid.Bool().Draw(t, "recall"), Opaque: op}
	case "reasoning":
		return scrollback.Reasoning{Text: text, Opaque: op}
	}
	t.Fatal("a type of part that this test does not draw")
	return nil
}

// plain encodes as the stores do: without HTML escapes.
func plain(t interface{ Fatal(...any) }, v any) string {
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// What is written is read back the same, byte for byte where a provider's bytes
// must return, and writing it again gives the same text.
func TestPartsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := make(scrollback.Parts, 0)
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			want = append(want, anyPart(t))
		}
		text := plain(t, want)
		var got scrollback.Parts
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("wrote %#v\nread  %#v\nas    %s", want, got, text)
		}
		if again := plain(t, got); again != text {
			t.Fatalf("written again:\n%s\n%s", text, again)
		}
		if strings.Contains(text, "\\u0026") && !strings.Contains(plainInputs(want), "\\u0026") {
			t.Fatalf("escaped for HTML: %s", text)
		}
	})
}

// plainInputs returns the raw documents inside parts, which may hold escapes of their own.
func plainInputs(ps scrollback.Parts) string {
	var out []string
	for _, p := range ps {
		v := reflect.ValueOf(p)
		for i := range v.NumField() {
			if raw, ok := v.Field(i).Interface().(json.RawMessage); ok {
				out = append(out, string(raw))
			}
			if s, ok := v.Field(i).Interface().(string); ok {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, "\n")
}

// The shapes that clients rely on, to the byte.
func TestPartShapes(t *testing.T) {
	for want, part := range map[string]scrollback.Part{
		`[{"type":"text","text":"a<b & c"}]`: scrollback.Text{Text: "a<b & c"},
		`[{"type":"text","text":""}]`:        scrollback.Text{},
		`[{"type":"image","artifact":"ab","media_type":"image/png","name":"n","size":3,"width":1,"height":2,"detail":"low"}]`: scrollback.Image{
			Artifact: "ab", MediaType: "image/png", Name: "n", Size: 3, Width: 1, Height: 2, Detail: "low"},
		`[{"type":"file","artifact":"ab","media_type":"text/plain","size":0}]`: scrollback.File{Artifact: "ab",
			MediaType: "text/plain"},
		`[{"type":"tool_call","id":"c","name":"n","arguments":{"a":"<"}}]`: scrollback.ToolCall{
			ID: "c", Name: "n", Arguments: json.RawMessage(`{"a":"<"}`)},
		`[{"type":"tool_result","call_id":"c","name":"n","text":"t","artifact":"ab","is_error":true,"recall":true}]`: scrollback.ToolResult{
			CallID: "c", Name: "n", Text: "t", Artifact: "ab", IsError: true, Recall: true},
		`[{"type":"reasoning","text":"r","opaque":"s<"}]`: scrollback.Reasoning{Text: "r", Opaque: json.RawMessage(`"s<"`)},
	} {
		if got := plain(t, scrollback.Parts{part}); got != want {
			t.Errorf("wrote  %s\nwanted %s", got, want)
		}
	}
	if got := plain(t, scrollback.Parts(nil)); got != "[]" {
		t.Errorf("no parts are %s", got)
	}
}

// However a client spells the JSON of a part, it is the same part.
func TestPartSpellings(t *testing.T) {
	for _, spelt := range []string{
		`[{"type":"text","text":"a"}]`,
		` [ { "text": "a", "type": "text" } ] `,
		`[{"type":"te\u0078t","text":"\u0061"}]`,
	} {
		var ps scrollback.Parts
		if err := json.Unmarshal([]byte(spelt), &ps); err != nil ||
			!reflect.DeepEqual(ps, scrollback.Parts{scrollback.Text{Text: "a"}}) {
			t.Errorf("%s gives %#v, %v", spelt, ps, err)
		}
	}
}

func TestBareString(t *testing.T) {
	for text, want := range map[string]string{
		`"hello"`:         "hello",
		` "a\u003cb\n" `:  "a<b\n",
		`""`:              "",
		`"[1]"`:           "[1]",
		`"{\"type\": 1}"`: `{"type": 1}`,
	} {
		var m scrollback.Message
		if err := json.Unmarshal([]byte(`{"parts":`+text+`}`), &m); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(m.Parts, scrollback.Parts{scrollback.Text{Text: want}}) {
			t.Errorf("%s gives %#v", text, m.Parts)
		}
	}
}

// What is no part is refused with the place it stands in.
func TestPartsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"video"}]`: `part 1: unknown type "video"`,
		`[{"text":"a"}]`:               `part 0: unknown type ""`,
		`[{"type":"TEXT","text":"a"}]`: `part 0: unknown type "TEXT"`,
		`["a"]`:                        `part 0: not an object`,
		`[{"type":"text"},{"type":"text"},{"type":3}]`:               `part 2: not an object`,
		`[{"type":"text","text":{"a":1}}]`:                           `part 0: text: fields of the wrong type`,
		`[{"type":"text","text":"a"},{"type":"tool_call","id":[1]}]`: `part 1: tool_call: fields of the wrong type`,
		`{"type":"text","text":"a"}`:                                 `content is neither a text nor a list of parts`,
		`7`:                                                          `content is neither a text nor a list of parts`,
	} {
		var ps scrollback.Parts
		if err := json.Unmarshal([]byte(text), &ps); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// Random bytes are refused or read; what was read can be written and read again.
func FuzzParts(f *testing.F) {
	for _, s := range []string{`"a"`, `[]`, `null`, `[{"type":"text","text":"a"}]`,
		`[{"type":"tool_call","id":"a","arguments":{}}]`, `[null]`,
		`"`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var ps scrollback.Parts
		if json.Unmarshal(b, &ps) != nil {
			return
		}
		text := plain(t, ps)
		var again scrollback.Parts
		if err := json.Unmarshal([]byte(text), &again); err != nil {
			t.Fatalf("%s became %s: %v", b, text, err)
		}
		if got := plain(t, again); got != text {
			t.Fatalf("%s became %s", text, got)
		}
	})
}

func TestPartsText(t *testing.T) {
	ps := scrollback.Parts{scrollback.Reasoning{Text: "r"}, scrollback.Text{Text: "a"}, scrollback.ToolCall{ID: "1"},
		scrollback.Text{Text: "b"},
		scrollback.ToolCall{ID: "2"}, scrollback.ToolResult{CallID: "1"}}
	if got := ps.Text(); got != "a\nb" {
		t.Errorf("text %q", got)
	}
	if c := ps.Calls(); len(c) != 2 || c[0].ID != "1" || c[1].ID != "2" {
		t.Errorf("calls %v", c)
	}
	if r := ps.Results(); len(r) != 1 || r[0].CallID != "1" {
		t.Errorf("results %v", r)
	}
}

// What is written of texts and results is what encoding/json writes, of any bytes.
func TestPartsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	anyBytes := rapid.OneOf(awkward, rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x7f\b\f\r\n\t", "\xed\xa0\x80", "\xe2\x80", "\ufffd"}))
	rapid.Check(t, func(t *rapid.T) {
		text := anyBytes.Draw(t, "text")
		call := anyBytes.Draw(t, "call")
		name := anyBytes.Draw(t, "name")
		type result struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Name   string `json:"name"`
			Text   string `json:"text,omitempty"`
		}
		type said struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode([]any{said{"text", text}, result{"tool_result", call, name, text}}); err != nil {
			t.Fatal(err)
		}
		got, err := scrollback.Parts{scrollback.Text{Text: text},
			scrollback.ToolResult{CallID: call, Name: name, Text: text}}.MarshalJSON()
		if err != nil || string(got)+"\n" != want.String() {
			t.Fatalf("%s, %v, want %s", got, err, &want)
		}
		raw := `{"type":"text","text":"` + rapid.OneOf(anyBytes,
			rapid.StringMatching(`([a"\\\\nt\\x01]|\\\\u00e9){0,6}`)).Draw(t, "raw") + `"}`
		var wanted said
		wantErr := json.Unmarshal([]byte(raw), &wanted)
		var read scrollback.Parts
		if err := read.UnmarshalJSON([]byte("[" + raw + "]")); (err == nil) != (wantErr == nil) ||
			err == nil && read.Text() != wanted.Text {
			t.Fatalf("%s is %q, %v, want %q, %v", raw, read, err, wanted.Text, wantErr)
		}
	})
}
