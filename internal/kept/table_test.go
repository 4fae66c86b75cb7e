package kept

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each row of a table says what it means, and is found in its example; a sentence in which a rule is found is
// an instruction, and one that is kept from being one is none.
func TestRowsOfTables(t *testing.T) {
	for name, l := range map[string]*language{"japanese": inJapanese(), "korean": inKorean()} {
		rows := readTable(name)
		if len(rows) < 80 {
			t.Fatalf("%s has %d rows", name, len(rows))
		}
		for _, r := range rows {
			if r.Meaning == "" || r.Example == "" {
				t.Errorf("%s: %s %s says nothing of what it means, or has no example", name, r.Rule, r.Part)
			}
			s := unmarked(foldText(r.Example, false))
			if r.Part != "idiom" {
				s = l.idiom.ReplaceAllString(s, "…")
			}
			if r.Part == "cue" {
				if !slices.ContainsFunc(strings.Split(r.Pattern, "|"), func(cue string) bool { return strings.Contains(s, cue) }) {
					t.Errorf("%s: no cue of %s is in its example: %s", name, r.Rule, r.Example)
				}
				continue
			}
			if !regexp.MustCompile(r.Pattern).MatchString(s) {
				t.Errorf("%s: %s %s is not found in its example: %s\n%s", name, r.Rule, r.Part, r.Example, r.Pattern)
			}
			kept := IsInstruction(r.Example)
			if r.Part == "match" && !kept || slices.Contains([]string{"but", "veto", "log"}, r.Part) && kept {
				t.Errorf("%s: %s %s: its example is judged %v: %s", name, r.Rule, r.Part, kept, r.Example)
			}
		}
	}
}
