package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A prompt for a model behind OpenRouter that caches up to marks only is marked at
// the ends of its layers, and one for another model is not.
func TestCacheMarks(t *testing.T) {
	item := func(layer scrollback.Layer, role scrollback.Role, text string) scrollback.Item {
		return scrollback.Item{Kind: scrollback.KindMessage, Layer: layer, Role: role,
			Parts: scrollback.Parts{scrollback.Text{Text: text}}}
	}
	r := model.Request{Items: []scrollback.Item{item(scrollback.LayerInstructions, scrollback.RoleSystem, "be brief"),
		item(scrollback.LayerPlaceholders, scrollback.RoleUser, "folded"),
		item(scrollback.LayerMessages, scrollback.RoleUser, "one"),
		item(scrollback.LayerMessages, scrollback.RoleAssistant, "two"),
		item(scrollback.LayerMessages, scrollback.RoleUser, "three"),
		item(scrollback.LayerPrompt, scrollback.RoleUser, "four"),
		item(scrollback.LayerRequestOnly, scrollback.RoleUser, "five")}}
	for id, want := range map[string]string{"anthropic/claude-sonnet-4.5": "be brief|folded|three|four",
		"deepseek/deepseek-v3.2": ""} {
		var body struct {
			Messages []struct{ Content json.RawMessage }
		}
		m := chatAnswered(t, "openrouter", id, func(req *http.Request) *http.Response {
			if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			return chatReply(200, "text/event-stream",
				strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n"))
		})
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
		var marked []string
		for _, msg := range body.Messages {
			var parts []struct {
				Text  string
				Cache json.RawMessage `json:"cache_control"`
			}
			if json.Unmarshal(msg.Content, &parts) == nil && string(parts[0].Cache) == `{"type":"ephemeral"}` {
				marked = append(marked, parts[0].Text)
			}
		}
		if got := strings.Join(marked, "|"); got != want || len(body.Messages) != 7 {
			t.Errorf("%s: marked %q of %d, want %q", id, got, len(body.Messages), want)
		}
	}
}
