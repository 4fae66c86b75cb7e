package standing

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
			if r.meaning == "" || r.example == "" {
				t.Errorf("%s: %s %s says nothing of what it means, or has no example", name, r.rule, r.part)
			}
			s := unmarked(foldText(r.example, false))
			if r.part != "idiom" {
				s = l.idiom.ReplaceAllString(s, "…")
			}
			if r.part == "cue" {
				if !slices.ContainsFunc(strings.Split(r.pattern, "|"), func(cue string) bool { return strings.Contains(s, cue) }) {
					t.Errorf("%s: no cue of %s is in its example: %s", name, r.rule, r.example)
				}
				continue
			}
			if !regexp.MustCompile(r.pattern).MatchString(s) {
				t.Errorf("%s: %s %s is not found in its example: %s\n%s", name, r.rule, r.part, r.example, r.pattern)
			}
			if kept := IsInstruction(r.example); r.part == "match" && !kept || (r.part == "but" || r.part == "veto") && kept {
				t.Errorf("%s: %s %s: its example is judged %v: %s", name, r.rule, r.part, kept, r.example)
			}
		}
	}
}
