package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
)

// OllamaOptions say which server stands in for Ollama. The zero value is a recent
// release that has every model, with a window of 32,768 tokens.
type OllamaOptions struct {
	Models []OllamaModel // the models it has; none means any, which can do everything
	Key    string        // what it wants to be shown; empty for nothing
	Window int64         // of a model that is loaded without num_ctx; 0 means 32,768
	Memory int64         // the largest num_ctx that there is memory for; 0 for any
	Busy   int           // how many requests it is too busy for at first

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

// OllamaModel is a model of the stand-in. Nothing that it cannot do is true of the
// zero value.
type OllamaModel struct {
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

// NewOllama makes a stand-in for Ollama that plays m.
func NewOllama(m model.Model, o *OllamaOptions) *Strict {
	p := &ollama{loaded: map[string]int64{}, thoughts: map[string]string{}}
	if o != nil {
		p.o = *o
	}
	if p.o.Window == 0 {
		p.o.Window = 32_768
	}
	for _, one := range p.o.Models {
		if one.Loaded > 0 {
			p.loaded[one.Name] = one.Loaded
		}
	}
	return &Strict{model: m, speak: p}
}

// ollama is Ollama's native API.
type ollama struct {
	o OllamaOptions

	pending sync.Map // *http.Request to ollamaAsked, from read to write

	mu       sync.Mutex
	busy     int
	calls    int
	loaded   map[string]int64
	thoughts map[string]string // what was thought before a call, by its id
}

// ollamaAsked is what is kept of a request until its answer is written.
type ollamaAsked struct {
	model  string
	tokens int64
	load   bool // nothing was said: the model is only loaded
}

func (p *ollama) handles(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/api/chat"
}

// serve is what is asked beside answers.
func (p *ollama) serve(w http.ResponseWriter, r *http.Request) {
	if why := p.key(r); why != nil {
		p.refuse(w, *why)
		return
	}
	type entry map[string]any
	models := []entry{}
	switch r.Method + " " + r.URL.Path {
	case "GET /api/ps":
		p.mu.Lock()
		for name, window := range p.loaded {
			models = append(models, entry{"name": name, "model": name, "size": 1, "details": entry{}, "context_length": window})
		}
		p.mu.Unlock()
		ollamaJSON(w, http.StatusOK, entry{"models": models})
	case "GET /api/tags":
		for _, m := range p.o.Models {
			models = append(models, entry{"name": m.Name, "model": m.Name})
		}
		ollamaJSON(w, http.StatusOK, entry{"models": models})
	case "POST /api/show":
		p.show(w, r)
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func (p *ollama) show(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Model == "" {
		p.refuse(w, Refused{Status: http.StatusBadRequest, Words: "model is required"})
		return
	}
	m, why := p.find(asked.Model)
	if why != nil {
		p.refuse(w, *why)
		return
	}
	out := map[string]any{"modelfile": "# Modelfile", "parameters": `stop                           "<|im_end|>"`, "model_info": map[string]any{"general.architecture": "llama"}}
	if m.NumCtx > 0 {
		out["parameters"] = fmt.Sprintf("%-30s %#v\n%s", "num_ctx", float64(m.NumCtx), out["parameters"])
	}
	if m.Trained > 0 {
		out["model_info"] = map[string]any{"general.architecture": "llama", "llama.context_length": m.Trained}
	}
	if m.Cloud {
		out["remote_host"], out["remote_model"] = "https://ollama.com:443", m.Name
	}
	ollamaJSON(w, http.StatusOK, out)
}

// find is a model by its name; one without a tag means latest.
func (p *ollama) find(name string) (OllamaModel, *Refused) {
	if len(p.o.Models) == 0 {
		return OllamaModel{Name: name}, nil
	}
	for _, m := range p.o.Models {
		if m.Name == name || strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(name, ":latest") {
			return m, nil
		}
	}
	return OllamaModel{}, refusef("model", http.StatusNotFound, "", "model '%s' not found", name)
}

func (p *ollama) key(r *http.Request) *Refused {
	if p.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+p.o.Key {
		return refusef("key", http.StatusUnauthorized, "", "unauthorized")
	}
	return nil
}

func (p *ollama) refuse(w http.ResponseWriter, why Refused) {
	ollamaJSON(w, why.Status, map[string]string{"error": why.Words})
}

func ollamaJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
