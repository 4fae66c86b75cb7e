package token

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// Facts are what a catalog knows of a model; a zero means that it does not know.
// Limit and MaxOutput are tokens. Factor is how many of the model's tokens an
// o200k token is.
type Facts struct {
	Limit     int64   `json:"limit,omitempty"`
	MaxOutput int64   `json:"max_output,omitempty"`
	Price     *Price  `json:"price,omitempty"`
	Factor    float64 `json:"factor,omitempty"`
}

// Price is what a million tokens cost. CachedInput and CacheWrite are 0 where a
// provider has no price of their own for them.
type Price struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input,omitempty"`
	CacheWrite  float64 `json:"cache_write,omitempty"`
	Output      float64 `json:"output"`
	Currency    string  `json:"currency"`
}

// Cost of a call with so many tokens. Cached and written tokens are among input.
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
	return (fresh*p.Input + float64(cached)*rate(p.CachedInput) + float64(written)*rate(p.CacheWrite) + float64(output)*p.Output) / 1e6
}

// Catalog knows models by "provider/name": those of charm.land/catwalk, a data
// file kept up to date by its makers, under what its owner says otherwise.
type Catalog struct {
	own map[string]Facts
}

// NewCatalog makes a catalog in which own goes before what is known, field by
// field. Nil is fine.
func NewCatalog(own map[string]Facts) *Catalog { return &Catalog{own: maps.Clone(own)} }

// Find is what is known of a model. Without an entry only its factor is.
func (c *Catalog) Find(name string) Facts {
	var f Facts
	if strings.Contains(name, "/") {
		f = known()[name]
	}
	if f.Factor == 0 {
		f.Factor = defaultFactor(name)
	}
	own := c.own[name]
	if own.Limit > 0 {
		f.Limit = own.Limit
	}
	if own.MaxOutput > 0 {
		f.MaxOutput = own.MaxOutput
	}
	if own.Price != nil {
		f.Price = own.Price
	}
	if own.Factor > 0 {
		f.Factor = own.Factor
	}
	return f
}

// Own is what the owner of the catalog says of a model.
func (c *Catalog) Own(name string) Facts { return c.own[name] }

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

// otherFactor is the factor of tokenizers that nothing is known of until their
// providers report: a margin, not a measurement.
const otherFactor = 1.1

func defaultFactor(name string) float64 {
	if !strings.Contains(name, "/") || strings.HasPrefix(name, "openai/") || strings.HasPrefix(name, "openrouter/openai/") {
		return 1
	}
	return otherFactor
}

// providers gives the catalog's names for providers ours.
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
			out[provider+"/"+m.ID] = Facts{Limit: m.ContextWindow, MaxOutput: m.DefaultMaxTokens, Price: priceOf(m)}
		}
	}
	return out
})

// priceOf reads a catalog entry. Of its two prices for cached tokens, one above
// the price of input is for writing a cache, and the other for reading it; a lone
// one below it is for reading.
func priceOf(m catwalk.Model) *Price {
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
