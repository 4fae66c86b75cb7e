package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var updateChat = flag.Bool("update-chat", false, "rewrite testdata/golden")

var chatContext = context.Background()

func chatItemOf(role scrollback.Role, by string, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Model: by, Parts: parts}
}

func chatTools() []scrollback.Tool {
	return []scrollback.Tool{{Name: "f", Description: "looks up",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}, {Name: "g"}}
}

// chatEverything returns a request with everything that one may hold, of an answer that
// the model by made.
func chatEverything() model.Request { return chatEverythingBy("", nil) }

func chatEverythingBy(by string, opaque scrollback.Opaque) model.Request {
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	return model.Request{Tools: chatTools(), MaxOutputTokens: 4000, CacheKey: "conversation-1",
		Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil },
		Items: []scrollback.Item{
			chatItemOf(scrollback.RoleSystem, "", text("Be brief.")),
			{Kind: scrollback.KindTools, Role: scrollback.RoleSystem},
			{Kind: scrollback.KindFolded, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{text("<summary>what was said</summary>"),
					text("<placeholder/>")}},
			{Kind: scrollback.KindAck, Role: scrollback.RoleAssistant, Parts: scrollback.Parts{text("Understood.")}},
			chatItemOf(scrollback.RoleUser, "", text("Look: a < b"),
				scrollback.Image{Artifact: "ab12", Name: "plan.png", MediaType: "image/png",
					Detail: "low"}, scrollback.File{Artifact: "cd34", Name: "a.pdf", MediaType: "application/pdf", Size: 9}),
			chatItemOf(scrollback.RoleAssistant, by, scrollback.Reasoning{Text: "I must look it up", Opaque: opaque},
				text("One moment."),
				scrollback.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage(`{"a":1}`)},
				scrollback.ToolCall{ID: "c2", Name: "g", Arguments: json.RawMessage(`{}`)}),
			chatItemOf(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "c1", Name: "f", Text: "one"},
				scrollback.ToolResult{CallID: "c2", Name: "g"}),
			chatItemOf(scrollback.RoleAssistant, by, scrollback.Reasoning{Text: "so it is", Opaque: opaque}, text("It is one."),
				text(""),
				text("Or two.")),
			chatItemOf(scrollback.RoleUser, "", text("Again.")),
			chatItemOf(scrollback.RoleAssistant, by, scrollback.Reasoning{Opaque: opaque},
				scrollback.ToolCall{ID: "c3", Name: "f", Arguments: json.RawMessage(`{"a":2}`)}),
			chatItemOf(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "c3", Name: "f", Text: "two"}),
			chatItemOf(scrollback.RoleAssistant, by, scrollback.Reasoning{Text: "only a thought"}, text("")),
		}}
}

// chatSent returns what is sent for a request: where to, the headers that are the
// conversation's, and the body.
func chatSent(t *testing.T, preset, id string, r model.Request) json.RawMessage {
	t.Helper()
	var out bytes.Buffer
	m := chatAnswered(t, preset, id, func(req *http.Request) *http.Response {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&out, "{\"POST\":%q,", req.URL.Path)
		for _, name := range []string{"X-Grok-Conv-Id", "X-Session-Affinity"} {
			if v := req.Header.Get(name); v != "" {
				fmt.Fprintf(&out, "%q:%q,", name, v)
			}
		}
		if req.Header.Get("Authorization") != "Bearer sk-chat" {
			t.Errorf("%s: the key is %q", preset, req.Header.Get("Authorization"))
		}
		fmt.Fprintf(&out, "\"body\":%s}", body)
		return chatReply(200, "text/event-stream", strings.NewReader(chatRecorded(t, "plain")))
	})
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	return out.Bytes()
}

// What is sent to every server, byte for byte.
func TestChatGolden(t *testing.T) {
	yes := true
	no := false
	others := map[string][]string{"deepseek": {"deepseek-chat"}, "dashscope": {"qwen3-max"},
		"moonshot": {"kimi-k3", "kimi-k2.7-code", "kimi-k2.5"}, "openrouter": {"deepseek/deepseek-v3.2"}}
	details := json.RawMessage(`{"type":"reasoning.text","text":"I must look it ` +
		`up","signature":"sig","format":"anthropic-claude-v1","index":0}`)
	for _, p := range chatPresets {
		t.Run(p.preset, func(t *testing.T) {
			var out bytes.Buffer
			write := func(name string, sent json.RawMessage) {
				if err := json.Indent(&out, sent, "", " "); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "\n// %s\n\n", name)
			}
			own := p.preset + "/" + p.model
			payload := scrollback.Opaque(`{"field":"reasoning_content"}`)
			switch p.preset {
			case "openrouter":
				payload = scrollback.Opaque(fmt.Sprintf(`{"field":"reasoning","details":[%s]}`, details))
			case "vllm":
				payload = scrollback.Opaque(`{"field":"reasoning"}`)
			}
			r := chatEverythingBy(own, payload)
			r.Learned = chatKnown
			write("its own history", chatSent(t, p.preset, p.model, r))
			foreign := chatEverythingBy("other/model", payload)
			foreign.Learned = chatKnown
			write("another's history", chatSent(t, p.preset, p.model, foreign))
			dropped := r
			dropped.Learned.Dropped = []string{"stream_options", "image_url", "max_tokens", "prompt_cache_key",
				"function tools with reasoning_effort"}
			write("without what was refused", chatSent(t, p.preset, p.model, dropped))
			r.AnswerOnly = true
			r.Bytes = nil
			r.Items = r.Items[:5]
			write("answer only, images not shown", chatSent(t, p.preset, p.model, r))
			for _, id := range append([]string{p.model}, others[p.preset]...) {
				for _, c := range []struct {
					name string
					t    scrollback.Thinking
				}{{"as the model likes", scrollback.Thinking{}}, {"none", scrollback.Thinking{Effort: "none"}},
					{"low", scrollback.Thinking{Effort: "low"}}, {"xhigh", scrollback.Thinking{Effort: "xhigh"}},
					{"max", scrollback.Thinking{Effort: "max"}},
					{"budget", scrollback.Thinking{Budget: 2000}}, {"on", scrollback.Thinking{On: &yes}},
					{"off", scrollback.Thinking{On: &no}}} {
					sent := chatSent(t, p.preset, id, model.Request{Thinking: c.t, MaxOutputTokens: 4000, Learned: chatKnown,
						Items: []scrollback.Item{chatItemOf(scrollback.RoleUser, "", scrollback.Text{Text: "q"})}})
					fmt.Fprintf(&out, "%s // %s, thinking: %s\n", sent, id, c.name)
				}
			}
			path := filepath.Join("testdata", "golden", p.preset+".json")
			if *updateChat {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(want, out.Bytes()) {
				t.Errorf("%v; sent\n%s", err, out.Bytes())
			}
		})
	}
}
