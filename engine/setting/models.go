package setting

import (
	"cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// facts is what is known about a model: from the configuration, the model, the catalog.
func (rs *Resolver) facts(m model.Model) model.Facts {
	facts := m.Facts()
	own, known := rs.o.Catalog.Own(facts.Name), rs.o.Catalog.Find(facts.Name)
	facts.Limit = cmp.Or(own.Limit, facts.Limit, known.Limit)
	facts.MaxOutput = cmp.Or(own.MaxOutput, facts.MaxOutput, known.MaxOutput)
	return facts
}

// Get returns a model by its name; an error suggests similar names.
func (rs *Resolver) Get(name string) (model.Model, error) {
	m, err := rs.o.Models(name)
	if err != nil {
		return nil, rs.lessons.Nearest(name, err)
	}
	return rs.lessons.Model(m), nil
}

// Priced is a call's usage with its cost added if the provider gave none and the catalog
// knows the price.
func (rs *Resolver) Priced(name string, u scrollback.Usage) scrollback.Usage {
	if u.Cost != 0 || u.Currency != "" {
		return u
	}
	if p := rs.o.Catalog.Find(name).Price; p != nil {
		u.Cost, u.Currency = p.Cost(u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens), p.Currency
	}
	return u
}
