package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// SpendLimitLookup returns what a project may use in a day, and the name of the setting that says
// so. It is asked for each turn.
type SpendLimitLookup func(ctx context.Context, project string) (a scrollback.SpendLimit, setting string, err error)

// SpendLimitsFromConfig returns the allowances of projects in a configuration.
func SpendLimitsFromConfig(all map[string]scrollback.SpendLimit) SpendLimitLookup {
	return func(_ context.Context, project string) (scrollback.SpendLimit, string, error) {
		return all[project], "projects." + project, nil
	}
}

// limitGate judges whether a caller may begin what costs models' money: how much was begun in this
// window of time, and what was used today. It stores nothing, and refuses when the store cannot be
// read. Two that begin at the same time may both pass, and then overshoot an allowance by what they
// use; a rate is exact, because it is counted in the transaction that begins a turn. It is safe for
// concurrent use.
type limitGate struct{ e *Engine }

// checkLimits reports in against why a caller may not begin: over_budget or rate_limited; nil if it may.
// The quota that it returns is that of the key, if the key has its own; it is nil if there is no
// limit. err means that it could not be judged.
func (g limitGate) checkLimits(ctx context.Context, key scrollback.KeyID, project string,
	q *scrollback.Quota) (_ *scrollback.Quota, against, err error) {
	var own scrollback.KeyLimits
	if key != "" {
		if own, err = g.e.store.Books.ReadKeyLimits(ctx, key); err != nil {
			return nil, nil, err
		}
	}
	makers, err := g.findMakers(ctx, key, own.Maker)
	if err != nil {
		return nil, nil, err
	}
	if q = addMakerQuotas(q, own.Rate, makers); q != nil && q.Chats <= 0 {
		q = nil
	}
	if q != nil {
		switch err := g.e.store.Books.ReadQuota(ctx, q); scrollback.CodeOf(err) {
		case "":
		case scrollback.RateLimited:
			return q, err, nil
		default:
			return q, nil, err
		}
	}
	for _, k := range append([]keyLimits{{key, own}}, makers...) {
		against, err = g.checkSpent(
			ctx,
			spender{k.SpendLimit, i18n.KindKey, string(k.id), "scrollback keys limit " + string(k.id)},
			k.id,
			"",
		)
		if against != nil || err != nil {
			return q, against, err
		}
	}
	if against != nil || err != nil {
		return q, against, err
	}
	a, setting, err := g.e.findSpendLimit(ctx, project)
	if err != nil {
		return q, nil, err
	}
	against, err = g.checkSpent(ctx, spender{a, i18n.KindProject, project, setting}, "", project)
	return q, against, err
}

// keyLimits is a key and its limits.
type keyLimits struct {
	id scrollback.KeyID
	scrollback.KeyLimits
}

// maxMakers bounds how many keys made one another in a row; what is beyond draws on no more.
const maxMakers = 100

// findMakers returns the keys on whose limits a key draws: the one that made it, the one that made that, and
// so on.
func (g limitGate) findMakers(ctx context.Context, key, maker scrollback.KeyID) (out []keyLimits, err error) {
	for maker != "" && maker != key && len(out) < maxMakers {
		l, err := g.e.store.Books.ReadKeyLimits(ctx, maker)
		if err != nil {
			return nil, err
		}
		out = append(out, keyLimits{maker, l})
		maker = l.Maker
	}
	return out, nil
}

// addMakerQuotas has a quota count in those of the makers too. The rate that it comes with is the
// server's, for all that have none of their own; where a key has no limit of chats, its makers' are what is left.
func addMakerQuotas(q *scrollback.Quota, own scrollback.Rate, makers []keyLimits) *scrollback.Quota {
	if q == nil || len(q.Makers) > 0 {
		return q // it was judged before
	}
	server := q.Rate
	if own.Chats != 0 {
		q.Rate = own
	}
	for _, k := range makers {
		rate := server
		if k.Rate.Chats != 0 {
			rate = k.Rate
		}
		if rate.Chats > 0 {
			q.Makers = append(q.Makers, scrollback.Quota{Rate: rate, Actor: "key " + string(k.id)})
		}
	}
	if q.Chats <= 0 && len(q.Makers) > 0 {
		q.Rate = q.Makers[0].Rate
		q.Actor = q.Makers[0].Actor
		q.Makers = q.Makers[1:]
	}
	return q
}

// checkBudget returns over_budget if a key or a project has used up its day, so that no model may
// be asked for them.
func (g limitGate) checkBudget(ctx context.Context, key scrollback.KeyID, project string) error {
	_, against, err := g.checkLimits(ctx, key, project, nil)
	return cmp.Or(err, against)
}

// admit judges a request that nothing else counts, and counts it in its quota.
func (g limitGate) admit(ctx context.Context, key scrollback.KeyID, project string, q *scrollback.Quota) error {
	quota, against, err := g.checkLimits(ctx, key, project, q)
	if err == nil && against == nil && quota != nil {
		against = g.e.store.Books.CountQuota(ctx, quota)
	}
	return cmp.Or(err, against)
}

// spender is whose allowance it is, as people see it.
type spender struct {
	scrollback.SpendLimit
	kind    scrollback.TextID
	name    string
	setting string
}

// checkSpent reports in against that an allowance is used up.
func (g limitGate) checkSpent(
	ctx context.Context,
	s spender,
	key scrollback.KeyID,
	project string,
) (against, err error) {
	if s.Tokens <= 0 && s.Money <= 0 {
		return nil, nil
	}
	currency := cmp.Or(s.Currency, "USD")
	all, err := g.e.store.Books.SumSpending(ctx, key, project, currency)
	if err != nil {
		return nil, err
	}
	again := time.UnixMilli((scrollback.DayOf(g.e.store.Books.Now()) + 1) * scrollback.DayMS).
		UTC().
		Format("2006-01-02 15:04 UTC")
	over := func(text i18n.ID, args ...any) error {
		return scrollback.Errorf(scrollback.OverBudget, "engine.Turn", text, args...).WithAdvice(scrollback.AdviceWait,
			s.setting)
	}
	switch {
	case s.Tokens > 0 && all.TotalTokens >= s.Tokens:
		return over(i18n.TokenBudgetUsedUp, s.kind, s.name,
			all.TotalTokens, s.Tokens, again), nil
	case s.Money > 0 && all.Cost >= s.Money:
		return over(i18n.MoneyBudgetUsedUp, s.kind, s.name,
			all.Cost, currency, s.Money, again), nil
	}
	return nil, nil
}
