package model_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

func TestToolMeant(t *testing.T) {
	tools := []scrollback.Tool{{Name: "context_grep"}, {Name: "edit"}, {Name: "read_file"}, {Name: "readFile"},
		{Name: "mcp__a__put"}, {Name: "mcp__b__put"}}
	for name, want := range map[string]string{
		"context_grep": "context_grep", "functions.context_grep": "context_grep", "functions.context_grep:0": "context_grep",
		"default_api.edit": "edit", "default_api:edit": "edit", "mcp__scrollback__context_grep": "context_grep",
		"Context-Grep":  "context_grep",
		" contextGrep ": "context_grep", "context_grep<|channel|>commentary": "context_grep", "tools/edit": "edit",
		"readFile": "readFile", "read-file": "read-file", "put": "put", "mcp__a__put": "mcp__a__put", "remove": "remove",
		"": "", "...": "...",
	} {
		if got := model.MatchTool(tools, name); got != want {
			t.Errorf("%q is taken for %q, want %q", name, got, want)
		}
	}
}
