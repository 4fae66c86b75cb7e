package engine

import (
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
	// WebSearch is who can search the web for it: its provider, a SearXNG, or nobody.
	WebSearch string `json:"web_search,omitempty"`
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
		sh, err := v.e.resolver.Resolve(ctx, scrollback.Conversation{Model: name}, Overrides{})
		if err != nil {
			continue // the default, if its key is not set
		}
		var taught *scrollback.Learned
		if k := sh.Learned; k.Limit > 0 || k.MaxOutput > 0 || len(k.Dropped) > 0 || k.Strict != "" || k.API != "" {
			k.Factor, taught = 0, &k
		}
		out = append(out, ModelEntry{Name: name, Taught: taught, Limit: sh.ModelBudget.Limit, LimitFrom: sh.LimitFrom, MaxOutput: sh.Facts.MaxOutput,
			Price: v.e.o.Catalog.Find(name).Price, Factor: sh.Factor, Learned: sh.Learned.Factor > 0, Default: i == 0,
			WebSearch: v.e.searcherOf(&sh, nil)})
	}
	return out, nil
}

// Fits returns an error if the conversation cannot be continued here as it is, because
// of its own model, policy or limit.
func (v *View) Fits(c scrollback.Conversation) error {
	return v.e.resolver.Check(c, scrollback.Project{})
}

// noModels finds the models of an engine that was given none.
func noModels(name string) (model.Model, error) {
	return nil, scrollback.ParamErrorf("engine", "model", "no models are set up, so there is no %q", name).Because(scrollback.ErrNoModel)
}
