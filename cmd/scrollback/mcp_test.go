package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program as a client starts it: over its standard input and output, beside a
// server that writes.
func TestMCPProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	data := t.TempDir()
	s := serve(t, data, nil)
	id := s.conversation()
	s.chat(id, fact)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: command(t, data, nil, "mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	search := func(query string) string {
		t.Helper()
		r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "context_search", Arguments: map[string]any{"query": query}})
		if err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	if got := search("crane key"); !strings.Contains(got, "third bollard") || !strings.Contains(got, string(id)) {
		t.Errorf("it finds %s", got)
	}
	s.chat(id, "The lamp room is locked at dusk.")
	if got := search("lamp room"); !strings.Contains(got, "at dusk") {
		t.Errorf("what was said since is not found: %s", got)
	}
	if err := c.Close(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
