package main

import (
	"context"
	"os"
	"path/filepath"
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

// A new folder is reported to the client that started the program, and each tool says
// that it holds nothing.
func TestMCPSaysWhatIsNew(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	t.Setenv("SCROLLBACK_DATA", "")
	t.Setenv("SCROLLBACK_CONFIG", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	const said = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"context_conversations"}}
`
	folder := filepath.Join(os.Getenv("XDG_DATA_HOME"), "scrollback")
	for i, want := range []string{"scrollback: " + folder + " is new", ""} {
		var out, errs strings.Builder
		if code := runProgram(t.Context(), []string{"mcp"}, strings.NewReader(said), &out, &errs); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		if !strings.HasPrefix(errs.String(), want) || want == "" && errs.String() != "" {
			t.Errorf("start %d: %q on standard error", i+1, errs.String())
		}
		if !strings.Contains(out.String(), "no conversations are stored in "+folder+" yet") {
			t.Errorf("start %d: %s", i+1, out.String())
		}
	}
}

// A client that cannot say where it works is taken to work where it started the program,
// unless that is its home.
func TestMCPStartedInAFolder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	data := t.TempDir()
	own := t.TempDir()
	work := filepath.Join(own, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(own, "11111111-1111-4111-8111-111111111111.jsonl")
	line := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"11111111-1111-4111-8111-111111111111","isSidechain":false,` +
		`"timestamp":"2026-01-05T10:00:00.000Z","cwd":"` + work + `","version":"2.1.197",` +
		`"message":{"role":"user","content":"paint the buoy"}}` + "\n"
	if err := os.WriteFile(session, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + own, "USERPROFILE=" + own}
	if out, err := command(t, data, env, "import", session).CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	for folder, want := range map[string]string{work: `in the folder "` + work + `"`, own: "that was recorded last"} {
		started := command(t, data, env, "mcp")
		started.Dir = folder
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
			&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		c, err := client.Connect(ctx, &mcp.CommandTransport{Command: started}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "catch-up"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Messages[0].Content.(*mcp.TextContent).Text; !strings.Contains(got, want) {
			t.Errorf("in %s it says %s", folder, got)
		}
		if err := c.Close(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	}
}
