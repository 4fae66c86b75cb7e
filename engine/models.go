package engine

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// ModelEntry is a model that can be asked here. Factor is how many of its tokens
// an o200k token is: what was learned, else what is assumed.
type ModelEntry struct {
	Name      string               `json:"name"`
	Limit     int64                `json:"limit"`
	LimitFrom scrollback.LimitFrom `json:"limit_from"`
	MaxOutput int64                `json:"max_output,omitempty"`
	Price     *token.Price         `json:"price,omitempty"`
	Factor    float64              `json:"factor"`
	Learned   bool                 `json:"learned"`
	Default   bool                 `json:"default"`
	// Taught is what else its server has taught; nil for nothing.
	Taught *scrollback.Learned `json:"taught,omitempty"`
}

// Models lists the models that are set up here, the default first.
func (v *View) Models(ctx context.Context) ([]ModelEntry, error) {
	if err := v.door.may(scrollback.AccessRead); err != nil {
		return nil, err
	}
	names := []string{v.e.o.Model}
	if v.e.o.ModelNames != nil {
		for _, name := range v.e.o.ModelNames() {
			if name != v.e.o.Model {
				names = append(names, name)
			}
		}
	}
	out := []ModelEntry{}
	for i, name := range names {
		sh, err := v.e.resolver.resolve(ctx, scrollback.Conversation{Model: name}, Overrides{})
		if err != nil {
			continue // the default, if its key is not set
		}
		var taught *scrollback.Learned
		if k := sh.learned; k.Limit > 0 || k.MaxOutput > 0 || len(k.Dropped) > 0 || k.Strict != "" || k.API != "" {
			k.Factor, taught = 0, &k
		}
		out = append(out, ModelEntry{Name: name, Taught: taught, Limit: sh.modelBudget.Limit, LimitFrom: sh.limitFrom, MaxOutput: sh.facts.MaxOutput,
			Price: v.e.o.Catalog.Find(name).Price, Factor: sh.factor, Learned: sh.learned.Factor > 0, Default: i == 0})
	}
	return out, nil
}

// Fits returns an error if the conversation cannot be continued here as it is, because
// of its model, policy or limit.
func (v *View) Fits(c scrollback.Conversation) error { return v.e.resolver.check(c) }

// facts is what is known about a model: from the configuration, the model, the catalog.
func (rs *resolver) facts(m model.Model) model.Facts {
	facts := m.Facts()
	own, known := rs.o.Catalog.Own(facts.Name), rs.o.Catalog.Find(facts.Name)
	facts.Limit = cmp.Or(own.Limit, facts.Limit, known.Limit)
	facts.MaxOutput = cmp.Or(own.MaxOutput, facts.MaxOutput, known.MaxOutput)
	return facts
}

// get returns a model by its name; an error suggests similar names.
func (rs *resolver) get(name string) (model.Model, error) {
	m, err := rs.o.Models(name)
	if err != nil {
		return nil, rs.lessons.Nearest(name, err)
	}
	return rs.lessons.Model(m), nil
}

// noModels finds the models of an engine that was given none.
func noModels(name string) (model.Model, error) {
	return nil, scrollback.ParamErrorf("engine", "model", "no models are set up, so there is no %q", name).Because(scrollback.ErrNoModel)
}

// priced is a call's usage with its cost added if the provider gave none and the catalog
// knows the price.
func (rs *resolver) priced(name string, u scrollback.Usage) scrollback.Usage {
	if u.Cost != 0 || u.Currency != "" {
		return u
	}
	if p := rs.o.Catalog.Find(name).Price; p != nil {
		u.Cost, u.Currency = p.Cost(u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens), p.Currency
	}
	return u
}
