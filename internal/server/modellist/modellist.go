// Package modellist lists the models that can be asked here, for clients of OpenAI, of Anthropic and of Google.
//
// The three share addresses: what a client sends beside them says whose it is.
//
// Invariants: what is listed may be named in a request, and that model answers.
//
// It may not know another face.
package modellist

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
)

// Mount mounts the lists.
func Mount(mux *http.ServeMux, o faces.Options) {
	for path, formFor := range map[string]func(*http.Request) form{"/v1/models": chooseForm,
		"/v1beta/models": func(*http.Request) form { return google{} }} {
		list := func(w http.ResponseWriter, r *http.Request) { answerList(w, r, o, formFor(r)) }
		mux.HandleFunc("GET "+path, list)
		mux.HandleFunc("GET "+path+"/{$}", list)
		mux.HandleFunc("GET "+path+"/{model...}", func(w http.ResponseWriter, r *http.Request) {
			answerOne(w, r, o, formFor(r))
		})
	}
}

// form is how an API writes what it lists.
type form interface {
	list(all []engine.ModelEntry) any
	one(m engine.ModelEntry) any
	fault(f faces.Fault) any
}

// chooseForm returns the form that a client reads, by what only the clients of one API send.
func chooseForm(r *http.Request) form {
	switch {
	case faces.AsksAnthropic(r):
		return anthropic{}
	case faces.AsksGoogle(r):
		return google{}
	}
	return openai{}
}

func answerList(w http.ResponseWriter, r *http.Request, o faces.Options, as form) {
	s := faces.NewStream(w)
	ctx, cancel := faces.Deadline(r.Context())
	defer cancel()
	all, err := o.View(r).Models(ctx)
	if err != nil {
		fault := s.FaultOf(err)
		s.Refuse(fault.Status, as.fault(fault))
		return
	}
	s.Begin("application/json", "")
	s.WriteJSON(as.list(all))
}

// answerOne describes a model, by any name that stands for it in a request.
func answerOne(w http.ResponseWriter, r *http.Request, o faces.Options, as form) {
	s := faces.NewStream(w)
	ctx, cancel := faces.Deadline(r.Context())
	defer cancel()
	m, err := findModel(ctx, o, o.View(r), r.PathValue("model"))
	if err != nil {
		fault := s.FaultOf(err)
		s.Refuse(fault.Status, as.fault(fault))
		return
	}
	s.Begin("application/json", "")
	s.WriteJSON(as.one(m))
}

// findModel returns the model that a name stands for, which is called so.
func findModel(ctx context.Context, o faces.Options, v *engine.View, name string) (engine.ModelEntry, error) {
	all, err := v.Models(ctx)
	if err != nil {
		return engine.ModelEntry{}, err
	}
	name = strings.TrimPrefix(name, "models/")
	stands, _ := o.Door.FindModel(v, name, false)
	for _, m := range all {
		if m.Name == name || m.Name == stands {
			m.Name = name
			return m, nil
		}
	}
	return engine.ModelEntry{}, scrollback.Errorf(scrollback.NotFound, "modellist", i18n.NoSuchThingNamed, "model", name)
}

// providerOf returns who serves a model, for clients that show it.
func providerOf(m engine.ModelEntry) string { return cmp.Or(m.Provider, "scrollback") }

// made is when models were made, as far as that is known here.
var made = time.Unix(0, 0).UTC()

type openai struct{}

type openaiModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (openai) one(m engine.ModelEntry) any {
	return openaiModel{ID: m.Name, Object: "model", Created: made.Unix(), OwnedBy: providerOf(m)}
}

func (f openai) list(all []engine.ModelEntry) any {
	return struct {
		Object string `json:"object"`
		Data   []any  `json:"data"`
	}{"list", listOf(f, all)}
}

func (openai) fault(f faces.Fault) any {
	return faces.NewErrorBody(f, faces.OpenAITypes, "server_error")
}

type anthropic struct{}

type anthropicModel struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Name      string    `json:"display_name"`
	CreatedAt time.Time `json:"created_at"`
	MaxInput  int64     `json:"max_input_tokens,omitempty"`
	MaxOutput int64     `json:"max_tokens,omitempty"`
}

func (anthropic) one(m engine.ModelEntry) any {
	return anthropicModel{Type: "model", ID: m.Name, Name: m.Name, CreatedAt: made, MaxInput: m.Limit,
		MaxOutput: m.MaxOutput}
}

func (f anthropic) list(all []engine.ModelEntry) any {
	out := struct {
		Data    []any   `json:"data"`
		HasMore bool    `json:"has_more"`
		First   *string `json:"first_id"`
		Last    *string `json:"last_id"`
	}{Data: listOf(f, all)}
	if n := len(all); n > 0 {
		out.First = &all[0].Name
		out.Last = &all[n-1].Name
	}
	return out
}

func (anthropic) fault(f faces.Fault) any {
	return faces.NewErrorBody(f, faces.AnthropicTypes, "api_error")
}

type google struct{}

type googleModel struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Shown     string   `json:"displayName"`
	MaxInput  int64    `json:"inputTokenLimit,omitempty"`
	MaxOutput int64    `json:"outputTokenLimit,omitempty"`
	Methods   []string `json:"supportedGenerationMethods"`
}

func (google) one(m engine.ModelEntry) any {
	return googleModel{Name: "models/" + m.Name, Shown: m.Name, MaxInput: m.Limit, MaxOutput: m.MaxOutput,
		Methods: []string{"generateContent", "streamGenerateContent", "countTokens"}}
}

func (f google) list(all []engine.ModelEntry) any {
	return struct {
		Models []any `json:"models"`
	}{listOf(f, all)}
}

func (google) fault(f faces.Fault) any { return faces.NewGoogleBody(f) }

// listOf lists models in a form.
func listOf(f form, all []engine.ModelEntry) []any {
	out := []any{}
	for _, m := range all {
		out = append(out, f.one(m))
	}
	return out
}
