package ollama_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
	"github.com/scrollback-ai/scrollback/model/ollama"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// serve makes a client of a handler that serves one model.
func serve(t *testing.T, id string, h http.Handler) *ollama.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return ollama.New(place(srv.URL, id))
}

func place(url, id string) remote.Endpoint {
	return remote.Endpoint{Name: "ollama/" + id, Model: id, BaseURL: url,
		Options: remote.Options{Provider: "ollama", BaseVariable: "OLLAMA_BASE_URL", KeyVariable: "OLLAMA_API_KEY",
			Pause: time.Millisecond}}
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// play returns a server that answers with what was recorded.
func play(bodies ...[]byte) http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = w.Write(bodies[min(n, len(bodies)-1)])
		n++
	}
}

func TestRecorded(t *testing.T) {
	plain := recorded(t, "plain")
	call := recorded(t, "call")
	modeltest.Run(t, func(t *testing.T) model.Model {
		return serve(t, "qwen3:8b", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			b := plain
			if r.ContentLength > 600 { // it has tools
				b = call
			}
			for one := range strings.Lines(string(b)) {
				_, _ = w.Write([]byte(one))
				_ = http.NewResponseController(w).Flush() // the client may be gone
			}
		}))
	})
}

func TestStandIn(t *testing.T) {
	modeltest.Run(t, func(t *testing.T) model.Model {
		script := modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
			if len(r.Tools) > 0 {
				return []model.Delta{{Call: &scrollback.ToolCall{Name: "context_search", Arguments: []byte(`{"query":"blue"}`)}}}
			}
			return []model.Delta{{Text: "It is "}, {Text: "7F3K-221."}}
		}})
		return serve(t, "qwen3", ollamaapi.New(script, &ollamaapi.Options{Pedantic: true}))
	})
}

func ask(text string) model.Request {
	return model.Request{Items: []scrollback.Item{{Kind: scrollback.KindMessage, Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}}}}
}

// What each recorded answer says.
func TestRecordings(t *testing.T) {
	usual := &scrollback.Usage{InputTokens: 26, OutputTokens: 12, TotalTokens: 38}
	call := func(id, name, args string) scrollback.ToolCall {
		return scrollback.ToolCall{ID: id, Name: name, Arguments: []byte(args)}
	}
	for name, want := range map[string]modeltest.Answer{
		"plain": {Text: "The code is 7F3K-221, 世界.", Usage: usual, Finish: "stop"},
		"reasoning": {Text: "It is 7F3K.", Reasoning: "They ask for the code.",
			Usage: &scrollback.Usage{InputTokens: 26, CachedTokens: 20, OutputTokens: 12, TotalTokens: 38}, Finish: "stop"},
		"call": {Reasoning: "Look it up.",
			Calls: []scrollback.ToolCall{call("call_ab12cd34", "context_search",
				`{"query":"blue depot","limit":12345678901234567890}`)},
			Usage: usual, Finish: "tool_calls"},
		"calls": {Text: "Looking.", Calls: []scrollback.ToolCall{call("call_a", "f", `{"a":[1,"<"]}`),
			call("call_b", "f", `{}`),
			call("call_3", "g", `{}`)}, Usage: usual, Finish: "tool_calls"},
		"calls_old": {Calls: []scrollback.ToolCall{call("call_1", "f", `{"a":1}`), call("call_2", "f", `{"a":2}`)},
			Usage:  usual,
			Finish: "tool_calls"},
		"length":       {Text: "It goes on", Usage: usual, Finish: "length"},
		"other_reason": {Text: "No.", Usage: usual, Finish: "content_filter"},
		"cut":          {Text: "It goes on"},
		"unreasoned":   {Text: "It goes on", Usage: usual},
		// no window was asked for
		"over": {Text: "A plausible answer.", Usage: &scrollback.Usage{InputTokens: 9000, OutputTokens: 4, TotalTokens: 9004},
			Finish: "stop"},
		"cached_apart": {Text: "x", Usage: &scrollback.Usage{InputTokens: 126, CachedTokens: 100, OutputTokens: 12,
			TotalTokens: 138},
			Finish: "stop"},
		"numbers":      {Text: "x", Usage: usual, Finish: "stop"},
		"numbers_wild": {Text: "x", Finish: "stop"},
		"uncounted":    {Text: "x", Finish: "stop"},
		"unknown":      {Text: "x", Usage: usual, Finish: "stop"},
		"one_line": {Text: "so", Reasoning: "hm", Calls: []scrollback.ToolCall{call("c", "f", `{}`)}, Usage: usual,
			Finish: "tool_calls"},
		"arguments_text": {Calls: []scrollback.ToolCall{call("call_1", "f", `{"a":1}`),
			call("call_2", "g", `{"malformed_arguments":"not json"}`),
			call("call_3", "h", `{"malformed_arguments":"[1]"}`), call("call_4", "i", `{}`)}, Usage: usual,
			Finish: "tool_calls"},
	} {
		if name == "numbers_wild" {
			doubted := scrollback.Usage{}.Doubted()
			want.Usage = &doubted
		}
		got, err := modeltest.Read(serve(t, "qwen3:8b", play(recorded(t, name))).Stream(t.Context(), ask("q")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got.Deltas = nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v %+v\nwant %+v %+v", name, got, got.Usage, want, want.Usage)
		}
	}
}

// Errors within an answer, and answers that are none.
func TestRecordedErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text  string // said before the error
		code  scrollback.Code
		words string
		tries int
	}{
		"error":        {"It goes", scrollback.Unavailable, "broke its answer off", 1},
		"error_object": {"x", scrollback.RateLimited, "asks to wait", 1},
		"error_first":  {"", scrollback.Unavailable, "broke its answer off", 4},
		"error_long":   {"", scrollback.OverBudget, "too long", 1},
		"load":         {"", scrollback.Unavailable, "broke its answer off", 4},
		"closed":       {"", scrollback.Unavailable, "broke its answer off", 4},
		"full":         {"", scrollback.OverBudget, "too long", 1},
	} {
		tries := 0
		body := recorded(t, name)
		m := serve(t, "qwen3:8b", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tries++
			play(body)(w, r)
		}))
		a, err := modeltest.Read(m.Stream(t.Context(), ask("q")))
		if scrollback.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), c.words) || a.Text != c.text ||
			tries != c.tries {
			t.Errorf("%s: %q, %v after %d tries; want %+v", name, a.Text, err, tries, c)
		}
		if l := model.LessonOf(err); (c.code == scrollback.OverBudget) != (l != nil && l.TooLong) {
			t.Errorf("%s taught %+v", name, l)
		}
	}
	// A server that was loading says so at first.
	m := serve(t, "qwen3:8b", play(recorded(t, "load"), recorded(t, "closed"), recorded(t, "plain")))
	if a, err := modeltest.Read(m.Stream(t.Context(), ask("q"))); err != nil || a.Finish != "stop" {
		t.Errorf("%+v, %v", a, err)
	}
}

// A window that was asked for, and whose bounds the answer shows to be crossed.
func TestSilentCut(t *testing.T) {
	for name, c := range map[string]struct {
		limit, most int64
		long        bool
	}{
		"over":   {limit: 8192, long: true},
		"full":   {limit: 4096, long: true},
		"length": {limit: 8192},
		"plain":  {limit: 26},
	} {
		r := ask("q")
		r.Limit = c.limit
		r.MaxOutputTokens = c.most
		a, err := modeltest.Read(serve(t, "qwen3:8b", play(recorded(t, name))).Stream(t.Context(), r))
		l := model.LessonOf(err)
		if c.long != (l != nil && l.TooLong && l.Limit == c.limit && l.Requested > 0) || c.long && a.Usage == nil {
			t.Errorf("%s: %+v, %v, %+v", name, a, err, l)
		}
	}
	r := ask("q")
	r.MaxOutputTokens = 1 // as many as there were: the answer was to be as short as that
	if a, err := modeltest.Read(serve(t, "qwen3:8b", play(recorded(t, "full"))).Stream(t.Context(), r)); err != nil ||
		a.Finish != "length" {
		t.Errorf("%+v, %v", a, err)
	}
}
