package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// exchange sends items to a server that refuses what judge says, and returns the body it
// took, how many it refused, and what was learned.
func exchange(t *testing.T, d serverDialect, made string, known scrollback.Learned, parts scrollback.Parts,
	judge func(body string) (refusal string)) (took string, refused int, learned scrollback.Learned) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if words := judge(string(b)); words != "" {
			refused++
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": words}})
			return
		}
		took = string(b)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	m := newModel(remote.Endpoint{Name: "custom/m", Model: "m", BaseURL: s.URL,
		Options: remote.Options{Provider: "custom", Retries: -1}}, d)
	items := []scrollback.Item{{Role: scrollback.RoleUser, Parts: scrollback.Say("go")},
		{Role: scrollback.RoleAssistant, Model: made, Parts: parts}}
	var results scrollback.Parts
	for _, c := range parts.Calls() {
		results = append(results, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: "done"})
	}
	if len(results) > 0 {
		items = append(items, scrollback.Item{Role: scrollback.RoleTool, Parts: results})
	}
	learned = known
	for delta, err := range m.Stream(context.Background(), model.Request{Items: items, Learned: known}) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Lesson != nil {
			learned.Dropped = model.AddDropped(learned.Dropped, delta.Lesson.Drop)
		}
	}
	return took, refused, learned
}

func called(id string, o scrollback.Opaque) scrollback.Parts {
	return scrollback.Parts{scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{}`), Opaque: o}}
}

// A call's id goes back as it came until its server refuses it, which costs one request.
func TestCallIDsGoBackUntilRefused(t *testing.T) {
	long := "call_1__thought__" + strings.Repeat("c2ln", 300)
	d := serverDialect{field: "reasoning_content", replay: replayCalls}
	took, refused, _ := exchange(t, d, "custom/m", scrollback.Learned{}, called(long, nil),
		func(string) string { return "" })
	if strings.Count(took, long) != 2 || refused != 0 {
		t.Errorf("the id of its own was changed: %s", took)
	}
	for _, c := range []struct{ words, form, id string }{
		{"Invalid 'messages[1].tool_calls[0].id': string too long. " +
			"Expected a string with maximum length 64, but got a string with length 1217.", "call ids over 64 characters", long},
		{"The function call id is too long: it may have no more than 40 characters", "call ids over 40 characters", long},
		{"Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must have length " +
			"less than or equal to 64", "call ids over 64 characters", long},
		{"toolUseId failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+", oddIDs,
			"f:0"},
		{"Invalid tool-call-id: only contains illegal characters", oddIDs, "f:0"},
		{"tool_call_id must be alphanumeric", notNineIDs, "call_x"},
		{"Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9.", notNineIDs, "call_x"},
		{"messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", oddIDs, "f:0"},
	} {
		judge := func(body string) string {
			if strings.Contains(body, c.id) {
				return c.words
			}
			return ""
		}
		_, refused, learned := exchange(t, d, "custom/m", scrollback.Learned{}, called(c.id, nil), judge)
		if refused != 1 || !slices.Equal(learned.Dropped, []string{c.form}) {
			t.Errorf("%s: refused %d times, learned %q", c.words, refused, learned.Dropped)
		}
		if _, again, _ := exchange(t, d, "custom/m", learned, called(c.id, nil), judge); again != 0 {
			t.Errorf("%s: refused again", c.form)
		}
	}
}

// What a server puts beside a call goes back to its model alone; one that demands a
// signature gets the documented word for a call that has none.
func TestWhatCameBesideACallGoesBack(t *testing.T) {
	d := serverDialect{}
	extra := `"extra_content":{"google":{"thought_signature":"AY89"}}`
	took, _, _ := exchange(t, d, "custom/m", scrollback.Learned{}, called("c", scrollback.Opaque(`{`+extra+`}`)),
		func(string) string { return "" })
	if !strings.Contains(took, extra) {
		t.Errorf("lost: %s", took)
	}
	parts := called("c", scrollback.Opaque(`{`+extra+`}`))
	took, refused, learned := exchange(t, d, "other/m", scrollback.Learned{}, parts, func(b string) string {
		if strings.Contains(b, "thought_signature") {
			return ""
		}
		return "Function call is missing a thought_signature in functionCall parts."
	})
	if strings.Contains(took, "AY89") || refused != 1 || !slices.Equal(learned.Dropped, []string{unsigned}) {
		t.Errorf("%d refusals, learned %q: %s", refused, learned.Dropped, took)
	}
}

// Reasoning that came in the content goes back there, and reasoning_content no more once
// it was refused.
func TestReasoningGoesBackInItsPlace(t *testing.T) {
	d := serverDialect{field: "reasoning_content", replay: replayCalls}
	thought := func(field string) scrollback.Parts {
		thought := scrollback.Reasoning{Text: "hm", Opaque: scrollback.Opaque(`{"field":"` + field + `"}`)}
		return append(scrollback.Parts{thought}, called("c", nil)...)
	}
	took, _, _ := exchange(t, d, "custom/m", scrollback.Learned{}, thought(inContent), func(string) string { return "" })
	if !strings.Contains(took, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`) {
		t.Errorf("not in its place: %s", took)
	}
	_, refused, learned := exchange(t, d, "custom/m", scrollback.Learned{}, thought("reasoning_content"),
		func(b string) string {
			if strings.Contains(b, "reasoning_content") {
				return "messages.1.assistant.reasoning_content: Extra inputs are not permitted"
			}
			return ""
		})
	if refused != 1 || !slices.Equal(learned.Dropped, []string{"reasoning_content"}) {
		t.Errorf("refused %d times, learned %q", refused, learned.Dropped)
	}
}
