package ollama_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
	"github.com/scrollback-ai/scrollback/model/ollama"
)

// scripted answers a conversation: every third turn calls two tools at once, every
// other thinks, and results are answered with words.
func scripted() *modeltest.Script {
	return modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		n := len(r.Items)
		last := r.Items[len(r.Items)-1]
		var out []model.Delta
		if n%2 == 0 || last.Role == scrollback.RoleUser && n%3 == 0 {
			out = append(out, model.Delta{Reasoning: fmt.Sprintf("I think %d, ", n)}, model.Delta{Reasoning: "therefore."})
		}
		if last.Role != scrollback.RoleTool && strings.Contains(last.Parts.Text(), "look") {
			for i := range 2 {
				out = append(out, model.Delta{Call: &scrollback.ToolCall{Name: "search",
					Arguments: json.RawMessage(fmt.Sprintf(`{"query":"%d of %d"}`, i, n))}})
			}
			return out
		}
		return append(out, model.Delta{Text: fmt.Sprintf("Answer %d", n)}, model.Delta{Text: "."},
			model.Delta{Usage: &scrollback.Usage{OutputTokens: 5}, Finish: scrollback.FinishStop})
	}})
}

// talk has a conversation of turns with models that take over from each other.
func talk(t *testing.T, turns int, models ...*ollama.Model) []scrollback.Item {
	t.Helper()
	items := []scrollback.Item{item(scrollback.RoleSystem, "", said("Be brief."))}
	search := []scrollback.Tool{{Name: "search",
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)}}
	bytesOf := func(_ context.Context, id scrollback.ArtifactID) ([]byte, error) { return []byte("PNG of " + id), nil }
	for turn := range turns {
		m := models[turn*len(models)/turns]
		words := fmt.Sprintf("Question %d", turn)
		if turn%3 == 0 {
			words += ": look it up"
		}
		user := item(scrollback.RoleUser, "", said(words))
		if turn%5 == 0 {
			user.Parts = append(user.Parts, scrollback.Image{Artifact: scrollback.ArtifactID(fmt.Sprintf("art_%d", turn)),
				MediaType: "image/png"})
		}
		items = append(items, user)
		for step := 0; ; step++ {
			a, err := modeltest.Read(m.Stream(t.Context(),
				model.Request{Items: items, Tools: search, Limit: 32768, MaxOutputTokens: 512,
					Bytes: bytesOf}))
			if err != nil || step > 2 {
				t.Fatalf("turn %d, step %d: %v", turn, step, err)
			}
			items = append(items, item(scrollback.RoleAssistant, m.Facts().Name, modeltest.StoredParts(a.Deltas)...))
			if a.Finish != scrollback.FinishToolCalls {
				break
			}
			var results scrollback.Parts
			for i, c := range a.Calls {
				results = append(results, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: fmt.Sprintf("Result %d.", i)})
			}
			items = append(items, item(scrollback.RoleTool, "", results...))
		}
	}
	return items
}

func count(items []scrollback.Item) (calls, thoughts, images int) {
	for _, it := range items {
		for _, p := range it.Parts {
			switch p.(type) {
			case scrollback.ToolCall:
				calls++
			case scrollback.Reasoning:
				thoughts++
			case scrollback.Image:
				images++
			}
		}
	}
	return calls, thoughts, images
}

func TestConversation(t *testing.T) {
	server := ollamaapi.New(scripted(), &ollamaapi.Options{Pedantic: true})
	items := talk(t, 40, serve(t, "qwen3", server))
	calls, thoughts, images := count(items)
	if refused := server.Refusals(); len(refused) > 0 || calls != 28 || thoughts < 20 || images != 8 {
		t.Errorf("refused %v; %d calls, %d thoughts, %d images", refused, calls, thoughts, images)
	}
	if last := string(server.Bodies()[len(server.Bodies())-1]); !strings.Contains(last, `"thinking":"I think`) {
		t.Errorf("no reasoning went back: %s", last)
	}
}

// A second model takes over, gets none of the first one's reasoning, and all of its
// own; then the first one comes back.
func TestTakeover(t *testing.T) {
	first := ollamaapi.New(scripted(), &ollamaapi.Options{Pedantic: true})
	second := ollamaapi.New(scripted(), &ollamaapi.Options{Pedantic: true, IDs: "b"})
	a := serve(t, "qwen3", first)
	b := serve(t, "gpt-oss", second)
	talk(t, 40, a, b)
	if refused := append(first.Refusals(), second.Refusals()...); len(refused) > 0 {
		t.Errorf("refused %v", refused)
	}
	if took := string(second.Bodies()[0]); strings.Contains(took, "thinking") || !strings.Contains(took, "tool_calls") {
		t.Errorf("the second model was sent %s", took)
	}
}

// An older release gives no ids: each call gets one that no other has.
func TestConversationWithOldServer(t *testing.T) {
	server := ollamaapi.New(scripted(), &ollamaapi.Options{Old: true})
	items := talk(t, 40, serve(t, "qwen3", server))
	taken := map[string]bool{}
	for _, it := range items {
		for _, c := range it.Parts.Calls() {
			if c.ID == "" || taken[c.ID] {
				t.Errorf("the id %q is empty or taken", c.ID)
			}
			taken[c.ID] = true
		}
	}
	if len(taken) != 28 || len(server.Refusals()) > 0 {
		t.Errorf("%d ids, refused %v", len(taken), server.Refusals())
	}
}
