package token_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/token"
)

// The counter has no cliff either where a long text is counted piece by piece.
func TestCountHasNoCliff(t *testing.T) {
	for name, unit := range map[string]string{"English": "The lighthouse keeper wrote it down again. ",
		"Chinese":  "灯塔看守人又把它记了下来。",
		"unbroken": "x9Qz"} {
		whole := strings.Repeat(unit, 200_000/len(unit))
		last := token.Count(whole[:len(unit)*(60_000/len(unit))])
		step := testlength.Choose(3989, 3989, 997)
		for n := 60_000; n < 140_000; n += step {
			at := len(unit) * (n / len(unit))
			got := token.Count(whole[:at])
			if most := last + step + 8; got < last-4 || got > most {
				t.Fatalf("%s: %d tokens, then %d at %d bytes", name, last, got, at)
			}
			last = got
		}
	}
}

// What a provider reports moves the factor towards it, within bounds, and what
// tells nothing leaves it.
func TestLearn(t *testing.T) {
	if f := token.LearnFactor(0, 1000, 1300); f != 1.3 {
		t.Errorf("the first report gives %v", f)
	}
	f := 1.0
	for range 60 {
		f = token.LearnFactor(f, 1000, 1500)
	}
	if math.Abs(f-1.5) > 0.01 {
		t.Errorf("after many reports of 1.5 it is %v", f)
	}
	for _, c := range [][2]int64{{1000, 0}, {100, 300}, {0, 50}} {
		if got := token.LearnFactor(1.2, c[0], c[1]); got != 1.2 {
			t.Errorf("sent %d, reported %d: %v", c[0], c[1], got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0, 10).Draw(t, "was")
		for range 20 {
			was := f
			f = token.LearnFactor(f, rapid.Int64Range(500, 1<<40).Draw(t, "sent"),
				rapid.Int64Range(1, 1<<40).Draw(t, "reported"))
			if (f != 0 || was != 0) && (f < 0.7 || f > 2) {
				t.Fatalf("%v became %v", was, f)
			}
		}
	})
}

// The catalog knows the models of our providers, its owner's words go first, and a
// price is of what it says.
func TestCatalog(t *testing.T) {
	c := token.NewCatalog(map[string]token.Facts{"openai/gpt-5": {Limit: 7777},
		"custom/mine": {Limit: 5000, Factor: 1.4, Price: &token.Price{Input: 2, Output: 4, Currency: "EUR"}}})
	for _, provider := range []string{"openai", "deepseek", "xai", "openrouter", "dashscope", "moonshot"} {
		names := c.Names(provider)
		if len(names) == 0 {
			t.Errorf("no model of %s is known", provider)
		}
		for _, name := range names {
			f := c.Find(name)
			if f.Limit < 4000 || f.Factor < 0.5 ||
				f.Price != nil && (f.Price.Currency == "" || f.Price.CachedInput > f.Price.Input ||
					f.Price.CacheWrite != 0 && f.Price.CacheWrite < f.Price.Input) {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	if f := c.Find("openai/gpt-5"); f.Limit != 7777 || f.Factor != 1 || !f.Thinks || !f.Sees ||
		!strings.Contains(f.Levels, "low") {
		t.Errorf("%+v", f)
	}
	if f := c.Find("custom/mine"); f.Limit != 5000 || f.Factor != 1.4 || f.Price.Currency != "EUR" {
		t.Errorf("%+v", f)
	}
	if f := c.Find("openai/gpt-4.1"); !f.Known || f.Thinks {
		t.Errorf("%+v", f)
	}
	if f := c.Find("who/what"); f.Limit != 0 || f.Price != nil || f.Factor <= 1 {
		t.Errorf("%+v", f)
	}
	if f := token.NewCatalog(nil).Find("offline"); f.Factor != 1 {
		t.Errorf("%+v", f)
	}
	p := token.Price{Input: 10, CachedInput: 1, CacheWrite: 20, Output: 100}
	if got := p.Cost(1_000_000, 400_000, 100_000, 10_000); math.Abs(got-(5+0.4+2+1)) > 1e-9 {
		t.Errorf("costs %v", got)
	}
	if got := (token.Price{Input: 10}).Cost(100, 500, 0, 0); math.Abs(got-0.001) > 1e-9 {
		t.Errorf("more cached than sent costs %v", got)
	}
}
