package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/window"
	"github.com/scrollback-ai/scrollback/wire"
)

// play serves a recorded stream: testdata/<name>.sse, one event a blank line.
func play(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for event := range strings.SplitAfterSeq(string(text), "\n\n") {
			if _, err := io.WriteString(w, event); err != nil || rc.Flush() != nil || r.Context().Err() != nil {
				return
			}
		}
	}
}

func serve(t *testing.T, h http.HandlerFunc, change func(*openai.Options)) *openai.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o := openai.Options{BaseURL: srv.URL + "/v1/", Key: "k-secret", Model: "m", Limit: 8000, MaxOutput: 1000, Pause: time.Millisecond, Client: srv.Client()}
	if change != nil {
		change(&o)
	}
	return openai.New("test/m", o)
}

func TestSuite(t *testing.T) {
	plain, call := play(t, "plain"), play(t, "call")
	modeltest.Run(t, func(t *testing.T) model.Model {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			var body wire.ChatRequest
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if len(body.Tools) > 0 {
				call(w, r)
				return
			}
			plain(w, r)
		}, nil)
	})
}

// read gathers a stream.
func read(m *openai.Model) (text, thought, finish string, calls []string, u *scrollback.Usage, err error) {
	for d, e := range m.Stream(context.Background(), modeltest.Plain()) {
		if e != nil {
			err = e
			break
		}
		text, thought = text+d.Text, thought+d.Reasoning
		if d.Call != nil {
			calls = append(calls, d.Call.ID+" "+d.Call.Name+string(d.Call.Arguments))
		}
		if d.Usage != nil {
			u = d.Usage
		}
		if d.Finish != "" {
			finish = d.Finish
		}
	}
	return
}

// Recorded exchanges of servers that differ in their dialects.
func TestRecordings(t *testing.T) {
	for name, want := range map[string]struct {
		text, thought, finish, calls string
		in, cached, out, reasoning   int64
	}{
		"plain":         {text: "The code is 7F3K-221.", finish: "stop", in: 30, out: 8},
		"call":          {finish: "tool_calls", calls: `call_a context_search{"query":"blue depot"}`, in: 90, out: 12},
		"two_calls":     {finish: "tool_calls", calls: `c1 f{"a":1}|c2 g{}`, in: 10, cached: 8, out: 5},
		"reasoning":     {text: "42", thought: "let me think", finish: "stop", in: 7, out: 9, reasoning: 6},
		"reasoning_old": {text: "四十二", thought: "想一想", finish: "stop", in: 7, cached: 4, out: 9},
		"no_index":      {finish: "tool_calls", calls: `x1 f{"a":1}|x2 f{"malformed_arguments":"{\"a\":"}`},
		"cut":           {text: "half an"},
		"length":        {text: "long", finish: "length", in: 1, out: 1},
	} {
		t.Run(name, func(t *testing.T) {
			text, thought, finish, calls, u, err := read(serve(t, play(t, name), nil))
			if err != nil || text != want.text || thought != want.thought || finish != want.finish || strings.Join(calls, "|") != want.calls {
				t.Fatalf("%q %q %q %q %v", text, thought, finish, calls, err)
			}
			if want.in == 0 {
				if u != nil {
					t.Errorf("usage from nowhere: %+v", u)
				}
				return
			}
			if u == nil || u.InputTokens != want.in || u.CachedTokens != want.cached || u.OutputTokens != want.out || u.ReasoningTokens != want.reasoning || u.Estimated {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

// What fails before the first delta is tried again if it may pass; nothing is
// after it; and no error says the key or the address.
func TestFailures(t *testing.T) {
	plain := play(t, "plain")
	for name, c := range map[string]struct {
		status int
		body   string
		code   scrollback.Code
		tries  int32
	}{
		"bad key":   {401, `{"error":{"message":"no k-secret"}}`, scrollback.Refused, 1},
		"no model":  {404, ``, scrollback.Invalid, 1},
		"too long":  {400, `{"error":{"message":"This model's maximum context length is 10 tokens","code":"context_length_exceeded"}}`, scrollback.OverBudget, 1},
		"bad":       {400, `{"error":{"message":"odd"}}`, scrollback.Unavailable, 1},
		"busy":      {429, `{}`, scrollback.RateLimited, 4},
		"broken":    {503, `<html>`, scrollback.Unavailable, 4},
		"mid":       {200, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"boom\"}}\n\n", scrollback.Unavailable, 1},
		"gibberish": {200, "data: {{{\n\n", scrollback.Unavailable, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			m := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}, nil)
			_, _, _, _, _, err := read(m)
			if scrollback.CodeOf(err) != c.code || tries.Load() != c.tries {
				t.Errorf("%v (%s) after %d tries, want %s after %d", err, scrollback.CodeOf(err), tries.Load(), c.code, c.tries)
			}
			if shown := scrollback.Shown(err); strings.Contains(shown, "secret") || strings.Contains(shown, "127.0.0.1") {
				t.Errorf("shown: %s", shown)
			}
		})
	}
	t.Run("passes", func(t *testing.T) {
		var tries atomic.Int32
		m := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if tries.Add(1) < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			plain(w, r)
		}, nil)
		if text, _, _, _, _, err := read(m); err != nil || !strings.Contains(text, "7F3K") {
			t.Errorf("%q %v", text, err)
		}
	})
	t.Run("silent", func(t *testing.T) {
		m := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // then the server sees the client go
			<-r.Context().Done()
		}, func(o *openai.Options) {
			o.Silence, o.Retries = 20*time.Millisecond, -1
		})
		if _, _, _, _, _, err := read(m); scrollback.CodeOf(err) != scrollback.Unavailable || !errors.Is(err, scrollback.ErrUpstream) {
			t.Errorf("a silent server is %v", err)
		}
	})
}

// What is sent: roles, calls and results, images as data, no reasoning, the key
// in its header only.
func TestRequest(t *testing.T) {
	var got wire.ChatRequest
	var header http.Header
	plain := play(t, "plain")
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if r.URL.Path != "/v1/chat/completions" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		plain(w, r)
	}, nil)
	r := model.Request{MaxOutputTokens: 77, Tools: []scrollback.Tool{{Name: "f", Parameters: json.RawMessage(`{}`)}}, AnswerOnly: true,
		Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil },
		Items: []scrollback.Item{
			{Role: scrollback.RoleSystem, Parts: scrollback.Parts{scrollback.Text{Text: "be brief"}}},
			{Kind: scrollback.KindTools, Role: scrollback.RoleSystem},
			{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "look"}, scrollback.Image{Artifact: "a", MediaType: "image/png", Detail: "low"}}},
			{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{scrollback.Reasoning{Text: "hm"}, scrollback.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage(`{"a":"<"}`)}, scrollback.ToolCall{ID: "c2", Name: "f", Arguments: json.RawMessage(`{}`)}}},
			{Role: scrollback.RoleTool, Parts: scrollback.Parts{scrollback.ToolResult{CallID: "c1", Text: "one"}, scrollback.ToolResult{CallID: "c2", Text: "two"}}},
		}}
	for _, err := range m.Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var shape []string
	for _, msg := range got.Messages {
		shape = append(shape, fmt.Sprintf("%s %q %d calls %s", msg.Role, msg.Content.Text(), len(msg.ToolCalls), msg.ToolCallID))
	}
	want := []string{`system "be brief" 0 calls `, `user "look" 0 calls `, `assistant "" 2 calls `, `tool "one" 0 calls c1`, `tool "two" 0 calls c2`}
	if strings.Join(shape, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s", strings.Join(shape, "\n"))
	}
	if url := got.Messages[1].Content[1].ImageURL; url == nil || url.URL != "data:image/png;base64,UE5H" || url.Detail != "low" {
		t.Errorf("the image is sent as %+v", url)
	}
	if got.MaxCompletionTokens != 77 || got.MaxTokens != 0 || !got.Stream || !got.StreamOptions.IncludeUsage || got.ToolChoice != "none" || header.Get("Authorization") != "Bearer k-secret" {
		t.Errorf("sent %+v, %v", got, header)
	}
	if args := got.Messages[2].ToolCalls[0].Function.Arguments; args != `{"a":"<"}` {
		t.Errorf("arguments are sent as %s", args)
	}
}

func TestFind(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "k", "SCROLLBACK_BASE_URL": "http://127.0.0.1:1/v1"}
	get := func(k string) string { return env[k] }
	for name, code := range map[string]scrollback.Code{"openai/gpt-5": "", "custom/llama": "", "deepseek/chat": scrollback.Refused, "gpt-5": scrollback.Invalid, "who/what": scrollback.Invalid, "openai/": scrollback.Invalid} {
		m, err := openai.Find(name, get)
		if scrollback.CodeOf(err) != code || err == nil && (m.Facts().Name != name || m.Facts().Dialect != window.OpenAI()) {
			t.Errorf("%s: %v, want %q", name, err, code)
		}
	}
	delete(env, "SCROLLBACK_BASE_URL")
	if _, err := openai.Find("custom/llama", get); scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "SCROLLBACK_BASE_URL") {
		t.Errorf("no address: %v", err)
	}
	for name := range strings.SplitSeq(openai.Presets(), ", ") {
		if _, err := openai.Find(name+"/x", func(string) string { return "http://127.0.0.1:1" }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
