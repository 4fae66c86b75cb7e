package gather

import (
	"os"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// services are tools that are no agents of this machine: services of the net, chats of desktops, and agents of which no
// more is known than where they keep what was said.
var services = map[string]bool{"chatgpt": true, "claude": true, "librechat": true, "open-webui": true,
	"deepseek": true, "grok": true, "gemini-apps": true, "jan": true, "lm-studio": true, "kimi-cli": true,
	"mimo-code": true, "cowork": true, "traex": true, "antigravity": true, "sillytavern": true, "cherry-studio": true}

// What is read of agents is called as the table of agents calls it, and found by the names of programs; a service keeps
// its name.
func TestNamesOfTools(t *testing.T) {
	for _, name := range collect.ToolNames(all.Tools()) {
		if a, ok := agents.Find(name); !services[name] && (!ok || a.Name != name) {
			t.Errorf("%s is not in the table of agents", name)
		}
	}
	for from, want := range map[string]string{"": "", "all": "all", "gemini": "gemini-cli", "codex-cli,goose": "codex,goose",
		"claude": "claude", "jsonl": "jsonl", "zed": "zed"} {
		if got := NameTools(from); got != want {
			t.Errorf("--from %s means %s, want %s", from, got, want)
		}
	}
	t.Chdir(t.TempDir())
	if got := nameExcluded(all.Tools(), "gemini"); got != "gemini-cli" {
		t.Errorf("--exclude gemini leaves out %s", got)
	}
	writeFolder(t, "gemini")
	if got := nameExcluded(all.Tools(), "gemini"); got != "gemini" {
		t.Errorf("--exclude gemini leaves out %s, and not the folder", got)
	}
}

func writeFolder(t *testing.T, name string) {
	t.Helper()
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
}
