package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func said(role scrollback.Role, layer scrollback.Layer, by string, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Layer: layer, Role: role, Model: by, Parts: parts}
}

func words(s string) scrollback.Text { return scrollback.Text{Text: s} }

func calls(id, args string) scrollback.ToolCall {
	return scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(args)}
}

func result(id, text string) scrollback.ToolResult {
	return scrollback.ToolResult{CallID: id, Name: "f", Text: text}
}

func thought(text, opaque string) scrollback.Reasoning {
	return scrollback.Reasoning{Text: text, Opaque: scrollback.Opaque(opaque)}
}

// full returns a request with everything a conversation may hold, whose answers are by.
func full(by string) model.Request {
	failed := result("toolu_2", " \n")
	failed.IsError = true
	return model.Request{
		MaxOutputTokens: 16000, CacheKey: "c1",
		Tools: []scrollback.Tool{{Name: "f", Description: "Does f.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}, {Name: "g"}},
		Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("\x89PNG"), nil },
		Items: []scrollback.Item{
			{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions, Role: scrollback.RoleSystem,
				Parts: scrollback.Parts{words("Be brief & <kind>.")}},
			{Kind: scrollback.KindTools, Layer: scrollback.LayerInstructions, Role: scrollback.RoleSystem},
			{Kind: scrollback.KindEnvironment, Layer: scrollback.LayerEnvironment, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{words("Today is a day.")}},
			{Kind: scrollback.KindAck, Layer: scrollback.LayerEnvironment, Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{words("Understood.")}},
			{Kind: scrollback.KindFolded, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{words("<folded_history>…</folded_history>")}},
			{Kind: scrollback.KindAck, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{words("I will look.")}},
			said(scrollback.RoleUser, scrollback.LayerMessages, "", words("What is this?"),
				scrollback.Image{Artifact: "ab", MediaType: "image/png", Name: "p.png"},
				scrollback.Image{Artifact: "cd", MediaType: "image/bmp", Name: "p.bmp"},
				scrollback.File{Artifact: "ef", MediaType: "text/plain", Name: "t.txt", Size: 9}),
			said(scrollback.RoleAssistant, scrollback.LayerMessages, by, thought("Hm <b>.", `{"signature":"AA+/=="}`), words(""),
				words("A point.")),
			said(scrollback.RoleUser, scrollback.LayerPrompt, "", words("And f?")),
			said(scrollback.RoleAssistant, scrollback.LayerPrompt, by, thought("", `{"redacted":"RRRR"}`),
				thought("", `{"signature":"BBBB"}`),
				thought("never signed", ""), words("I ask."),
				calls("toolu_1", `{"a":1}`), calls("toolu_2", ``)),
			said(scrollback.RoleTool, scrollback.LayerPrompt, "", result("toolu_1", "one"), failed),
		},
	}
}

// The bytes of a request, one file an important shape.
func TestGolden(t *testing.T) {
	yes := true
	no := false
	with := func(r model.Request, change func(*model.Request)) model.Request { change(&r); return r }
	dropped := func(names ...string) func(*model.Request) {
		return func(r *model.Request) { r.Learned.Dropped = names; r.Thinking.Effort = "low" }
	}
	const opus, old = "claude-opus-4-8", "claude-sonnet-4-5-20250929"
	for name, c := range map[string]struct {
		model string
		r     model.Request
	}{
		"full":        {opus, with(full("anthropic/"+opus), func(r *model.Request) { r.Thinking.Effort = "high" })},
		"foreign":     {opus, full("openai/gpt-6")},
		"answer_only": {opus, with(full("anthropic/"+opus), func(r *model.Request) { r.AnswerOnly = true })},
		"plain":       {opus, modeltest.PlainRequest()},
		"least": {opus, model.Request{Items: []scrollback.Item{said(scrollback.RoleUser, scrollback.LayerPrompt, "",
			words("Hi")),
			{Kind: scrollback.KindAck, Layer: scrollback.LayerRequestOnly, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{words("Go on.")}}}}},
		"on":  {opus, with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.On = &yes })},
		"off": {opus, with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.On = &no })},
		"off_never": {"claude-opus-5-5",
			with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.On = &no })},
		"budget_as_effort": {opus, with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.Budget = 9000 })},
		"budget":           {old, with(full("anthropic/"+old), func(r *model.Request) { r.Thinking.Budget = 2000 })},
		"budget_of_effort": {old, with(full("anthropic/"+old), func(r *model.Request) { r.Thinking.Effort = "max" })},
		"budget_no_room":   {old, with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.On = &yes })},
		"budget_foreign":   {old, with(full("openai/gpt-6"), func(r *model.Request) { r.Thinking.On = &yes })},
		"no_thinking": {"claude-3-5-haiku-20241022",
			with(modeltest.PlainRequest(), func(r *model.Request) { r.Thinking.On = &yes })},
		"dropped_adaptive": {opus, with(full("anthropic/"+opus), dropped("thinking.adaptive"))},
		"dropped_budget":   {old, with(full("anthropic/"+old), dropped("thinking.budget_tokens"))},
		"dropped_both":     {old, with(full("anthropic/"+old), dropped("thinking.adaptive", "thinking.budget_tokens"))},
		"dropped_others":   {opus, with(full("anthropic/"+opus), dropped("output_config", "cache_control", "thinking"))},
		"dropped_binding": {opus, with(full("anthropic/"+opus),
			func(r *model.Request) { r.Learned.Dropped = []string{"thinking.block_binding"} })},
		"dropped_blocks": {old, with(full("anthropic/"+old), dropped("thinking.blocks"))},
		"learned_max":    {opus, with(modeltest.PlainRequest(), func(r *model.Request) { r.Learned.MaxOutput = 100 })},
		"binding_and_off": {opus, with(full("anthropic/"+opus), func(r *model.Request) {
			r.Thinking.On = &no
			r.Learned.Dropped = []string{"thinking.block_binding"}
		})},
		"tools_without_sys": {opus, modeltest.ToolRequest()},
	} {
		t.Run(name, func(t *testing.T) {
			var got []byte
			plain := play(t, "plain")
			m := serve(t, c.model, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				head := r.Method + " " + r.URL.Path
				for _, h := range []string{"Anthropic-Version", "Anthropic-Beta", "X-Api-Key", "Authorization", "Content-Type"} {
					if v := r.Header.Get(h); v != "" {
						head += "\n" + h + ": " + v
					}
				}
				var out bytes.Buffer
				if err := json.Indent(&out, body, "", " "); err != nil {
					t.Error(err)
				}
				got = []byte(head + "\n\n" + out.String() + "\n")
				plain(w, r)
			}))
			if _, err := modeltest.Read(m.Stream(t.Context(), c.r)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the request is\n%s\nwant\n%s", got, want)
			}
		})
	}
}
