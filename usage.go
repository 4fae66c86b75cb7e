package scrollback

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Usage is what one model call, or several added up, consumed. Tokens are the
// provider's own count unless Estimated. Input includes cached and written tokens, output
// includes those of reasoning.
type Usage struct {
	InputTokens      int64   `json:"input_tokens"`
	CachedTokens     int64   `json:"cached_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	ReasoningTokens  int64   `json:"reasoning_tokens"`
	TotalTokens      int64   `json:"total_tokens"`
	Cost             float64 `json:"cost"`
	Currency         string  `json:"currency"`
	Estimated        bool    `json:"estimated"`
}

// Bounds of usage. A call beyond its bounds was reported wrongly; a sum stops at
// its bounds, up to which every JSON reader keeps whole numbers exact.
const (
	MaxCallTokens = 1 << 40 // of each count; a total may be twice that
	MaxCallCost   = 1e6
	MaxSumTokens  = 1 << 53
	MaxSumCost    = 1e15
	maxCurrency   = 8 // characters
)

// Add returns u + o; the sum is estimated when either is. Whatever was reported, the sum
// is within bounds: negative numbers and NaN add nothing.
func (u Usage) Add(o Usage) Usage {
	u.InputTokens = addBounded(u.InputTokens, o.InputTokens)
	u.CachedTokens = addBounded(u.CachedTokens, o.CachedTokens)
	u.CacheWriteTokens = addBounded(u.CacheWriteTokens, o.CacheWriteTokens)
	u.OutputTokens = addBounded(u.OutputTokens, o.OutputTokens)
	u.ReasoningTokens = addBounded(u.ReasoningTokens, o.ReasoningTokens)
	u.TotalTokens = addBounded(u.TotalTokens, o.TotalTokens)
	u.Cost = RoundCost(clampTo(clampTo(u.Cost, MaxSumCost)+clampTo(o.Cost, MaxSumCost), MaxSumCost))
	u.Estimated = u.Estimated || o.Estimated
	if u.Currency == "" {
		u.Currency = o.Currency
	}
	return u
}

func addBounded(a, b int64) int64 {
	return clampTo(clampTo(a, MaxSumTokens)+clampTo(b, MaxSumTokens), MaxSumTokens)
}

// RoundCost drops the digits of an amount of money that binary fractions bring in, so that
// 0.1 and 0.2 are 0.3: it keeps 15, which every decimal amount survives.
func RoundCost(cost float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(cost, 'g', 15, 64), 64)
	if err != nil {
		return cost
	}
	return rounded
}

// clampTo returns the number from 0 to most that is nearest to n; 0 for NaN.
func clampTo[T int64 | float64](n, most T) T {
	if !(n > 0) { // NaN is not
		return 0
	}
	return min(n, most)
}

// Checked returns the credible part of one call's usage, and whether it was reported
// differently; then it is Estimated. Each number is brought within its bounds; cached
// and written tokens together are at most the input, those of reasoning at most the
// output, and the total is at least both: it may be more, because some providers count
// in it what they count nowhere else. A missing total is filled in, which is not an
// error. An impossible currency becomes USD; a call without a price has none.
func (u Usage) Checked() (Usage, bool) {
	was := u
	u = u.clampFields(MaxCallTokens, 2*MaxCallTokens, MaxCallCost)
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.CacheWriteTokens = min(u.CacheWriteTokens, u.InputTokens-u.CachedTokens)
	u.ReasoningTokens = min(u.ReasoningTokens, u.OutputTokens)
	u.TotalTokens = max(u.TotalTokens, u.InputTokens+u.OutputTokens)
	if was.TotalTokens == 0 {
		was.TotalTokens = u.TotalTokens
	}
	wrong := u != was
	u.Estimated = u.Estimated || wrong
	return u, wrong
}

// Doubted returns the usage of a call with an impossible figure that was left out or cut:
// [Usage.Checked] finds it wrong, so that this is not lost.
func (u Usage) Doubted() Usage {
	u.TotalTokens = -1
	return u
}

// InBounds reports whether each number of one call is possible by itself. Whether they
// fit together is only checked on the way in.
func (u Usage) InBounds() bool {
	return u == u.clampFields(MaxCallTokens, 2*MaxCallTokens, MaxCallCost)
}

// clampFields returns u with each number and the currency within bounds.
func (u Usage) clampFields(tokens, total int64, cost float64) Usage {
	for _, n := range []*int64{&u.InputTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.OutputTokens, &u.ReasoningTokens} {
		*n = clampTo(*n, tokens)
	}
	u.TotalTokens = clampTo(u.TotalTokens, total)
	u.Cost = clampTo(u.Cost, cost)
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	if !utf8.ValidString(u.Currency) || utf8.RuneCountInString(u.Currency) > maxCurrency ||
		strings.ContainsFunc(u.Currency, odd) {
		u.Currency = "USD"
	}
	return u
}

// UsageRecord is the usage of one model call, as the books keep it. At is Unix
// ms; Purpose is "turn", "summary", "title" or "embedding".
type UsageRecord struct {
	Usage
	Conversation ConversationID `json:"conversation_id"`
	TurnID       TurnID         `json:"turn_id,omitempty"`
	Key          KeyID          `json:"key,omitempty"` // whose call it was
	Model        string         `json:"model"`
	Purpose      string         `json:"purpose"`
	RequestID    string         `json:"request_id,omitempty"`
	// WindowTokens is what the request weighed in o200k tokens, for the books to
	// learn from; 0 if nothing can be learned.
	WindowTokens int64 `json:"-"`
	At           int64 `json:"at"`
}

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

	// Tool is the other program that made the calls, whose files they were imported from; empty for
	// calls of this one.
	Tool string `json:"-"`

	// Only where usage is asked for by them; else empty.
	Purpose      string         `json:"-"`
	Key          KeyID          `json:"-"`
	Conversation ConversationID `json:"-"`
}

// DayMS is a day in ms.
const DayMS = 24 * 60 * 60 * 1000

// DayOf returns the day of a time in Unix ms, in UTC.
func DayOf(ms int64) int64 {
	if ms < 0 {
		return (ms - DayMS + 1) / DayMS
	}
	return ms / DayMS
}

// DayIn returns the day of a time in Unix ms as the calendar of a zone has it, in days since
// 1970; nil is UTC.
func DayIn(zone *time.Location, ms int64) int64 {
	if zone == nil {
		return DayOf(ms)
	}
	y, m, d := time.UnixMilli(ms).In(zone).Date()
	return DayOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli())
}

// DayStart returns when a day since 1970 begins in a zone, in Unix ms; nil is UTC.
func DayStart(zone *time.Location, day int64) int64 {
	if zone == nil {
		return day * DayMS
	}
	y, m, d := time.UnixMilli(day * DayMS).UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone).UnixMilli()
}

// ParseZone returns a time zone by its name in the tz database, nil for none. A name that
// nobody knows is invalid, and so is "Local", which names another zone on each machine.
func ParseZone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, ParamErrorf("scrollback.ParseZone", "tz", i18n.NotATimeZone,
			name)
	}
	return z, nil
}

// AddCall adds one call to the sums.
func (d *UsageDay) AddCall(u Usage) {
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

// Checked returns the credible part of sums that were read, and whether they said something
// else; then some of them are estimated.
func (d UsageDay) Checked() (UsageDay, bool) {
	was := d
	d.Usage = d.Usage.clampFields(MaxSumTokens, MaxSumTokens, MaxSumCost)
	d.Calls = clampTo(d.Calls, maxCalls)
	d.EstimatedCalls = min(clampTo(d.EstimatedCalls, maxCalls), d.Calls)
	if d == was {
		return d, false
	}
	d.Calls = max(d.Calls, 1)
	d.EstimatedCalls = max(d.EstimatedCalls, 1)
	d.Estimated = true
	return d, true
}

// UsageQuery asks for usage between two times in Unix ms, by whole days in Zone (nil for
// UTC), both included; To 0 means until now. What it is not grouped by is added up. With a
// Conversation, only its own calls count.
type UsageQuery struct {
	From, To                         int64
	ByDay, ByModel, ByProject        bool
	ByKey, ByConversation, ByPurpose bool
	ByTool                           bool
	Conversation                     ConversationID
	Projects                         []string // only of these; nil for no such bound
	Zone                             *time.Location
}

// PurposeImported is the purpose of calls that other tools made, which an import brought.
const PurposeImported = "imported"

// UsageSum is one line of the result. What it is not grouped by is empty. Sums of
// different currencies are never added up: each currency has its own line. So has what
// was imported: it never counts against a limit.
type UsageSum struct {
	Day     string `json:"day,omitempty"` // YYYY-MM-DD, in the zone of the query
	Model   string `json:"model,omitempty"`
	Project string `json:"project,omitempty"`
	Purpose string `json:"purpose,omitempty"` // "turn", "summary", "title", "embedding" or "imported"
	Key     KeyID  `json:"key,omitempty"`     // empty for the operator
	Tool    string `json:"tool,omitempty"`    // that made imported calls; empty for this program

	// Imported says that the calls were not made here: an import brought them.
	Imported bool `json:"imported,omitempty"`

	Conversation ConversationID `json:"conversation,omitempty"`

	Calls int64 `json:"calls"`
	// EstimatedShare of the calls, 0 to 1, were counted here, not by the provider.
	EstimatedShare float64 `json:"estimated_share"`
	Usage
}

// Rate is how many chats may begin in a window of PerMS ms; windows begin at whole
// multiples of it, in UTC. The zero value says nothing, and Unlimited sets no limit.
type Rate struct {
	Chats int64 `json:"chats"`
	PerMS int64 `json:"per_ms"`
}

// Unlimited are the Chats of a rate without a limit.
const Unlimited = -1

// ratePeriods are the windows that a rate can name, in ms.
var ratePeriods = map[string]int64{"s": 1000, "m": 60 * 1000, "h": 60 * 60 * 1000, "d": DayMS}

// ParseRate reads a rate: a number of chats per s, m, h or d, such as 20/h; or off.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{Chats: Unlimited}, nil
	}
	count, period, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(count, 10, 64)
	if per := ratePeriods[period]; err == nil && n > 0 && n <= maxCalls && per > 0 {
		return Rate{n, per}, nil
	}
	return Rate{}, newRateError(text)
}

func newRateError(text string) error {
	return ParamErrorf("scrollback", "rate_limit",
		i18n.RateIsChatsPerTime, text)
}

// String returns the rate as [ParseRate] reads it.
func (r Rate) String() string {
	for period, ms := range ratePeriods {
		if ms == r.PerMS && r.Chats > 0 {
			return strconv.FormatInt(r.Chats, 10) + "/" + period
		}
	}
	return "off"
}

// Quota is the rate for one actor, who is counted by a name of its own. Code that counts
// sets Used, how much has begun in this window, and LeftMS, how long the window still lasts.
type Quota struct {
	Rate
	Actor        string
	Used, LeftMS int64

	Makers []Quota // of the keys that made the actor's, which count what it begins too
}

// SpendLimit is what may be used in a day (UTC); 0 sets no limit. Only costs in Currency,
// USD if empty, count as money.
type SpendLimit struct {
	Tokens   int64   `json:"tokens_per_day,omitempty"`
	Money    float64 `json:"money_per_day,omitempty"`
	Currency string  `json:"currency,omitempty"`
}

// KeyLimits are what a key may do, where it is not what the configuration says.
type KeyLimits struct {
	Rate Rate `json:"rate,omitzero"`
	SpendLimit

	// Maker is the key that made this one, which draws on what its maker may do; empty for one that
	// the operator or an admin of all projects made.
	Maker KeyID `json:"maker,omitempty"`
}

// Check returns an error if there is no such limit.
func (l KeyLimits) Check() error {
	const op = "scrollback.Limits"
	switch u := (Usage{Currency: l.Currency}); {
	case l.Rate.Chats < Unlimited, l.Rate.Chats > 0 && l.Rate.PerMS <= 0:
		return newRateError(fmt.Sprintf("%d in %d ms", l.Rate.Chats, l.Rate.PerMS))
	case l.Tokens < 0 || l.Tokens > MaxSumTokens:
		return ParamErrorf(op, "tokens_per_day", i18n.TokensPerDayIsNumberOrNoLimit)
	case !(l.Money >= 0) || l.Money > MaxSumCost:
		return ParamErrorf(op, "money_per_day", i18n.MoneyPerDayIsAmountOrNoLimit)
	case u != u.clampFields(0, 0, 0):
		return ParamErrorf(op, "currency", i18n.NotACurrency, l.Currency)
	}
	return nil
}
