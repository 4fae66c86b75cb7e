package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/request"
)

// The guide lists the arguments of the tool and the bounds with their defaults.
func TestGuideOfSubAgents(t *testing.T) {
	file, err := os.ReadFile("../docs/guides/sub-agents.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(request.AgentTool().Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| .+\\|$").FindAllStringSubmatch(string(file),
		-1) {
		for _, name := range strings.Split(row[1], ", ") {
			said++
			if schema.Properties[strings.Trim(name, "`")] == nil {
				t.Errorf("the tool has no argument %s", name)
			}
		}
	}
	if said != len(schema.Properties) {
		t.Errorf("the guide names %d arguments of %d", said, len(schema.Properties))
	}
	o := engine.AgentOptions{}.Complete()
	want := []string{fmt.Sprint("allowed = ", o.Allowed), fmt.Sprint("depth = ", o.Depth),
		fmt.Sprint("per_turn = ", o.PerTurn),
		fmt.Sprint("per_tree = ", o.PerTree), fmt.Sprint("steps = ", o.Steps), fmt.Sprint("tokens = ", o.Tokens)}
	_, table, _ := strings.Cut(string(file), "[agents]\n")
	table, _, _ = strings.Cut(table, "```")
	var is []string
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		setting, _, _ := strings.Cut(line, "#")
		is = append(is, strings.TrimSpace(setting))
	}
	if !slices.Equal(is, want) {
		t.Errorf("the guide says %q, and it is %q", is, want)
	}
}
