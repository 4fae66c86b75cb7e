package window_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/window"
)

// The table of the guide is the table of the code; -update writes it.
func TestGuide(t *testing.T) {
	const name, begin, end = "../docs/guides/dialects.md", "<!-- rules -->\n", "<!-- end of rules -->"
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	had, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the guide has no place for the rules")
	}
	want := ruleTable()
	if *update {
		if err := os.WriteFile(name, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if had != want {
		t.Errorf("the guide has\n%s\nand the code\n%s", had, want)
	}
}

func ruleTable() string {
	var b strings.Builder
	b.WriteString("| rule | in a window that keeps it | holds for | why |\n|---|---|---|---|\n")
	for _, r := range window.Rules() {
		var in []string
		for _, d := range window.Dialects() {
			if r.AppliesTo(d) {
				in = append(in, d.Name)
			}
		}
		holds := strings.Join(in, ", ")
		if len(in) == len(window.Dialects()) {
			holds = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.Text, holds, r.Why)
	}
	b.WriteString("\n| dialect | a call's id | a call's name | name of who speaks | images |\n|---|---|---|---|---|\n")
	cell := func(s string) string {
		if s == "" {
			return "any"
		}
		return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
	}
	for _, d := range window.Dialects() {
		images := strings.ReplaceAll(strings.ReplaceAll(d.ImageTypes, "image/", ""), " ", ", ")
		if images == "" {
			images = "any"
		}
		if d.MaxImageBytes > 0 {
			images += fmt.Sprintf("; %d bytes, %d pixels a side", d.MaxImageBytes, d.MaxImageSide)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Name, cell(d.CallID), cell(d.CallName), cell(d.SpeakerName), images)
	}
	return b.String()
}
