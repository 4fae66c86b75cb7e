package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Thinking that came without a signature goes back without one, to the model that made it,
// until its server refuses that.
func TestUnsignedThinkingGoesBack(t *testing.T) {
	m := &Model{name: "anthropic/deepseek-chat", id: "deepseek-chat", base: "http://127.0.0.1"}
	send := func(known scrollback.Learned, made string) string {
		x, err := m.planRequest(t.Context(), model.Request{Items: []scrollback.Item{
			{Role: scrollback.RoleUser, Parts: scrollback.Say("go")},
			{Role: scrollback.RoleAssistant, Model: made, Parts: scrollback.Parts{
				scrollback.Reasoning{Text: "hm", Opaque: scrollback.Opaque(`{"unsigned":true}`)}, scrollback.Text{Text: "ok"}}},
		}}, known, &answerTurn{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(x.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const block = `{"type":"thinking","thinking":"hm"}`
	if got := send(scrollback.Learned{}, m.name); !strings.Contains(got, block) {
		t.Errorf("lost: %s", got)
	}
	for _, got := range []string{send(scrollback.Learned{Dropped: []string{unsignedThinking}}, m.name),
		send(scrollback.Learned{}, "other")} {
		if strings.Contains(got, "hm") {
			t.Errorf("sent: %s", got)
		}
	}
}

// A server of unsigned thinking that demands it before each call gets an empty one where
// another model called, once it has said so.
func TestMissingThinking(t *testing.T) {
	m := &Model{name: "anthropic/deepseek-chat", id: "deepseek-chat", base: "http://127.0.0.1"}
	refusal := remote.Problem{Status: 400,
		Message: "The `content[].thinking` in the thinking mode must be passed back to the API."}
	known := scrollback.Learned{}
	for _, want := range []string{`{"type":"text","text":"ok"},{"type":"tool_use"`,
		`{"type":"thinking","thinking":""},{"type":"text","text":"ok"}`} {
		x, err := m.planRequest(t.Context(), model.Request{Items: []scrollback.Item{
			{Role: scrollback.RoleUser, Parts: scrollback.Say("go")},
			{Role: scrollback.RoleAssistant, Model: "other", Parts: scrollback.Parts{scrollback.Text{Text: "ok"},
				scrollback.ToolCall{ID: "a", Name: "f", Arguments: json.RawMessage("{}")}}},
		}}, known, &answerTurn{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(x.Body)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s, %v", want, b, err)
		}
		if err := x.Judge(refusal); err != nil {
			known.Dropped = append(known.Dropped, model.LessonOf(err).Drop)
		}
	}
	if len(known.Dropped) != 1 {
		t.Errorf("learned %q", known.Dropped)
	}
}
