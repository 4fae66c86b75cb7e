// Package gemini is the client of models that Google serves through its Gemini API:
// the Gemini models and Gemma.
//
// Words it adds: payload (what must go back to the server with a part, kept in
// Part.Opaque), signature (a part's thoughtSignature), stand-in (the signature
// that Google documents for calls by another model), hop (one request of a reply
// that the server gives in several).
//
// Invariants: a part goes back as it came. A signature goes back verbatim on the
// part that brought it, even on one without text, and only to the model that
// gave it; a signed part is never joined with another, and no signature is made
// up, moved or left out. Unsigned pieces of one text are joined. A call's id
// goes back only if the server gave it. Usage counts thoughts as output, and adds up
// the hops. Equal requests are equal bytes.
//
// It may not know the store, conversations or the engine.
package gemini

import (
	"context"
	"errors"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/window"
)

const op = "model.Stream"

// Preset returns where Google serves its models.
func Preset() remote.Preset {
	return remote.Preset{Name: "gemini", URL: "https://generativelanguage.googleapis.com",
		Key: "GEMINI_API_KEY", OtherKey: "GOOGLE_API_KEY", Base: "GEMINI_BASE_URL",
		Open: func(p remote.Endpoint) model.Model { return New(p) }}
}

// Model is one model of the Gemini API.
type Model struct {
	place  remote.Endpoint
	family modelFamily
	client *remote.Client
	facts  model.Facts
}

var (
	_ model.Model  = (*Model)(nil)
	_ model.Lister = (*Model)(nil)
)

// New makes the client of a model.
func New(p remote.Endpoint) *Model {
	f := parseFamily(p.Model)
	return &Model{place: p, family: f, client: remote.New(p.Options),
		facts: model.Facts{Name: p.Name, Dialect: window.Gemini(), Searches: !f.gemma, SearchesAlone: true,
			APIs: []string{model.APIGemini}}}
}

// Facts implements model.Model.
func (m *Model) Facts() model.Facts { return m.facts }

// maxHops bounds in how many requests one answer may come.
const maxHops = 16

// errMore ends a hop that another one goes on from. It never leaves the package.
var errMore = scrollback.Errorf(scrollback.Internal, op, i18n.AnswerGoesOnInAnotherRequest)

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		a := newAnswer(transcript{m: m, r: r})
		for {
			more := false
			for d, err := range m.client.Stream(ctx, r,
				func(known scrollback.Learned) (remote.Exchange, error) { return a.planRequest(ctx, known) }) {
				if more = errors.Is(err, errMore) && r.Forward == nil; more {
					break
				}
				if !yield(d, err) || err != nil {
					return
				}
			}
			if !more {
				return
			}
			a.nextHop()
			r.Learned = a.known
		}
	}
}

// List implements model.Lister.
func (m *Model) List(ctx context.Context) (limit, maxOutput int64, err error) {
	ask := func(scrollback.Learned) (remote.Exchange, error) {
		return remote.Exchange{URL: m.requestURL(), Header: m.requestHeader(), Read: func(a *remote.Answer) error {
			raw, err := a.ReadWhole()
			if err != nil {
				return err
			}
			of, ok := readFigures(raw)
			if !ok {
				return a.UnreadableError(raw)
			}
			limit = of("inputTokenLimit")
			maxOutput = of("outputTokenLimit")
			return a.EmitDelta(model.Delta{Finish: scrollback.FinishStop})
		}}, nil
	}
	for _, err := range m.client.Stream(ctx, model.Request{}, ask) {
		if err != nil {
			return 0, 0, err
		}
	}
	return limit, maxOutput, nil
}
