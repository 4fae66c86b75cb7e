package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func item(role scrollback.Role, who string, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Model: who, Parts: parts}
}

func said(text string) scrollback.Part { return scrollback.Text{Text: text} }

func calls(id, name, args string) scrollback.Part {
	return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// history has everything that an item may hold, made by who.
func history(who string) []scrollback.Item {
	foreign := scrollback.Opaque(`{"signature":"S"}`)
	return []scrollback.Item{
		item(scrollback.RoleSystem, "", said("Be brief.")),
		{Kind: scrollback.KindTools, Role: scrollback.RoleSystem},
		item(scrollback.RoleUser, "", said("Compare <a> & b."),
			scrollback.Image{Artifact: "art_1", MediaType: "image/png", Name: "a.png"},
			said("Now."),
			scrollback.File{Artifact: "art_2", MediaType: "application/pdf", Name: "b.pdf", Size: 9}),
		item(scrollback.RoleAssistant, who, scrollback.Reasoning{Text: "Two files.", Opaque: foreign}, said("I read "),
			said("both."),
			calls("call_1", "read", `{"name":"a","line":12345678901234567890}`), calls("call_2", "read", `{"name":"b"}`),
			calls("call_3", "read", `[1]`)),
		item(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "call_1", Name: "read", Text: "A"},
			scrollback.ToolResult{CallID: "call_2", Text: ""},
			scrollback.ToolResult{CallID: "call_3", Name: "read", Text: "no object", IsError: true}),
		item(scrollback.RoleAssistant, who, scrollback.Reasoning{Text: "They differ."},
			scrollback.Text{Text: "They differ.", Opaque: foreign},
			said("")),
		item(scrollback.RoleAssistant, who, scrollback.Reasoning{Text: "Nothing to say."}),
		item(scrollback.RoleUser, "", said("Why?")),
	}
}

func TestGolden(t *testing.T) {
	yes := true
	no := false
	tools := []scrollback.Tool{{Name: "read", Description: "Reads a file.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"additionalProperties":false}`)}, {Name: "stop"}}
	with := func(items []scrollback.Item, change func(*model.Request)) model.Request {
		r := model.Request{Items: items, Tools: tools, Limit: 32768, MaxOutputTokens: 2048, CacheKey: "not for Ollama",
			Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("\x89PNG"), nil }}
		if change != nil {
			change(&r)
		}
		return r
	}
	for name, r := range map[string]model.Request{
		"own":          with(history("ollama/qwen3"), nil),
		"foreign":      with(history("anthropic/claude"), nil),
		"blind":        with(history("ollama/qwen3"), func(r *model.Request) { r.Bytes = nil }),
		"answer_only":  with(ask("q").Items, func(r *model.Request) { r.AnswerOnly = true }),
		"plain":        {Items: ask("q").Items},
		"think_on":     with(ask("q").Items, func(r *model.Request) { r.Thinking.On = &yes }),
		"think_off":    with(ask("q").Items, func(r *model.Request) { r.Thinking.On = &no }),
		"think_effort": with(ask("q").Items, func(r *model.Request) { r.Thinking.Effort = "max" }),
		"think_budget": with(ask("q").Items, func(r *model.Request) { r.Thinking.Budget = 9000 }),
		"learned": with(ask("q").Items,
			func(r *model.Request) { r.Learned.Dropped = []string{"truncate", "shift", "num_ctx", "think"} }),
		"learned_output": with(ask("q").Items, func(r *model.Request) { r.Learned.MaxOutput = 100 }),
	} {
		var got bytes.Buffer
		m := serve(t, "qwen3", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = got.ReadFrom(req.Body)
			play(recorded(t, "plain"))(w, req)
		}))
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name + ".golden.json"
		got.WriteByte('\n')
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got.Bytes(), want)
		}
	}
}
