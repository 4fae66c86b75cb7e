package engine

import (
	"cmp"
	"context"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// Usage answers what the models' calls have cost.
func (e *Engine) Usage(ctx context.Context, q scrollback.UsageQuery) ([]scrollback.UsageSum, error) {
	return e.store.Usage(ctx, q)
}

// ModelEntry is a model that can be asked here. Factor is how many of its tokens
// an o200k token is: what was learned, else what is assumed.
type ModelEntry struct {
	Name      string       `json:"name"`
	Limit     int64        `json:"limit"`
	LimitFrom string       `json:"limit_from"`
	MaxOutput int64        `json:"max_output,omitempty"`
	Price     *token.Price `json:"price,omitempty"`
	Factor    float64      `json:"factor"`
	Learned   bool         `json:"learned"`
	Default   bool         `json:"default"`
}

// Models lists the models that are set up here, the default first.
func (e *Engine) Models(ctx context.Context) ([]ModelEntry, error) {
	names := []string{e.o.Model}
	if e.o.ModelNames != nil {
		for _, name := range e.o.ModelNames() {
			if name != e.o.Model {
				names = append(names, name)
			}
		}
	}
	out := []ModelEntry{}
	for i, name := range names {
		m, err := e.o.Models(name)
		if err != nil {
			continue // the default, where its key is not set
		}
		facts := e.factsOf(m)
		entry := ModelEntry{Name: name, Limit: facts.Limit, LimitFrom: "catalog", MaxOutput: facts.MaxOutput, Price: e.o.Catalog.Find(name).Price, Default: i == 0}
		if entry.Limit == 0 {
			entry.Limit, entry.LimitFrom = token.AssumedLimit, "assumed"
		}
		if entry.Factor, entry.Learned, err = e.factor(ctx, name); err != nil {
			return nil, err
		}
		out = append(out, entry)
	}
	return out, nil
}

// factsOf is what is known of a model: by its owner, by itself, by the catalog.
func (e *Engine) factsOf(m model.Model) model.Facts {
	facts := m.Facts()
	own, known := e.o.Catalog.Own(facts.Name), e.o.Catalog.Find(facts.Name)
	facts.Limit = cmp.Or(own.Limit, facts.Limit, known.Limit)
	facts.MaxOutput = cmp.Or(own.MaxOutput, facts.MaxOutput, known.MaxOutput)
	return facts
}

// factor is how many of a model's tokens an o200k token is, and whether its
// provider has taught it.
func (e *Engine) factor(ctx context.Context, name string) (f float64, learned bool, err error) {
	if f, err = e.store.Factor(ctx, name); err != nil || f > 0 {
		return f, f > 0, err
	}
	return e.o.Catalog.Find(name).Factor, false, nil
}

// priced is a call's usage with its cost, where the provider named none and the
// catalog knows the price.
func (e *Engine) priced(name string, u scrollback.Usage) scrollback.Usage {
	if u.Cost != 0 || u.Currency != "" {
		return u
	}
	if p := e.o.Catalog.Find(name).Price; p != nil {
		u.Cost, u.Currency = p.Cost(u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens), p.Currency
	}
	return u
}

// spoken is an o200k weight in the model's own tokens.
func (s *shape) spoken(tokens int64) int64 {
	return int64(math.Round(float64(tokens) * s.factor))
}

// estimated is the usage of a call whose provider counted nothing.
func (lt *liveTurn) estimated(w scrollback.Window, said scrollback.Parts) scrollback.Usage {
	u := scrollback.Usage{InputTokens: lt.shape.spoken(w.Weight.Tokens), OutputTokens: lt.shape.spoken(lt.e.store.Weigh(said).Tokens), Estimated: true}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
