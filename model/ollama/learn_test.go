package ollama_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
	"github.com/scrollback-ai/scrollback/model/ollama"
)

func keyed(t *testing.T, h http.Handler, key string) *ollama.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	at := place(srv.URL, "qwen3")
	at.Options.Key = key
	return ollama.New(at)
}

// What a server or model does not take is left out, and remembered by its name.
func TestLearns(t *testing.T) {
	high := scrollback.Thinking{Effort: "high"}
	yes := true
	image := scrollback.Item{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "What is it?"},
		scrollback.Image{Artifact: "art_1", MediaType: "image/png", Name: "a.png"}}}
	for name, c := range map[string]struct {
		o     ollamaapi.Options
		model ollamaapi.Model
		think scrollback.Thinking
		items []scrollback.Item
		drops []string
		want  string // a part of the last request
	}{
		"all is taken": {model: ollamaapi.Model{Levels: true}, think: high, want: `"think":"high"`},
		"no thinking":  {model: ollamaapi.Model{NoThink: true}, think: high, drops: []string{"think"}},
		"no levels":    {think: high, drops: []string{"think.level"}, want: `"think":true`},
		"on":           {think: scrollback.Thinking{On: &yes}, want: `"think":true`},
		"neither parameter": {o: ollamaapi.Options{Refuses: []string{"truncate", "shift"}},
			drops: []string{"truncate", "shift"}},
		"no num_ctx": {o: ollamaapi.Options{Refuses: []string{"num_ctx"}}, drops: []string{"num_ctx"},
			want: `"options":{"num_predict":64}`},
		"no images": {model: ollamaapi.Model{NoImages: true}, items: []scrollback.Item{image}, drops: []string{"images"},
			want: `[image: a.png, artifact:art_1]`},
		"images":             {items: []scrollback.Item{image}, want: `"images":["iVBO"]`},
		"busy, then answers": {o: ollamaapi.Options{Busy: 2}},
	} {
		c.model.Name = "qwen3"
		c.o.Models = []ollamaapi.Model{c.model}
		c.o.Pedantic = true
		server := ollamaapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("a")), &c.o)
		m := serve(t, "qwen3", server)
		r := ask("q")
		r.Items = append(r.Items, c.items...)
		r.Thinking = c.think
		r.Limit = 8192
		r.MaxOutputTokens = 64
		r.Bytes = func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("\x89PN"), nil }
		var learned []string
		a, err := modeltest.Read(func(yield func(model.Delta, error) bool) {
			for d, err := range m.Stream(t.Context(), r) {
				if d.Lesson != nil {
					learned = append(learned, d.Lesson.Drop)
				}
				if !yield(d, err) {
					return
				}
			}
		})
		if err != nil || a.Finish != "stop" || !slices.Equal(learned, c.drops) {
			t.Errorf("%s: %v, %+v, learned %v", name, err, a, learned)
			continue
		}
		bodies := server.Bodies()
		contains(t, name, bodies[len(bodies)-1], c.want)
		r.Learned.Dropped = c.drops // what was learned is kept: nothing is refused the next time
		before := len(server.Refusals())
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil || len(server.Refusals()) != before {
			t.Errorf("%s, the next time: %v", name, err)
		}
	}
}

func contains(t *testing.T, name string, body json.RawMessage, want string) {
	t.Helper()
	if !json.Valid(body) || !strings.Contains(string(body), want) {
		t.Errorf("%s: %s has no %s", name, body, want)
	}
}

// A gpt-oss model cannot be kept from thinking: the least is asked for.
func TestLevelsOnly(t *testing.T) {
	no := false
	for id, want := range map[string]string{"gpt-oss:20b": `"think":"low"`,
		"hf.co/unsloth/gpt-oss-20b-GGUF": `"think":"low"`,
		"qwen3":                          `"think":false`} {
		server := ollamaapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("a")),
			&ollamaapi.Options{Models: []ollamaapi.Model{{Name: id, Levels: true}}})
		r := ask("q")
		r.Thinking.On = &no
		if _, err := modeltest.Read(serve(t, id, server).Stream(t.Context(), r)); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		contains(t, id, server.Bodies()[0], want)
	}
}
