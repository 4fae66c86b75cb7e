package chatapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// servers are those that have words or rules of their own.
var servers = []string{"openai", "deepseek", "xai", "poe", "ark", "openrouter", "dashscope", "moonshot", "workers-ai",
	"custom", "lmstudio",
	"vllm", "llama.cpp"}

func post(t *testing.T, s *modeltest.Strict, key, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func call(id, name, args string) *scrollback.ToolCall {
	return &scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// thinking calls, and thinks before.
func thinking() model.Model {
	return modeltest.NewScript(model.Facts{},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm, "}, {Reasoning: "so"}, {Call: call("c1", "f", `{"a":1}`)},
			{Call: call("c2", "f", `{}`)}}}, modeltest.Say("done"))
}

// Every rule refuses what breaks it, with a status and a body that say so, and
// nothing else.
func TestRefuses(t *testing.T) {
	const user, calls = `{"role":"user","content":"q"}`,
		`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}}]`
	const results = `{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"2"}`
	tools := `,"tools":[{"type":"function","function":{"name":"f"}}]`
	say := func(messages ...string) string { return `"messages":[` + strings.Join(messages, ",") + `]` }
	for _, c := range []struct {
		name, server, body, rule string
		status                   int
		words                    string
	}{
		{"plain", "openai", say(user), "", 200, ""},
		{"not JSON", "openai", say(user) + `,,`, "json", 400, "could not parse"},
		{"half a pair", "openai", say(`{"role":"user","content":"half \udc00"}`), "well-formed", 400, "could not parse"},
		{"half in a call", "openai", say(user,
			`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f",`+
				`"arguments":"{\"a\":\"\\ud800\"}"}}]}`, `{"role":"tool","tool_call_id":"c1","content":"1"}`), "well-formed", 400,
			"surrogates"},
		{"a backslash", "openai", say(`{"role":"user","content":"\\ud800 and \ud83d\ude00"}`), "", 200, ""},
		{"no model", "deepseek", say(user) + `,"model":"other"`, "model", 400, "Model Not Exist"},
		{"a parameter", "openai", say(user) + `,"max_tokens":5`, "parameter", 400, "max_completion_tokens' instead"},
		{"another server's", "deepseek", say(user) + `,"prompt_cache_key":"x"`, "parameter", 400, "prompt_cache_key"},
		{"tools and a thought", "openai", say(user) + tools, "effort-with-tools", 400, `"param":"reasoning_effort"`},
		{"tools and none", "openai", say(user) + tools + `,"reasoning_effort":"none"`, "", 200, ""},
		{"two maxima", "ark", say(user) + `,"max_tokens":5,"max_completion_tokens":5`, "one-maximum", 400,
			"at the same time"},
		{"not streamed", "dashscope", say(user) + `,"enable_thinking":true,"stream":false`, "stream", 400, "non-streaming"},
		{"null", "workers-ai", say(user, `{"role":"assistant","content":null,`+calls+`}`, results), "null", 400,
			`"code":5006`},
		{"a list", "workers-ai", say(user, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, user), "lists", 400,
			"Bad input"},
		{"a list of a tool", "openai", say(user, `{"role":"assistant",`+calls+`}`,
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"}]}`), "lists", 400, "expected a string"},
		{"empty", "moonshot", say(`{"role":"user","content":""}`), "empty", 400, "must not be empty"},
		{"an image", "deepseek", say(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}`), "image",
			400,
			"unknown variant `image_url`, expected `text`"},
		{"role", "deepseek", say(`{"role":"developer","content":"x"}`, user), "role", 400, "unknown variant `developer`"},
		{"no system", "vllm", say(`{"role":"system","content":"x"}`, user), "no-system", 400, "System role not supported"},
		{"system amid", "llama.cpp", say(user, `{"role":"system","content":"x"}`), "system-front", 400, "at the beginning"},
		{"two users", "lmstudio", say(user, user), "turns", 400, `{"error":"Error rendering prompt with jinja template`},
		{"assistant first", "vllm", say(`{"role":"assistant","content":"x"}`, user), "turns", 400, "must alternate"},
		{"a result of nothing", "openai", say(user, results), "orphan", 400, "must be a response"},
		{"a result twice", "custom", say(user, `{"role":"assistant",`+calls+`}`, results, results), "orphan", 400,
			"must be a response"},
		{"out of order", "custom", say(user, `{"role":"assistant",`+calls+`}`,
			`{"role":"tool","tool_call_id":"c2","content":"2"}`), "order", 400,
			"c1 is expected"},
		{"not answered", "custom", say(user, `{"role":"assistant",`+calls+`}`, user), "answered", 400, "c1, c2"},
		{"not answered at the end", "custom", say(user, `{"role":"assistant",`+calls+`}`), "answered", 400, "c1, c2"},
		{"no id", "custom", say(user,
			`{"role":"assistant","tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}}]}`), "call", 400,
			"an id, a name"},
		{"no reasoning", "deepseek", say(user, `{"role":"assistant","content":null,`+calls+`}`, results), "reasoning", 400,
			"must be passed back"},
		{"no reasoning while off", "deepseek", say(user, `{"role":"assistant","content":null,`+calls+`}`, results) +
			`,"thinking":{"type":"disabled"}`, "", 200, ""},
		{"empty reasoning", "deepseek", say(user, `{"role":"assistant","content":null,"reasoning_content":"",`+calls+`}`,
			results), "reasoning",
			400, "must be passed back"},
		{"other reasoning", "deepseek", say(user,
			`{"role":"assistant","content":null,"reasoning_content":"hm, no",`+calls+`}`, results),
			"foreign", 400, "never given"},
		{"the reasoning", "deepseek", say(user, `{"role":"assistant","content":null,"reasoning_content":"hm, so",`+calls+`}`,
			results), "", 200,
			""},
		{"reasoning of nobody", "custom", say(user, `{"role":"assistant","content":"a","reasoning_content":"b"}`, user),
			"foreign", 400,
			"never given"},
		{"blank reasoning", "moonshot", say(user, `{"role":"assistant","content":"","reasoning_content":"",`+
			strings.ReplaceAll(calls, `"c`, `"d`)+`}`, strings.ReplaceAll(results, `"c`, `"d`)), "reasoning", 400, "at index 1"},
		{"a blank", "moonshot", say(user, `{"role":"assistant","content":"","reasoning_content":" ",`+
			strings.ReplaceAll(calls, `"c`, `"d`)+`}`,
			strings.ReplaceAll(results, `"c1`, `"d1`)), "orphan", 400, ""},
		{"no details", "openrouter", say(user, `{"role":"assistant","content":null,"reasoning":"hm, so",`+calls+`}`, results),
			"details", 400,
			"Provider returned error"},
		{"half the details", "openrouter", say(user,
			`{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"sealed-1","id":"rs-1",`+
				`"format":"anthropic-claude-v1","index":1}],`+calls+`}`, results), "signature", 400, "Invalid `signature`"},
		{"details", "openrouter", say(user,
			`{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.text","text":"hm, `+
				`so","signature":"sig-1","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"sealed-1","id":"rs-1",`+
				`"format":"anthropic-claude-v1","index":1}],`+calls+`}`, results), "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Preset(c.server)
			o.Models = []string{"m"}
			s := New(thinking(), o)
			if status, body := post(t, s, o.Key, `{"model":"m","stream":true,"messages":[`+user+`]}`); status != 200 ||
				!strings.Contains(body, `"finish_reason"`) {
				t.Fatalf("the first request: %d %s", status, body)
			}
			status, body := post(t, s, o.Key, `{"model":"m","stream":true,`+c.body+`}`)
			rule := ""
			if r := s.Refusals(); len(r) > 0 {
				rule = r[0].Rule
			}
			if status != c.status || rule != c.rule || !strings.Contains(strings.ReplaceAll(body, `\"`, `"`), c.words) {
				t.Errorf("%d of rule %q: %s; want %d of %q: %s", status, rule, body, c.status, c.rule, c.words)
			}
		})
	}
}

// Every server refuses a wrong key, an unknown model, a request and an answer that
// are too long, in a body that is JSON.
func TestBodies(t *testing.T) {
	long := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`,
		strings.Repeat("word ", 200))
	for _, name := range servers {
		o := Preset(name)
		o.Models = []string{"m"}
		o.Limit = 100
		o.MaxOutput = 50
		s := New(thinking(), o)
		ask := func(rule, key, body string) string {
			status, got := post(t, s, key, body)
			last := modeltest.Refused{}
			if all := s.Refusals(); len(all) > 0 {
				last = all[len(all)-1]
			}
			in200 := rule == "too-long" && o.Rules&LongWithin200 != 0
			if last.Rule != rule || in200 != (status == 200) || !in200 && !json.Valid([]byte(got)) {
				t.Errorf("%s, %s: %d of rule %q: %s", name, rule, status, last.Rule, got)
			}
			return got
		}
		ask("key", "sk-wrong", long)
		ask("model", o.Key, strings.Replace(long, `"m"`, `"n"`, 1))
		ask("too-long", o.Key, long)
		field := "max_tokens"
		if !slices.Contains(o.Takes, field) {
			field = "max_completion_tokens"
		}
		ask("max-output", o.Key, `{"model":"m","stream":true,"`+field+`":51,"messages":[{"role":"user","content":"q"}]}`)
	}
}

// What a quirk says is what is streamed.
func TestQuirks(t *testing.T) {
	used := &scrollback.Usage{InputTokens: 30, CachedTokens: 20, OutputTokens: 9, ReasoningTokens: 4, TotalTokens: 39}
	m := modeltest.NewScript(model.Facts{},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm"}, {Text: "a"}, {Call: call("c1", "f", `{"a":1}`)},
			{Call: call("c2", "f", `{"b":2}`)}, {Finish: "tool_calls", Usage: used}}})
	for quirk, want := range map[Quirks][]string{
		0: {`"index":0,"type":"function"`, `"finish_reason":"tool_calls"`, `[DONE]`,
			`"prompt_tokens_details":{"cache_write_tokens":0,"cached_tokens":20}`},
		OneIndex:       {`"id":"c2","index":0`},
		IndexFromOne:   {`"id":"c1","index":1`, `"id":"c2","index":2`},
		WholeCalls:     {`"arguments":"{\"a\":1}"`},
		SaysStop:       {`"finish_reason":"stop"`},
		UsageInChoice:  {`"index":0,"usage":{`},
		UsageNull:      {`"usage":null`, `"choices":[],`},
		CachedOnTop:    {`"cached_tokens":20,`},
		CacheHits:      {`"prompt_cache_hit_tokens":20`},
		ReasoningAside: {`"completion_tokens":5,`, `"total_tokens":39`},
		Fractions:      {`"prompt_tokens":30.0`},
		NumericIDs:     {`"id":7010,`, `"id":1,`},
		ContentList:    {`"content":[{"text":"a","type":"text"}]`},
		ObjectArgument: {`"arguments":{"a":1}`},
		Comments:       {": keep-alive\n"},
		NoIndex:        {`"id":"c1","type":"function"`},
		LateID:         {`"id":"","index":0`},
	} {
		_, body := post(t, New(m, Options{Quirks: quirk, Reasoning: "reasoning"}), "",
			`{"stream":true,"messages":[{"role":"user","content":"q"}]}`)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("quirk %b: no %s in\n%s", quirk, w, body)
			}
		}
	}
	if _, body := post(t, New(m, Options{Starved: 1}), "",
		`{"stream":true,"messages":[{"role":"user","content":"q"}]}`); !strings.Contains(body,
		"insufficient_system_resource") {
		t.Errorf("a starved server says %s", body)
	}
}
