package token

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// Facts are what a catalog knows about a model; zero is unknown. Limit and MaxOutput
// are tokens. Factor is how many of the model's tokens correspond to one o200k token.
type Facts struct {
	Limit     int64   `json:"limit,omitempty"`
	MaxOutput int64   `json:"max_output,omitempty"`
	Price     *Price  `json:"price,omitempty"`
	Factor    float64 `json:"factor,omitempty"`

	// Thinks says that the model can think before it answers, Levels how much, with blanks
	// between, if the catalog lists that, and Sees that it takes images. Of an unknown model
	// they say nothing.
	Thinks, Sees bool   `json:"-"`
	Levels       string `json:"-"`

	// Known says that the catalog has the model, and As under which other name; As is
	// empty if that is the given name. Find sets both.
	Known bool   `json:"-"`
	As    string `json:"-"`
}

// fillFrom returns f, with its gaps filled from what is under it.
func (f Facts) fillFrom(under Facts) Facts {
	under.Limit = cmp.Or(f.Limit, under.Limit)
	under.MaxOutput = cmp.Or(f.MaxOutput, under.MaxOutput)
	under.Factor = cmp.Or(f.Factor, under.Factor)
	under.Price = cmp.Or(f.Price, under.Price)
	return under
}

// Price is what a million tokens cost. CachedInput and CacheWrite are 0 if a
// provider has no separate price for them.
type Price struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input,omitempty"`
	CacheWrite  float64 `json:"cache_write,omitempty"`
	Output      float64 `json:"output"`
	Currency    string  `json:"currency"`
}

// Cost returns the price of a call with these tokens. Cached and written tokens are among input.
func (p Price) Cost(input, cached, written, output int64) float64 {
	rate := func(own float64) float64 {
		if own == 0 {
			return p.Input
		}
		return own
	}
	cached = min(cached, input)
	written = min(written, input-cached)
	fresh := float64(input - cached - written)
	return (fresh*p.Input + float64(cached)*rate(p.CachedInput) + float64(written)*rate(p.CacheWrite) +
		float64(output)*p.Output) / 1e6
}

// Catalog knows models by "provider/name": those of charm.land/catwalk, a data
// file kept up to date by its makers, overridden by what its owner says.
type Catalog struct {
	own   map[string]Facts
	names nameIndex // of own
}

// NewCatalog makes a catalog in which own overrides the built-in facts, field by
// field. Nil is fine.
func NewCatalog(own map[string]Facts) *Catalog {
	c := &Catalog{own: maps.Clone(own), names: nameIndex{}}
	for name := range own {
		c.names.addName(name)
	}
	c.names.sortEntries()
	return c
}

// Find returns what is known about a model by its name, or else by the name it is an alias
// of. An alias never gives your own server a window or a longest answer, and it gives a
// price only if the same provider is paid. An unknown model has only a factor.
func (c *Catalog) Find(name string) Facts {
	own, said := c.own[name]
	f, ok := known()[name]
	if f.Known = ok; !ok {
		f = c.findAlias(name)
	}
	f.Known = f.Known || said
	f = own.fillFrom(f)
	if f.Factor == 0 {
		f.Factor = defaultFactor(name)
	}
	return f
}

// OwnFacts returns what the owner of the catalog says about a model.
func (c *Catalog) OwnFacts(name string) Facts { return c.own[name] }

// Names lists the models of a provider, its owner's too, by name.
func (c *Catalog) Names(provider string) []string {
	var out []string
	for _, all := range []map[string]Facts{known(), c.own} {
		for name := range all {
			if strings.HasPrefix(name, provider+"/") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// otherFactor is the factor of unknown tokenizers until their providers report: a
// margin, not a measurement.
const otherFactor = 1.1

func defaultFactor(name string) float64 {
	if !strings.Contains(name, "/") || strings.HasPrefix(name, "openai/") ||
		strings.HasPrefix(name, "openrouter/openai/") {
		return 1
	}
	return otherFactor
}

// providers maps the catalog's names of providers to ours. It has none for Poe and
// Workers AI, and for Ark only what a reseller has.
var providers = map[catwalk.InferenceProvider]string{
	"openai": "openai", "deepseek": "deepseek", "xai": "xai", "openrouter": "openrouter", "alibaba-singapore": "dashscope",
	"moonshot": "moonshot", "anthropic": "anthropic", "gemini": "gemini",
}

var known = sync.OnceValue(func() map[string]Facts {
	out := map[string]Facts{}
	for _, p := range embedded.GetAll() {
		provider, ok := providers[p.ID]
		if !ok {
			continue
		}
		for _, m := range p.Models {
			out[provider+"/"+m.ID] = Facts{Limit: m.ContextWindow, MaxOutput: m.DefaultMaxTokens, Price: readPrice(m),
				Thinks: m.CanReason, Sees: m.SupportsImages, Levels: strings.Join(m.ReasoningLevels, " ")}
		}
	}
	return out
})

// resold are the models of Ark as a reseller lists them, without its prices. They are
// not listed, because Ark takes their names only with a date.
var resold = sync.OnceValue(func() map[string]Facts {
	out := map[string]Facts{}
	for _, p := range embedded.GetAll() {
		for _, m := range p.Models {
			if p.ID == "aihubmix" && strings.HasPrefix(m.ID, "doubao-") {
				out["ark/"+m.ID] = Facts{Limit: m.ContextWindow, MaxOutput: m.DefaultMaxTokens}
			}
		}
	}
	return out
})

// entries are all models that can be found: the known ones and the resold ones.
var entries = sync.OnceValue(func() map[string]Facts {
	out := maps.Clone(known())
	maps.Copy(out, resold())
	return out
})

// names finds entries by their names.
var names = sync.OnceValue(func() nameIndex {
	x := nameIndex{}
	for name := range entries() {
		x.addName(name)
	}
	for name, is := range renamed {
		if a := parseName(name); entries()[is].Limit > 0 {
			x[nameKey(a.name)] = append(x[nameKey(a.name)],
				catalogEntry{name: is, provider: a.provider, maker: makers[a.provider], kept: true})
		}
	}
	return x.sortEntries()
})

// readPrice reads a catalog entry. Of its two prices for cached tokens, one above
// the price of input is for writing a cache, and the other for reading it; a lone
// one below it is for reading.
func readPrice(m catwalk.Model) *Price {
	if m.CostPer1MIn == 0 && m.CostPer1MOut == 0 {
		return nil
	}
	p := &Price{Input: m.CostPer1MIn, Output: m.CostPer1MOut, Currency: "USD"}
	for _, cached := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		switch {
		case cached <= 0:
		case cached > p.Input:
			p.CacheWrite = cached
		case p.CachedInput == 0:
			p.CachedInput = cached
		}
	}
	return p
}
