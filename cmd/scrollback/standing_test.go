package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/standing"
)

// A server shows the agents of its machine, and silences one, where a person works: not in a container, unless agents
// were set up there.
func TestServeShowsAgents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=", "CODEX_HOME=", "CLAUDE_CONFIG_DIR=", "container=x"}
	s := serve(t, data, env)
	var who struct{ Agents bool }
	if status := s.do("GET", "/api/agents", nil, nil); status != 404 {
		t.Errorf("in a container it returns %d", status)
	}
	if s.do("GET", "/api/session", nil, &who); who.Agents {
		t.Error("in a container agents are offered")
	}
	s.stop()
	out, err := command(t, data, env, "install", "--here", "--agent", "codex,pi").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s = serve(t, data, env)
	if s.do("GET", "/api/session", nil, &who); !who.Agents {
		t.Error("where agents are set up none are offered")
	}
	find := func(name string) (found standing.MachineAgent) {
		t.Helper()
		var all struct{ Agents []standing.MachineAgent }
		if status := s.do("GET", "/api/agents", nil, &all); status != 200 {
			t.Fatalf("the list returns %d", status)
		}
		for _, a := range all.Agents {
			if a.Agent == name {
				found = a
			}
		}
		return found
	}
	if a := find("codex"); !a.Installed || !a.Found || a.Off || a.Title == "" || len(a.Hooks) != 2 || a.Asked == nil ||
		len(a.Problems) != 1 || a.Problems[0].Kind != "untrusted" {
		t.Errorf("codex stands so: %+v", a)
	}
	if a := find("pi"); !a.Installed || a.Asked == nil || len(a.Problems) != 0 {
		t.Errorf("pi stands so: %+v", a)
	}
	var changed standing.MachineAgent
	if status := s.do("PATCH", "/api/agents/codex", strings.NewReader(`{"off":true}`), &changed); status != 200 || !changed.Off {
		t.Errorf("silencing returns %d, %+v", status, changed)
	}
	if status := s.do("PATCH", "/api/agents/emacs", strings.NewReader(`{"off":true}`), nil); status != 404 {
		t.Errorf("silencing an agent that is not known returns %d", status)
	}
	if out := output(t, data, "hook", "on", "--agent", "codex", "--json"); !strings.Contains(out, `"changed":true`) {
		t.Errorf("it was not silenced: %s", out)
	}
	if find("codex").Off {
		t.Error("it is off although it is on again")
	}
}
