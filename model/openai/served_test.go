package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/wire"
)

// A script says the same through a server and this client as it does directly.
func TestServedScript(t *testing.T) {
	steps := []modeltest.Step{
		modeltest.Say("héllo ", "世界"),
		modeltest.Call(scrollback.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage(`{"a":[1,"<"]}`)}, scrollback.ToolCall{ID: "c2", Name: "g", Arguments: json.RawMessage(`{}`)}),
		{Deltas: []model.Delta{{Reasoning: "hm"}, {Text: "so"}, {Usage: &scrollback.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 2, TotalTokens: 11}}}},
		{Deltas: []model.Delta{{Text: "cut"}}, NoFinish: true},
		{Deltas: []model.Delta{{Text: "long"}, {Finish: scrollback.FinishLength}}},
	}
	req := model.Request{Items: []scrollback.Item{{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "q"}}}}}
	direct := modeltest.NewScript(model.Facts{}, steps...)
	served := &modeltest.Server{Model: modeltest.NewScript(model.Facts{}, steps...)}
	client := serve(t, served.ServeHTTP, nil)
	for i := range steps {
		want, err := modeltest.Read(direct.Stream(context.Background(), req))
		if err != nil {
			t.Fatal(err)
		}
		got, err := modeltest.Read(client.Stream(context.Background(), req))
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text || got.Reasoning != want.Reasoning || got.Finish != want.Finish || !reflect.DeepEqual(got.Calls, want.Calls) {
			t.Errorf("step %d: %+v, directly %+v", i, got, want)
		}
		if want.Usage != nil && !want.Usage.Estimated && !reflect.DeepEqual(got.Usage, want.Usage) {
			t.Errorf("step %d: usage %+v, directly %+v", i, got.Usage, want.Usage)
		}
	}
}

// How much to think is told in the server's own dialect, and not at all when
// nothing is asked.
func TestThinking(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		dialect string
		ask     model.Thinking
		want    string
	}{
		{"", model.Thinking{}, `{}`},
		{"", model.Thinking{Effort: "low", Budget: 9}, `{"reasoning_effort":"low"}`},
		{"", model.Thinking{On: &no}, `{"reasoning_effort":"none"}`},
		{"reasoning", model.Thinking{}, `{}`},
		{"reasoning", model.Thinking{Effort: "high"}, `{"reasoning":{"effort":"high"}}`},
		{"reasoning", model.Thinking{Effort: "high", Budget: 2000}, `{"reasoning":{"max_tokens":2000}}`},
		{"reasoning", model.Thinking{On: &no}, `{"reasoning":{"enabled":false}}`},
		{"type", model.Thinking{On: &yes}, `{"thinking":{"type":"enabled"}}`},
		{"type", model.Thinking{Effort: "none"}, `{"thinking":{"type":"disabled"}}`},
		{"type", model.Thinking{Budget: 5}, `{}`},
		{"enable", model.Thinking{On: &no}, `{"enable_thinking":false}`},
		{"enable", model.Thinking{Effort: "low", Budget: 5}, `{"enable_thinking":true,"thinking_budget":5}`},
	} {
		var body wire.ChatRequest
		s := &modeltest.Server{Model: modeltest.NewScript(model.Facts{}, modeltest.Say("ok"))}
		m := serve(t, func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r); body = s.Bodies()[0] },
			func(o *openai.Options) { o.Thinking = c.dialect })
		if _, err := modeltest.Read(m.Stream(context.Background(), model.Request{Thinking: c.ask})); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(struct {
			ReasoningEffort string              `json:"reasoning_effort,omitempty"`
			Reasoning       *wire.ReasoningWish `json:"reasoning,omitempty"`
			Thinking        *wire.ThinkingWish  `json:"thinking,omitempty"`
			EnableThinking  *bool               `json:"enable_thinking,omitempty"`
			ThinkingBudget  int64               `json:"thinking_budget,omitempty"`
		}{body.ReasoningEffort, body.Reasoning, body.Thinking, body.EnableThinking, body.ThinkingBudget})
		if err != nil || string(got) != c.want {
			t.Errorf("%q %+v is sent as %s, want %s (%v)", c.dialect, c.ask, got, c.want, err)
		}
	}
}
