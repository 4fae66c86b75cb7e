package main

import (
	"strings"
	"testing"
)

// What is found does not depend on whether a talk was imported from a tool's files.
func TestImportedTalk(t *testing.T) {
	of := []form{{"en", false, 200}, {"zh", false, 200}, {"en", true, 200}}
	report, err := compareImported(t.Context(), sets[1], of)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(report) {
		if cells := strings.SplitN(strings.Trim(line, "|\n "), "|", 4); len(cells) == 4 && strings.Contains(cells[0], "s") {
			rows[strings.TrimSpace(cells[0])] = cells[1]
		}
	}
	if rows["as it stands"] == "" || rows["as it stands"] != rows["from a tool's files"] ||
		strings.TrimSpace(rows["as it stands"]) == "0" {
		t.Errorf("different questions were asked:\n%s", report)
	}
}
