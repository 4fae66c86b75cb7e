package mcpapi_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
)

var (
	toolRow   = regexp.MustCompile("(?m)^\\| `(context_\\w+)` \\| (.*?) \\| .* \\|$")
	parameter = regexp.MustCompile("`(\\w+\\??)`(?: (\\d+)(?: \\((\\d+)\\))?)?")
)

// The guide lists every tool with its parameters, their defaults and what they may be at most,
// and every prompt with its arguments.
func TestGuideOfMCP(t *testing.T) {
	file, err := os.ReadFile("../../../docs/guides/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, v, _, _ := folded(t)
	c := connected(t, v, mcpapi.Options{})
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, row := range toolRow.FindAllStringSubmatch(string(file), -1) {
		for _, p := range parameter.FindAllStringSubmatch(row[2], -1) {
			said[row[1]] = append(said[row[1]], strings.TrimSuffix(p[1], "?")+" "+p[2]+" "+p[3])
		}
	}
	if len(said) != len(tools.Tools) {
		t.Errorf("the guide has %d tools, the server %d", len(said), len(tools.Tools))
	}
	for _, tool := range tools.Tools {
		var is []string
		for name, p := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			p := p.(map[string]any)
			number := func(v any) string {
				if n, ok := v.(float64); ok {
					return fmt.Sprint(int(n))
				}
				return ""
			}
			if name != "conversation" {
				is = append(is, name+" "+number(p["default"])+" "+number(p["maximum"]))
			}
		}
		slices.Sort(is)
		slices.Sort(said[tool.Name])
		if !slices.Equal(is, said[tool.Name]) {
			t.Errorf("%s takes %q, and the guide says %q", tool.Name, is, said[tool.Name])
		}
	}
	_, part, _ := strings.Cut(string(file), "## Prompts")
	part, _, _ = strings.Cut(part, "\n## ")
	prompts, err := c.ListPrompts(t.Context(), &mcp.ListPromptsParams{})
	if err != nil || len(prompts.Prompts) == 0 {
		t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		var args []string
		for _, a := range p.Arguments {
			name := "`" + a.Name + "?`"
			if a.Required {
				name = "`" + a.Name + "`"
			}
			args = append(args, name)
		}
		if want := "`" + p.Name + "` (" + strings.Join(args, ", ") + ")"; !strings.Contains(part, want) {
			t.Errorf("the guide lacks the prompt %s", want)
		}
	}
}
