package registered_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/collect/registered"
	"github.com/scrollback-ai/scrollback/transcript"
)

// settings are what tools keep, by the name of the file: below the home folder, or with
// "here/" in the current one.
var settings = []struct{ tool, file, text string }{
	{"claude-code", ".claude.json",
		`{"mcpServers": {"depot": {"env": {"KEY": "SECRET"}}, "memory": {"command": "/opt/scrollback", "args": ["mcp"]}}}`},
	{"claude-code", ".claude.json",
		`{"projects": {"/work": {"mcpServers": {"depot": {"url": "https://SECRET"}, "memory": {"command": "scrollback"}}}}}`},
	{"claude-code", "here/.mcp.json", `{"mcpServers": {"depot": {}, "memory": {"command": "C:\\bin\\Scrollback.exe"}}}`},
	{"codex", ".codex/config.toml",
		"[mcp_servers.depot]\nenv = { KEY = 'SECRET' }\n[mcp_servers.memory]\ncommand = 'scrollback'\n"},
	{"opencode", ".config/opencode/opencode.jsonc",
		"{// mine\n\"mcp\": {\"depot\": {\"command\": [\"SECRET\"]}, \"memory\": {\"command\": [\"scrollback\", \"mcp\"]},}}"},
	{"crush", "here/.crush.json",
		`{"mcp": {"depot": {"headers": {"A": "SECRET"}}, "memory": {"command": "env", "args": ["scrollback", "mcp"]}}}`},
	{"goose", ".config/goose/config.yaml",
		"extensions:\n  depot:\n    envs: {KEY: SECRET}\n  memory: {type: stdio, cmd: scrollback}\n"},
	{"cline", ".cline/data/settings/cline_mcp_settings.json",
		`{"mcpServers": {"depot": {"env": {"KEY": "SECRET"}}, "memory": {"command": "scrollback"}}}`},
	{"gemini-cli", ".gemini/settings.json",
		`{"mcpServers": {"depot": {"env": {"KEY": "SECRET"}}, "memory": {"command": "scrollback"}}}`},
}

// look writes settings and reads them as a tool's.
func look(t *testing.T, tool, file, text string) registered.Registration {
	t.Helper()
	home := t.TempDir()
	here := t.TempDir()
	name := filepath.Join(home, filepath.FromSlash(file))
	if rest, ok := strings.CutPrefix(file, "here/"); ok {
		name = filepath.Join(here, filepath.FromSlash(rest))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := transcript.Machine{System: "linux", Home: home, Getenv: func(string) string { return "" }}
	r, ok := registered.Find(tool, m, here)
	if !ok {
		t.Fatalf("%s takes no servers", tool)
	}
	if out, err := json.Marshal(r); err != nil || strings.Contains(string(out), "SECRET") {
		t.Errorf("%s: %s, %v", tool, out, err)
	}
	return r
}

// The servers of each tool are found, and this program among them, however it is called.
func TestServersAreFound(t *testing.T) {
	t.Parallel()
	for _, s := range settings {
		r := look(t, s.tool, s.file, s.text)
		if !slices.Equal(r.Servers, []string{"depot", "memory"}) || !r.Registered || len(r.Files) != 1 || r.How == "" {
			t.Errorf("%s, %s: %+v", s.tool, s.file, r)
		}
		without := strings.NewReplacer("scrollback", "another", "Scrollback", "another").Replace(s.text)
		if r := look(t, s.tool, s.file, without); r.Registered || len(r.Servers) != 2 {
			t.Errorf("%s without this program: %+v", s.tool, r)
		}
		if r := look(t, s.tool, s.file, "{\"SECRET = ["); len(r.Problems) != 1 || r.Registered {
			t.Errorf("%s with something other than settings: %+v", s.tool, r)
		}
		if r := look(t, s.tool, s.file, ""); len(r.Problems) != 0 || len(r.Servers) != 0 {
			t.Errorf("%s with an empty file: %+v", s.tool, r)
		}
	}
}

// A server that is switched off does not count.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, off := range []string{`"disabled": true`, `"enabled": false`} {
		r := look(t, "crush", "here/crush.json", `{"mcp": {"scrollback": {"command": "scrollback", `+off+`}}}`)
		if r.Registered || len(r.Servers) != 1 {
			t.Errorf("%s: %+v", off, r)
		}
	}
	if _, ok := registered.Find("chatgpt", transcript.Machine{}, ""); ok {
		t.Error("a service takes servers of this machine")
	}
}

// Programs that do not say where they work are told to start the server with the folder.
func TestFolderOfThoseThatCannotSay(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/me", Getenv: func(string) string { return "" }}
	for _, tool := range []string{"crush", "goose"} {
		if r, _ := registered.Find(tool, m, ""); !strings.Contains(r.How, "--root") {
			t.Errorf("%s: %s", tool, r.How)
		}
	}
}
