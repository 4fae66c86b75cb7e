//go:build unix

package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// What stands where a file or a folder should be is refused with a reason, stays as it is, and holds up neither the
// program nor the other agents.
func TestOddPlaces(t *testing.T) {
	t.Parallel()
	fifo := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	file := func(name string) error { return os.WriteFile(name, []byte("x"), 0o600) }
	folder := func(name string) error { return os.Mkdir(name, 0o700) }
	loop := func(name string) error { return os.Symlink(filepath.Base(name), name) }
	device := func(name string) error { return os.Symlink("/dev/zero", name) }
	for _, c := range []struct {
		what, agent, at string
		make            func(name string) error
	}{
		{"a pipe for the settings", agents.Codex, ".codex/config.toml", fifo},
		{"a folder for the settings", agents.Codex, ".codex/config.toml", folder},
		{"a link to itself for the settings", agents.Codex, ".codex/config.toml", loop},
		{"a device for the settings", agents.Codex, ".codex/config.toml", device},
		{"a file for the agent's folder", agents.Codex, ".codex", file},
		{"a link to itself for the agent's folder", agents.Codex, ".codex", loop},
		{"a file for our folder", agents.ClaudeCode, ".claude/skills", file},
		{"a pipe for our file", agents.Pi, ".pi/agent/extensions/scrollback.ts", fifo},
		{"a file for the folder of all settings", agents.Zed, ".config", file},
	} {
		p := newPerson(t, c.agent, agents.CopilotCLI)
		p.write(".copilot/mcp-config.json", "{}")
		odd := filepath.Join(p.home, filepath.FromSlash(c.at))
		if err := errors.Join(os.MkdirAll(filepath.Dir(odd), 0o700), c.make(odd)); err != nil {
			t.Fatal(err)
		}
		was, err := os.Lstat(odd)
		if err != nil {
			t.Fatal(err)
		}
		plan := p.install()
		failed := plan.Failed()
		if len(failed) == 0 || !plan.Serves[agents.CopilotCLI] || !plan.Calls[agents.CopilotCLI] {
			t.Errorf("%s: %+v", c.what, plan.Actions)
		}
		for _, a := range failed {
			if a.Agent != c.agent || a.Why == "" {
				t.Errorf("%s: %+v", c.what, a)
			}
		}
		if s := p.inspect(agents.CopilotCLI); !s.Installed {
			t.Errorf("%s: the other agent is not set up: %+v", c.what, s)
		}
		_ = p.inspect(c.agent)
		p.uninstall()
		if is, err := os.Lstat(odd); err != nil || is.Mode() != was.Mode() {
			t.Errorf("%s: it was %v and is %v, %v", c.what, was.Mode(), is, err)
		}
		text, err := os.ReadFile(filepath.Join(p.home, ".copilot", "mcp-config.json"))
		if err != nil || string(text) != "{}" {
			t.Errorf("%s: the other agent's settings are %q, %v", c.what, text, err)
		}
	}
	p := newPerson(t, agents.Codex)
	p.write("data", "a file for the data")
	if _, err := Begin(t.Context(), p.o, true); err == nil || !strings.Contains(err.Error(), p.o.Data) {
		t.Errorf("a file for the data folder: %v", err)
	}
}

// Settings in a form that is not known, as a newer agent may have them, are refused with their line and stay; what is
// sure of the same agent is written.
func TestNewerSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, file, text string
		serves, calls     bool
	}{
		{agents.Codex, ".codex/config.toml", "a = 1\nmcp_servers = [\"x\"]\n", false, true},
		{agents.Codex, ".codex/hooks.json", "{\n  \"hooks\": []\n}\n", true, false},
		{agents.Codex, ".codex/hooks.json", "{\n  \"hooks\": {\"SessionStart\": {\"on\": true}}\n}\n", true, false},
		{agents.CopilotCLI, ".copilot/mcp-config.json", "{\n  \"mcpServers\": \"see elsewhere\"\n}\n", false, true},
		{agents.Cline, ".cline/data/settings/cline_mcp_settings.json", "[]\n", false, true},
		{agents.OpenClaw, ".openclaw/openclaw.json", "{\n mcp: {servers: []},\n}\n", false, true},
		{agents.Goose, ".config/goose/config.yaml", "extensions: all\n", false, false},
		{agents.Zed, ".config/zed/settings.json", "{\n  \"context_servers\": 1,\n}\n", false, false},
	} {
		p := newPerson(t, c.agent)
		p.write(c.file, c.text)
		was := p.tree()
		plan := p.install()
		what := fmt.Sprintf("%s with %q", c.agent, c.text)
		failed := plan.Failed()
		if len(failed) != 1 || failed[0].Line == 0 || plan.Serves[c.agent] != c.serves || plan.Calls[c.agent] != c.calls {
			t.Errorf("%s: serves %v, calls %v, %+v", what, plan.Serves, plan.Calls, failed)
		}
		if name := filepath.FromSlash(c.file); p.tree()[name] != was[name] {
			t.Errorf("%s: it is %q now", what, p.tree()[name])
		}
		p.uninstall()
		p.same(was, what)
	}
}
