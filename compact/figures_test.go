package compact

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestGuideToFigures: what the guide says of savings and of times is what RECALL.md and
// BENCHMARKS.md have, rounded.
func TestGuideToFigures(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile("../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	row := func(doc, label string) (figures []float64) {
		t.Helper()
		line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(label) + ` \|(.*)\|$`).FindStringSubmatch(doc)
		if line == nil {
			t.Fatalf("there is no row %q", label)
		}
		for _, n := range regexp.MustCompile(`[0-9.]+`).FindAllString(line[1], -1) {
			v, err := strconv.ParseFloat(n, 64)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line[1], " ms") {
				v /= 1000
			}
			figures = append(figures, v)
		}
		return figures
	}
	guide := strings.Join(strings.Fields(read("guides/compaction.md")), " ")
	want := func(format string, args ...any) {
		t.Helper()
		if text := fmt.Sprintf(format, args...); !strings.Contains(guide, text) {
			t.Errorf("the guide does not say %q", text)
		}
	}

	_, saving, _ := strings.Cut(read("RECALL.md"), "## What a policy saves")
	var seen, found []float64
	for _, policy := range []string{Segments, Rolling, Snapshot} {
		figures := row(saving, policy)
		want("`%s`", policy)
		if told := regexp.MustCompile("`" + policy + "`(?: saves)? ([0-9]+) %").FindStringSubmatch(guide); told == nil ||
			told[1] != fmt.Sprintf("%.0f", figures[0]) {
			t.Errorf("the guide says %v of %s, RECALL.md %v", told, policy, figures[0])
		}
		seen = append(seen, figures[1])
		found = append(found, figures[2])
	}
	want("Of the evidence, %.0f to %.0f %% is in the last request itself, and %.0f to %.0f %% in it or in the first 2,000 tokens",
		slices.Min(seen), slices.Max(seen), slices.Min(found), slices.Max(found))

	times := read("BENCHMARKS.md")
	want("compacting 200,000 tokens without a model %.1f s", row(times, "200,000 tokens at once")[0])
	want("the first read of a segment %.1f ms, the second %.1f ms", 1000*row(times, "first read of a segment")[0],
		1000*row(times, "second read of a segment")[0])
	greps := func(suffix string) (out []float64) {
		for _, what := range []string{"a word of 1 %", "a word of 0.01 %", "two words, either", "nothing"} {
			_, section, _ := strings.Cut(times, "## Grep")
			out = append(out, row(section, what+", 100,000 messages "+suffix)[0])
		}
		return out
	}
	live := greps("live")
	folded := append(greps("folded"), greps("folded, files to be made")...)
	want("a grep of 100,000 messages with its true total %.1f s while they are live, and %.1f to %.1f s when they are compacted",
		slices.Max(live), slices.Min(folded), slices.Max(folded))
}
