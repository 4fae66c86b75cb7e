package driver

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// UsageSums adds calls up as a query divides them.
type UsageSums struct {
	q    UsagePartsQuery
	sums map[usageSumKey]*scrollback.UsageDay
}

// usageSumKey is where a call belongs.
type usageSumKey struct {
	day                      int64
	model, project, currency string
	key                      scrollback.KeyID
	conversation             scrollback.ConversationID
	purpose, tool            string
}

// NewSums returns what the calls of a query are added up in.
func (q UsagePartsQuery) NewSums() *UsageSums {
	return &UsageSums{q, map[usageSumKey]*scrollback.UsageDay{}}
}

// AddCall adds a call that is in the sums of a project, if it is one that the query asks for.
func (p *UsageSums) AddCall(r scrollback.UsageRecord, project string) { p.add(r, project, "") }

// add adds a call of a tool, or of this program if that is empty.
func (p *UsageSums) add(r scrollback.UsageRecord, project, tool string) {
	at := usageSumKey{day: scrollback.DayIn(p.q.Zone, r.At), model: r.Model, project: project, currency: r.Currency,
		tool: tool}
	if at.day < p.q.First || at.day > p.q.Last || p.q.Conversation != "" && r.Conversation != p.q.Conversation {
		return
	}
	if p.q.ByPurpose {
		at.purpose = r.Purpose
	}
	if p.q.ByKey {
		at.key = r.Key
	}
	if p.q.ByConversation {
		at.conversation = r.Conversation
	}
	if p.sums[at] == nil {
		p.sums[at] = &scrollback.UsageDay{Day: at.day, Model: at.model, Project: project, Key: at.key,
			Conversation: at.conversation, Purpose: at.purpose, Tool: tool,
			Usage: scrollback.Usage{Currency: at.currency}}
	}
	p.sums[at].AddCall(r.Usage)
}

// ListSums lists the sums in the order of [Access.DivideUsage].
func (p *UsageSums) ListSums() []scrollback.UsageDay {
	var out []scrollback.UsageDay
	for _, d := range p.sums {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b scrollback.UsageDay) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Project, b.Project),
			cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Conversation, b.Conversation),
			cmp.Compare(a.Purpose, b.Purpose), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

// sumByProject adds sums of a currency up by project, in its order.
func sumByProject(all []scrollback.UsageDay) []scrollback.UsageDay {
	all = slices.SortedStableFunc(slices.Values(all),
		func(a, b scrollback.UsageDay) int { return cmp.Compare(a.Project, b.Project) })
	var out []scrollback.UsageDay
	for _, d := range all {
		if n := len(out); n > 0 && out[n-1].Project == d.Project {
			out[n-1].Usage = out[n-1].Usage.Add(d.Usage)
			out[n-1].Calls += d.Calls
			out[n-1].EstimatedCalls += d.EstimatedCalls
			continue
		}
		out = append(out, d)
	}
	return out
}

// describeDifference tells where sums are not what their records add up to, except for what the
// records do not hold.
func describeDifference(sums, records []scrollback.UsageDay, v missingFields) string {
	by := map[string][2]scrollback.UsageDay{}
	for i, all := range [][]scrollback.UsageDay{sums, records} {
		all = slices.Clone(all)
		for n := range all {
			if v.project {
				all[n].Project = ""
			}
			if v.total {
				all[n].TotalTokens = 0
			}
		}
		for _, d := range sumByProject(all) {
			pair := by[d.Project]
			pair[i] = d
			by[d.Project] = pair
		}
	}
	for _, project := range slices.Sorted(maps.Keys(by)) {
		if s, r := by[project][0], by[project][1]; !equalSums(s, r) && !lacksRecords(s, r) {
			return fmt.Sprintf("it has %s; its records come to %s", formatSums(s), formatSums(r))
		}
	}
	return ""
}

func formatSums(d scrollback.UsageDay) string {
	return fmt.Sprintf("%d calls (%d estimated), %d tokens in (%d cached, %d written) and %d out (%d of reasoning), %d in all, for %g",
		d.Calls, d.EstimatedCalls, d.InputTokens, d.CachedTokens, d.CacheWriteTokens, d.OutputTokens, d.ReasoningTokens,
		d.TotalTokens, d.Cost)
}

// listCounts lists the whole numbers of sums, the calls first.
func listCounts(d scrollback.UsageDay) []int64 {
	return []int64{d.Calls, d.EstimatedCalls, d.InputTokens, d.CachedTokens, d.CacheWriteTokens, d.OutputTokens,
		d.ReasoningTokens, d.TotalTokens}
}

// equalSums reports whether sums are the same; costs may have been added up in another order.
func equalSums(a, b scrollback.UsageDay) bool {
	return slices.Equal(listCounts(a), listCounts(b)) && math.Abs(a.Cost-b.Cost) <= 1e-9*max(1, a.Cost, b.Cost)
}

// lacksRecords reports whether there are fewer records than calls, so that what the sums
// exceed them by may come from records that are gone.
func lacksRecords(sums, records scrollback.UsageDay) bool {
	more := false
	of := listCounts(records)
	for i, n := range listCounts(sums) {
		if n < of[i] {
			return false
		}
		more = more || i > 1 && n > of[i]
	}
	return sums.Calls > records.Calls && more && sums.Cost >= records.Cost*(1-1e-9)
}
