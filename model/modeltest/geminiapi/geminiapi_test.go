package geminiapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func call(id, name, args string) *scrollback.ToolCall {
	return &scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// served returns a stand-in that calls a tool where one is defined, and talks else.
func served(t *testing.T, o *Options) (*modeltest.Strict, string) {
	t.Helper()
	s := New(modeltest.NewScript(model.Facts{Name: "x"}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		if len(r.Tools) > 0 && !r.AnswerOnly {
			return []model.Delta{{Reasoning: "hm"}, {Call: call("a", "f", `{"n":1}`)}, {Call: call("b", "g", `{}`)},
				{Finish: "tool_calls"}}
		}
		return []model.Delta{{Text: fmt.Sprint("it is ", len(r.Items))}, {Text: " now"}, {Finish: "stop"}}
	}}), o)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

// ask posts a body as it is.
func ask(t *testing.T, url, id, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		url+"/v1beta/models/"+id+":streamGenerateContent?alt=sse",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Goog-Api-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// partsOf returns those of a stream, as they were written.
func partsOf(t *testing.T, stream string) (out []string) {
	t.Helper()
	for line := range strings.Lines(stream) {
		var f struct {
			Candidates []struct {
				Content struct{ Parts []json.RawMessage }
			}
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Candidates[0].Content.Parts {
			out = append(out, string(p))
		}
	}
	return out
}

const (
	hi   = `{"role":"user","parts":[{"text":"hi"}]}`
	tool = `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}},{"name":"g"}]}]`
)

func turn(role string, parts ...string) string {
	return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
}

func turns(turns ...string) string { return `{"contents":[` + strings.Join(turns, ",") + `]}` }

// Each rule that a body alone can break is refused, once.
func TestRules(t *testing.T) {
	s, url := served(t, &Options{Key: "k", Limit: 200, MaxOutput: 100, Refuse: []string{"strange"}})
	with := func(more string) string { return `{"contents":[` + hi + `],` + more + `}` }
	call := func(fields string) string { return `{"functionCall":{"name":"f"` + fields + `}}` }
	skip := `{"functionCall":{"name":"f"},"thoughtSignature":"` + standIn + `"}`
	result := `{"functionResponse":{"name":"f","response":{"output":"1"}}}`
	think := func(c string) string { return with(`"generationConfig":{"thinkingConfig":` + c + `}`) }
	for _, c := range []struct {
		rule, id, key, body, words string
		status                     int
	}{
		{"no-key", "", "-", turns(hi), "unregistered callers", 403},
		{"bad-key", "", "other", turns(hi), "API key not valid", 400},
		{"no-model", "gemini-9", "", turns(hi), "is not found for API version v1beta", 404},
		{"well-formed", "", "", turns(turn("user", `{"text":"half \ud83d\ud83d"}`)), "invalid Unicode code point", 400},
		{"well-formed", "", "", turns(turn("user", "{\"text\":\"\xff\"}")), "invalid Unicode code point", 400},
		{"field", "", "", with(`"stream":true`), `Unknown name \"stream\"`, 400},
		{"field", "", "", with(`"strange":true`), `Unknown name \"strange\"`, 400},
		{"continuation", "", "", with(`"continuationToken":"bm8="`), "Invalid continuation token", 400},
		{"too-long", "", "", turns(turn("user", `{"text":"`+strings.Repeat("x", 900)+`"}`)),
			"exceeds the maximum number of tokens allowed (200)",
			400},
		{"max-output", "", "", with(`"generationConfig":{"maxOutputTokens":101}`), "from 1 (inclusive) to 101 (exclusive)",
			400},
		{"system", "gemma-3-27b-it", "", with(`"systemInstruction":{"parts":[{"text":"x"}]}`),
			"Developer instruction is not enabled", 400},
		{"calling", "gemma-3-27b-it", "", with(tool), "Function calling is not enabled", 400},
		{"name", "", "", with(`"tools":[{"functionDeclarations":[{"name":"7z"}]}]`), "Invalid function name", 400},
		{"thinking", "gemini-2.0-flash", "", think(`{"includeThoughts":true}`), "Thinking is not enabled", 400},
		{"level-and-budget", "", "", think(`{"thinkingLevel":"LOW","thinkingBudget":5}`), "only one of", 400},
		{"level", "gemini-2.5-flash", "", think(`{"thinkingLevel":"LOW"}`), "Thinking level LOW is not supported", 400},
		{"level", "gemini-3.1-pro-preview", "", think(`{"thinkingLevel":"MINIMAL"}`), "Thinking level MINIMAL", 400},
		{"budget", "gemini-2.5-pro", "", think(`{"thinkingBudget":0}`), "only works in thinking mode", 400},
		{"budget", "gemini-2.5-flash", "", think(`{"thinkingBudget":99999}`), "The thinking budget (99999) is invalid", 400},
		{"thoughts", "gemini-2.5-flash", "", think(`{"thinkingBudget":0,"includeThoughts":true}`),
			"only enabled when thinking", 400},
		{"something", "", "", `{"contents":[]}`, "contents is not specified", 400},
		{"role", "", "", turns(turn("assistant", `{"text":"x"}`)), "valid role", 400},
		{"empty", "", "", turns(turn("user")), "must not be empty", 400},
		{"call-turn", "", "", turns(turn("model", skip)), "immediately after a user turn", 400},
		{"response-turn", "", "", turns(hi, turn("user", result)), "immediately after a function call turn", 400},
		{"response-number", "", "", turns(hi, turn("model", skip, call("")), turn("user", result)),
			"number of function response parts", 400},
		{"response-number", "", "", turns(hi, turn("model", skip), turn("user", result, `{"text":"x"}`)),
			"number of function response parts",
			400},
		{"response-match", "", "", turns(hi, turn("model", skip), turn("user", strings.Replace(result, `"f"`, `"g"`, 1))),
			"match the function call", 400},
		{"user-last", "", "", turns(hi, turn("model", `{"text":"x"}`)), "ends with a user turn", 400},
		{"part", "", "", turns(turn("user", `{}`)), "required oneof field", 400},
		{"empty-text", "", "", turns(turn("user", `{"text":""}`)), "must have a text parameter", 400},
		{"image", "", "", turns(turn("user", `{"inlineData":{"mimeType":"image/gif","data":"AAAA"}}`)),
			"Unsupported MIME type: image/gif", 400},
		{"args", "", "", turns(hi, turn("model", call(`,"args":[1]`)), turn("user", result)), "function_call.args", 400},
		{"response", "", "", turns(hi, turn("model", skip),
			turn("user", strings.Replace(result, `{"output":"1"}`, `"1"`, 1))),
			"function_response.response", 400},
		{"ref", "", "", turns(hi, turn("model", skip), turn("user", strings.Replace(result, `"1"`, `{"$ref":"a"}`, 1))),
			"$ref", 400},
		{"signature-missing", "", "", turns(hi, turn("model", call("")), turn("user", result)), "missing a thought_signature",
			400},
		{"signature-corrupted", "", "", turns(hi, turn("model", `{"text":"x","thoughtSignature":"bm8="}`), hi),
			"Corrupted thought signature",
			400},
		{"signature-corrupted", "", "", turns(hi, turn("model", skip, skip), turn("user", result, result)),
			"Corrupted thought signature", 400},
		{"foreign-id", "", "", turns(hi, turn("model", `{"functionCall":{"name":"f","id":"x"}}`),
			turn("user", strings.Replace(result, `"name"`, `"id":"x","name"`, 1))), "is unknown", 400},
		{"foreign-thought", "", "", turns(hi, turn("model", `{"text":"hm","thought":true}`, `{"text":"x"}`), hi),
			"Corrupted thought signature",
			400},
	} {
		id := c.id
		key := c.key
		if id == "" {
			id = "gemini-3-flash-preview"
		}
		switch key {
		case "":
			key = "k"
		case "-":
			key = ""
		}
		before := len(s.Refusals())
		status, said := ask(t, url, id, key, c.body)
		all := s.Refusals()
		if status != c.status || len(all) != before+1 || all[before].Rule != c.rule || !strings.Contains(said, c.words) ||
			!strings.Contains(said, `"status": "`) {
			t.Errorf("%s: status %d, refused by %+v: %s", c.rule, status, all[before:], said)
		}
	}
	if status, said := ask(t, url, "gemini-3-flash-preview", "k", turns(hi, turn("model", skip, call("")),
		turn("user", result, result))); status != 200 {
		t.Errorf("what stands in for a signature was refused: %s", said)
	}
}

// What the stand-in gives out it wants back as it was.
func TestSignatures(t *testing.T) {
	s, url := served(t, nil)
	ids := "gemini-3-flash-preview"
	_, stream := ask(t, url, ids, "k", `{"contents":[`+hi+`],`+tool+`}`)
	called := partsOf(t, stream)
	_, stream = ask(t, url, ids, "k", turns(hi)) // the second answer: its first text is signed
	first := partsOf(t, stream)
	_, stream = ask(t, url, ids, "k", turns(hi, turn("model", `{"text":"x"}`), hi)) // the third: an empty text is
	last := partsOf(t, stream)
	if len(called) != 4 || !strings.Contains(called[1], "thoughtSignature") ||
		strings.Contains(called[2], "thoughtSignature") {
		t.Fatalf("calls: %q", called)
	}
	if len(first) != 3 || !strings.Contains(first[0], "thoughtSignature") || len(last) != 3 ||
		!strings.Contains(last[2], "thoughtSignature") {
		t.Fatalf("texts: %q and %q", first, last)
	}
	results := turn("user", `{"functionResponse":{"id":"fn1","name":"f","response":{}}}`,
		`{"functionResponse":{"id":"fn2","name":"g","response":{}}}`)
	unsigned := func(p string) string { return p[:strings.Index(p, `,"thoughtSignature`)] + "}" }
	_, sig, _ := strings.Cut(called[1], `,"thoughtSignature"`)
	moved := strings.TrimSuffix(called[2], "}") + `,"thoughtSignature"` + sig
	for name, c := range map[string]struct{ model, body, rule string }{
		"as it came":         {ids, turns(hi, turn("model", called[:3]...), results), ""},
		"without thoughts":   {ids, turns(hi, turn("model", called[1:3]...), results), ""},
		"signature left out": {ids, turns(hi, turn("model", unsigned(called[1]), called[2]), results), "signature-missing"},
		"signature changed": {ids, turns(hi, turn("model",
			strings.Replace(called[1], `"thoughtSignature":"`, `"thoughtSignature":"AA`, 1),
			called[2]), results), "signature-corrupted"},
		"signature moved": {ids, turns(hi, turn("model", called[1], moved), results), "signature-corrupted"},
		"call changed": {ids, turns(hi, turn("model", strings.Replace(called[1], `"n":1`, `"n":2`, 1), called[2]), results),
			"signature-corrupted"},
		"stand-in for its own": {ids, turns(hi,
			turn("model", strings.TrimSuffix(unsigned(called[1]), "}")+`,"thoughtSignature":"`+standIn+`"}`,
				called[2]), results), "signature-corrupted"},
		"to another model": {"gemini-3.1-pro-preview", turns(hi, turn("model", first[0], first[1]), hi),
			"signature-corrupted"},
		"thoughts to another": {"gemini-2.5-flash", turns(hi, turn("model", called[0], `{"text":"x"}`), hi),
			"foreign-thought"},
		"ids to another": {"gemini-2.5-flash", turns(hi, turn("model", unsigned(called[1]), called[2]), results),
			"foreign-id"},
		"text as it came": {ids, turns(hi, turn("model", first[0], first[1]), hi), ""},
		"text joined": {ids, turns(hi, turn("model", strings.Replace(first[0], `it is 1`, `it is 1 now`, 1)), hi),
			"signature-corrupted"},
		"text without it":       {ids, turns(hi, turn("model", unsigned(first[0]), first[1]), hi), "signature-lost"},
		"empty text as it came": {ids, turns(hi, turn("model", last...), hi), ""},
		"empty text joined":     {ids, turns(hi, turn("model", `{"text":"it is 3 now"}`, last[2]), hi), ""},
		"empty text left out":   {ids, turns(hi, turn("model", last[0], last[1]), hi), "signature-lost"},
		"empty text a thought": {ids, turns(hi,
			turn("model", last[0], last[1], strings.Replace(last[2], `""`, `"","thought":true`, 1)), hi),
			"signature-corrupted"},
	} {
		before := len(s.Refusals())
		status, said := ask(t, url, c.model, "k", c.body)
		rule := ""
		if all := s.Refusals(); len(all) > before {
			rule = all[before].Rule
		}
		if rule != c.rule || (status == 200) != (c.rule == "") {
			t.Errorf("%s: status %d, rule %q, want %q: %s", name, status, rule, c.rule, said)
		}
	}
}

// An answer in several hops, the list, and a model that fails.
func TestAnswers(t *testing.T) {
	_, url := served(t, &Options{Hop: 2})
	body := turns(hi)
	_, stream := ask(t, url, "gemini-2.5-flash", "k", body)
	_, token, ok := strings.Cut(stream, `"continuationToken":"`)
	if !ok || !strings.Contains(stream, `"finishReason":"CONTINUATION"`) || len(partsOf(t, stream)) != 2 {
		t.Fatalf("the first hop: %s", stream)
	}
	token, _, _ = strings.Cut(token, `"`)
	more := strings.TrimSuffix(body, "}") + `,"continuationToken":"` + token + `"}`
	if _, rest := ask(t, url, "gemini-2.5-flash", "k", more); !strings.Contains(rest, `"finishReason":"STOP"`) ||
		len(partsOf(t, rest)) != 1 {
		t.Errorf("the second hop: %s", rest)
	}
	if status, _ := ask(t, url, "gemini-2.5-flash", "k", strings.Replace(more, `"hi"`, `"ho"`, 1)); status != 400 {
		t.Errorf("another request went on with the answer: %d", status)
	}
	resp := httptest.NewRecorder()
	listed := httptest.NewRequest(http.MethodGet, "/v1beta/models/gemini-2.5-flash", nil)
	listed.Header.Set("X-Goog-Api-Key", "k")
	New(nil, &Options{Limit: 7}).ServeHTTP(resp, listed)
	if said := resp.Body.String(); !strings.Contains(said, `"inputTokenLimit":7`) ||
		!strings.Contains(said, `"outputTokenLimit":65536`) {
		t.Errorf("the list: %s", said)
	}
	broken := New(modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: modeltest.Say("half").Deltas,
		Err: scrollback.Errorf(scrollback.Internal, "x", "broken")}), nil)
	srv := httptest.NewServer(broken)
	defer srv.Close()
	if _, said := ask(t, srv.URL, "gemini-2.5-flash", "k", body); !strings.Contains(said, `"half"`) ||
		!strings.Contains(said, `"status": "UNAVAILABLE"`) {
		t.Errorf("a model that failed: %s", said)
	}
}
