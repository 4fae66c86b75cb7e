package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

var update = flag.Bool("update", false, "write the golden requests again")

func item(role scrollback.Role, from string, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Layer: scrollback.LayerMessages, Role: role, Model: from,
		Parts: parts}
}

func text(s string) scrollback.Text { return scrollback.Text{Text: s} }

func call(id, name, args, opaque string) scrollback.ToolCall {
	c := scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
	if opaque != "" {
		c.Opaque = json.RawMessage(opaque)
	}
	return c
}

func result(id, name, text string) scrollback.ToolResult {
	return scrollback.ToolResult{CallID: id, Name: name, Text: text}
}

const (
	flash = "gemini-3-flash-preview"
	own   = "gemini/" + flash
)

func tools() []scrollback.Tool {
	return []scrollback.Tool{{Name: "f", Description: "Does <f> & more.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":["integer","null"]}},"additionalProperties":false}`)},
		{Name: "g"}}
}

// full returns a conversation with one of everything.
func full(from string) []scrollback.Item {
	failed := result("call_1", "g", "no such thing")
	failed.IsError = true
	return []scrollback.Item{
		item(scrollback.RoleSystem, "", text("Be brief.")),
		{Kind: scrollback.KindTools},
		item(scrollback.RoleSystem, "", text("It is <Monday>.")),
		item(scrollback.RoleUser, "", text("Look at this."),
			scrollback.Image{Artifact: "a1", MediaType: "image/png", Name: "a.png"},
			scrollback.File{Artifact: "a2", MediaType: "text/csv", Name: "b.csv", Size: 9}),
		item(scrollback.RoleAssistant, from, scrollback.Reasoning{Text: "Let me see."},
			scrollback.Reasoning{Text: "Signed.", Opaque: json.RawMessage(`{"thoughtSignature":"dGg="}`)}, text("I call."),
			call("fn1", "f", `{"n":12345678901234567890}`, `{"thoughtSignature":"c2ln+/8=","id":"fn1"}`),
			call("call_1", "g", `{}`, "")),
		item(scrollback.RoleTool, "", result("fn1", "f", `{"$ref":"x"}`), failed),
		item(scrollback.RoleAssistant, from, text("Done"), scrollback.Text{Text: " and signed.",
			Opaque: json.RawMessage(`{"thoughtSignature":"dHh0"}`)},
			scrollback.Reasoning{Opaque: json.RawMessage(`{"part":{"executableCode":{"language":"PYTHON","code":"1<2"}}}`)},
			scrollback.Reasoning{Opaque: json.RawMessage(`{"thoughtSignature":"ZW1wdHk","text":true}`)}),
		item(scrollback.RoleUser, "", text("Go on.")),
		item(scrollback.RoleAssistant, from, scrollback.Reasoning{Opaque: json.RawMessage(`{"thoughtSignature":"aGlkZGVu"}`)},
			text("Well"),
			scrollback.Text{}),
		item(scrollback.RoleUser, "", text("And?")),
	}
}

func yes() *bool { v := true; return &v }

func no() *bool { v := false; return &v }

// requests returns the shapes whose bytes are kept.
func requests() map[string]struct {
	id string
	r  model.Request
} {
	ask := []scrollback.Item{item(scrollback.RoleSystem, "", text("Be brief.")),
		item(scrollback.RoleUser, "", text("Hi."))}
	mine := json.RawMessage(`{"thoughtSignature":"x","id":"y","text":true,"part":{"a":1}}`)
	foreign := []scrollback.Item{ask[1],
		item(scrollback.RoleAssistant, "anthropic/claude", scrollback.Reasoning{Text: "mine", Opaque: mine},
			scrollback.Text{Opaque: mine},
			scrollback.Text{Text: "I call.", Opaque: mine},
			call("toolu_1", "f", `{"n":1}`, string(mine)), call("toolu_2", "g", `[1]`, "")),
		item(scrollback.RoleTool, "", result("toolu_1", "f", "1"), result("toolu_2", "g", "")),
		item(scrollback.RoleAssistant, "gemini/gemini-2.5-pro", scrollback.Reasoning{Text: "only thought", Opaque: mine}),
		item(scrollback.RoleAssistant, own, call("old", "f", `{}`, "")), // of a log that has lost its signature
		item(scrollback.RoleTool, "", result("old", "f", "2")),
		item(scrollback.RoleAssistant, "", text("Whose?")),
		ask[1]}
	think := func(t scrollback.Thinking) model.Request {
		return model.Request{Items: ask, MaxOutputTokens: 20000, Thinking: t}
	}
	dropped := think(scrollback.Thinking{Effort: "minimal"})
	dropped.Learned = scrollback.Learned{Dropped: []string{"thinking level minimal", "function calling"}, MaxOutput: 4000,
		Strict: scrollback.StrictNoSystem}
	dropped.Tools = tools()
	return map[string]struct {
		id string
		r  model.Request
	}{
		"full": {flash, model.Request{Items: full(own), Tools: tools(), MaxOutputTokens: 512, CacheKey: "c",
			Thinking: scrollback.Thinking{Effort: "high"}}},
		"foreign":     {flash, model.Request{Items: foreign, Tools: tools()}},
		"foreign_2.5": {"gemini-2.5-flash", model.Request{Items: foreign, Tools: tools()}},
		"answer_only": {flash, model.Request{Items: ask, Tools: tools(), AnswerOnly: true}},
		"plain": {"gemini-2.0-flash", model.Request{Items: ask, AnswerOnly: true,
			Thinking: scrollback.Thinking{Effort: "high"}}},
		"gemma":       {"gemma-3-27b-it", model.Request{Items: ask, Thinking: scrollback.Thinking{On: yes()}}},
		"gemma_first": {"gemma-3-27b-it", model.Request{Items: ask[:1]}},
		"off":         {flash, think(scrollback.Thinking{On: no()})},
		"off_pro":     {"gemini-3.1-pro-preview", think(scrollback.Thinking{Effort: "none"})},
		"off_2.5":     {"gemini-2.5-flash", think(scrollback.Thinking{Effort: "none"})},
		"off_2.5_pro": {"gemini-2.5-pro", think(scrollback.Thinking{On: no()})},
		"on":          {flash, think(scrollback.Thinking{On: yes()})},
		"on_2.5_lite": {"gemini-2.5-flash-lite", think(scrollback.Thinking{On: yes()})},
		"lite":        {"gemini-2.5-flash-lite", think(scrollback.Thinking{})},
		"budget":      {"gemini-flash-latest", think(scrollback.Thinking{Budget: 9000})},
		"budget_2.5":  {"gemini-2.5-flash", think(scrollback.Thinking{Budget: 90000})},
		"effort_2.5":  {"gemini-2.5-pro", think(scrollback.Thinking{Effort: "max"})},
		"effort":      {flash, think(scrollback.Thinking{Effort: "xhigh"})},
		"dropped":     {flash, dropped},
	}
}

func TestGolden(t *testing.T) {
	for name, c := range requests() {
		t.Run(name, func(t *testing.T) {
			var bodies [][]byte
			m := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body) // the client is here
				bodies = append(bodies, b)
				stream(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`+"\n\n")(w, r)
			}), c.id, nil)
			c.r.Bytes = func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("png\xff"), nil }
			for range 2 {
				if _, err := modeltest.Read(m.Stream(t.Context(), c.r)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(bodies[0], bodies[1]) {
				t.Error("two equal requests are not equal bytes")
			}
			var nice bytes.Buffer
			if err := json.Indent(&nice, bodies[0], "", "\t"); err != nil {
				t.Fatal(err)
			}
			nice.WriteByte('\n')
			path := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(path, nice.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil || nice.String() != string(want) {
				t.Errorf("the request is not that of %s (%v):\n%s", path, err, nice.String())
			}
		})
	}
}

// A longer conversation begins with the bytes of the shorter one.
func TestPrefix(t *testing.T) {
	var bodies []string
	m := served(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // the client is here
		bodies = append(bodies, string(b))
	}), flash, nil)
	all := full(own)
	for _, n := range []int{4, 6, 8, 10} {
		_, _ = modeltest.Read(m.Stream(t.Context(), model.Request{Items: all[:n], Tools: tools()})) // there is no answer
	}
	last := bodies[len(bodies)-1]
	for _, b := range bodies {
		turns, _, _ := strings.Cut(b, `],"generationConfig"`)
		if !strings.HasPrefix(last, turns) {
			t.Errorf("%s\ndoes not begin\n%s", turns, last)
		}
	}
}

// An image that cannot be had fails the request; without images they are named.
func TestImages(t *testing.T) {
	gone := errors.New("gone")
	m := served(t, play(t, "plain"), flash, nil)
	r := model.Request{Items: full(own), Bytes: func(context.Context,
		scrollback.ArtifactID) ([]byte, error) {
		return nil, gone
	}}
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); !errors.Is(err, gone) {
		t.Errorf("an image that is gone: %v", err)
	}
	var body string
	m = served(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body) // the client is here
		body = string(b)
		play(t, "plain")(w, q)
	}), flash, nil)
	r.Bytes = nil
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil ||
		!strings.Contains(body, "[image: a.png, artifact:a1]") ||
		strings.Contains(body, "inlineData") {
		t.Errorf("without images: %v, %s", err, body)
	}
}
