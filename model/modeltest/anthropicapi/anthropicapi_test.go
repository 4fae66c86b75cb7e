package anthropicapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// post sends a body to a stand-in and returns the status and what it says.
func post(s *modeltest.Strict, body string, head map[string]string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for name, value := range head {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		return 0, err.Error()
	}
	return w.Code, string(b)
}

// with returns a request with some fields replaced; an empty one is left out.
func with(fields map[string]string) string {
	all := map[string]json.RawMessage{"model": json.RawMessage(`"claude-sonnet-5"`), "max_tokens": json.RawMessage("4000"),
		"stream":   json.RawMessage("true"),
		"messages": json.RawMessage(`[{"role":"user","content":"hi"}]`)}
	for name, value := range fields {
		all[name] = json.RawMessage(value)
		if value == "" {
			delete(all, name)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func pngData(side int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, 1))); err != nil {
		return err.Error()
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func picture(mediaType, data string) string {
	return `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"` + mediaType +
		`","data":"` + data + `"}}]}]`
}

// Each rule refuses what breaks it, in the words of the real server.
func TestRules(t *testing.T) {
	const use, user = `{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"role":"user","content":"hi"},`
	const tools, manual = `[{"name":"f","input_schema":{"type":"object"}}]`, `{"type":"enabled","budget_tokens":1024}`
	type fields = map[string]string
	for _, c := range []struct {
		rule   string
		fields fields
		status int
		words  string
	}{
		{"json", fields{"messages": `7`}, 400, "not valid JSON"},
		{"well-formed", fields{"messages": `[{"role":"user","content":"half \ud83d."}]`}, 400, "no low surrogate in string"},
		{"model", fields{"model": `"claude-9"`}, 404, "model: claude-9"},
		{"extra", fields{"frequency": `1`}, 400, "frequency: Extra inputs are not permitted"},
		{"extra", fields{"metadata": `{}`}, 400, "metadata: Extra inputs are not permitted"},
		{"sampling", fields{"temperature": `1`}, 400, "`temperature` is deprecated for this model."},
		{"max-tokens", fields{"max_tokens": ``}, 400, "max_tokens: Field required"},
		{"max-tokens", fields{"max_tokens": `0`}, 400, "greater than or equal to 1"},
		{"max-output", fields{"max_tokens": `128001`}, 400,
			"max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5"},
		{"tool-choice", fields{"tool_choice": `{"type":"none"}`}, 400, "only be specified while providing tools"},
		{"forced", fields{"model": `"claude-opus-5-5"`, "tools": tools, "tool_choice": `{"type":"any"}`}, 400,
			"are not supported for this model"},
		{"forced", fields{"model": `"claude-sonnet-4-5"`, "tools": tools, "tool_choice": `{"type":"any"}`,
			"thinking": manual}, 400,
			"forces tool use"},
		{"tool-names",
			fields{"tools": `[{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}]`},
			400,
			"must be unique"},
		{"tool-names", fields{"tools": `[{"name":"f.g","input_schema":{"type":"object"}}]`}, 400, "should match pattern"},
		{"tool-schema", fields{"tools": `[{"name":"f","input_schema":{}}]`}, 400, "input_schema.type"},
		{"effort", fields{"model": `"claude-sonnet-4-5"`, "output_config": `{"effort":"low"}`}, 400,
			"does not support the effort parameter"},
		{"effort", fields{"model": `"claude-opus-4-6"`, "output_config": `{"effort":"xhigh"}`}, 400,
			"'xhigh' is not supported"},
		{"thinking-form", fields{"thinking": manual}, 400,
			`\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\"`},
		{"thinking-form", fields{"model": `"claude-sonnet-4-5"`, "thinking": `{"type":"adaptive"}`}, 400,
			"adaptive thinking is not supported on this model"},
		{"thinking-form", fields{"model": `"claude-opus-5-5"`, "thinking": `{"type":"disabled"}`}, 400,
			`\"thinking.type.disabled\" is not supported`},
		{"thinking-form", fields{"thinking": `{"type":"much"}`}, 400, "Input tag 'much'"},
		{"budget", fields{"model": `"claude-sonnet-4-5"`, "thinking": `{"type":"enabled"}`}, 400,
			"budget_tokens: Field required"},
		{"budget", fields{"thinking": `{"type":"adaptive","budget_tokens":2000}`}, 400, "Extra inputs"},
		{"budget", fields{"model": `"claude-sonnet-4-5"`, "thinking": `{"type":"enabled","budget_tokens":1023}`}, 400,
			"greater than or equal to 1024"},
		{"budget", fields{"model": `"claude-sonnet-4-5"`, "thinking": `{"type":"enabled","budget_tokens":4000}`}, 400,
			"must be greater than `thinking.budget_tokens`"},
		{"binding", fields{"thinking": `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`}, 400,
			"block_binding: Extra inputs"},
		{"extra",
			fields{"messages": `[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]`,
				"model": `"refuses-marks"`}, 400, "cache_control: Extra inputs"},
		{"mark-thinking", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s","cache_control":{}}]}]`}, 400,
			"cache_control: Extra inputs"},
		{"mark-empty", fields{"system": `[{"type":"text","text":"","cache_control":{}}]`}, 400,
			"cannot be set for empty text blocks"},
		{"marks", fields{"messages": `[{"role":"user","content":[` +
			strings.Repeat(`{"type":"text","text":"a","cache_control":{}},`, 5) +
			`{"type":"text","text":"a"}]}]`}, 400, "maximum of 4 blocks with cache_control may be provided. Found 5"},
		{"empty-text", fields{"system": `" "`}, 400, "must contain non-whitespace"},
		{"something", fields{"messages": `[]`}, 400, "at least one message is required"},
		{"role", fields{"messages": `[{"role":"system","content":"a"}]`}, 400, `Unexpected role \"system\"`},
		{"empty", fields{"messages": `[{"role":"user","content":[]}]`}, 400, "non-empty content"},
		{"user-first", fields{"messages": `[{"role":"assistant","content":"a"},{"role":"user","content":"a"}]`}, 400,
			"first message must use"},
		{"prefill", fields{"messages": `[` + user + `{"role":"assistant","content":"a"}]`}, 400,
			"must end with a user message"},
		{"empty-text", fields{"messages": `[{"role":"user","content":""}]`}, 400, "must be non-empty"},
		{"blank-text", fields{"messages": `[{"role":"user","content":"\n "}]`}, 400, "non-whitespace text"},
		{"empty-text", fields{"messages": `[` + user + `{"role":"assistant","content":[` + use +
			`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""}]}]`}, 400, "must be non-empty"},
		{"place", fields{"messages": `[{"role":"user","content":[` + use + `]}]`}, 400, "only be in `assistant`"},
		{"place", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":"a"}]`}, 400,
			"only be in `user`"},
		{"place", fields{"messages": `[{"role":"user","content":[{"type":"thinking","thinking":"","signature":"s"}]}]`}, 400,
			"only be in `assistant`"},
		{"id-spelling", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"f","input":{}}]},{"role":"user","content":"a"}]`}, 400,
			"tool_use.id: String should match"},
		{"name-spelling", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f g","input":{}}]},{"role":"user","content":"a"}]`}, 400,
			"tool_use.name: String should match"},
		{"object-arguments", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"{}"}]},{"role":"user","content":"a"}]`}, 400,
			"Input should be a valid dictionary"},
		{"signature", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]},{"role":"user","content":"a"}]`}, 400,
			"signature: Field required"},
		{"signature", fields{"messages": `[` + user +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"mine"}]},{"role":"user","content":"a"}]`}, 400,
			"Invalid `signature` in `thinking` block"},
		{"block", fields{"messages": `[{"role":"user","content":[{"type":"video"}]}]`}, 400, "Input tag 'video'"},
		{"image-bytes", fields{"messages": picture("image/png", strings.Repeat("AAAA", 5<<20/4+1))}, 400,
			"image exceeds 5 MB maximum"},
		{"image-type", fields{"messages": picture("image/bmp", "AAAA")}, 400, "media_type"},
		{"image", fields{"messages": picture("image/png", "AAAA")}, 400, "Could not process image"},
		{"image-side", fields{"messages": picture("image/png", pngData(8001))}, 400, "8000 pixels"},
		{"unique-ids", fields{"messages": `[` + user + `{"role":"assistant","content":[` + use + `,` + use +
			`]},{"role":"user","content":"a"}]`},
			400, "ids must be unique"},
		{"orphan", fields{"messages": `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"z"}]}]`}, 400,
			"unexpected `tool_use_id` found in `tool_result` blocks: z"},
		{"single-result", fields{"messages": `[` + user + `{"role":"assistant","content":[` + use +
			`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"}]}]`},
			400,
			"Found multiple"},
		{"answered", fields{"messages": `[` + user + `{"role":"assistant","content":[` + use +
			`]},{"role":"user","content":"never mind"}]`}, 400,
			"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a"},
		{"answered", fields{"messages": `[` + user + `{"role":"assistant","content":[` + use +
			`]},{"role":"user","content":[{"type":"text","text":"first"},{"type":"tool_result","tool_use_id":"a"}]}]`}, 400,
			"immediately after: a"},
		{"thinking-first", fields{"model": `"claude-sonnet-4-5"`, "thinking": manual,
			"messages": `[` + user + `{"role":"assistant","content":[` + use +
				`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`}, 400,
			"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"too-long", fields{"messages": `[{"role":"user","content":"` + strings.Repeat("long", 5001) + `"}]`}, 400,
			"prompt is too long: 5001 tokens > 5000 maximum"},
		{"too-long", fields{"model": `"claude-sonnet-4-5"`,
			"messages": `[{"role":"user","content":"` + strings.Repeat("long", 1500) + `"}]`},
			400, "input length and `max_tokens` exceed context limit: 1500 + 4000 > 5000"},
		{"bytes", fields{"messages": `[{"role":"user","content":"` + strings.Repeat("long", 8<<20) + `"}]`}, 413,
			"Request exceeds the maximum size"},
	} {
		o := &Options{Limit: 5000, Refuse: []string{"metadata"}}
		if c.fields["model"] == `"refuses-marks"` {
			o.Refuse = []string{"cache_control"}
			o.Models = []Model{{Name: "refuses-marks", MaxOutput: 9000}}
		}
		s := New(modeltest.NewScript(model.Facts{}, modeltest.Say("hi")), o)
		status, said := post(s, with(c.fields), nil)
		if r := s.Refusals(); status != c.status || !strings.Contains(said, c.words) || len(r) != 1 || r[0].Rule != c.rule {
			t.Errorf("%s: %d %.300s, refused %v; want %q", c.rule, status, said, r, c.words)
		}
	}
}

func TestHead(t *testing.T) {
	s := New(modeltest.NewScript(model.Facts{}, modeltest.Say("hi")), &Options{Key: "k"})
	for name, c := range map[string]struct {
		head   map[string]string
		status int
		words  string
	}{
		"fine":       {nil, 200, "message_stop"},
		"no key":     {map[string]string{"X-Api-Key": ""}, 401, "x-api-key header is required"},
		"wrong key":  {map[string]string{"X-Api-Key": "z"}, 401, "invalid x-api-key"},
		"no version": {map[string]string{"Anthropic-Version": ""}, 400, "anthropic-version: header is required"},
	} {
		if status, said := post(s, with(nil), c.head); status != c.status || !strings.Contains(said, c.words) {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	for path, want := range map[string]string{"/v1/models/claude-sonnet-4-5": `"max_input_tokens":200000,"max_tokens":64000`,
		"/v1/models/x": "model: x", "/v1/complete": "Not found"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("X-Api-Key", "k")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

// What was issued comes back as it was, whole and in its order, to the same model.
func TestSignatures(t *testing.T) {
	said := []model.Delta{{Reasoning: "one"}, {Opaque: json.RawMessage(`{}`)},
		{Opaque: json.RawMessage(`{"redacted":"x"}`)}, {Text: "so"}}
	s := New(modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: said}), &Options{Models: []Model{
		{Name: "a", MaxInput: 9000, MaxOutput: 9000, Thinks: "adaptive", Default: true},
		{Name: "b", MaxInput: 9000, MaxOutput: 9000, Thinks: "adaptive", Default: true},
		{Name: "bound", MaxInput: 9000, MaxOutput: 9000, Thinks: "adaptive", Default: true, Bound: true},
	}})
	issued := func(name string) (thinking, redacted string) {
		_, stream := post(s, with(map[string]string{"model": `"` + name + `"`}), nil)
		find := func(field string) string {
			_, rest, _ := strings.Cut(stream[strings.LastIndex(stream, `"`+field+`":"`):], `:"`)
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
		return `{"type":"thinking","thinking":"one","signature":"` + find("signature") + `"}`,
			`{"type":"redacted_thinking","data":"` + find("data") + `"}`
	}
	const so = `{"type":"text","text":"so"}`
	ask := func(name, first, content, beta, thinking string) string {
		fields := map[string]string{"model": `"` + name + `"`, "thinking": thinking,
			"messages": `[{"role":"user","content":"` + first + `"},{"role":"assistant","content":[` + content +
				`]},{"role":"user","content":"on"}]`}
		_, said := post(s, with(fields), map[string]string{"Anthropic-Beta": beta})
		return said
	}
	thinking, redacted := issued("a")
	changed := strings.Replace(thinking, "one", "two", 1)
	for _, c := range []struct{ name, model, content, want string }{
		{"as it was", "a", thinking + "," + redacted + "," + so, "message_stop"},
		{"none of it", "a", so, "message_stop"},
		{"changed", "a", changed + "," + redacted + "," + so, "Invalid `signature`"},
		{"another model", "b", thinking + "," + redacted + "," + so, "Invalid `signature`"},
		{"in part", "a", redacted + "," + so, "cannot be modified"},
		{"in another order", "a", redacted + "," + thinking + "," + so, "cannot be modified"},
		{"twice", "a", thinking + "," + thinking + "," + so, "cannot be modified"},
	} {
		if got := ask(c.model, "hi", c.content, "", ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	const beta, drop = "thinking-binding-controls-2026-08-01", `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
	thinking, redacted = issued("bound")
	for _, c := range []struct{ name, first, beta, thinking, want string }{
		{"same conversation", "hi", "", "", "message_stop"},
		{"another conversation", "ho", "", "", "bound to a different conversation"},
		{"dropped", "ho", beta, drop, "message_stop"},
	} {
		if got := ask("bound", c.first, thinking+","+redacted+","+so, c.beta, c.thinking); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
