package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/responsesapi"
)

// respTalker thinks, speaks and calls, differently each time: its calls end when it
// has two results.
func respTalker() model.Model {
	n := 0
	return modeltest.NewScript(model.Facts{Name: "test/talker"},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			n++
			ds := []model.Delta{{Reasoning: fmt.Sprintf("thought %d ", n)}, {Reasoning: "<四>"}}
			if n%3 == 0 {
				ds = append(ds, model.Delta{End: true}, model.Delta{Reasoning: "and another"})
			}
			last := r.Items[len(r.Items)-1]
			if last.Role == scrollback.RoleTool && n%4 != 0 {
				return append(ds, model.Delta{Text: fmt.Sprintf("answer %d", n)})
			}
			if n%2 == 0 {
				ds = append(ds, model.Delta{Text: "I look."})
			}
			for i := range 1 + n%3 {
				ds = append(ds, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "look",
					Arguments: json.RawMessage(`{"at":"x"}`)}})
			}
			return ds
		}})
}

// respSide is a model, and the server that judges what it is sent.
type respSide struct {
	model.Model
	server *modeltest.Strict
}

func respOpenSide(t *testing.T, preset, id string, o responsesapi.Options) respSide {
	t.Helper()
	s := responsesapi.New(respTalker(), o)
	return respSide{respServe(t, preset, id, s), s}
}

// turn asks until an answer calls nothing, and returns the longer history.
func (s respSide) turn(t *testing.T, items []scrollback.Item, r model.Request) []scrollback.Item {
	t.Helper()
	for range 8 {
		r.Items = items
		a, err := modeltest.Read(s.Stream(t.Context(), r))
		if err != nil {
			t.Fatalf("%s, after %d items: %v %+v", s.Facts().Name, len(items), err, s.server.Refusals())
		}
		parts := modeltest.StoredParts(a.Deltas)
		items = append(items, respItem(scrollback.RoleAssistant, s.Facts().Name, parts...))
		var results scrollback.Parts
		for _, c := range parts.Calls() {
			results = append(results, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: "seen"})
		}
		if len(results) == 0 {
			return items
		}
		items = append(items, respItem(scrollback.RoleTool, "", results...))
	}
	t.Fatal("calls without end")
	return nil
}

func respQuestion(i int) scrollback.Item {
	parts := scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("question %d", i)}}
	if i%5 == 0 {
		parts = append(parts, scrollback.Image{Artifact: "a", MediaType: "image/png", Name: "x.png"})
	}
	return respItem(scrollback.RoleUser, "", parts...)
}

func respAsk() model.Request {
	return model.Request{Tools: respTools(), MaxOutputTokens: 4000, CacheKey: "conv",
		Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil }}
}

// sent counts what of each kind the last request held.
func (s respSide) sent(t *testing.T) map[string]int {
	t.Helper()
	bodies := s.server.Bodies()
	var body struct {
		Input []struct{ Type, ID, Phase string }
	}
	if err := json.Unmarshal(bodies[len(bodies)-1], &body); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, it := range body.Input {
		n[it.Type]++
		if strings.HasPrefix(it.ID, "fc_") {
			n["fc_"]++
		}
		if it.Phase != "" {
			n["phase"]++
		}
	}
	return n
}

// Forty turns with reasoning, calls beside each other and images, and none refused.
func TestResponsesConversation(t *testing.T) {
	for name, c := range map[string]struct {
		preset, id string
		o          responsesapi.Options
		thinks     bool
	}{
		"openai":       {"openai", "gpt-5.1", responsesapi.Options{Phases: true, Key: respKey}, true},
		"xai":          {"xai", "grok-4.3", responsesapi.Options{XAI: true, Key: respKey}, true},
		"no reasoning": {"openai", "gpt-4.1", responsesapi.Options{}, false},
		"no stream":    {"openai", "gpt-5.1", responsesapi.Options{Refuses: []string{"stream", "reasoning.summary"}}, true},
		"nothing spoken": {"xai", "grok-4.3", responsesapi.Options{XAI: true, Refuses: []string{"include", "prompt_cache_key",
			"reasoning.summary"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := respOpenSide(t, c.preset, c.id, c.o)
			items := []scrollback.Item{respItem(scrollback.RoleSystem, "", scrollback.Text{Text: "be brief"})}
			for i := range 40 {
				items = s.turn(t, append(items, respQuestion(i)), respAsk())
			}
			for _, why := range s.server.Refusals() {
				if name != "no stream" && name != "nothing spoken" {
					t.Errorf("refused: %+v", why)
				}
			}
			thoughts := 0
			calls := 0
			for _, it := range items[:len(items)-1] { // the last was not sent
				for _, p := range it.Parts {
					if r, ok := p.(scrollback.Reasoning); ok && r.Opaque != nil {
						thoughts++
					}
				}
				calls += len(it.Parts.Calls())
			}
			n := s.sent(t)
			if want := map[bool]int{true: thoughts, false: 0}[c.thinks]; n["reasoning"] != want || c.thinks && want < 60 ||
				n["function_call"] != calls || n["function_call_output"] != calls || c.thinks && n["fc_"] != calls {
				t.Errorf("sent %v; %d thoughts and %d calls were made", n, thoughts, calls)
			}
			if c.o.Phases && n["phase"] == 0 {
				t.Error("phases do not go back")
			}
		})
	}
}

// Another model goes on in the middle, and the first one comes back: each is sent
// what itself has made, and of the other what it said and called.
func TestResponsesModelChanges(t *testing.T) {
	a := respOpenSide(t, "openai", "gpt-5.1", responsesapi.Options{Phases: true})
	b := respOpenSide(t, "xai", "grok-4.3", responsesapi.Options{XAI: true})
	same := respSide{respServe(t, "openai", "gpt-5.2", a.server), a.server} // on the first one's server
	items := []scrollback.Item{}
	for i := range 40 {
		s := []respSide{a, a, b, same, b, a, same, a}[i%8]
		items = s.turn(t, append(items, respQuestion(i)), respAsk())
	}
	// what no Responses server made: of chat completions, of Anthropic, of nobody
	items = append(items, respQuestion(40), respItem(scrollback.RoleAssistant, "anthropic/claude",
		scrollback.Reasoning{Text: "x", Opaque: scrollback.Opaque(`{"signature":"s"}`)}, scrollback.Text{Text: "y"},
		scrollback.ToolCall{ID: "toolu_1", Name: "look", Arguments: json.RawMessage(`{}`)}),
		respItem(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "toolu_1", Text: "r"}))
	for _, s := range []respSide{a, b, same} {
		s.turn(t, append(items, respQuestion(41)), respAsk())
		if len(s.server.Refusals()) > 0 {
			t.Errorf("refused: %+v", s.server.Refusals())
		}
		own := 0
		for _, it := range items {
			for _, p := range it.Parts {
				if r, ok := p.(scrollback.Reasoning); ok && r.Opaque != nil && it.Model == s.Facts().Name {
					own++
				}
			}
		}
		if n := s.sent(t)["reasoning"]; n < own || n > own+8 || own < 10 { // its last turn thought some more
			t.Errorf("%s was sent %d thoughts, and has made %d", s.Facts().Name, n, own)
		}
	}
}

// A server that cannot read what it made once is asked without, now and at
// each later message.
func TestResponsesForgets(t *testing.T) {
	o := responsesapi.Options{}
	s := respOpenSide(t, "openai", "gpt-5.1", o)
	items := s.turn(t, []scrollback.Item{respQuestion(1)}, respAsk())
	forgetful := respOpenSide(t, "openai", "gpt-5.1", responsesapi.Options{Forgets: true})
	r := respAsk()
	r.Items = append(items, respQuestion(2))
	a, err := modeltest.Read(forgetful.Stream(t.Context(), r))
	if err != nil || len(a.Calls) == 0 && a.Text == "" {
		t.Fatalf("%+v %v", a, err)
	}
	if got := forgetful.server.Refusals(); len(got) != 1 || got[0].Rule != "encrypted" ||
		forgetful.sent(t)["reasoning"] != 0 {
		t.Errorf("refused %+v, then sent %v", got, forgetful.sent(t))
	}
	for _, d := range a.Deltas {
		if d.Lesson != nil {
			r.Learned.Dropped = model.AddDropped(r.Learned.Dropped, d.Lesson.Drop)
		}
	}
	r.Items = append(r.Items, respQuestion(3))
	if _, err := modeltest.Read(forgetful.Stream(t.Context(), r)); err != nil || len(forgetful.server.Refusals()) != 1 {
		t.Errorf("refused again: %+v %v", forgetful.server.Refusals(), err)
	}
}

// Servers that count their calls from nought at each answer give the same id for ever. After a
// change of model such a conversation goes to this API, which refuses an id that repeats, as
// does one that was here before and comes back.
func TestResponsesIDsOfOthersRepeat(t *testing.T) {
	s := respOpenSide(t, "openai", "gpt-5.1", responsesapi.Options{Phases: true})
	other := func(n int, ids ...string) []scrollback.Item {
		call := respItem(scrollback.RoleAssistant, "custom/llama")
		answers := respItem(scrollback.RoleTool, "")
		for i, id := range ids {
			call.Parts = append(call.Parts, scrollback.ToolCall{ID: id, Name: "look", Arguments: json.RawMessage(`{}`)})
			answers.Parts = append(answers.Parts, scrollback.ToolResult{CallID: id, Text: fmt.Sprintf("result %d.%d", n, i)})
		}
		return []scrollback.Item{respQuestion(n), call, answers,
			respItem(scrollback.RoleAssistant, "custom/llama", scrollback.Text{Text: "so"})}
	}
	long := strings.Repeat("z", 300)
	var items []scrollback.Item
	for n := range 8 {
		items = append(items, other(n, "call_0", "call_1", "", long)...)
		if n%2 == 1 {
			items = s.turn(t, append(items, respQuestion(n)), respAsk())
		}
	}
	if refused := s.server.Refusals(); len(refused) > 0 {
		t.Fatalf("refused: %+v", refused)
	}
	var sent struct {
		Input []struct{ Type, CallID, Output string }
	}
	last := strings.ReplaceAll(string(s.server.Bodies()[len(s.server.Bodies())-1]), `"call_id"`, `"CallID"`)
	if err := json.Unmarshal([]byte(last), &sent); err != nil {
		t.Fatal(err)
	}
	var open []string
	n := 0
	for _, it := range sent.Input {
		switch it.Type {
		case "function_call":
			open = append(open, it.CallID)
		case "function_call_output":
			if len(open) == 0 || open[0] != it.CallID {
				t.Fatalf("result %q answers %q, and %q waits", it.Output, it.CallID, open)
			}
			open = open[1:]
			n += 1
		}
	}
	if n < 32 {
		t.Errorf("%d results were sent", n)
	}
}
