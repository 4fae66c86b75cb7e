package compact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A cue is in every text in which the expression is found, in whatever case it is written.
func TestCuesMissNothing(t *testing.T) {
	swap := strings.NewReplacer("s", "\u017f", "k", "\u212a")
	all := map[string]*cueFinder{"outcomes": outcomes, "preambles": preambles}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			found := 0
			say := rapid.StringMatching(strings.ReplaceAll(f.expression().String(), `\b`, ""))
			rapid.Check(t, func(r *rapid.T) {
				s := say.Draw(r, "match")
				switch rapid.IntRange(0, 3).Draw(r, "case") {
				case 0:
					s = strings.ToUpper(s)
				case 1:
					s = swap.Replace(s)
				case 2:
					s += " and more"
				}
				if !f.expression().MatchString(s) {
					return
				}
				if found++; !f.FoundIn(s) {
					r.Fatalf("no cue is in %q", s)
				}
			})
			if found < 10 {
				t.Errorf("only %d texts match", found)
			}
		})
	}
	for _, plain := range []string{"", "The lamp went out at noon.", "灯在中午灭了。"} {
		if outcomes.FoundIn(plain) || preambles.FoundIn(plain) {
			t.Errorf("%q", plain)
		}
	}
}

func TestSideBySideCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 300} {
		called := make([]int, n)
		runParallel(n, func(i int) { called[i]++ })
		for i, times := range called {
			if times != 1 {
				t.Errorf("%d of %d was called %d times", i, n, times)
			}
		}
	}
}
