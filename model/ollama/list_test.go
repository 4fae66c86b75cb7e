package ollama_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
)

// The window is the one that is served, never the one that was trained alone.
func TestList(t *testing.T) {
	for name, c := range map[string]struct {
		id    string
		model ollamaapi.Model
		want  int64
	}{
		"loaded": {"qwen3", ollamaapi.Model{Name: "qwen3:latest", Loaded: 4096, NumCtx: 8192, Trained: 40960},
			4096},
		"Modelfile": {"qwen3", ollamaapi.Model{Name: "qwen3", NumCtx: 8192, Trained: 40960}, 8192},
		// written 1.048576e+06
		"Modelfile, large": {"qwen3", ollamaapi.Model{Name: "qwen3", NumCtx: 1 << 20, Trained: 1 << 22}, 1 << 20},
		"trained only":     {"qwen3", ollamaapi.Model{Name: "qwen3", Trained: 40960}, 0},
		"another is":       {"qwen3", ollamaapi.Model{Name: "qwen3:8b", Loaded: 4096}, -1},
		"cloud": {"gpt-oss:120b-cloud", ollamaapi.Model{Name: "gpt-oss:120b-cloud", Cloud: true, Trained: 131072},
			131072},
	} {
		server := ollamaapi.New(modeltest.NewScript(model.Facts{}), &ollamaapi.Options{Models: []ollamaapi.Model{c.model}})
		limit, most, err := serve(t, c.id, server).List(t.Context())
		if c.want < 0 {
			if scrollback.CodeOf(err) != scrollback.Invalid {
				t.Errorf("%s: %d, %v", name, limit, err)
			}
			continue
		}
		if err != nil || limit != c.want || most != 0 {
			t.Errorf("%s: %d, %d, %v; want %d", name, limit, most, err, c.want)
		}
	}
}

// What was asked for is served, and listed from then on.
func TestListAfterAnswer(t *testing.T) {
	server := ollamaapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("a")),
		&ollamaapi.Options{Models: []ollamaapi.Model{{Name: "qwen3", Trained: 40960}}})
	m := serve(t, "qwen3", server)
	r := ask("q")
	r.Limit = 16384
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if limit, _, err := m.List(t.Context()); err != nil || limit != 16384 {
		t.Errorf("%d, %v", limit, err)
	}
}

func TestListFails(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"page":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Ollama is running") },
		"fault":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		if limit, _, err := serve(t, "qwen3", h).List(t.Context()); err == nil || limit != 0 {
			t.Errorf("%s: %d, %v", name, limit, err)
		}
	}
	wild := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w,
			`{"models":[{"name":3,"model":"qwen3","context_length":-1},{"name":"qwen3:latest","context_length":"4096"}]}`)
	}
	if limit, _, err := serve(t, "qwen3", http.HandlerFunc(wild)).List(t.Context()); err != nil || limit != 4096 {
		t.Errorf("%d, %v", limit, err)
	}
	tries := 0
	m := serve(t, "qwen3", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	if _, _, err := m.List(t.Context()); scrollback.CodeOf(err) != scrollback.Unavailable || tries != 1 {
		t.Errorf("%v after %d tries: a question beside an answer is asked once", err, tries)
	}
}
