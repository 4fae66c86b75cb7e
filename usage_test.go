package scrollback_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

func TestUsageChecked(t *testing.T) {
	const most = scrollback.MaxCallTokens
	u := func(edit func(*scrollback.Usage)) scrollback.Usage {
		u := scrollback.Usage{InputTokens: 100, CachedTokens: 40, CacheWriteTokens: 10, OutputTokens: 20, ReasoningTokens: 5,
			TotalTokens: 120,
			Cost:        0.5, Currency: "USD"}
		edit(&u)
		return u
	}
	for name, c := range map[string]struct{ in, want func(*scrollback.Usage) }{
		"sound":   {func(*scrollback.Usage) {}, nil},
		"nothing": {func(u *scrollback.Usage) { *u = scrollback.Usage{} }, nil},
		"no price": {func(u *scrollback.Usage) {
			u.Cost = 0
			u.Currency = ""
		}, nil},
		"another currency":          {func(u *scrollback.Usage) { u.Currency = "人民币¥" }, nil},
		"a total of more than both": {func(u *scrollback.Usage) { u.TotalTokens = 150 }, nil},
		"estimated already":         {func(u *scrollback.Usage) { u.Estimated = true }, nil},
		"the largest call": {func(u *scrollback.Usage) {
			u.InputTokens = most
			u.OutputTokens = most
			u.TotalTokens = 2 * most
		}, nil},
		"negative input": {func(u *scrollback.Usage) { u.InputTokens = -1 },
			func(u *scrollback.Usage) {
				u.InputTokens = 0
				u.CachedTokens = 0
				u.CacheWriteTokens = 0
			}},
		"negative output": {func(u *scrollback.Usage) { u.OutputTokens = math.MinInt64 },
			func(u *scrollback.Usage) {
				u.OutputTokens = 0
				u.ReasoningTokens = 0
			}},
		"absurd input": {func(u *scrollback.Usage) { u.InputTokens = math.MaxInt64 },
			func(u *scrollback.Usage) {
				u.InputTokens = most
				u.TotalTokens = most + 20
			}},
		"absurd total": {func(u *scrollback.Usage) { u.TotalTokens = math.MaxInt64 },
			func(u *scrollback.Usage) { u.TotalTokens = 2 * most }},
		"negative total":    {func(u *scrollback.Usage) { u.TotalTokens = -7 }, func(u *scrollback.Usage) {}},
		"too small a total": {func(u *scrollback.Usage) { u.TotalTokens = 119 }, func(u *scrollback.Usage) {}},
		"more cached than input": {func(u *scrollback.Usage) { u.CachedTokens = 101 },
			func(u *scrollback.Usage) {
				u.CachedTokens = 100
				u.CacheWriteTokens = 0
			}},
		"more written than the rest": {func(u *scrollback.Usage) { u.CacheWriteTokens = 61 },
			func(u *scrollback.Usage) { u.CacheWriteTokens = 60 }},
		"more reasoning than output": {func(u *scrollback.Usage) { u.ReasoningTokens = 21 },
			func(u *scrollback.Usage) { u.ReasoningTokens = 20 }},
		"a cost that is no number": {func(u *scrollback.Usage) { u.Cost = math.NaN() },
			func(u *scrollback.Usage) { u.Cost = 0 }},
		"an endless cost": {func(u *scrollback.Usage) { u.Cost = math.Inf(1) },
			func(u *scrollback.Usage) { u.Cost = scrollback.MaxCallCost }},
		"a cost that is earned": {func(u *scrollback.Usage) { u.Cost = math.Inf(-1) },
			func(u *scrollback.Usage) { u.Cost = 0 }},
		"a long currency":             {func(u *scrollback.Usage) { u.Currency = "123456789" }, func(u *scrollback.Usage) {}},
		"a currency with a line end":  {func(u *scrollback.Usage) { u.Currency = "US\nD" }, func(u *scrollback.Usage) {}},
		"a currency that is no text":  {func(u *scrollback.Usage) { u.Currency = "\xff" }, func(u *scrollback.Usage) {}},
		"a currency with an override": {func(u *scrollback.Usage) { u.Currency = "\u202eUSD" }, func(u *scrollback.Usage) {}},
	} {
		in := u(c.in)
		want := in
		wrong := c.want != nil
		if wrong {
			want = u(c.want)
			want.Estimated = true
		}
		if got, changed := in.Checked(); got != want || changed != wrong {
			t.Errorf("%s: %+v became %+v (%v), want %+v", name, in, got, changed, want)
		}
	}
	if got, changed := u(func(*scrollback.Usage) {}).Doubted().Checked(); !changed || !got.Estimated ||
		got.InputTokens != 100 ||
		got.TotalTokens != 120 {
		t.Errorf("doubted: %+v (%v)", got, changed)
	}
	missing := u(func(u *scrollback.Usage) { u.TotalTokens = 0 })
	if got, changed := missing.Checked(); changed || got != u(func(*scrollback.Usage) {}) {
		t.Errorf("without a total: %+v (%v)", got, changed)
	}
}

// Whatever is reported, what is checked stays as it is from then on, sums of it and
// of the reports themselves are encoded, and a sum of many has not overflowed.
func TestUsageStaysInBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	whole := func() int64 {
		odd := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, scrollback.MaxCallTokens, scrollback.MaxCallTokens + 1,
			1 << 62, rng.Int64()}
		return odd[rng.IntN(len(odd))]
	}
	costs := []float64{0, -1, 0.1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e6}
	currencies := []string{"", "USD", "\x00", strings.Repeat("€", 9)}
	var sum, raw scrollback.Usage
	for range 5000 {
		u := scrollback.Usage{InputTokens: whole(), CachedTokens: whole(), CacheWriteTokens: whole(), OutputTokens: whole(),
			ReasoningTokens: whole(),
			TotalTokens:     whole(), Cost: costs[rng.IntN(len(costs))], Currency: currencies[rng.IntN(len(currencies))]}
		checked, wrong := u.Checked()
		if again, more := checked.Checked(); more || again != checked || !checked.InBounds() || wrong && !checked.Estimated {
			t.Fatalf("%+v became %+v, then %+v", u, checked, again)
		}
		if !wrong && !u.InBounds() {
			t.Fatalf("%+v is out of bounds, and was left", u)
		}
		sum = sum.Add(checked)
		raw = raw.Add(u)
		for _, v := range []scrollback.Usage{checked, sum, raw} {
			if _, err := json.Marshal(v); err != nil || v.TotalTokens < 0 || v.InputTokens < 0 || v.Cost < 0 {
				t.Fatalf("%+v: %v", v, err)
			}
		}
	}
	day := scrollback.UsageDay{}
	for range 128 {
		day.AddCall(scrollback.Usage{InputTokens: scrollback.MaxCallTokens})
	}
	if day.InputTokens != 128<<40 || day.Calls != 128 {
		t.Errorf("128 of the largest calls come to %+v", day)
	}
	if _, wrong := day.Checked(); wrong {
		t.Error("and are not believed")
	}
}

func TestUsageDayChecked(t *testing.T) {
	sound := scrollback.UsageDay{Day: 7, Model: "m", Project: "p", Calls: 3, EstimatedCalls: 1,
		Usage: scrollback.Usage{InputTokens: 1, CachedTokens: 2, Estimated: true, Currency: "USD"}}
	if got, wrong := sound.Checked(); wrong || got != sound {
		t.Errorf("sound sums: %+v", got)
	}
	for name, edit := range map[string]func(*scrollback.UsageDay){
		"negative":                  func(d *scrollback.UsageDay) { d.InputTokens = -5 },
		"absurd":                    func(d *scrollback.UsageDay) { d.TotalTokens = math.MaxInt64 },
		"no number":                 func(d *scrollback.UsageDay) { d.Cost = math.NaN() },
		"endless":                   func(d *scrollback.UsageDay) { d.Cost = math.Inf(1) },
		"no calls":                  func(d *scrollback.UsageDay) { d.Calls = -1 },
		"more estimated than calls": func(d *scrollback.UsageDay) { d.EstimatedCalls = 4 },
		"a currency":                func(d *scrollback.UsageDay) { d.Currency = "a long story" },
	} {
		d := sound
		edit(&d)
		got, wrong := d.Checked()
		if _, again := got.Checked(); !wrong || again || !got.Estimated || got.EstimatedCalls < 1 ||
			got.Calls < got.EstimatedCalls {
			t.Errorf("%s: %+v (%v)", name, got, wrong)
		}
	}
}

// A rate without a window would be divided by; it is not taken.
func TestLimitsCheckTheRate(t *testing.T) {
	for rate, good := range map[scrollback.Rate]bool{{}: true, {Chats: scrollback.Unlimited}: true,
		{Chats: 2, PerMS: 1000}: true,
		{Chats: 2}:              false, {Chats: 2, PerMS: -1}: false, {Chats: -2, PerMS: 1000}: false} {
		if err := (scrollback.KeyLimits{Rate: rate}).Check(); (err == nil) != good ||
			err != nil && scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%+v: %v", rate, err)
		}
	}
}
