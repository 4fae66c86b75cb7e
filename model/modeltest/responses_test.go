package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// responsesSteps thinks, says something and calls twice.
func responsesSteps() *Script {
	return NewScript(model.Facts{Name: "test/script"}, Step{Deltas: []model.Delta{{Reasoning: "hm, "}, {Reasoning: "so"}, {Text: "looking"},
		{Call: call("call_1", "f", `{"a":1}`)}, {Call: call("call_2", "f", `{}`)}, {Usage: &scrollback.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2, TotalTokens: 14}}}})
}

// responsesPost sends a body to a stand-in.
func responsesPost(t *testing.T, s *Strict, body string) (status int, answer string) {
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

// responsesItems are the items of an answer's last event.
func responsesItems(t *testing.T, stream string) (list []string) {
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

const responsesAsk = `{"model":"gpt-5","input":[{"type":"message","role":"user","content":"q"}],"store":false,"stream":true,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"tools":[{"type":"function","name":"f","parameters":{}}]}`

func TestResponsesStream(t *testing.T) {
	s := NewResponses(responsesSteps(), ResponsesOptions{Phases: true})
	status, got := responsesPost(t, s, responsesAsk)
	var kinds []string
	for line := range strings.Lines(got) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimPrefix(strings.TrimSpace(kind), "response."))
		}
	}
	want := "created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
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
	_, whole := responsesPost(t, s, strings.Replace(responsesAsk, `"stream":true`, `"stream":false`, 1))
	if list := responsesItems(t, "data: {\"response\":"+whole+"}"); len(list) != 4 {
		t.Errorf("%d items in %s", len(list), whole)
	}
}

// Each rule is refused, in the words of the server.
func TestResponsesRules(t *testing.T) {
	user := `{"type":"message","role":"user","content":"q"}`
	type rule struct {
		name   string
		o      ResponsesOptions
		body   func(it []string) string
		status int
		words  string
	}
	with := func(input ...string) string {
		return `{"model":"gpt-5","store":false,"stream":true,"include":["reasoning.encrypted_content"],"input":[` + strings.Join(input, ",") + `]}`
	}
	field := func(model, fields string) func([]string) string {
		return func([]string) string {
			return `{"model":"` + model + `","store":false,"stream":true,"input":[` + user + `],` + fields + `}`
		}
	}
	outputs := `{"type":"function_call_output","call_id":"call_1","output":""},{"type":"function_call_output","call_id":"call_2","output":""}`
	for _, c := range []rule{
		{"whole", ResponsesOptions{}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs) }, 200, "response.completed"},
		{"text before", ResponsesOptions{}, func(it []string) string {
			return with(user, it[0], `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`, it[2], it[3], outputs)
		}, 200, "response.completed"},
		{"without ids", ResponsesOptions{}, func([]string) string {
			return with(user, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"call_1","output":""}`)
		}, 200, "response.completed"},
		{"key", ResponsesOptions{Key: "sk-other"}, func([]string) string { return with(user) }, 401, "Incorrect API key provided: sk-test-***bbbb"},
		{"model", ResponsesOptions{Models: []string{"gpt-6"}}, func([]string) string { return with(user) }, 404, "model_not_found"},
		{"quota", ResponsesOptions{Spent: true}, func([]string) string { return with(user) }, 429, "insufficient_quota"},
		{"quota late", ResponsesOptions{Spent: true, Late: true}, func([]string) string { return with(user) }, 200, `"code":"insufficient_quota"`},
		{"json", ResponsesOptions{}, func([]string) string { return "{" }, 400, "could not parse"},
		{"no input", ResponsesOptions{}, func([]string) string { return with() }, 400, "must be provided"},
		{"stored", ResponsesOptions{}, func(it []string) string { return with(user, `{"type":"reasoning","id":"rs_1","summary":[]}`, user) }, 404, "Item with id 'rs_1' not found. Items are not persisted"},
		{"encrypted", ResponsesOptions{}, func(it []string) string {
			return with(user, strings.Replace(it[0], `"gAAAAA`, `"gAAAAB`, 1), it[2], it[3], outputs)
		}, 400, `"code":"invalid_encrypted_content"`},
		{"encrypted by another", ResponsesOptions{}, func(it []string) string {
			return strings.Replace(with(user, it[0], it[2], it[3], outputs), "gpt-5", "gpt-6", 1)
		}, 400, "could not be verified"},
		{"forgotten", ResponsesOptions{Forgets: true}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs) }, 400, "could not be verified"},
		{"reasoning alone", ResponsesOptions{}, func(it []string) string { return with(user, it[0]) }, 400, "was provided without its required following item"},
		{"reasoning before outputs", ResponsesOptions{}, func(it []string) string { return with(user, it[2], it[0], outputs) }, 400, "of type 'function_call' was provided without its required 'reasoning' item"},
		{"call without reasoning", ResponsesOptions{}, func(it []string) string { return with(user, it[2], outputs) }, 400, "of type 'function_call' was provided without its required 'reasoning' item: 'rs_"},
		{"twice", ResponsesOptions{}, func(it []string) string { return with(user, it[0], it[0], it[2], it[3], outputs) }, 400, "Duplicate item found"},
		{"no output", ResponsesOptions{}, func(it []string) string { return with(user, it[0], it[2]) }, 400, "No tool output found for function call call_1."},
		{"no call", ResponsesOptions{}, func([]string) string { return with(user, outputs) }, 400, "No tool call found for function call output with call_id call_1."},
		{"answered twice", ResponsesOptions{}, func(it []string) string { return with(user, it[0], it[2], it[3], outputs, outputs) }, 400, "No tool call found"},
		{"item's id", ResponsesOptions{}, func([]string) string {
			return with(user, `{"type":"function_call","id":"call_1","call_id":"call_1","name":"f","arguments":"{}"}`)
		}, 400, "begins with 'fc'"},
		{"id's length", ResponsesOptions{}, func([]string) string {
			return with(`{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"f","arguments":"{}"}`)
		}, 400, "maximum length 64"},
		{"store", ResponsesOptions{}, func([]string) string { return strings.Replace(with(user), `"store":false`, `"store":true`, 1) }, 400, "Store must be set to false"},
		{"unknown", ResponsesOptions{}, field("gpt-5", `"max_tokens":5`), 400, "Unknown parameter: 'max_tokens'."},
		{"min output", ResponsesOptions{}, field("gpt-5", `"max_output_tokens":8`), 400, "Expected a value >= 16, but got 8"},
		{"sampling", ResponsesOptions{}, field("gpt-5", `"temperature":1`), 400, "Unsupported parameter: 'temperature'"},
		{"effort", ResponsesOptions{}, field("gpt-4.1", `"reasoning":{"effort":"low"}`), 400, "Unsupported parameter: 'reasoning.effort'"},
		{"include", ResponsesOptions{}, field("gpt-4.1", `"include":["reasoning.encrypted_content"]`), 400, "Encrypted content is not supported with this model."},
		{"summary", ResponsesOptions{Refuses: []string{"reasoning.summary"}}, field("gpt-5", `"reasoning":{"summary":"auto"}`), 400, "must be verified to generate reasoning summaries"},
		{"stream", ResponsesOptions{Refuses: []string{"stream"}}, func([]string) string { return with(user) }, 400, "must be verified to stream"},
		{"cache key", ResponsesOptions{}, field("gpt-5", `"prompt_cache_key":"`+strings.Repeat("k", 65)+`"`), 400, "Invalid 'prompt_cache_key': string too long"},
		{"tool", ResponsesOptions{}, field("gpt-5", `"tools":[{"type":"function","name":"f"}]`), 400, "tools[0].parameters"},
		{"role", ResponsesOptions{}, func([]string) string { return with(`{"type":"message","role":"tool","content":"x"}`) }, 400, "Invalid value: 'tool'"},
		{"content", ResponsesOptions{}, func([]string) string {
			return with(`{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`)
		}, 400, "'output_text' and 'refusal'"},
		{"no content", ResponsesOptions{}, func([]string) string { return with(`{"type":"message","role":"user","content":[]}`) }, 400, "input[0].content"},
		{"image", ResponsesOptions{}, func([]string) string {
			return with(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"x"}]}`)
		}, 400, "Expected a valid URL"},
		{"phase", ResponsesOptions{}, func([]string) string {
			return with(`{"type":"message","role":"assistant","phase":"x","content":[{"type":"output_text","text":"x"}]}`)
		}, 400, "'commentary' and 'final_answer'"},
		{"type", ResponsesOptions{}, func([]string) string { return with(`{"type":"x"}`) }, 400, "Invalid value: 'x'"},
		{"too long", ResponsesOptions{Limit: 20}, func([]string) string { return with(user, user) }, 400, `"code":"context_length_exceeded"`},
		{"too long, late", ResponsesOptions{Limit: 20, Late: true, Wordless: true}, func([]string) string { return with(user, user) }, 200, `"error":{"code":"context_length_exceeded","message":""}`},
		{"xai: too long", ResponsesOptions{Limit: 20, XAI: true}, func([]string) string { return with(user, user) }, 400, `"error":"This model's maximum prompt length is 20 but the request contains`},
		{"xai: effort", ResponsesOptions{XAI: true}, field("grok-4", `"reasoning":{"effort":"low"}`), 400, `"error":"Model grok-4 does not support parameter reasoningEffort."`},
		{"xai: include", ResponsesOptions{XAI: true}, field("grok-3", `"include":["x"]`), 400, "Argument not supported: include"},
		{"xai: developer", ResponsesOptions{XAI: true}, func([]string) string { return with(`{"type":"message","role":"developer","content":"x"}`) }, 400, "Invalid value: 'developer'"},
		{"incomplete", ResponsesOptions{Incomplete: "content_filter"}, func([]string) string { return with(user) }, 200, `"incomplete_details":{"reason":"content_filter"}`},
	} {
		s := NewResponses(responsesSteps(), ResponsesOptions{})
		_, first := responsesPost(t, s, responsesAsk)
		s.speak.(*responses).o = c.o
		status, got := responsesPost(t, s, c.body(responsesItems(t, first)))
		if status != c.status || !strings.Contains(strings.NewReplacer(`\"`, `"`, `\u003e`, ">").Replace(got), c.words) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, status, got, c.status, c.words)
		}
		if refused := strings.Contains(got, "response.created") && !strings.Contains(got, "response.failed"); refused == (len(s.Refusals()) > 0) {
			t.Errorf("%s: %+v", c.name, s.Refusals())
		}
	}
	s := NewResponses(responsesSteps(), ResponsesOptions{Cut: true})
	if _, got := responsesPost(t, s, responsesAsk); strings.Contains(got, "response.completed") || !strings.Contains(got, "call_2") {
		t.Errorf("a stream that is cut is %s", got)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	if w.Code != 404 || !strings.Contains(w.Body.String(), "unknown_url") {
		t.Errorf("another address: %d %s", w.Code, w.Body)
	}
}
