package scrollback

// UsageDay is the usage of one day (days since 1970, UTC), model and project in
// one currency: the sums of Calls calls, of which EstimatedCalls were counted here
// and not by the provider.
type UsageDay struct {
	Usage
	Day            int64  `json:"-"`
	Model          string `json:"-"`
	Project        string `json:"-"`
	Calls          int64  `json:"calls"`
	EstimatedCalls int64  `json:"-"`
}

// DayMS is a day in ms.
const DayMS = 24 * 60 * 60 * 1000

// DayOf is the day of a time in Unix ms.
func DayOf(ms int64) int64 {
	if ms < 0 {
		return (ms - DayMS + 1) / DayMS
	}
	return ms / DayMS
}

// Entry adds one call to the sums.
func (d *UsageDay) Entry(u Usage) {
	estimated := u.Estimated
	u.Currency = d.Currency
	d.Usage = d.Usage.Add(u)
	d.Calls++
	if estimated {
		d.EstimatedCalls++
	}
}

// maxCalls bounds the calls of a day.
const maxCalls = 1 << 40

// Checked is the credible part of sums that were read, and whether they said something
// else; then some of them are estimated.
func (d UsageDay) Checked() (UsageDay, bool) {
	was := d
	d.Usage = d.Usage.bounded(MaxSumTokens, MaxSumTokens, MaxSumCost)
	d.Calls = within(d.Calls, maxCalls)
	d.EstimatedCalls = min(within(d.EstimatedCalls, maxCalls), d.Calls)
	if d == was {
		return d, false
	}
	d.Calls, d.EstimatedCalls, d.Estimated = max(d.Calls, 1), max(d.EstimatedCalls, 1), true
	return d, true
}

// UsageQuery asks for usage between two times in Unix ms, by whole days in UTC, both
// included; To 0 means until now. What it is not grouped by is added up.
type UsageQuery struct {
	From, To                  int64
	ByDay, ByModel, ByProject bool
	Projects                  []string // only of these; nil for no such bound
}

// UsageSum is one line of the result. What it is not grouped by is empty. Sums of
// different currencies are never added up: each currency has its own line.
type UsageSum struct {
	Day     string `json:"day,omitempty"` // YYYY-MM-DD, UTC
	Model   string `json:"model,omitempty"`
	Project string `json:"project,omitempty"`
	Calls   int64  `json:"calls"`
	// EstimatedShare of the calls, 0 to 1, were counted here, not by the provider.
	EstimatedShare float64 `json:"estimated_share"`
	Usage
}
