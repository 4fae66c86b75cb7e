package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// play serves a recorded stream: testdata/<name>.sse.
func play(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Request-Id", "req_011")
		rc := http.NewResponseController(w)
		for event := range strings.SplitAfterSeq(string(text), "\n\n") {
			if _, err := io.WriteString(w, event); err != nil || rc.Flush() != nil || r.Context().Err() != nil {
				return
			}
		}
	}
}

// serve makes a client of a server on this machine.
func serve(t *testing.T, name string, h http.Handler) *anthropic.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return anthropic.New(at(srv, name))
}

func at(srv *httptest.Server, name string) remote.Endpoint {
	return remote.Endpoint{Name: "anthropic/" + name, Model: name, BaseURL: srv.URL,
		Options: remote.Options{Provider: "anthropic", Key: "k-secret", KeyVariable: "ANTHROPIC_API_KEY",
			Client: srv.Client(), Retries: 2,
			Pause: time.Millisecond}}
}

func TestSuite(t *testing.T) {
	plain := play(t, "plain")
	call := play(t, "call")
	modeltest.Run(t, func(t *testing.T) model.Model {
		return serve(t, "claude-opus-4-8", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Tools []any }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if len(body.Tools) > 0 {
				call(w, r)
				return
			}
			plain(w, r)
		}))
	})
}

func TestSuiteStrict(t *testing.T) {
	script := modeltest.NewScript(model.Facts{Name: "test/script"},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			if len(r.Tools) > 0 {
				return []model.Delta{{Reasoning: "hm"},
					{Call: &scrollback.ToolCall{ID: "toolu_1", Name: r.Tools[0].Name, Arguments: json.RawMessage(`{"query":"é"}`)}}}
			}
			return []model.Delta{{Text: "It is "}, {Text: "7F3K-221."}}
		}})
	modeltest.Run(t, func(t *testing.T) model.Model {
		return serve(t, "claude-sonnet-5", anthropicapi.New(script, &anthropicapi.Options{Key: "k-secret"}))
	})
}

// shown returns parts in one line.
func shown(ps scrollback.Parts) string {
	var out []string
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, "text "+p.Text)
		case scrollback.Reasoning:
			out = append(out, "thought "+p.Text+string(p.Opaque))
		case scrollback.ToolCall:
			out = append(out, "call "+p.ID+" "+p.Name+string(p.Arguments))
		}
	}
	return strings.Join(out, "|")
}

const signature = `{"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk="}`

// Recorded exchanges, and what is read of them.
func TestRecordings(t *testing.T) {
	used := func(in, cached, written, out, reasoning int64) scrollback.Usage {
		return scrollback.Usage{InputTokens: in, CachedTokens: cached, CacheWriteTokens: written, OutputTokens: out,
			ReasoningTokens: reasoning,
			TotalTokens:     in + out}
	}
	for name, want := range map[string]struct {
		parts, finish string
		usage         scrollback.Usage
		code          scrollback.Code
	}{
		"plain": {"text The code is 7F3K-221.", "stop", used(25, 0, 0, 12, 0), ""},
		"call":  {`call toolu_01A context_search{"query": "blue depot"}`, "tool_calls", used(90, 0, 0, 40, 0), ""},
		"reasoning": {"thought I look at it <b>." + signature +
			`|text Let me see.|call toolu_1 f{"a":1}|call toolu_2 g{}|call toolu_3 f{"a":2}`, "tool_calls",
			used(1125, 1000, 100, 80, 33), ""},
		"omitted": {`text First.|thought {"signature":"AAAA+/=="}|call toolu_1 f{}`, "tool_calls", used(25, 0, 0, 12, 0), ""},
		"redacted": {`thought {"redacted":"EmwKAhgBEgy3va3pzix"}|thought Aloud.{"signature":"BBBB"}|thought ` +
			`Again.{"signature":"CCCC"}|text One.|text Two.`, "stop", used(25, 0, 0, 12, 0), ""},
		"length":          {"text This goes on", "length", used(25, 0, 0, 12, 0), ""},
		"window":          {"text This goes on", "length", used(25, 0, 0, 12, 0), ""},
		"length_call":     {`call toolu_1 f{"a":1}`, "length", used(25, 0, 0, 12, 0), ""},
		"length_bare":     {`call toolu_1 f{"a":1}`, "length", used(25, 0, 0, 12, 0), ""},
		"cut_signature":   {"thought Hm", "", used(25, 0, 0, 1, 0), ""},
		"refusal":         {"text I begin, ", "content_filter", used(25, 0, 0, 12, 0), ""},
		"refusal_silent":  {"", "content_filter", used(25, 0, 0, 12, 0), ""},
		"cut":             {"text half a", "", used(25, 0, 0, 1, 0), ""},
		"cut_call":        {"text So.", "", used(25, 0, 0, 1, 0), ""},
		"no_stop":         {"text Done.", "stop", used(25, 0, 0, 12, 0), ""},
		"nulls":           {"text Odd.", "stop", used(32, 7, 0, 13, 0), ""},
		"huge":            {"text Odd.", "stop", scrollback.Usage{}.Doubted(), ""},
		"iterations":      {"text Folded.", "stop", used(1110, 100, 0, 55, 0), ""},
		"fallback":        {"text Served.", "stop", used(12, 0, 0, 5, 0), ""},
		"overloaded":      {"", "", scrollback.Usage{}, scrollback.RateLimited},
		"overloaded_late": {"text Half an", "", used(25, 0, 0, 1, 0), scrollback.RateLimited},
		"error_text":      {"text Half an", "", used(25, 0, 0, 1, 0), scrollback.Unavailable},
		"unknown":         {"text Found.", "banana_turn", used(25, 0, 0, 12, 0), ""},
		"whole_blocks": {`thought At once.{"signature":"DDDD"}|text All here.|call toolu_1 f{"a":1}`, "tool_calls",
			used(25, 0, 0, 12, 0), ""},
		"no_id":     {"call call_1 f{}|call call_2 g{}", "tool_calls", used(25, 0, 0, 12, 0), ""},
		"malformed": {`call toolu_1 f{"malformed_arguments":"[1,2"}`, "tool_calls", used(25, 0, 0, 12, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := modeltest.Read(serve(t, "claude-opus-4-8", play(t, name)).Stream(t.Context(), modeltest.PlainRequest()))
			if scrollback.CodeOf(err) != want.code {
				t.Errorf("error %v, want code %q", err, want.code)
			}
			if got := shown(modeltest.StoredParts(a.Deltas)); got != want.parts {
				t.Errorf("parts\n%s\nwant\n%s", got, want.parts)
			}
			if a.Finish != want.finish {
				t.Errorf("finish %q, want %q", a.Finish, want.finish)
			}
			if name != "overloaded" && (a.Usage == nil || !reflect.DeepEqual(*a.Usage, want.usage)) {
				t.Errorf("usage %+v, want %+v", a.Usage, want.usage)
			}
			if name != "overloaded" && a.RequestID != "req_011" {
				t.Errorf("request id %q", a.RequestID)
			}
		})
	}
}

// An overload is waited for before the first piece of an answer, and not behind it.
func TestOverloadedOnce(t *testing.T) {
	for name, want := range map[string]int32{"overloaded": 2, "overloaded_late": 1} {
		var asked atomic.Int32
		broken := play(t, name)
		fine := play(t, "plain")
		m := serve(t, "claude-opus-4-8", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 {
				broken(w, r)
				return
			}
			fine(w, r)
		}))
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if asked.Load() != want || (err == nil) != (want == 2) || want == 2 && a.Text != "The code is 7F3K-221." {
			t.Errorf("%s: asked %d times, %q, %v", name, asked.Load(), a.Text, err)
		}
	}
}

// A pause goes back as it came, and the answer goes on.
func TestPause(t *testing.T) {
	for pauses, want := range map[int]string{0: "stop", 1: "stop", 4: "stop", 5: "length", 9: "length"} {
		var bodies []json.RawMessage
		first := play(t, "pause_1")
		last := play(t, "pause_2")
		m := serve(t, "claude-opus-4-8", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			bodies = append(bodies, b)
			if len(bodies) <= pauses {
				first(w, r)
				return
			}
			last(w, r)
		}))
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		asked := min(pauses, 4) + 1
		if err != nil || a.Finish != want || len(bodies) != asked {
			t.Errorf("%d pauses: finish %q, asked %d times, %v", pauses, a.Finish, len(bodies), err)
		}
		text := strings.Repeat("I search. ", min(pauses, 5))
		in := int64(100 * min(pauses, 5))
		out := int64(10 * min(pauses, 5))
		if want == "stop" {
			text = text + "Found it."
			in += 120
			out += 4
		}
		if a.Text != text || a.Usage.InputTokens != in || a.Usage.OutputTokens != out {
			t.Errorf("%d pauses: %q, %+v", pauses, a.Text, a.Usage)
		}
		if pauses == 1 {
			var body struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(bodies[1], &body); err != nil {
				t.Fatal(err)
			}
			const said = `{"role":"assistant","content":[{"signature":"PPPP","thinking":"Wait.","type":"thinking"},{"text":"I search. ` +
				`","type":"text"},{"id":"srv_1","input":{"q":"<x>"},"name":"web_search","type":"server_tool_use"}]}`
			if got := string(body.Messages[len(body.Messages)-1]); got != said {
				t.Errorf("sent back\n%s\nwant\n%s", got, said)
			}
		}
	}
}

// A server that does not stream is understood too.
func TestUnstreamed(t *testing.T) {
	m := serve(t, "claude-opus-4-8", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w,
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"S"},`+
				`{"type":"text","text":"Whole."},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}],"stop_reason":"tool_use",`+
				`"usage":{"input_tokens":3,"output_tokens":4}}`)
	}))
	a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
	if got := shown(modeltest.StoredParts(a.Deltas)); err != nil ||
		got != `thought t{"signature":"S"}|text Whole.|call c f{"a":1}` ||
		a.Finish != "tool_calls" || a.Usage.TotalTokens != 7 {
		t.Errorf("%s, %q, %+v, %v", got, a.Finish, a.Usage, err)
	}
}

// The bounds of an answer hold over its pauses.
func TestPauseBounds(t *testing.T) {
	r := modeltest.PlainRequest()
	r.Bounds.Chars = 25
	a, err := modeltest.Read(serve(t, "claude-opus-4-8", play(t, "pause_1")).Stream(t.Context(), r))
	if !errors.Is(err, scrollback.ErrReplyBound) || len(a.Text) != 25 {
		t.Errorf("%q, %v", a.Text, err)
	}
}
