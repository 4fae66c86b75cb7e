// Package ollama is the client of models that Ollama serves, through its native API:
// POST /api/chat, one JSON object per line.
//
// Words it adds: served window (the context a model was loaded with, which is
// rarely the one it was trained for).
//
// Invariants: the server is told never to truncate a prompt that is too long (truncate
// and shift are false), and a reply that shows that it did is an error; a window
// is requested (num_ctx) only if the request was planned for one; calls are yielded
// whole, in order, each with an id that no other call of the request has; a
// model's reasoning goes back to that model only, beside its calls; a request
// without a message is never sent, because Ollama would only load the model.
//
// Ollama gives the client nothing to send back, so no payload is opaque. It has
// no tool_choice: a request that may not lead to calls keeps its tools, so that the
// prompt begins as before and its cache is used, and calls that come anyway are
// passed on. It has no field for the name of a speaker either; that is left out.
//
// It may not know the store, conversations or the engine.
package ollama

import (
	"context"
	"iter"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/window"
)

const op = "ollama.Stream"

// Model is one model on one server.
type Model struct {
	at     remote.Endpoint
	base   string // of the native API, up to and without /api
	cloud  bool   // the server is Ollama's own
	client *remote.Client
	asking *remote.Client // for what is asked beside an answer
	facts  model.Facts
}

var (
	_ model.Model  = (*Model)(nil)
	_ model.Lister = (*Model)(nil)
)

// New makes a client. An address that ends with /v1 or /api, as other clients want
// it, is taken as that of the server.
func New(at remote.Endpoint) *Model {
	base := strings.TrimRight(at.BaseURL, "/")
	for _, end := range []string{"/v1", "/api"} {
		base = strings.TrimRight(strings.TrimSuffix(base, end), "/")
	}
	once := at.Options
	once.Retries = -1
	m := &Model{at: at, base: base, client: remote.New(at.Options), asking: remote.New(once),
		facts: model.Facts{Name: at.Name, Dialect: window.OpenAI(), Here: at.IsLocal(),
			APIs: []string{model.APIOllama}}}
	m.facts.Dialect.ImageURLs = false // its API takes bytes
	if u, err := url.Parse(base); err == nil {
		m.cloud = u.Hostname() == "ollama.com" || strings.HasSuffix(u.Hostname(), ".ollama.com")
	}
	return m
}

// Facts implements model.Model.
func (m *Model) Facts() model.Facts { return m.facts }

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return m.client.Stream(ctx, r, func(known scrollback.Learned) (remote.Exchange, error) {
		var body request
		if r.Forward == nil { // else its client wrote one
			var err error
			if body, err = m.encodeRequest(ctx, r, known); err != nil {
				return remote.Exchange{}, err
			}
		}
		x := m.newExchange("/api/chat", body)
		x.Params = []string{"truncate", "shift", "think", "num_ctx", "num_predict"}
		x.Read = func(a *remote.Answer) error { return newReader(a, r, body.Options).readAnswer() }
		return x, nil
	})
}

// newExchange returns a request to the server, which may want a key.
func (m *Model) newExchange(path string, body any) remote.Exchange {
	x := remote.Exchange{URL: m.base + path, Body: body, Judge: m.explainRefusal}
	if m.at.Options.Key != "" {
		x.Header = map[string]string{"Authorization": "Bearer " + m.at.Options.Key}
	}
	return x
}
