package engine

import (
	"context"
	"slices"
	"strings"

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
	// Provider is the first part of its name, empty for a model that is built in; Here says
	// that it runs on this machine, and Offline that it only quotes what was said.
	Provider string `json:"provider,omitempty"`
	Here     bool   `json:"here,omitempty"`
	Offline  bool   `json:"offline,omitempty"`
	// Efforts are the levels that its thinking can be set to, none for a model that does
	// not think; Images whether it takes images, absent where that is not known.
	Efforts []string `json:"efforts"`
	Images  *bool    `json:"images,omitempty"`
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
		facts := v.e.o.Catalog.Find(name)
		m := ModelEntry{Name: name, Taught: taught, Limit: sh.ModelBudget.Limit, LimitFrom: sh.LimitFrom, MaxOutput: sh.Facts.MaxOutput,
			Price: facts.Price, Factor: sh.Factor, Learned: sh.Learned.Factor > 0, Default: i == 0, WebSearch: v.e.searcherOf(&sh, nil),
			Here: sh.Facts.Here, Offline: sh.Facts.Offline, Efforts: effortsOf(sh.Facts, facts)}
		if provider, _, ok := strings.Cut(name, "/"); ok {
			m.Provider = provider
		}
		if sees := facts.Sees; facts.Known || sh.Facts.Offline {
			m.Images = &sees
		}
		out = append(out, m)
	}
	return out, nil
}

// effortsOf are the levels that people may choose for a model's thinking: those that the
// catalog lists, and for a model that it does not know the usual three.
func effortsOf(m model.Facts, known token.Facts) []string {
	switch {
	case m.Offline, known.Known && !known.Thinks:
		return []string{}
	case known.Levels != "":
		return slices.DeleteFunc(strings.Fields(known.Levels), func(l string) bool { return l == "none" || !slices.Contains(scrollback.Efforts(), l) })
	}
	return []string{"low", "medium", "high"}
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
