package terms_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// What a counter counts are the terms that a text is cut into, in whatever order the texts come.
func TestCounterCountsTheTermsOfATextAsTheyAreCut(t *testing.T) {
	word := rapid.SampledFrom([]string{"Running", "runs", "RUN", "run", "x9", "Straße", "ﬁne",
		"潮汐表", "潮", "ｶﾞ", "が", "e\u0301t",
		"\u0301", "한국어", "ー", " ", "\n", "-", "\xff", strings.Repeat("long", 40), "\u3099", "ab", "a"})
	var c terms.Counter
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		most := rapid.IntRange(1, 50).Draw(t, "most")
		want := terms.SplitTerms(text)
		want = want[:min(len(want), most)]
		all, counts, length := c.CountTerms(text, most)
		var got []string
		for i, term := range all {
			for range counts[i] {
				got = append(got, term)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, want) || length != len(want) || len(slices.Compact(all)) != len(counts) {
			t.Fatalf("%q: %q (%d), want %q", text, got, length, want)
		}
	})
}
