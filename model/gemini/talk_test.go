package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/gemini"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
)

// talker thinks, calls one to three tools on two of three questions, and talks.
func talker() model.Model {
	return modeltest.NewScript(model.Facts{Name: "test/talker"},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			n := len(r.Items)
			last := r.Items[n-1]
			out := []model.Delta{{Reasoning: fmt.Sprintf("Thought %d, ", n)}, {Reasoning: "and more."}}
			if last.Role == scrollback.RoleUser && n%3 != 0 && len(r.Tools) > 0 && !r.AnswerOnly {
				for i := range n%3 + 1 {
					out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: "x", Name: "f",
						Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d,"at":%d}`, i, n))}})
				}
				return append(out, model.Delta{Finish: scrollback.FinishToolCalls})
			}
			out = append(out, model.Delta{Text: fmt.Sprintf("Answer %d ", n)}, model.Delta{Text: "is "},
				model.Delta{Text: "this."})
			return append(out, model.Delta{Finish: scrollback.FinishStop,
				Usage: &scrollback.Usage{InputTokens: int64(n) * 10, CachedTokens: int64(n),
					OutputTokens: 7, ReasoningTokens: 2}})
		}})
}

// talk is a conversation as the engine keeps one.
type talk struct {
	t     *testing.T
	items []scrollback.Item
	steps int
	calls int
	hops  bool
}

// turn asks, runs tools until there is an answer, and keeps everything.
func (c *talk) turn(m *gemini.Model, n int) {
	c.t.Helper()
	parts := scrollback.Parts{text(fmt.Sprintf("Question %d?", n))}
	if n%5 == 0 {
		parts = append(parts, scrollback.Image{Artifact: "a", MediaType: "image/png"})
	}
	c.items = append(c.items, item(scrollback.RoleUser, "", parts...))
	for range 5 {
		c.steps++
		r := model.Request{Items: c.items, Tools: tools(), Bytes: func(context.Context, scrollback.ArtifactID) ([]byte,
			error) {
			return []byte("png"), nil
		}}
		a, err := modeltest.Read(m.Stream(c.t.Context(), r))
		if err != nil {
			c.t.Fatalf("turn %d: %v", n, err)
		}
		c.items = append(c.items, item(scrollback.RoleAssistant, m.Facts().Name, modeltest.StoredParts(a.Deltas)...))
		c.calls += len(a.Calls)
		if len(a.Calls) == 0 {
			if a.Finish != scrollback.FinishStop || a.Usage == nil ||
				!c.hops && (a.Usage.ReasoningTokens != 2 || a.Usage.OutputTokens != 7) ||
				a.Usage.CachedTokens == 0 {
				c.t.Fatalf("turn %d: finish %q, usage %+v", n, a.Finish, a.Usage)
			}
			return
		}
		results := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleTool}
		for i, call := range a.Calls {
			results.Parts = append(results.Parts,
				scrollback.ToolResult{CallID: call.ID, Name: call.Name, Text: fmt.Sprintf("result %d", i),
					IsError: i == 1})
		}
		c.items = append(c.items, results)
	}
	c.t.Fatalf("turn %d calls for ever", n)
}

// Forty turns with thoughts, parallel calls and images: nothing that the server
// gave out is lost, changed or moved.
func TestForty(t *testing.T) {
	for name, o := range map[string]*geminiapi.Options{"ids": {}, "no ids": {NoIDs: true}, "hops": {Hop: 2},
		"hops of one": {Hop: 1, NoIDs: true}} {
		for _, id := range []string{flash, "gemini-2.5-pro"} {
			if id != flash && testlength.Choose(true, false, false) {
				continue
			}
			t.Run(name+" "+id, func(t *testing.T) {
				s := geminiapi.New(talker(), o)
				m := served(t, s, id, nil)
				c := &talk{t: t, hops: o.Hop > 0}
				for n := range 40 {
					c.turn(m, n)
				}
				if refused := s.Refusals(); len(refused) > 0 || c.steps < 60 || c.calls < 40 {
					t.Errorf("%d steps, %d calls, refused: %+v", c.steps, c.calls, refused)
				}
				last := string(s.Bodies()[len(s.Bodies())-1])
				for want, least := range map[string]int{`"thoughtSignature"`: 20, `"thought":true`: 60, `"functionResponse"`: 40,
					`"inlineData"`: 8,
					`"error"`:      5} {
					if got := strings.Count(last, want); got < least {
						t.Errorf("the last request has %d of %s", got, want)
					}
				}
				if strings.Contains(last, "skip_thought") || o.NoIDs && strings.Contains(last, `"id":"`) {
					t.Error("the last request holds what the server did not give out")
				}
			})
		}
	}
}

// Other models take over, and the first one comes back.
func TestTakeover(t *testing.T) {
	s := geminiapi.New(talker(), nil)
	c := &talk{t: t}
	c.items = append(c.items, item(scrollback.RoleUser, "", text("Before.")), item(scrollback.RoleAssistant, "openai/gpt",
		scrollback.Reasoning{Text: "private", Opaque: json.RawMessage(`{"thoughtSignature":"Zm9yZWlnbg=="}`)},
		call("call_1", "f", `{}`, `{"id":"call_1","thoughtSignature":"Zm9yZWlnbg=="}`)),
		item(scrollback.RoleTool, "", result("call_1", "f", "x")), item(scrollback.RoleAssistant, "openai/gpt", text("Hm.")))
	for n, id := range []string{flash, "gemini-3.1-pro-preview", "gemini-2.5-flash", flash} {
		m := served(t, s, id, nil)
		for k := range 10 {
			c.turn(m, 10*n+k)
		}
	}
	if refused := s.Refusals(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused)
	}
	bodies := s.Bodies()
	last := string(bodies[len(bodies)-1])
	if strings.Contains(last, "private") || strings.Contains(last, "Zm9yZWlnbg==") ||
		!strings.Contains(last, "skip_thought_signature_validator") {
		t.Error("the last request holds what is another model's, or nothing in its place")
	}
}

// What a model does not take is left out once its server has said so, and the rest
// stays; what was learned is told.
func TestLessons(t *testing.T) {
	ask := []scrollback.Item{item(scrollback.RoleSystem, "", text("Be brief.")),
		item(scrollback.RoleUser, "", text("Hi."))}
	for name, c := range map[string]struct {
		id     string
		o      geminiapi.Options
		r      model.Request
		drop   string
		absent string
	}{
		"a level": {"gemini-3.7-flash", geminiapi.Options{}, model.Request{Thinking: scrollback.Thinking{Effort: "none"}},
			"thinking level minimal", "MINIMAL"},
		"tools": {"gemma-3-27b-it", geminiapi.Options{}, model.Request{Tools: tools(), AnswerOnly: true},
			"function calling", "tool"},
		"thoughts": {flash, geminiapi.Options{Refuse: []string{"includeThoughts"}}, model.Request{}, "includeThoughts",
			"includeThoughts"},
		"a budget": {"gemini-2.5-flash", geminiapi.Options{Refuse: []string{"thinkingBudget"}},
			model.Request{Thinking: scrollback.Thinking{Budget: 2000}}, "thinkingBudget", "Budget"},
		"thinking": {"gemini-2.5-flash", geminiapi.Options{Refuse: []string{"thinkingConfig"}},
			model.Request{Thinking: scrollback.Thinking{Budget: 2000}}, "thinkingConfig", "thinking"},
		"a longer reply": {flash, geminiapi.Options{MaxOutput: 100}, model.Request{MaxOutputTokens: 101}, "",
			`"maxOutputTokens":101`},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Models = []string{c.id}
			s := geminiapi.New(talker(), &c.o)
			c.r.Items = ask
			a, err := modeltest.Read(served(t, s, c.id, nil).Stream(t.Context(), c.r))
			bodies := s.Bodies()
			if err != nil || len(bodies) != 2 || strings.Contains(string(bodies[1]), c.absent) ||
				!strings.Contains(string(bodies[0]), c.absent) {
				t.Fatalf("%v after %d requests: %s", err, len(bodies), bodies)
			}
			l := a.Deltas[0].Lesson
			if l == nil || l.Drop != c.drop || c.drop == "" && l.MaxOutput != 100 {
				t.Errorf("the lesson is %+v", l)
			}
		})
	}
	// Instructions that a model does not know are another window's business.
	s := geminiapi.New(talker(), &geminiapi.Options{Models: []string{"gemma-x"}})
	if _, err := modeltest.Read(served(t, s, "gemma-x", nil).Stream(t.Context(), model.Request{Items: ask})); err != nil {
		t.Errorf("instructions: %v", err)
	}
}
