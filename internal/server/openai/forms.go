package openai

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// findForm returns the name that the client has for one of its tools, and its form; a tool that is not among them has
// none.
func findForm(tools []scrollback.Tool, name string) (string, scrollback.ToolForm) {
	for _, t := range tools {
		if t.Name == name {
			return cmp.Or(t.Form.Name, name), t.Form
		}
	}
	return name, scrollback.ToolForm{}
}

// readTools returns the tools that the client of a conversation offered last. An empty id has none.
func readTools(ctx context.Context, v *engine.View, of scrollback.ConversationID) ([]scrollback.Tool, error) {
	if of == "" {
		return nil, nil
	}
	c, err := v.Get(ctx, of)
	return c.Settings.Tools, err
}
