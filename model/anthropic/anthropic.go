// Package anthropic is the client of Anthropic's Messages API, and of servers that
// speak it.
//
// Words it adds: block (a piece of a message on this wire), mark (where a prompt
// cache may end), form (how a model is asked to think), pause (a reply that the
// server breaks off until it is asked to continue).
//
// Invariants: thinking goes back to the model that produced it, word for word with its
// signature, in its order and before the calls it led to, and never to another
// model; no block is sent empty; at most four marks, none on thinking; no
// temperature; calls are yielded whole, and one that was cut off by the end of the
// reply is not yielded at all; a usage figure that cannot be read counts as
// absent.
//
// It may not know the store, conversations, or another provider's protocol.
package anthropic

import (
	"context"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/window"
)

// version is the version of the API that this package speaks.
const version = "2023-06-01"

// Model is one model on one server.
type Model struct {
	name   string // as conversations name it
	id     string // as the server names it
	base   string // without /v1
	head   map[string]string
	client *remote.Client
}

var (
	_ model.Model  = (*Model)(nil)
	_ model.Lister = (*Model)(nil)
)

// Preset is Anthropic, and where it is found.
func Preset() remote.Preset {
	return remote.Preset{Name: "anthropic", URL: "https://api.anthropic.com", Key: "ANTHROPIC_API_KEY",
		Base: "ANTHROPIC_BASE_URL",
		Open: func(at remote.Endpoint) model.Model { return New(at) }}
}

// New makes the client of a model. Its address may end with /v1.
func New(at remote.Endpoint) *Model {
	head := map[string]string{"anthropic-version": version}
	if at.Options.Key != "" {
		head["x-api-key"] = at.Options.Key
	}
	base := strings.TrimSuffix(strings.TrimRight(at.BaseURL, "/"), "/v1")
	return &Model{name: at.Name, id: at.Model, base: base, head: head, client: remote.New(at.Options)}
}

// Facts implements model.Model.
func (m *Model) Facts() model.Facts {
	d := window.Anthropic()
	d.BoundReasoning = findHabit(m.id).bound
	return model.Facts{Name: m.name, Dialect: d, Searches: true, APIs: []string{model.APIMessages}}
}

// maxPauses bounds how often one answer is continued after a pause.
const maxPauses = 4

// paused is the finish reason of an answer that has to be continued; it never leaves this
// package.
const paused = "pause_turn"

// answerTurn is what one answer adds up to over its pauses.
type answerTurn struct {
	pauses int
	said   []any // its blocks so far
	usage  scrollback.Usage
}

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		t := &answerTurn{}
		for more := true; more; {
			more = false
			plan := func(known scrollback.Learned) (remote.Exchange, error) { return m.planRequest(ctx, r, known, t) }
			for d, err := range m.client.Stream(ctx, r, plan) {
				if err == nil && d.Finish == paused && r.Forward == nil {
					more = true
					d.Finish = ""
				}
				subtractBounds(&r.Bounds, d)
				if !yield(d, err) {
					return
				}
			}
		}
	}
}

// subtractBounds subtracts what was said from the bounds of what may still be said.
func subtractBounds(b *model.Bounds, d model.Delta) {
	*b = b.WithDefaults()
	off := func(n *int, by int) { *n = max(*n-by, 1) } // 0 would be the default
	off(&b.Chars, len([]rune(d.Text)))
	off(&b.ReasoningChars, len([]rune(d.Reasoning)))
	off(&b.OpaqueBytes, len(d.Opaque))
	if d.Call != nil {
		off(&b.Calls, 1)
		off(&b.ArgumentBytes, len(d.Call.Arguments))
	}
}
