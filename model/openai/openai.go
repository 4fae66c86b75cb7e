// Package openai is the client of models served in OpenAI's protocols, chat
// completions and responses: OpenAI itself and the many servers that speak the same
// protocol.
//
// Words it adds: dialect (how one server differs from the standard), replay (when reasoning
// goes back to the model that produced it), gathering (calls that are being put
// together from their pieces).
//
// Invariants: reasoning and payloads go back unchanged to the model that produced them
// and to no other; a null usage is not zero, and the last usage counts; a stream that
// ends without a finish reason is passed on as such; calls are yielded whole, in
// order, each with an id.
//
// It may not know the store, conversations or the engine.
package openai

import (
	"context"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/window"
)

// Model is one model on one server.
type Model struct {
	at     remote.Endpoint
	client *remote.Client
	d      serverDialect
	facts  model.Facts
}

var _ model.Model = (*Model)(nil)

func newModel(at remote.Endpoint, d serverDialect) *Model {
	if at.Options.Key != "" {
		header := map[string]string{"Authorization": "Bearer " + at.Options.Key}
		for name, value := range at.Options.Header {
			header[name] = value
		}
		at.Options.Header = header
	}
	if at.Options.Silence == 0 {
		at.Options.Silence = d.silence
	}
	spoken := window.OpenAI()
	spoken.ImageURLs = !d.noAddresses
	apis := []string{model.APIChat}
	if d.responses {
		apis = append(apis, model.APIResponses)
	}
	return &Model{at: at, client: remote.New(at.Options), d: d,
		facts: model.Facts{Name: at.Name, Dialect: spoken, Searches: d.search != "", Here: at.IsLocal(), APIs: apis}}
}

// Facts implements model.Model.
func (m *Model) Facts() model.Facts { return m.facts }

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return m.client.Stream(ctx, r, func(known scrollback.Learned) (remote.Exchange, error) {
		if f := r.Forward; f != nil && f.API == model.APIResponses || f == nil && m.d.responses && known.API != "chat" {
			return m.planResponses(ctx, r, known)
		}
		return m.planChat(ctx, r, known)
	})
}

// isOwn reports whether an item was made by this model: its payloads go back to no other.
func (m *Model) isOwn(it scrollback.Item) bool { return it.Model == m.facts.Name }

// isFamily reports whether the model's name, without what stands before a slash, begins
// with one of the names.
func (m *Model) isFamily(names ...string) bool {
	bare := strings.ToLower(m.at.Model[strings.LastIndexByte(m.at.Model, '/')+1:])
	for _, n := range names {
		if strings.HasPrefix(bare, n) {
			return true
		}
	}
	return false
}
