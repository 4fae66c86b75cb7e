package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// findFacts returns what is known about a model: from the configuration, the model, the catalog.
func (rs *Resolver) findFacts(m model.Model) model.Facts {
	facts := m.Facts()
	own := rs.o.Catalog.OwnFacts(facts.Name)
	known := rs.o.Catalog.Find(facts.Name)
	facts.Limit = cmp.Or(own.Limit, facts.Limit, known.Limit)
	facts.MaxOutput = cmp.Or(own.MaxOutput, facts.MaxOutput, known.MaxOutput)
	return facts
}

// FindModel returns a model by its name; an error suggests similar names.
func (rs *Resolver) FindModel(name string) (model.Model, error) {
	m, err := rs.o.Models(name)
	if err != nil {
		return nil, rs.lessons.SuggestNames(name, err)
	}
	return rs.lessons.WrapModel(name, m), nil
}

// FindEmbedder returns a model of embeddings by its name. One that cannot be asked as things are is an error.
func (rs *Resolver) FindEmbedder(name string) (model.Embedder, error) {
	m, err := rs.o.Models(name)
	if err != nil {
		return nil, rs.lessons.SuggestNames(name, err)
	}
	if why := model.GuardFacts(m, name).Unready; why != nil {
		return nil, why
	}
	out, ok := m.(model.Embedder)
	if !ok {
		return nil, scrollback.ParamErrorf("request.FindEmbedder", "embeddings", i18n.ModelCannotEmbed, name)
	}
	return model.GuardEmbedder(name, out), nil
}

// AddPrice returns a call's usage with its cost added if the provider gave none and the catalog
// knows the price.
func (rs *Resolver) AddPrice(name string, u scrollback.Usage) scrollback.Usage {
	if u.Cost != 0 || u.Currency != "" {
		return u
	}
	if p := rs.o.Catalog.Find(name).Price; p != nil {
		u.Cost = scrollback.RoundCost(p.Cost(u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens))
		u.Currency = p.Currency
	}
	return u
}

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

// ListEfforts returns the levels that people may choose for a model's thinking: those that the
// catalog lists, and for a model that it does not know the usual three.
func ListEfforts(m model.Facts, known token.Facts) []string {
	switch {
	case m.Offline, known.Known && !known.Thinks:
		return []string{}
	case known.Levels != "":
		return slices.DeleteFunc(strings.Fields(known.Levels),
			func(l string) bool { return l == "none" || !slices.Contains(scrollback.Efforts(), l) })
	}
	return []string{"low", "medium", "high"}
}
