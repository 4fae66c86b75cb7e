package ollamaapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func post(t *testing.T, s *modeltest.Strict, path, key, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// thinker thinks and calls, and answers what tools return.
func thinker() *modeltest.Script {
	return modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		if len(r.Tools) == 0 || r.Items[len(r.Items)-1].Role == scrollback.RoleTool {
			return []model.Delta{{Text: "done"}}
		}
		return []model.Delta{{Reasoning: "hm"}, {Call: &scrollback.ToolCall{Name: "f", Arguments: json.RawMessage(`{}`)}}}
	}})
}

// Each rule refuses what breaks it, with the status and words of the server.
func TestRefuses(t *testing.T) {
	const user = `{"role":"user","content":"q"}`
	chat := func(more string, messages ...string) string {
		return fmt.Sprintf(`{"model":"m","messages":[%s],"truncate":false%s}`, strings.Join(messages, ","), more)
	}
	tools := `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	long := fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("word ", 4000))
	calling := func(id, args, thinking string) string {
		return fmt.Sprintf(`{"role":"assistant","content":"","thinking":%q,"tool_calls":[{"id":%q,"function":{"index":0,"name":"f",`+
			`"arguments":%s}}]}`, thinking, id, args)
	}
	result := `{"role":"tool","content":"r","tool_name":"f","tool_call_id":"c"}`
	m := Model{Name: "m", Trained: 4096}
	with := func(change func(*Model)) Model { one := m; change(&one); return one }
	for name, c := range map[string]struct {
		o      Options
		model  Model
		body   string
		rule   string // empty when it is taken
		status int
		words  string
	}{
		"taken":   {model: m, body: chat("", user), status: 200},
		"no body": {model: m, rule: "body", status: 400, words: "missing request body"},
		"no JSON": {model: m, body: "{", rule: "body", status: 400, words: "unexpected end of JSON input"},
		"no name": {model: m, body: `{"messages":[` + user + `]}`, rule: "model", status: 400,
			words: "model is required"},
		"another name": {model: m, body: `{"model":"n","messages":[]}`, rule: "model", status: 404,
			words: "model 'n' not found"},
		"key": {o: Options{Key: "other"}, model: m, body: chat("", user), rule: "key", status: 401, words: "unauthorized"},
		"busy": {o: Options{Busy: 1}, model: m, body: chat("", user), rule: "busy", status: 503,
			words: "maximum pending requests exceeded"},
		"think": {model: with(func(m *Model) { m.NoThink = true }), body: chat(`,"think":true`, user), rule: "thinking",
			status: 400,
			words:  `"m" does not support thinking`},
		"think not": {model: with(func(m *Model) { m.NoThink = true }), body: chat(`,"think":false`, user), status: 200},
		"think a level": {model: m, body: chat(`,"think":"high"`, user), rule: "levels", status: 400,
			words: `think value "high" is not supported for this model`},
		"think as much": {model: m, body: chat(`,"think":"max"`, user), rule: "body", status: 400,
			words: `invalid think value: "max"`},
		"think a number": {model: m, body: chat(`,"think":3`, user), rule: "body", status: 400,
			words: "think must be a boolean or string"},
		"tools": {model: with(func(m *Model) { m.NoTools = true }), body: chat(tools, user), rule: "tools", status: 400,
			words: "registry.ollama.ai/library/m:latest does not support tools"},
		"option": {model: m, body: chat(`,"options":{"num_ctx":"4k"}`, user), rule: "options", status: 500,
			words: `option "num_ctx" must be of type integer`},
		"memory": {o: Options{Memory: 2048}, model: m, body: chat(`,"options":{"num_ctx":4096}`, user), rule: "memory",
			status: 500,
			words:  "more system memory (4.0 GiB) than is available (2.0 GiB)"},
		"parameter": {o: Options{Refuses: []string{"num_ctx"}}, model: m, body: chat(`,"options":{"num_ctx":4096}`, user),
			rule: "parameter", status: 400, words: "unknown parameter: num_ctx"},
		"arguments": {model: m, body: chat("", user, calling("c", `"{}"`, ""), result), rule: "body", status: 400,
			words: "Value looks like object"},
		"image": {model: m, body: chat("", `{"role":"user","content":"","images":["%%"]}`), rule: "body", status: 400,
			words: "illegal base64 data"},
		"no images": {model: with(func(m *Model) { m.NoImages = true }),
			body: chat("", `{"role":"user","content":"","images":["QQ=="]}`),
			rule: "images", status: 500, words: "missing data required for image input"},
		"two images": {model: with(func(m *Model) { m.OneImage = true }), body: chat("",
			`{"role":"user","content":"","images":["QQ==","QQ=="]}`), rule: "images", status: 500,
			words: "only supports one image"},
		"too long": {model: m, body: chat("", long), rule: "too long", status: 400,
			words: "the input length exceeds the context length"},
		"nested": {o: Options{Nested: true}, model: m, body: chat("", long), rule: "too long", status: 400,
			words: "exceed_context_size_error"},
		"no shift": {model: m, body: chat(`,"truncate":true,"shift":false`, long), rule: "too long", status: 400,
			words: "the prompt is longer than the context length currently available"},
		"not trained for": {model: m, body: chat(`,"options":{"num_ctx":100000}`, long), rule: "too long", status: 400,
			words: "exceeds the context length"},
		"field": {o: Options{Pedantic: true}, model: m, body: chat(`,"tool_choice":"none"`, user), rule: "unknown field",
			status: 400},
		"unknown option": {o: Options{Pedantic: true}, model: m, body: chat(`,"options":{"max_tokens":1}`, user),
			rule:   "unknown option",
			status: 400},
		"empty": {o: Options{Pedantic: true}, model: m, body: chat("", `{"role":"user","content":""}`), rule: "empty",
			status: 400},
		"no call": {o: Options{Pedantic: true}, model: m, body: chat("", user, result), rule: "result", status: 400},
		"no result": {o: Options{Pedantic: true}, model: m, body: chat("", user, calling("c", "{}", ""), user),
			rule:   "answered",
			status: 400},
		"no id": {o: Options{Pedantic: true}, model: m, body: chat("", user, calling("", "{}", "")), rule: "call",
			status: 400},
		"foreign reasoning": {o: Options{Pedantic: true}, model: m,
			body: chat("", user, calling("c", "{}", "not mine"), result),
			rule: "reasoning", status: 400},
	} {
		c.o.Models = []Model{c.model}
		s := New(modeltest.NewScript(model.Facts{}, modeltest.Say("a")), &c.o)
		w := post(t, s, "/api/chat", "", c.body)
		var said struct{ Error string }
		_ = json.Unmarshal(w.Body.Bytes(), &said) // an answer is several values
		refused := s.Refusals()
		if w.Code != c.status || len(refused) != min(len(c.rule), 1) || c.rule != "" &&
			(refused[0].Rule != c.rule || !strings.Contains(said.Error, c.words)) {
			t.Errorf("%s: %d %s, %+v", name, w.Code, w.Body, refused)
		}
	}
}

// What was thought comes back as it was, or is refused.
func TestReasoning(t *testing.T) {
	for sent, taken := range map[string]bool{"hm": true, "hmm": false, "": false} {
		s := New(thinker(), &Options{Pedantic: true})
		tools := `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`
		first := post(t, s, "/api/chat", "", `{"model":"m","messages":[{"role":"user","content":"q"}],`+tools+`}`)
		if !strings.Contains(first.Body.String(), `"id":"call_000001","function":{"index":0,"name":"f","arguments":{}}`) {
			t.Fatalf("%s", first.Body)
		}
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","thinking":%q,`+
			`"tool_calls":[{"id":"call_000001","function":{"index":0,"name":"f","arguments":{}}}]},{"role":"tool","content":"r",`+
			`"tool_name":"f","tool_call_id":"call_000001"}],%s}`, sent, tools)
		if second := post(t, s, "/api/chat", "", body); (second.Code == http.StatusOK) != taken {
			t.Errorf("%q: %d %s", sent, second.Code, second.Body)
		}
	}
}

// Unless it is told otherwise it cuts, as Ollama does, and says nothing.
func TestCuts(t *testing.T) {
	script := modeltest.NewScript(model.Facts{}, modeltest.Say("a"))
	s := New(script, &Options{Window: 100})
	old := fmt.Sprintf(`{"role":"user","content":%q},{"role":"assistant","content":"x"}`, strings.Repeat("word ", 100))
	w := post(t, s, "/api/chat", "", `{"model":"m","messages":[{"role":"system","content":"s"},`+old+
		`,{"role":"user","content":"q"}]}`)
	if items := script.Requests()[0].Items; w.Code != 200 || len(items) != 3 || items[0].Role != scrollback.RoleSystem ||
		items[2].Parts.Text() != "q" {
		t.Errorf("%d %s, %+v", w.Code, w.Body, items)
	}
	w = post(t, s, "/api/chat", "", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`,
		strings.Repeat("word ", 1000)))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"prompt_eval_count":50`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = post(t, s, "/api/chat", "", `{"model":"m","messages":[]}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"done_reason":"load"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// An error comes with its status at first, and as a line later on.
func TestErrors(t *testing.T) {
	broken := scrollback.Errorf(scrollback.Internal, "x", "broken")
	s := New(modeltest.NewScript(model.Facts{}, modeltest.Step{Err: broken},
		modeltest.Step{Deltas: modeltest.Say("a").Deltas, Err: broken}),
		nil)
	body := `{"model":"m","messages":[{"role":"user","content":"q"}]}`
	if w := post(t, s, "/api/chat", "", body); w.Code != 500 ||
		!strings.Contains(w.Body.String(), `{"error":"x: broken"}`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := post(t, s, "/api/chat", "", body); w.Code != 200 ||
		!strings.HasSuffix(w.Body.String(), "\n{\"error\":\"x: broken\"}\n") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for path, status := range map[string]int{"/api/nothing": 404, "/api/show": 400} {
		if w := post(t, s, path, "", "{}"); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
