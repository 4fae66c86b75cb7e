package driver

import (
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Account is what the books say about a model on one day, twice: the sums, and the
// records that were added up. The zero value is ready.
type Account struct {
	sums    map[string][]scrollback.UsageDay   // by currency
	broken  map[string]bool                    // currencies whose sums are not what is stored
	records map[recordKey]*scrollback.UsageDay // added up again
	missing map[string]missingFields           // of the records of a currency
}

// BookedRecord is a record as the books keep it. Older ones do not name the project in whose
// sums they are; it is taken to be that of their conversation today. Nor do they hold
// their total, which is then the least that it can have been.
type BookedRecord struct {
	scrollback.UsageRecord
	Project         string
	Placed, Totaled bool // it says its project, its total
}

// recordKey is where a record belongs among the sums of its day. Those that do not name
// their project are kept apart.
type recordKey struct {
	project, currency string
	placed            bool
}

// missingFields is what some records of a currency do not say.
type missingFields struct{ project, total bool }

// CurrencyAccount is a currency of an account: what its sums should be, and what is wrong with
// the present ones, if anything.
type CurrencyAccount struct {
	Currency, Wrong string
	Sums            []scrollback.UsageDay
}

// AddSums adds sums within bounds; broken says that something else is stored.
func (a *Account) AddSums(d scrollback.UsageDay, broken bool) {
	if a.sums == nil {
		a.sums = map[string][]scrollback.UsageDay{}
		a.broken = map[string]bool{}
	}
	a.sums[d.Currency] = append(a.sums[d.Currency], d)
	a.broken[d.Currency] = a.broken[d.Currency] || broken
}

// AddRecord adds a record within bounds.
func (a *Account) AddRecord(e BookedRecord) {
	if a.records == nil {
		a.records = map[recordKey]*scrollback.UsageDay{}
		a.missing = map[string]missingFields{}
	}
	at := recordKey{e.Project, e.Currency, e.Placed}
	if a.records[at] == nil {
		a.records[at] = &scrollback.UsageDay{Day: scrollback.DayOf(e.At), Model: e.Model, Project: e.Project}
		a.records[at].Currency = e.Currency
	}
	a.records[at].AddCall(e.Usage)
	v := a.missing[e.Currency]
	a.missing[e.Currency] = missingFields{v.project || !e.Placed, v.total || !e.Totaled}
}

// CompareSums compares the sums of each currency with its records. What records do not say
// is not compared, and neither are sums that may include records which are gone: fewer
// are left than there were calls, and none of them exceeds the sums. Wrong sums are
// replaced by those of the records; without any records, by what is credible of them.
func (a *Account) CompareSums() []CurrencyAccount {
	records := map[string][]scrollback.UsageDay{}
	for at, d := range a.records {
		d := *d
		if own := a.sums[at.currency]; !at.placed && len(own) == 1 {
			d.Project = own[0].Project
		}
		records[at.currency] = append(records[at.currency], d)
	}
	both := maps.Clone(records)
	maps.Copy(both, a.sums)
	var out []CurrencyAccount
	for _, currency := range slices.Sorted(maps.Keys(both)) {
		j := CurrencyAccount{Currency: currency, Sums: sumByProject(a.sums[currency])}
		made := sumByProject(records[currency])
		switch {
		case a.broken[currency]:
			j.Wrong = "it has numbers that cannot be"
		case len(made) > 0:
			j.Wrong = describeDifference(j.Sums, made, a.missing[currency])
		}
		if j.Wrong != "" && len(made) > 0 {
			j.Sums = made
		}
		out = append(out, j)
	}
	return out
}
