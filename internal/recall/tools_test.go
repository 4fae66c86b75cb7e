package recall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/token"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inJSON(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(recall.Tools())
	must(t, err)
	return string(b)
}

func TestToolsAreSmallAndConstant(t *testing.T) {
	all := inJSON(t)
	n := token.Count(all)
	if n > 800 {
		t.Errorf("the tools take %d tokens, at most 800 are allowed", n)
	}
	t.Logf("the tools take %d tokens", n)
	if all != inJSON(t) {
		t.Error("the tools' bytes change")
	}
	want := map[string]string{"context_list": "kind limit cursor", "context_read": "ref offset limit",
		"context_tail":   "ref lines",
		"context_grep":   "ref pattern max_results context_lines case_sensitive",
		"context_kept":   "all cursor",
		"context_search": "query limit scope role around order"}
	for _, tool := range recall.Tools() {
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		must(t, json.Unmarshal(tool.Parameters, &schema))
		names := strings.Fields(want[tool.Name])
		if len(names) == 0 || len(names) != len(schema.Properties) {
			t.Errorf("%s takes %v, want %v", tool.Name, schema.Properties, names)
		}
		for _, name := range append(names, schema.Required...) {
			if schema.Properties[name] == nil {
				t.Errorf("%s lacks %s", tool.Name, name)
			}
		}
	}
}
