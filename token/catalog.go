package token

import (
	"cmp"
	_ "embed"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// Catalog knows models by "provider/name": those of charm.land/catwalk, data
// kept up to date by its makers, overridden by what its owner says.
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

// modelsFile is what charm.land/catwalk lists of the providers that are known here. The test writes it again
// from a newer version: to read all of catwalk takes each program 40 ms.
//
//go:embed models.tsv
var modelsFile string

// tables are the known models, and those that are only found by other names.
type tables struct{ known, resold map[string]Facts }

var builtIn = sync.OnceValue(func() tables {
	out := tables{map[string]Facts{}, map[string]Facts{}}
	for line := range strings.Lines(modelsFile) {
		name, f, err := parseModel(line)
		if err != nil {
			panic("token/models.tsv: " + line + ": " + err.Error())
		}
		if strings.HasPrefix(name, resoldFrom+"/") {
			out.resold[name] = f
		} else {
			out.known[name] = f
		}
	}
	return out
})

// resoldFrom is Ark, whose models a reseller lists, without its prices. They are not listed, because Ark takes their
// names only with a date.
const resoldFrom = "ark"

func known() map[string]Facts { return builtIn().known }

// columns of a row of the table, apart by tabs: the name, the window, the longest answer, the prices of a million
// tokens (input, output, cached input, cache write; all empty where none is known), whether the model thinks, whether
// it sees, and its levels of thinking.
const columns = 10

// parseModel reads a row of the table.
func parseModel(line string) (name string, f Facts, err error) {
	cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if len(cells) != columns {
		return "", f, strconv.ErrSyntax
	}
	var failed error
	number := func(s string) float64 {
		n, err := strconv.ParseFloat(s, 64)
		failed = errors.Join(failed, err)
		return n
	}
	f = Facts{Limit: int64(number(cells[1])), MaxOutput: int64(number(cells[2])), Thinks: cells[7] == "yes",
		Sees: cells[8] == "yes", Levels: cells[9]}
	if cells[3] != "" {
		f.Price = &Price{Input: number(cells[3]), Output: number(cells[4]), CachedInput: number(cells[5]),
			CacheWrite: number(cells[6]), Currency: "USD"}
	}
	return cells[0], f, failed
}

// entries are all models that can be found: the known ones and the resold ones.
var entries = sync.OnceValue(func() map[string]Facts {
	out := maps.Clone(known())
	maps.Copy(out, builtIn().resold)
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
