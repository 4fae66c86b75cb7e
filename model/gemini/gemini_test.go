package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/gemini"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// served returns the client of a model on a server of the test's.
func served(t *testing.T, h http.Handler, id string, change func(*remote.Endpoint)) *gemini.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	p := remote.Endpoint{Name: "gemini/" + id, Model: id, BaseURL: srv.URL,
		Options: remote.Options{Provider: "gemini", Key: "k-secret", KeyVariable: "GEMINI_API_KEY",
			BaseVariable: "GEMINI_BASE_URL",
			Pause:        time.Millisecond, Client: srv.Client()}}
	if change != nil {
		change(&p)
	}
	return gemini.New(p)
}

// play serves a recorded stream, one event a write.
func play(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return stream(string(text))
}

func stream(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for event := range strings.SplitAfterSeq(text, "\n\n") {
			if _, err := io.WriteString(w, event); err != nil || rc.Flush() != nil || r.Context().Err() != nil {
				return
			}
		}
	}
}

func TestSuite(t *testing.T) {
	plain := play(t, "plain")
	call := play(t, "call")
	modeltest.Run(t, func(t *testing.T) model.Model {
		return served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client is gone
			}
			if strings.Contains(string(body), `"tools"`) {
				call(w, r)
				return
			}
			plain(w, r)
		}), "gemini-3-flash-preview", nil)
	})
}

// told returns parts as one line, to compare.
func told(ps scrollback.Parts) string {
	var out []string
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, "text "+p.Text+string(p.Opaque))
		case scrollback.Reasoning:
			out = append(out, "thought "+p.Text+string(p.Opaque))
		case scrollback.ToolCall:
			out = append(out, "call "+p.ID+" "+p.Name+string(p.Arguments)+string(p.Opaque))
		default:
			out = append(out, "?")
		}
	}
	return strings.Join(out, " | ")
}

// Recorded streams: what parts they become, how they end, what they cost.
func TestRecordings(t *testing.T) {
	for name, want := range map[string]struct {
		parts, finish, request string
		usage                  scrollback.Usage
		err                    scrollback.Code
		words                  string
	}{
		"plain": {parts: `text The code is 7F3K-221. | thought {"thoughtSignature":"EpcCCpQCARFNMg9G/+8=","text":true}`,
			finish:  "stop",
			request: "vQRpaqzAPN2M9MoP", usage: scrollback.Usage{InputTokens: 30, OutputTokens: 60, ReasoningTokens: 52,
				TotalTokens: 90}},
		"call": {parts: `thought Look it up. | call fn_9x context_search{"query": "blue ` +
			`depot"}{"thoughtSignature":"CvoCAb4+9vs=","id":"fn_9x"}`, finish: "tool_calls", request: "call-1",
			usage: scrollback.Usage{InputTokens: 90, OutputTokens: 22, ReasoningTokens: 10, TotalTokens: 112}},
		"parallel": {parts: `call call_par-1_1 get_weather{"city": "Paris"}{"thoughtSignature":"AY89a19Y=="} | call call_par-1_2 ` +
			`get_weather{"city": "Tokyo"} | call call_par-1_3 now{}`, finish: "tool_calls", request: "par-1",
			usage: scrollback.Usage{InputTokens: 50, CachedTokens: 40, OutputTokens: 30, TotalTokens: 80}},
		"reasoning": {parts: `thought **Think**

first then more | thought signed{"thoughtSignature":"c2ln"} | text An | text swer.{"thoughtSignature":"dGV4dA"} | text  And more.`, finish: "stop", request: "r-1", usage: scrollback.Usage{InputTokens: 7, OutputTokens: 9, ReasoningTokens: 6, TotalTokens: 16}},
		"gemma": {parts: "thought *   User input. | text hello", finish: "stop", request: "g-1",
			usage: scrollback.Usage{InputTokens: 6, OutputTokens: 77, ReasoningTokens: 76, TotalTokens: 83}},
		"same_ids": {parts: `call fn f{"a":1}{"thoughtSignature":"eA==","id":"fn"} | call call_R 1_1 ` +
			`f{"malformed_arguments":"\"x\""}{"id":"fn"} | call call_R 1_2 f{}`, finish: "tool_calls", request: "R 1"},
		"unknown": {parts: `text Run: | thought {"part":{"executableCode":{"language":"PYTHON","code":"print(1<2)"}}} | text Done. | ` +
			`thought {"thoughtSignature":"b25seQ==","text":true}`, finish: "stop", usage: scrollback.Usage{}},
		"tooluse": {parts: "text x", finish: "length", request: "t-1",
			usage: scrollback.Usage{InputTokens: 40, CachedTokens: 8,
				OutputTokens: 1, TotalTokens: 41}},
		"odd_usage": {parts: "text x", finish: "stop", usage: scrollback.Usage{InputTokens: 12, OutputTokens: 3}.Doubted()},
		"safety": {parts: "text I", finish: "content_filter",
			usage: scrollback.Usage{InputTokens: 3, OutputTokens: 1, TotalTokens: 4}},
		"other":   {parts: "text x", finish: "other"},
		"cut":     {parts: "text half an"},
		"dressed": {parts: "text ab", finish: "stop"},
		"blocked": {err: scrollback.Refused, words: "declines this request", request: "EXCPatOAKMrQ",
			usage: scrollback.Usage{InputTokens: 9, TotalTokens: 9}},
		"error":  {parts: "text half", err: scrollback.Unavailable, words: "a fault of its own (status 503)"},
		"nocode": {parts: "text half", err: scrollback.RateLimited, words: "asks to wait"},
		"broke_off": {parts: "text half", err: scrollback.Unavailable, words: "broke its answer off",
			usage: scrollback.Usage{InputTokens: 5, OutputTokens: 1, TotalTokens: 6}},
	} {
		t.Run(name, func(t *testing.T) {
			m := served(t, play(t, name), "gemini-3-flash-preview", nil)
			a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
			if scrollback.CodeOf(err) != want.err && (err != nil || want.err != "") ||
				err != nil && !strings.Contains(err.Error(), want.words) {
				t.Fatalf("error %v, want %q with %q", err, want.err, want.words)
			}
			if got := told(modeltest.StoredParts(a.Deltas)); got != want.parts || a.Finish != want.finish ||
				a.RequestID != want.request {
				t.Errorf("parts   %s\nwanted  %s\nfinish %q, request %q", got, want.parts, a.Finish, a.RequestID)
			}
			if used := a.Usage; used == nil && want.usage != (scrollback.Usage{}) || used != nil && *used != want.usage {
				t.Errorf("usage %+v, want %+v", used, want.usage)
			}
		})
	}
}

// What fails before the first piece is tried again if it may pass; nothing is after
// it; and no error says the key or the server's words.
func TestFailures(t *testing.T) {
	plain := play(t, "plain")
	quota := func(id, after string) string {
		return `{"error":{"code":429,"message":"You exceeded your current ` +
			`quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` +
			id +
			`"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + after + `"}]}}`
	}
	invalid := func(words string) string {
		return `{"error":{"code":400,"message":"` + words + `","status":"INVALID_ARGUMENT"}}`
	}
	for name, c := range map[string]struct {
		status int
		body   string
		code   scrollback.Code
		tries  int32
		words  string
	}{
		"bad key": {400, invalid(`API key not valid. Please pass a valid API key.`), scrollback.Refused, 1,
			"refuses the key (GEMINI_API_KEY)"},
		"expired key": {400, invalid(`API key expired. Please renew the API key.`), scrollback.Refused, 1, "refuses the key"},
		"leaked key": {403, `{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API ` +
			`key.","status":"PERMISSION_DENIED"}}`, scrollback.Refused, 1, "refuses the key"},
		"forbidden": {403,
			`{"error":{"code":403,"message":"Your project has been denied access.","status":"PERMISSION_DENIED"}}`,
			scrollback.Refused, 1, "does not allow this"},
		"no identity": {403,
			`{"error":{"code":403,"message":"Method doesn't allow unregistered callers (callers without established ` +
				`identity).","status":"PERMISSION_DENIED"}}`, scrollback.Refused, 1, "refuses the key"},
		"no money": {402, `{"error":{"code":402,"message":"x"}}`, scrollback.Refused, 1, "no money or quota"},
		"no model": {404,
			`{"error":{"code":404,"message":"models/x is not found for API version v1beta, or is not supported for ` +
				`generateContent.","status":"NOT_FOUND"}}`, scrollback.Invalid, 1, "does not know the model"},
		"too long": {400, invalid(`The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).`),
			scrollback.OverBudget, 1, "too long"},
		"missing": {400,
			invalid("Function call is missing a thought_signature in functionCall parts. This is required for tools to " +
				"work correctly"), scrollback.Unavailable, 1, "did not take the request (status 400)"},
		"a minute's": {429, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0.002s"), scrollback.RateLimited,
			4,
			"asks to wait"},
		"a day's": {429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "0.002s"), scrollback.RateLimited, 1,
			"asks to wait"},
		"none at all": {429,
			`{"error":{"code":429,"message":"Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, ` +
				`model: x","status":"RESOURCE_EXHAUSTED"}}`, scrollback.RateLimited, 1, "asks to wait"},
		"a long while": {429, quota("GenerateRequestsPerMinute", "3600s"), scrollback.RateLimited, 1, "asks to wait 1h0m0s"},
		"overloaded": {503, `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`,
			scrollback.Unavailable,
			4, "a fault of its own (status 503)"},
		"a page":          {502, "<html>bad gateway</html>", scrollback.Unavailable, 4, "web page"},
		"an error's text": {200, `{"error":"something"}`, scrollback.Unavailable, 4, "could not answer"},
		"400 within 200": {200, "data: " + invalid("x") + "\n\n", scrollback.Unavailable, 1,
			"did not take the request (status 400)"},
		"too long in 200": {200, "data: " +
			invalid("The input token count exceeds the maximum number of tokens allowed (1000).") + "\n\n",
			scrollback.OverBudget, 1, "too long"},
		"bare error": {200, "{\n  \"error\": {\n    \"message\": \"no\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n",
			scrollback.Unavailable,
			4, "a fault of its own (status 503)"},
		"gibberish":     {200, "data: {{{\n\n", scrollback.Unavailable, 4, "cannot be read"},
		"no object":     {200, "data: 12\n\n", scrollback.Unavailable, 4, "cannot be read"},
		"nothing":       {200, "", scrollback.Unavailable, 4, "before it began"},
		"only comments": {200, ": hm\n\nevent: x\nid: 1\nretry: 5\n\n", scrollback.Unavailable, 4, "before it began"},
		"half a chunk": {200, `data: {"candidates":[{"content":{"parts":[{"te`, scrollback.Unavailable, 4,
			"before it began"},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			m := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}), "gemini-3-flash-preview", nil)
			_, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
			if scrollback.CodeOf(err) != c.code || tries.Load() != c.tries || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%d tries, %v; want %d, %s with %q", tries.Load(), err, c.tries, c.code, c.words)
			}
			if err != nil && (strings.Contains(err.Error(), "k-secret") || strings.Contains(err.Error(), "quota'")) {
				t.Errorf("the error tells too much: %v", err)
			}
		})
	}
	var tries atomic.Int32
	m := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		plain(w, r)
	}), "gemini-3-flash-preview", nil)
	if a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest())); err != nil ||
		a.Text != "The code is 7F3K-221." {
		t.Errorf("after a failure: %q, %v", a.Text, err)
	}
}

// A page with status 200, and a list instead of a stream.
func TestNotStreamed(t *testing.T) {
	page := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><p>Sign in</p>")
	}), "m", func(p *remote.Endpoint) { p.Options.Retries = -1 })
	if _, err := modeltest.Read(page.Stream(t.Context(), modeltest.PlainRequest())); err == nil ||
		!strings.Contains(err.Error(), "web page") {
		t.Errorf("a page: %v", err)
	}
	list := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			"[{\n  \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a\"}]}}]\n}\n,\n{\n  \"candidates\": "+
				"[{\"content\": {\"parts\": [{\"text\": \"b\"}]}, \"finishReason\": \"STOP\"}]\n}\n]\n")
	}), "m", nil)
	if a, err := modeltest.Read(list.Stream(t.Context(), modeltest.PlainRequest())); err != nil || a.Text != "ab" ||
		a.Finish != "stop" {
		t.Errorf("a list: %+v, %v", a, err)
	}
}

func TestList(t *testing.T) {
	var path string
	s := geminiapi.New(nil, &geminiapi.Options{Key: "k-secret", Limit: 1000, MaxOutput: 50})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.Method + " " + r.URL.Path
		s.ServeHTTP(w, r)
	})
	limit, most, err := served(t, h, "gemini-2.5-pro", nil).List(t.Context())
	if err != nil || limit != 1000 || most != 50 || path != "GET /v1beta/models/gemini-2.5-pro" {
		t.Errorf("%s: %d, %d, %v", path, limit, most, err)
	}
	if _, _, err := served(t, h, "gemini-x", nil).List(t.Context()); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("an unknown model: %v", err)
	}
	once := func(p *remote.Endpoint) { p.Options.Retries = -1 }
	_, _, err = served(t, stream("[1]"), "m", once).List(t.Context())
	if scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("no object: %v", err)
	}
}

func TestPreset(t *testing.T) {
	find := func(env map[string]string) (remote.Endpoint, error) {
		return gemini.Preset().Endpoint("gemini-3-flash", func(name string) string { return env[name] }, remote.Options{})
	}
	for _, c := range []struct {
		env           map[string]string
		key, variable string
		code          scrollback.Code
	}{
		{map[string]string{"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}, "a", "GEMINI_API_KEY", ""},
		{map[string]string{"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "b"}, "b", "GOOGLE_API_KEY", ""},
		{nil, "", "GEMINI_API_KEY", scrollback.Refused},
		{map[string]string{"GEMINI_BASE_URL": "http://localhost:1/"}, "", "GEMINI_API_KEY", ""},
	} {
		p, err := find(c.env)
		if p.Options.Key != c.key || p.Options.KeyVariable != c.variable || err == nil != (c.code == "") ||
			err != nil && scrollback.CodeOf(err) != c.code {
			t.Errorf("%v: %q of %s, %v", c.env, p.Options.Key, p.Options.KeyVariable, err)
		}
	}
	p, err := find(map[string]string{"GEMINI_API_KEY": "a"})
	if f := gemini.Preset().Open(p).Facts(); err != nil || f.Name != "gemini/gemini-3-flash" ||
		f.Dialect.Name != "gemini" {
		t.Errorf("facts %+v, %v", f, err)
	}
}

// Addresses that people set, and names that are more than a word.
func TestURL(t *testing.T) {
	for _, c := range []struct{ base, id, want string }{
		{"", "gemini-3-flash", "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"/v1", "gemini-3-flash", "/v1/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"/proxy/v1beta", "models/a b", "/proxy/v1beta/models/a%20b:streamGenerateContent?alt=sse"},
		{"/v1alpha", "tunedModels/x", "/v1alpha/tunedModels/x:streamGenerateContent?alt=sse"},
	} {
		var got, key string
		m := served(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = r.RequestURI
			key = r.Header.Get("X-Goog-Api-Key")
		}),
			c.id,
			func(p *remote.Endpoint) { p.BaseURL += c.base; p.Options.Retries = -1 })
		_, _ = modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest())) // there is no answer
		if got != c.want || key != "k-secret" {
			t.Errorf("%s %s: %q with key %q", c.base, c.id, got, key)
		}
	}
}
