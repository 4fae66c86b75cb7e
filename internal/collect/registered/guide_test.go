package registered

import (
	"os"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// The guide has what registers this program with each tool, as the program says it.
func TestGuideOfRegistering(t *testing.T) {
	file, err := os.ReadFile("../../../docs/guides/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(file), "## Registering MCP")
	part, _, ended := strings.Cut(part, "## What was tried")
	if !ended {
		t.Fatal("the guide has no part about registering")
	}
	for _, a := range agents.All() {
		if a.Servers == nil {
			continue
		}
		how := a.Servers.How
		if yaml, ok := strings.CutPrefix(how, "extensions: {"); ok {
			how = strings.TrimSuffix(yaml, "}")
		}
		if how == "" || !strings.Contains(part, how) {
			t.Errorf("%s: the guide lacks %q", a.Name, how)
		}
	}
}
