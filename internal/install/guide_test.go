package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// The guide has a row for each agent, with its files and its hooks.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/installing.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, Agents()...)
	r := p.begin()
	for _, name := range Agents() {
		_, row, _ := strings.Cut(string(text), "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		calls := false
		for _, target := range r.targets(name) {
			rel, err := filepath.Rel(p.home, target.path)
			calls = calls || target.calls
			in := strings.HasPrefix(target.path, p.o.Data)
			if err != nil || !in && !strings.Contains(row, "`~/"+filepath.ToSlash(rel)+"`") {
				t.Errorf("%s: the guide lacks %s: %s", name, rel, row)
			}
		}
		var events []string
		for _, event := range Events(name) {
			events = append(events, i18n.English.Of("install-event", event))
		}
		if calls != strings.Contains(row, strings.Join(events, ", ")) {
			t.Errorf("%s: hooks are %v: %s", name, events, row)
		}
	}
}
