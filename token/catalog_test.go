package token

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of models again")

// providers maps the catalog's names of providers to ours. It has none for Poe and
// Workers AI, and for Ark only what a reseller has.
var providers = map[catwalk.InferenceProvider]string{
	"openai": "openai", "deepseek": "deepseek", "xai": "xai", "openrouter": "openrouter", "alibaba-singapore": "dashscope",
	"moonshot": "moonshot", "anthropic": "anthropic", "gemini": "gemini",
}

// The table is what the catalog says.
func TestModelsAreTheCatalogs(t *testing.T) {
	var rows []string
	add := func(name string, m catwalk.Model, f Facts) {
		rows = append(rows, formatModel(name, f))
		if got, read, err := parseModel(rows[len(rows)-1]); err != nil || got != name || !cmp.Equal(read, f) {
			t.Errorf("%s is read back as %s %+v, %v; want %+v", m.ID, got, read, err, f)
		}
	}
	for _, p := range embedded.GetAll() {
		for _, m := range p.Models {
			f := Facts{Limit: m.ContextWindow, MaxOutput: m.DefaultMaxTokens}
			if p.ID == "aihubmix" && strings.HasPrefix(m.ID, "doubao-") {
				add(resoldFrom+"/"+m.ID, m, f)
			}
			if provider, ok := providers[p.ID]; ok {
				f.Price = readPrice(m)
				f.Thinks = m.CanReason
				f.Sees = m.SupportsImages
				f.Levels = strings.Join(m.ReasoningLevels, " ")
				add(provider+"/"+m.ID, m, f)
			}
		}
	}
	slices.Sort(rows)
	want := strings.Join(rows, "")
	if *update {
		if err := os.WriteFile("models.tsv", []byte(want), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(modelsFile, "\n")); diff != "" {
		t.Errorf("the table is not the catalog's (go test ./token -run Models -update): %s", diff)
	}
	if len(known()) < 300 || len(builtIn().resold) < 10 {
		t.Errorf("%d models, %d resold", len(known()), len(builtIn().resold))
	}
}

func formatModel(name string, f Facts) string {
	prices := "\t\t\t"
	if p := f.Price; p != nil {
		var all []string
		for _, n := range []float64{p.Input, p.Output, p.CachedInput, p.CacheWrite} {
			all = append(all, strconv.FormatFloat(n, 'f', -1, 64))
		}
		prices = strings.Join(all, "\t")
	}
	yes := map[bool]string{true: "yes", false: "no"}
	return fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%s\t%s\n", name, f.Limit, f.MaxOutput, prices, yes[f.Thinks], yes[f.Sees],
		f.Levels)
}

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
