package responsesapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// steps thinks, says something and calls twice.
func steps() *modeltest.Script {
	return modeltest.NewScript(model.Facts{Name: "test/script"},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm, "}, {Reasoning: "so"}, {Text: "looking"},
			{Call: call("call_1", "f", `{"a":1}`)}, {Call: call("call_2", "f", `{}`)},
			{Usage: &scrollback.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2, TotalTokens: 14}}}})
}

func call(id, name, args string) *scrollback.ToolCall {
	return &scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// post sends a body to a stand-in.
func post(t *testing.T, s *modeltest.Strict, body string) (status int, answer string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sk-test-aaaaaaaabbbb")
	s.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(b)
}

// itemsOf returns the items of an answer's last event.
func itemsOf(t *testing.T, stream string) (list []string) {
	t.Helper()
	var last struct {
		Response struct {
			Output []json.RawMessage `json:"output"`
		} `json:"response"`
	}
	at := strings.LastIndex(stream, "data: ")
	if err := json.Unmarshal([]byte(stream[at+6:]), &last); err != nil {
		t.Fatal(err)
	}
	for _, it := range last.Response.Output {
		list = append(list, string(it))
	}
	return list
}

const asking = `{"model":"gpt-5","input":[{"type":"message","role":"user","content":"q"}],"store":false,"stream":true,` +
	`"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"tools":[{"type":"function","name":"f","parameters":{}}]}`

func TestStream(t *testing.T) {
	s := New(steps(), Options{Phases: true})
	status, got := post(t, s, asking)
	var kinds []string
	for line := range strings.Lines(got) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimPrefix(strings.TrimSpace(kind), "response."))
		}
	}
	want := "created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta " +
		"reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
		"output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done " +
		"output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.done output_item.done " +
		"output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.done output_item.done completed"
	if status != 200 || strings.Join(kinds, " ") != want {
		t.Errorf("%d\n%s", status, strings.Join(kinds, " "))
	}
	if !strings.Contains(got, `"phase":"commentary"`) || !strings.Contains(got, `"cached_tokens":4`) {
		t.Error(got)
	}
	// not streamed, it is one value with the same items
	_, whole := post(t, s, strings.Replace(asking, `"stream":true`, `"stream":false`, 1))
	if list := itemsOf(t, "data: {\"response\":"+whole+"}"); len(list) != 4 {
		t.Errorf("%d items in %s", len(list), whole)
	}
}

// Each rule is refused, in the words of the server.
func TestRules(t *testing.T) {
	user := `{"type":"message","role":"user","content":"q"}`
	type rule struct {
		name   string
		o      Options
		body   func(it []string) string
		status int
		words  string
	}
	with := func(input ...string) string {
		return `{"model":"gpt-5","store":false,"stream":true,"include":["reasoning.encrypted_content"],"input":[` +
			strings.Join(input, ",") +
			`]}`
	}
	field := func(model, fields string) func([]string) string {
		return func([]string) string {
			return `{"model":"` + model + `","store":false,"stream":true,"input":[` + user + `],` + fields + `}`
		}
	}
	outputs := `{"type":"function_call_output","call_id":"call_1","output":""},{"type":"function_call_output","call_id":"call_2","output":""}`
	for _, c := range []rule{
		{"whole", Options{}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs) }, 200,
			"response.completed"},
		{"text before", Options{}, func(it []string) string {
			return with(user, it[0], `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`,
				it[2], it[3], outputs)
		}, 200, "response.completed"},
		{"without ids", Options{}, func([]string) string {
			return with(user, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_1","output":""}`)
		}, 200, "response.completed"},
		{"key", Options{Key: "sk-other"}, func([]string) string { return with(user) }, 401,
			"Incorrect API key provided: sk-test-***bbbb"},
		{"model", Options{Models: []string{"gpt-6"}}, func([]string) string { return with(user) }, 404, "model_not_found"},
		{"quota", Options{Spent: true}, func([]string) string { return with(user) }, 429, "insufficient_quota"},
		{"quota late", Options{Spent: true, Late: true}, func([]string) string { return with(user) }, 200,
			`"code":"insufficient_quota"`},
		{"json", Options{}, func([]string) string { return "{" }, 400, "could not parse"},
		{"well-formed", Options{}, func([]string) string {
			return with(`{"type":"message","role":"user","content":"half \ud83d"}`)
		}, 400, "could not parse"},
		{"call twice", Options{}, func([]string) string {
			one := `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"call_1","output":""}`
			return with(user, one, user, one)
		}, 400, "Duplicate item found with id call_1"},
		{"no input", Options{}, func([]string) string { return with() }, 400, "must be provided"},
		{"stored", Options{}, func(it []string) string {
			return with(user, `{"type":"reasoning","id":"rs_1","summary":[]}`, user)
		}, 404,
			"Item with id 'rs_1' not found. Items are not persisted"},
		{"encrypted", Options{}, func(it []string) string {
			return with(user, strings.Replace(it[0], `"gAAAAA`, `"gAAAAB`, 1), it[2], it[3], outputs)
		}, 400, `"code":"invalid_encrypted_content"`},
		{"encrypted by another", Options{}, func(it []string) string {
			return strings.Replace(with(user, it[0], it[2], it[3], outputs), "gpt-5", "gpt-6", 1)
		}, 400, "could not be verified"},
		{"forgotten", Options{Forgets: true}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs) },
			400,
			"could not be verified"},
		{"reasoning alone", Options{}, func(it []string) string { return with(user, it[0]) }, 400,
			"was provided without its required following item"},
		{"reasoning before outputs", Options{}, func(it []string) string { return with(user, it[2], it[0], outputs) }, 400,
			"of type 'function_call' was provided without its required 'reasoning' item"},
		{"call without reasoning", Options{}, func(it []string) string { return with(user, it[2], outputs) }, 400,
			"of type 'function_call' was provided without its required 'reasoning' item: 'rs_"},
		{"twice", Options{}, func(it []string) string { return with(user, it[0], it[0], it[2], it[3], outputs) }, 400,
			"Duplicate item found"},
		{"no output", Options{}, func(it []string) string { return with(user, it[0], it[2]) }, 400,
			"No tool output found for function call call_1."},
		{"no call", Options{}, func([]string) string { return with(user, outputs) }, 400,
			"No tool call found for function call output with call_id call_1."},
		{"answered twice", Options{}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs, outputs) },
			400,
			"No tool call found"},
		{"item's id", Options{}, func([]string) string {
			return with(user, `{"type":"function_call","id":"call_1","call_id":"call_1","name":"f","arguments":"{}"}`)
		}, 400, "begins with 'fc'"},
		{"id's length", Options{}, func([]string) string {
			return with(`{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"f","arguments":"{}"}`)
		}, 400, "maximum length 64"},
		{"store", Options{}, func([]string) string { return strings.Replace(with(user), `"store":false`, `"store":true`, 1) },
			400,
			"Store must be set to false"},
		{"unknown", Options{}, field("gpt-5", `"max_tokens":5`), 400, "Unknown parameter: 'max_tokens'."},
		{"min output", Options{}, field("gpt-5", `"max_output_tokens":8`), 400, "Expected a value >= 16, but got 8"},
		{"sampling", Options{}, field("gpt-5", `"temperature":1`), 400, "Unsupported parameter: 'temperature'"},
		{"effort", Options{}, field("gpt-4.1", `"reasoning":{"effort":"low"}`), 400,
			"Unsupported parameter: 'reasoning.effort'"},
		{"include", Options{}, field("gpt-4.1", `"include":["reasoning.encrypted_content"]`), 400,
			"Encrypted content is not supported with this model."},
		{"summary", Options{Refuses: []string{"reasoning.summary"}}, field("gpt-5", `"reasoning":{"summary":"auto"}`), 400,
			"must be verified to generate reasoning summaries"},
		{"stream", Options{Refuses: []string{"stream"}}, func([]string) string { return with(user) }, 400,
			"must be verified to stream"},
		{"cache key", Options{}, field("gpt-5", `"prompt_cache_key":"`+strings.Repeat("k", 65)+`"`), 400,
			"Invalid 'prompt_cache_key': string too long"},
		{"tool", Options{}, field("gpt-5", `"tools":[{"type":"function","name":"f"}]`), 400, "tools[0].parameters"},
		{"role", Options{}, func([]string) string { return with(`{"type":"message","role":"tool","content":"x"}`) }, 400,
			"Invalid value: 'tool'"},
		{"content", Options{}, func([]string) string {
			return with(`{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`)
		}, 400, "'output_text' and 'refusal'"},
		{"no content", Options{}, func([]string) string { return with(`{"type":"message","role":"user","content":[]}`) }, 400,
			"input[0].content"},
		{"image", Options{}, func([]string) string {
			return with(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"x"}]}`)
		}, 400, "Expected a valid URL"},
		{"phase", Options{}, func([]string) string {
			return with(`{"type":"message","role":"assistant","phase":"x","content":[{"type":"output_text","text":"x"}]}`)
		}, 400, "'commentary' and 'final_answer'"},
		{"type", Options{}, func([]string) string { return with(`{"type":"x"}`) }, 400, "Invalid value: 'x'"},
		{"too long", Options{Limit: 20}, func([]string) string { return with(user, user) }, 400,
			`"code":"context_length_exceeded"`},
		{"too long, late", Options{Limit: 20, Late: true, Wordless: true}, func([]string) string { return with(user, user) },
			200,
			`"error":{"code":"context_length_exceeded","message":""}`},
		{"xai: too long", Options{Limit: 20, XAI: true}, func([]string) string { return with(user, user) }, 400,
			`"error":"This model's maximum prompt length is 20 but the request contains`},
		{"xai: effort", Options{XAI: true}, field("grok-4", `"reasoning":{"effort":"low"}`), 400,
			`"error":"Model grok-4 does not support parameter reasoningEffort."`},
		{"xai: include", Options{XAI: true}, field("grok-3", `"include":["x"]`), 400, "Argument not supported: include"},
		{"xai: developer", Options{XAI: true},
			func([]string) string { return with(`{"type":"message","role":"developer","content":"x"}`) }, 400,
			"Invalid value: 'developer'"},
		{"incomplete", Options{Incomplete: "content_filter"}, func([]string) string { return with(user) }, 200,
			`"incomplete_details":{"reason":"content_filter"}`},
	} {
		p := newServer(Options{})
		s := modeltest.NewStrict(steps(), p)
		_, first := post(t, s, asking)
		p.o = c.o
		status, got := post(t, s, c.body(itemsOf(t, first)))
		if status != c.status || !strings.Contains(strings.NewReplacer(`\"`, `"`, `\u003e`, ">").Replace(got), c.words) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, status, got, c.status, c.words)
		}
		if refused := strings.Contains(got, "response.created") &&
			!strings.Contains(got, "response.failed"); refused == (len(s.Refusals()) > 0) {
			t.Errorf("%s: %+v", c.name, s.Refusals())
		}
	}
	s := New(steps(), Options{Cut: true})
	if _, got := post(t, s, asking); strings.Contains(got, "response.completed") || !strings.Contains(got, "call_2") {
		t.Errorf("a stream that is cut is %s", got)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	if w.Code != 404 || !strings.Contains(w.Body.String(), "unknown_url") {
		t.Errorf("another address: %d %s", w.Code, w.Body)
	}
}
