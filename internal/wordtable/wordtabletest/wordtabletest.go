// Package wordtabletest checks the tables of words that a package reads.
package wordtabletest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// Run checks that each row says what it means and is found in its example, and that finds[rule], the code
// that looks for the rule, finds it there too, with each word of the row in its place.
func Run(t *testing.T, table *wordtable.Table, finds map[string]func(text string) bool) {
	t.Helper()
	there := map[string]bool{}
	for _, r := range table.Rows() {
		there[r.Rule] = true
		if r.Meaning == "" || r.Example == "" || r.Part == "" {
			t.Errorf("%s %s %s lacks its part, what it means or an example", r.Rule, r.Part, r.Pattern)
		}
		if !regexp.MustCompile("(?i)" + r.Pattern).MatchString(r.Example) {
			t.Errorf("%s %s %s is not found in its example: %s", r.Rule, r.Part, r.Pattern, r.Example)
		}
		find := finds[r.Rule]
		if find == nil {
			t.Errorf("nothing looks for %s", r.Rule)
			continue
		}
		if !find(r.Example) {
			t.Errorf("%s %s: nothing is found in the example: %s", r.Rule, r.Part, r.Example)
		}
		for word := range strings.SplitSeq(r.Pattern, "|") {
			if plain(r.Pattern) && !find(strings.Replace(r.Example, firstOf(r), word, 1)) {
				t.Errorf("%s %s: %s is not found", r.Rule, r.Part, word)
			}
		}
	}
	for rule := range finds {
		if !there[rule] {
			t.Errorf("no row is of %s", rule)
		}
	}
}

// firstOf returns what of a row's pattern stands in its example.
func firstOf(r wordtable.Row) string {
	return regexp.MustCompile("(?i)" + r.Pattern).FindString(r.Example)
}

// plain reports whether a pattern is words with | between them.
func plain(pattern string) bool {
	bare := strings.ReplaceAll(pattern, "|", "")
	return regexp.QuoteMeta(bare) == bare
}
