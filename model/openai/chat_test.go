package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// chatPresets are the servers that are asked in chat completions, with a model of
// each. Those that are asked in responses first are known to speak the older API.
var chatPresets = []struct{ preset, model string }{
	{"openai", "gpt-5.6"}, {"deepseek", "deepseek-v4-pro"}, {"xai", "grok-4.1"}, {"poe", "Claude-Sonnet-4.5"},
	{"ark", "doubao-seed-1-8"},
	{"openrouter", "anthropic/claude-sonnet-4.5"}, {"dashscope", "qwen3.7-plus"}, {"moonshot", "kimi-k2.6"},
	{"workers-ai", "@cf/openai/gpt-oss-120b"},
	{"custom", "m"}, {"lmstudio", "google/gemma-3-12b"}, {"vllm", "google/gemma-3-27b-it"}, {"llama.cpp", "qwen3"},
}

// chatKnown is what is known of every server before it is asked.
var chatKnown = scrollback.Learned{API: "chat"}

// chatModel opens a model of a preset at an address.
func chatModel(t testing.TB, preset, id, address string, change ...func(*remote.Options)) model.Model {
	t.Helper()
	for _, p := range openai.Presets() {
		if p.Name != preset {
			continue
		}
		env := map[string]string{p.Key: "sk-chat", p.Base: address, p.Account: "acc"}
		o := remote.Options{Pause: time.Nanosecond}
		for _, c := range change {
			c(&o)
		}
		at, err := p.Endpoint(id, func(k string) string { return env[k] }, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Open(at)
	}
	t.Fatalf("no preset %s", preset)
	return nil
}

// chatServe opens a model that is served by h.
func chatServe(t testing.TB, preset, id string, h http.Handler) model.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return chatModel(t, preset, id, srv.URL+"/v1", func(o *remote.Options) { o.Client = srv.Client() })
}

// chatWay answers requests without a server.
type chatWay func(*http.Request) *http.Response

func (f chatWay) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// chatReply returns a response of a server.
func chatReply(status int, mediaType string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {mediaType}}, Body: io.NopCloser(body),
		ProtoMajor: 1,
		ProtoMinor: 1}
}

// chatAnswered opens a model whose server answers with f.
func chatAnswered(t testing.TB, preset, id string, f chatWay) model.Model {
	t.Helper()
	return chatModel(t, preset, id, "http://chat.test/v1",
		func(o *remote.Options) { o.Client = &http.Client{Transport: f} })
}

// chatRecorded returns a stream of testdata.
func chatRecorded(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// chatStream answers every request with a stream.
func chatStream(stream string) chatWay {
	return func(*http.Request) *http.Response {
		return chatReply(200, "text/event-stream", strings.NewReader(stream))
	}
}

// The suite, over recorded exchanges.
func TestChatSuite(t *testing.T) {
	plain := chatRecorded(t, "plain")
	call := chatRecorded(t, "call")
	for _, preset := range []string{"deepseek", "custom"} {
		t.Run(preset, func(t *testing.T) {
			modeltest.Run(t, func(t *testing.T) model.Model {
				return chatServe(t, preset, "m", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						return // the client is gone
					}
					stream := plain
					if bytes.Contains(body, []byte(`"tools":`)) {
						stream = call
					}
					w.Header().Set("Content-Type", "text/event-stream")
					for event := range strings.SplitAfterSeq(stream, "\n\n") {
						if _, err := io.WriteString(w, event); err != nil || http.NewResponseController(w).Flush() != nil ||
							r.Context().Err() != nil {
							return
						}
					}
				}))
			})
		})
	}
}

// A script says the same through a server and this client as it does directly.
func TestChatServedScript(t *testing.T) {
	steps := []modeltest.Step{
		modeltest.Say("héllo ", "世界"),
		modeltest.Call(scrollback.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage(`{"a":[1,"<"]}`)},
			scrollback.ToolCall{ID: "c2", Name: "g", Arguments: json.RawMessage(`{}`)}),
		{Deltas: []model.Delta{{Reasoning: "hm"}, {Text: "so"},
			{Usage: &scrollback.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 2, TotalTokens: 11}}}},
		{Deltas: []model.Delta{{Text: "cut"}}, NoFinish: true},
		{Deltas: []model.Delta{{Text: "long"}, {Finish: scrollback.FinishLength}}},
	}
	req := model.Request{Items: []scrollback.Item{{Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: "q"}}}}}
	direct := modeltest.NewScript(model.Facts{}, steps...)
	client := chatServe(t, "custom", "m", &modeltest.Server{Model: modeltest.NewScript(model.Facts{}, steps...)})
	for i := range steps {
		want, err := modeltest.Read(direct.Stream(context.Background(), req))
		if err != nil {
			t.Fatal(err)
		}
		got, err := modeltest.Read(client.Stream(context.Background(), req))
		if err != nil {
			t.Fatal(err)
		}
		if chatSaid(got) != chatSaid(want) {
			t.Errorf("step %d: %s, directly %s", i, chatSaid(got), chatSaid(want))
		}
		if want.Usage != nil && !want.Usage.Estimated && *got.Usage != *want.Usage {
			t.Errorf("step %d: usage %+v, directly %+v", i, got.Usage, want.Usage)
		}
	}
}

// chatSaid returns an answer as a text, for comparisons.
func chatSaid(a modeltest.Answer) string {
	var b strings.Builder
	b.WriteString(a.Reasoning + "|" + a.Text + "|")
	for _, c := range a.Calls {
		b.WriteString(c.ID + " " + c.Name + " " + string(c.Arguments) + "|")
	}
	return b.String() + a.Finish
}
