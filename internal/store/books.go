package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// SumUsage returns the usage that a query asks for.
func (p Books) SumUsage(ctx context.Context, q scrollback.UsageQuery) ([]scrollback.UsageSum, error) {
	to := q.To
	if to == 0 {
		to = p.s.Now()
	}
	if q.From < 0 || to < q.From {
		return nil, scrollback.ParamErrorf("store.Books.Usage", "from", i18n.FromMustBeBeforeTo)
	}
	var days []scrollback.UsageDay
	var err error
	// days begin when those of the sums do, or nobody asks for days
	if q.Zone == time.UTC || !q.ByDay && q.From == 0 && q.To == 0 {
		q.Zone = nil
	}
	first := scrollback.DayIn(q.Zone, q.From)
	last := scrollback.DayIn(q.Zone, to)
	parts := driver.UsagePartsQuery{First: first, Last: last, Zone: q.Zone, ByKey: q.ByKey,
		ByConversation: q.ByConversation, ByPurpose: q.ByPurpose, Conversation: q.Conversation}
	if q.Zone != nil || q.ByKey || q.ByConversation || q.ByPurpose || q.Conversation != "" {
		days, err = p.s.d.Access.DivideUsage(ctx, parts)
	} else {
		days, err = p.s.d.Access.ListUsageDays(ctx, first, last)
	}
	if err != nil {
		return nil, err
	}
	imported, err := p.s.d.Access.DivideImported(ctx, parts)
	if err != nil {
		return nil, err
	}
	days = append(days, imported...)
	slices.SortStableFunc(days, func(a, b scrollback.UsageDay) int { return cmp.Compare(a.Day, b.Day) })
	return sumUsage(days, q), nil
}

// ImportedCall is [driver.ImportedCall].
type ImportedCall = driver.ImportedCall

// CallWindow is [driver.CallWindow].
const CallWindow = driver.CallWindow

// EnterImported enters calls in the books that other tools made, each once; see [driver.Access].
func (p Books) EnterImported(ctx context.Context, all []ImportedCall) error {
	all = slices.Clone(all)
	for i := range all {
		all[i].Usage, _ = all[i].Checked()
	}
	return p.s.d.Access.EnterImported(ctx, all)
}

// EnterUsage enters calls in the books that belong to no turn, fold or title, in the sums of a project.
func (p Books) EnterUsage(ctx context.Context, project string, all []scrollback.UsageRecord) error {
	return p.s.d.Access.EnterUsage(ctx, project, boundRecords(all))
}

// ReadLearned returns what is known about a model; the zero value for nothing.
func (p Books) ReadLearned(ctx context.Context, model string) (scrollback.Learned, error) {
	return p.s.d.Turns.ReadLearned(ctx, model)
}

// UpdateLearned lets edit change what is known about a model, in one transaction: nothing that
// others teach at the same time is lost, and nothing is written if nothing changes. edit
// is pure. An impossible figure, such as a negative one, becomes 0: unknown.
func (p Books) UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	if model == "" {
		return scrollback.Errorf(scrollback.Invalid, "store.Books.Teach", i18n.ModelNeedsName)
	}
	return p.s.d.Turns.UpdateLearned(ctx, model, func(l *scrollback.Learned) {
		edit(l)
		for _, n := range []*int64{&l.Limit, &l.LimitAt, &l.MaxOutput, &l.ListedAt} {
			*n = max(*n, 0)
		}
		if !(l.Factor >= 0) || math.IsInf(l.Factor, 0) {
			l.Factor = 0
		}
	})
}

// boundRecords returns records whose numbers are possible: whatever a provider reports, the books
// can be added up and read.
func boundRecords(all []scrollback.UsageRecord) []scrollback.UsageRecord {
	all = slices.Clone(all)
	for i := range all {
		all[i].Usage, _ = all[i].Checked()
	}
	return all
}

// sumUsage adds days up as a query asks, in the order they come.
func sumUsage(days []scrollback.UsageDay, q scrollback.UsageQuery) []scrollback.UsageSum {
	out := []scrollback.UsageSum{}
	at := map[scrollback.UsageSum]int{}
	estimated := []int64{}
	for _, d := range days {
		if q.Projects != nil && !slices.Contains(q.Projects, d.Project) {
			continue
		}
		var key scrollback.UsageSum
		if q.ByDay {
			key.Day = time.UnixMilli(d.Day * scrollback.DayMS).UTC().Format(time.DateOnly)
		}
		if q.ByModel {
			key.Model = d.Model
		}
		if q.ByProject {
			key.Project = d.Project
		}
		// empty unless asked for
		key.Key = d.Key
		key.Conversation = d.Conversation
		key.Purpose = d.Purpose
		if key.Imported = d.Tool != ""; q.ByTool {
			key.Tool = d.Tool
		}
		key.Currency = d.Currency
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, key)
			estimated = append(estimated, 0)
		}
		out[i].Usage = out[i].Usage.Add(d.Usage)
		out[i].Calls += d.Calls
		estimated[i] += d.EstimatedCalls
	}
	for i := range out {
		out[i].Estimated = estimated[i] > 0
		if out[i].Calls > 0 {
			out[i].EstimatedShare = float64(estimated[i]) / float64(out[i].Calls)
		}
	}
	return out
}

// Now returns the time by which the books are kept, in Unix ms.
func (p Books) Now() int64 { return p.s.Now() }

// CountQuota counts one more in a quota, and reports in it how much there is. A quota that is
// full is rate_limited.
func (p Books) CountQuota(ctx context.Context, q *scrollback.Quota) error {
	used, err := p.s.d.Access.CountTally(ctx, *quotaTally(q, p.s.Now()))
	if err == nil {
		q.Used = used
	}
	return quotaError(q, err)
}

// ReadQuota reports in a quota how much there is. One that is full is rate_limited.
func (p Books) ReadQuota(ctx context.Context, q *scrollback.Quota) error {
	t := quotaTally(q, p.s.Now())
	used, err := p.s.d.Access.ReadTally(ctx, *t)
	if err != nil {
		return err
	}
	q.Used = used
	_, err = t.CountOne(used)
	for within := t.Within; err == nil && within != nil; within = within.Within {
		if used, err = p.s.d.Access.ReadTally(ctx, *within); err != nil {
			return err
		}
		_, err = within.CountOne(used)
	}
	return quotaError(q, err)
}

// ReadKeyLimits returns what was set for a key; the zero value for nothing.
func (p Books) ReadKeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error) {
	return p.s.d.Access.ReadKeyLimits(ctx, id)
}

// SetKeyLimits replaces it; the zero value removes it, but for who made the key.
func (p Books) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error {
	if err := l.Check(); err != nil {
		return err
	}
	if l.Maker == "" { // who made a key is not changed with what it may do
		was, err := p.s.d.Access.ReadKeyLimits(ctx, id)
		if err != nil {
			return err
		}
		l.Maker = was.Maker
	}
	return p.s.d.Access.SetKeyLimits(ctx, id, l)
}

// SumSpending sums what a key with those that it has made, or a project if it is empty, has used today:
// all tokens, and what was paid in a currency.
func (p Books) SumSpending(ctx context.Context, key scrollback.KeyID, project,
	currency string) (scrollback.Usage, error) {
	q := driver.SpendingQuery{Day: scrollback.DayOf(p.s.Now()), Key: key, Project: project, Currency: currency}
	sum, err := p.s.d.Access.SumSpending(ctx, q)
	if err != nil || key == "" {
		return sum, err
	}
	made, err := p.s.d.Access.ListKeysMadeBy(ctx, key)
	for _, q.Key = range made {
		more, err := p.s.d.Access.SumSpending(ctx, q)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(more)
	}
	return sum, err
}

// quotaTally returns the present window of a quota, or nil without one.
func quotaTally(q *scrollback.Quota, now int64) *driver.Tally {
	if q == nil {
		return nil
	}
	start := now - now%q.PerMS
	q.LeftMS = start + q.PerMS - now
	t := &driver.Tally{Actor: q.Actor, Start: start, Until: start + q.PerMS, Most: q.Chats}
	for i, within := 0, &t.Within; i < len(q.Makers); i++ {
		*within = quotaTally(&q.Makers[i], now)
		within = &(*within).Within
	}
	return t
}

// quotaError returns an error of counting as the caller that is counted sees it.
func quotaError(q *scrollback.Quota, err error) error {
	if q == nil || scrollback.CodeOf(err) != scrollback.RateLimited {
		return err
	}
	q.Used = q.Chats
	return scrollback.Errorf(scrollback.RateLimited, "store.Books.Count",
		i18n.ChatLimitReached,
		q.Rate, (time.Duration(q.LeftMS)*time.Millisecond).Round(time.Second)).WithAdvice(scrollback.AdviceWait, "rate_limit")
}
