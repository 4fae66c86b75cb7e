package agents_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// Each name means one agent, and all of an agent's names lead to it.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, a := range agents.All() {
		if a.Title == "" || a.Name == "" {
			t.Errorf("%+v has no name", a)
		}
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			if was := seen[name]; was != "" {
				t.Errorf("%s means %s and %s", name, was, a.Name)
			}
			seen[name] = a.Name
			if found, ok := agents.Find(name); !ok || found.Name != a.Name {
				t.Errorf("%s leads to %q", name, found.Name)
			}
		}
		if a.Program != "" && !a.Is(a.Program) {
			t.Errorf("%s is not found by its program, %s", a.Name, a.Program)
		}
	}
	if _, ok := agents.Find("nobody"); ok || agents.Resolve("nobody") != "nobody" || agents.Resolve("claude") != "claude-code" {
		t.Error("a name that nobody has leads to an agent")
	}
}

// Everything that is known of where settings are lies in the home folder, or where the variables say; without a home
// folder and without variables nothing is named but what lies in the current folder.
func TestPlaces(t *testing.T) {
	none := func(string) string { return "" }
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, a := range agents.All() {
			m := agents.Machine{System: system, Home: "/home/me", Working: "/work", Getenv: none}
			if in := a.Folder(m); in != "" && !strings.HasPrefix(in, "/home/me/") {
				t.Errorf("%s, %s: %s", system, a.Name, in)
			}
			if a.Servers == nil {
				continue
			}
			if files := a.ServerFiles(m); !strings.HasPrefix(files[0], "/home/me/") {
				t.Errorf("%s, %s: %s is written into", system, a.Name, files[0])
			}
			if a.Servers.How == "" || len(a.Servers.At) == 0 {
				t.Errorf("%s: %+v", a.Name, a.Servers)
			}
			m.Home = ""
			for _, file := range a.ServerFiles(m) {
				if file != "" && !strings.HasPrefix(file, "/work/") {
					t.Errorf("%s, %s: %s without a home folder", system, a.Name, file)
				}
			}
		}
	}
	for variable, name := range map[string]string{"CLAUDE_CONFIG_DIR": agents.ClaudeCode, "CODEX_HOME": agents.Codex,
		"XDG_CONFIG_HOME": agents.Opencode, "PI_CODING_AGENT_DIR": agents.Pi, "COPILOT_HOME": agents.CopilotCLI,
		"GEMINI_CLI_HOME": agents.GeminiCLI, "QWEN_HOME": agents.QwenCode, "OPENCLAW_STATE_DIR": agents.OpenClaw} {
		dir := filepath.FromSlash("/else/where")
		m := agents.Machine{System: "linux", Home: "/home/me", Getenv: func(name string) string {
			if name == variable {
				return dir
			}
			return ""
		}}
		if in := m.Folder(name); !strings.HasPrefix(in, dir) {
			t.Errorf("%s=%s: %s is in %s", variable, dir, name, in)
		}
	}
}
