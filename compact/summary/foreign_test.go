package summary

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

// Each heading in another language is that of the section whose rule it stands under.
func TestForeignWords(t *testing.T) {
	finds := map[string]func(string) bool{
		"nothing": saysNothing,
		"refusal": func(s string) bool { return refusalPattern().MatchString(s) },
		"remark":  func(s string) bool { return remarkPattern().MatchString(s) },
	}
	for form, f := range map[string]Form{"state": Snapshot(""), "notes": Rolling("")} {
		for i, s := range f.Sections {
			rule := form + "-" + strings.ReplaceAll(strings.ToLower(s.Heading), " ", "-")
			finds[rule] = func(title string) bool { return f.sectionOf(title) == i }
		}
	}
	wordtabletest.Run(t, foreign, finds)
}
