package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
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

var updateResponses = flag.Bool("update-responses", false, "rewrite testdata/responses/*.golden.json")

func respTools() []scrollback.Tool {
	return []scrollback.Tool{{Name: "look", Description: "Looks <there>.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)}, {Name: "wait"}}
}

func respItem(role scrollback.Role, by string, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Model: by, Parts: parts}
}

// respEverything returns a history with all there is, made by one model.
func respEverything(by string) []scrollback.Item {
	rs := scrollback.Opaque(`{"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA+/==","summary":[{"type":"summary_text",` +
		`"text":"hm"}]}}`)
	return []scrollback.Item{
		respItem(scrollback.RoleSystem, "", scrollback.Text{Text: "be brief"}),
		{Kind: scrollback.KindTools, Role: scrollback.RoleSystem},
		respItem(scrollback.RoleUser, "", scrollback.Text{Text: "what is <this> & that?"},
			scrollback.Image{Artifact: "a", MediaType: "image/png", Name: "x.png", Detail: "low"},
			scrollback.File{Artifact: "b", MediaType: "text/csv", Name: "y.csv", Size: 7}),
		respItem(scrollback.RoleAssistant, by, scrollback.Reasoning{Text: "hm", Opaque: rs},
			scrollback.Text{Text: "I look.", Opaque: scrollback.Opaque(`{"phase":"commentary"}`)},
			scrollback.ToolCall{ID: "call_1", Name: "look", Arguments: json.RawMessage(`{"at":"<a>"}`),
				Opaque: scrollback.Opaque(`{"id":"fc_1"}`)},
			scrollback.ToolCall{ID: "call_2", Name: "wait", Arguments: json.RawMessage(`{}`),
				Opaque: scrollback.Opaque(`{"id":"fc_2"}`)}),
		respItem(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "call_1", Name: "look", Text: "a cat"},
			scrollback.ToolResult{CallID: "call_2", Name: "wait"}),
		respItem(scrollback.RoleAssistant, by, scrollback.Text{}, scrollback.Text{Text: "A cat",
			Opaque: scrollback.Opaque(`{"phase":"final_answer"}`)}, scrollback.Text{Text: ".",
			Opaque: scrollback.Opaque(`{"phase":"final_answer"}`)},
			scrollback.Reasoning{Text: "and behind it nothing", Opaque: rs}),
		respItem(scrollback.RoleUser, "", scrollback.Text{Text: "thanks"}),
	}
}

func TestResponsesGolden(t *testing.T) {
	yes := true
	no := false
	images := func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil }
	foreign := scrollback.Opaque(`{"field":"reasoning_content"}`)
	for name, c := range map[string]struct {
		preset, id string
		r          model.Request
	}{
		"openai_everything": {"openai", "gpt-5.1", model.Request{Items: respEverything("openai/gpt-5.1"), Tools: respTools(),
			MaxOutputTokens: 4000, CacheKey: "conv-1", Bytes: images}},
		"openai_foreign": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("anthropic/claude"), Tools: respTools(), Bytes: images}},
		"openai_sibling": {"openai", "gpt-5.1", model.Request{Items: respEverything("openai/gpt-5.2")}},
		"openai_odd_payloads": {"openai", "gpt-5.1", model.Request{Items: []scrollback.Item{
			respItem(scrollback.RoleUser, "", scrollback.Text{Text: "q"}),
			respItem(scrollback.RoleAssistant, "openai/gpt-5.1", scrollback.Reasoning{Text: "from chat", Opaque: foreign},
				scrollback.ToolCall{ID: "c", Name: "look", Arguments: json.RawMessage(`{}`),
					Opaque: scrollback.Opaque(`{"id":"fc_9"}`)},
				scrollback.Reasoning{Opaque: scrollback.Opaque(`{"item":{"id":"rs_9","type":"reasoning","summary":[]}}`)},
				scrollback.Reasoning{Opaque: scrollback.Opaque(`"?"`)}, scrollback.Reasoning{Text: "bare"}),
			respItem(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "c", Text: "r"}),
		}}},
		"openai_answer_only": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("")[6:], Tools: respTools(), AnswerOnly: true,
				MaxOutputTokens: 5}},
		"openai_off": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("")[6:], Thinking: scrollback.Thinking{On: &no}}},
		"openai_on": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("")[6:], Thinking: scrollback.Thinking{On: &yes}}},
		"openai_budget": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("")[6:], Thinking: scrollback.Thinking{Budget: 9000}}},
		"openai_effort": {"openai", "gpt-6-sol",
			model.Request{Items: respEverything("")[6:], Thinking: scrollback.Thinking{Effort: "max"}}},
		"openai_plain_model": {"openai", "gpt-4.1", model.Request{Items: respEverything("")[6:]}},
		"openai_dropped": {"openai", "gpt-5.1",
			model.Request{Items: respEverything("openai/gpt-5.1"), Tools: respTools(), AnswerOnly: true,
				MaxOutputTokens: 4000, CacheKey: "conv-1", Thinking: scrollback.Thinking{Effort: "low"},
				Learned: scrollback.Learned{MaxOutput: 100,
					Dropped: []string{"stream", "tool_choice", "max_output_tokens", "prompt_cache_key",
						"include", "reasoning.effort", "reasoning.summary", "input_image", "encrypted_content"}}, Bytes: images}},
		"openai_learned_output": {"openai", "gpt-5.1", model.Request{Items: respEverything("")[6:], MaxOutputTokens: 4000,
			Learned: scrollback.Learned{MaxOutput: 100}}},
		"xai_everything": {"xai", "grok-4.3", model.Request{Items: respEverything("xai/grok-4.3"), Tools: respTools(),
			MaxOutputTokens: 4000,
			CacheKey:        "conv-1", Thinking: scrollback.Thinking{Effort: "high"}, Bytes: images}},
		"xai_blind": {"xai", "grok-3", model.Request{Items: respEverything("openai/gpt-5.1")}},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			way := respBody(func(r *http.Request) (string, io.Reader) {
				body, err := io.ReadAll(r.Body)
				if err != nil || json.Indent(&got, body, "", "  ") != nil {
					t.Error(err)
				}
				if r.URL.Path != "/v1/responses" || r.Header.Get("Authorization") != "Bearer "+respKey ||
					strings.Contains(string(body), respKey) {
					t.Errorf("sent to %s with %v", r.URL, r.Header)
				}
				return "text/event-stream", strings.NewReader(`data: {"type":"response.completed"}` + "\n\n")
			})
			m := respOpen(t, c.preset, c.id, "http://host.test/v1", &http.Client{Transport: way})
			if _, err := modeltest.Read(m.Stream(t.Context(), c.r)); err != nil && !strings.Contains(name, "dropped") {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(got.String(), "\n}{")
			if !strings.HasSuffix(first, "\n}") {
				first += "\n}"
			}
			path := filepath.Join("testdata", "responses", name+".golden.json")
			if *updateResponses {
				if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || string(want) != first+"\n" {
				t.Errorf("sent\n%s\nwant\n%s (%v)", first, want, err)
			}
		})
	}
}
