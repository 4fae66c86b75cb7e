package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// maxBudgetsNamed is how many budgets a line of the log names; of others it says how many there are.
const maxBudgetsNamed = 20

// describeBudgets returns, for the log, what projects and keys may use in a day: by what is stored of a project, else
// by the configuration.
func (g *globals) describeBudgets(ctx context.Context, a *app) string {
	projects := maps.Clone(g.set.Allowances)
	if projects == nil {
		projects = map[string]scrollback.SpendLimit{}
	}
	listed, err := a.Scrollback.Projects().List(ctx)
	for _, p := range listed {
		if err == nil && p.Version > 0 {
			p, err = a.Scrollback.Projects().Get(ctx, p.Name)
		}
		if b := p.Budget; b != nil {
			projects[p.Name] = scrollback.SpendLimit{Tokens: b.TokensPerDay, Money: b.MoneyPerDay, Currency: b.Currency}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		out = append(out, formatBudget("project "+name, projects[name])...)
	}
	keys, listing := a.Store.Keys.List(ctx)
	admin, refusal := a.Admin()
	for _, k := range keys {
		if refusal != nil || k.HasEnded(a.Store.Now()) {
			continue
		}
		var l scrollback.KeyLimits
		if l, err = admin.KeyLimits(ctx, k.ID); err == nil {
			out = append(out, formatBudget("key "+k.Name, l.SpendLimit)...)
		}
	}
	if err != nil || listing != nil {
		return "unknown"
	}
	if n := len(out) - maxBudgetsNamed; n > 0 {
		out = append(out[:maxBudgetsNamed], fmt.Sprintf("%d more", n))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, "; ")
}

// formatBudget returns what one may use in a day; nothing if that is not bounded.
func formatBudget(whose string, l scrollback.SpendLimit) []string {
	var of []string
	if l.Tokens > 0 {
		of = append(of, fmt.Sprintf("%d tokens", l.Tokens))
	}
	if l.Money > 0 {
		of = append(of, fmt.Sprintf("%g %s", l.Money, cmp.Or(l.Currency, "USD")))
	}
	if len(of) == 0 {
		return nil
	}
	return []string{whose + ": " + strings.Join(of, ", ")}
}
