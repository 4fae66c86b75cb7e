// Package ollamaapi stands in for Ollama and its native API: it refuses what Ollama
// refuses, in its words, truncates what Ollama truncates, and plays a model for the rest.
//
// Words it adds: window (the tokens that a model was loaded with), pedantic (also refusing
// what Ollama silently accepts and gets wrong).
//
// A prompt that is too long silently loses its oldest messages or its middle, unless
// the request asks for an error. The reported count is of what was left. What Ollama does is described in
// docs/guides/dialects-ollama.md.
//
// It may not know model/ollama, which is tested with it, nor another stand-in.
package ollamaapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Options say which server stands in for Ollama. The zero value is a recent release
// that has every model, with a window of 32,768 tokens.
type Options struct {
	Models []Model // the models it has; none means any, which can do everything
	Key    string  // what it wants to be shown; empty for nothing
	Window int64   // of a model that is loaded without num_ctx; 0 means 32,768
	Memory int64   // the largest num_ctx that there is memory for; 0 for any
	Busy   int     // how many requests it is too busy for at first

	// Refuses are parameters that a server which only speaks like Ollama turns down.
	Refuses []string
	// Nested reports a prompt that is too long as llama.cpp does, within the error's
	// text; otherwise it is said as Ollama's own runner does.
	Nested bool
	// IDs begins the ids that it gives to calls, so that those of two servers differ.
	IDs string
	// Old is a release that gives calls neither ids nor an index, and counts no cache.
	Old bool
	// Pedantic refuses besides what Ollama takes without a word and gets wrong: fields
	// it does not know, messages that are empty, results without a call of their id
	// and name, and reasoning that was changed, left out beside its calls, or is not
	// its own.
	Pedantic bool
}

// Model is a model of the stand-in. Nothing that it cannot do is true of the
// zero value.
type Model struct {
	Name     string
	Loaded   int64 // the window it is loaded with; 0 when it is not
	NumCtx   int64 // what its Modelfile sets
	Trained  int64 // what it was trained for
	Cloud    bool  // another server runs it
	Levels   bool  // thinking has levels, as in gpt-oss
	NoTools  bool
	NoThink  bool
	NoImages bool
	OneImage bool
}

// New makes a stand-in for Ollama that plays m.
func New(m model.Model, o *Options) *modeltest.Strict {
	s := &server{loaded: map[string]int64{}, thoughts: map[string]string{}}
	if o != nil {
		s.o = *o
	}
	if s.o.Window == 0 {
		s.o.Window = 32_768
	}
	for _, one := range s.o.Models {
		if one.Loaded > 0 {
			s.loaded[one.Name] = one.Loaded
		}
	}
	return modeltest.NewStrict(m, s)
}

// server is the protocol of Ollama's native API.
type server struct {
	o Options

	pending sync.Map // *http.Request to ask, from read to write

	mu       sync.Mutex
	busy     int
	calls    int
	loaded   map[string]int64
	thoughts map[string]string // what was thought before a call, by its id
}

// pendingAnswer is what is kept of a request until its answer is written.
type pendingAnswer struct {
	model  string
	tokens int64
	load   bool // nothing was said: the model is only loaded
}

func (s *server) Handles(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/api/chat"
}

// Serve is what is asked beside answers.
func (s *server) Serve(w http.ResponseWriter, r *http.Request) {
	if why := s.checkKey(r); why != nil {
		s.Refuse(w, *why)
		return
	}
	type entry map[string]any
	models := []entry{}
	switch r.Method + " " + r.URL.Path {
	case "GET /api/ps":
		s.mu.Lock()
		for name, window := range s.loaded {
			models = append(models, entry{"name": name, "model": name, "size": 1, "details": entry{}, "context_length": window})
		}
		s.mu.Unlock()
		writeJSON(w, http.StatusOK, entry{"models": models})
	case "GET /api/tags":
		for _, m := range s.o.Models {
			models = append(models, entry{"name": m.Name, "model": m.Name})
		}
		writeJSON(w, http.StatusOK, entry{"models": models})
	case "POST /api/show":
		s.serveShow(w, r)
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func (s *server) serveShow(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Model == "" {
		s.Refuse(w, modeltest.Refused{Status: http.StatusBadRequest, Words: "model is required"})
		return
	}
	m, why := s.findModel(asked.Model)
	if why != nil {
		s.Refuse(w, *why)
		return
	}
	out := map[string]any{"modelfile": "# Modelfile", "parameters": `stop                           "<|im_end|>"`,
		"model_info": map[string]any{"general.architecture": "llama"}}
	if m.NumCtx > 0 {
		out["parameters"] = fmt.Sprintf("%-30s %#v\n%s", "num_ctx", float64(m.NumCtx), out["parameters"])
	}
	if m.Trained > 0 {
		out["model_info"] = map[string]any{"general.architecture": "llama", "llama.context_length": m.Trained}
	}
	if m.Cloud {
		out["remote_host"] = "https://ollama.com:443"
		out["remote_model"] = m.Name
	}
	writeJSON(w, http.StatusOK, out)
}

// findModel returns a model by its name; one without a tag means latest.
func (s *server) findModel(name string) (Model, *modeltest.Refused) {
	if len(s.o.Models) == 0 {
		return Model{Name: name}, nil
	}
	for _, m := range s.o.Models {
		if m.Name == name || strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(name, ":latest") {
			return m, nil
		}
	}
	return Model{}, newRefusal("model", http.StatusNotFound, "model '%s' not found", name)
}

func (s *server) checkKey(r *http.Request) *modeltest.Refused {
	if s.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.o.Key {
		return newRefusal("key", http.StatusUnauthorized, "unauthorized")
	}
	return nil
}

func (s *server) Refuse(w http.ResponseWriter, why modeltest.Refused) {
	writeJSON(w, why.Status, map[string]string{"error": why.Words})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// newRefusal returns a refusal, which has no code here.
func newRefusal(rule string, status int, format string, args ...any) *modeltest.Refused {
	return modeltest.Refused{Rule: rule, Status: status}.WithWords(format, args...)
}
