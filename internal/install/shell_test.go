package install

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// shellLines are the lines that an agent gives to a shell, as its files have them now.
func (p *person) shellLines(name string) (out []string) {
	p.t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			line, isText := v["command"].(string)
			if _, byItself := v["args"]; isText && !byItself && v["type"] == "command" {
				out = append(out, line)
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	for _, t := range p.begin().targets(name) {
		if !t.calls {
			continue
		}
		c, err := readContent(t.path)
		if err != nil || !c.there() || filepath.Ext(t.path) != ".json" {
			continue
		}
		v, _, err := editor.Lookup(c.text, editor.JSON)
		if err != nil {
			p.t.Fatalf("%s: %v", t.path, err)
		}
		walk(v)
	}
	return out
}

// What agents give to a shell calls the program with what was handed in, and ends silently with 0 when the program is
// gone, is no program, or cannot be started by this person: an agent may take anything else for a refusal.
func TestShellLines(t *testing.T) {
	shells := 0
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "ksh"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		shells++
		for _, old := range []bool{false, true} {
			for _, name := range names() {
				if old && name != agents.ClaudeCode {
					continue
				}
				p := newPerson(t, name)
				p.o.Program = filepath.Join(p.home, "it's $HOME `here`", "scrollback")
				p.o.Old = old
				p.o.NameData = true
				p.install()
				lines := p.shellLines(name)
				want := map[string]int{agents.Codex: 2, agents.GeminiCLI: 2, agents.QwenCode: 4, agents.CopilotCLI: 4}[name]
				if old {
					want = len(claudeCalls)
				}
				if len(lines) != want {
					t.Errorf("%s gives a shell %q, want %d lines", name, lines, want)
				}
				for _, line := range lines {
					p.runLine(shell, name, line)
				}
			}
		}
	}
	if shells == 0 {
		t.Error("there is no shell")
	}
}

// runLine runs a line of a shell with the program there, and with what may have become of it.
func (p *person) runLine(shell, name, line string) {
	p.t.Helper()
	run := func() (string, error) {
		cmd := exec.CommandContext(p.t.Context(), shell, "-c", line)
		cmd.Stdin = strings.NewReader(`{"a":1}`)
		cmd.Dir = p.home
		var out bytes.Buffer
		cmd.Stdout = &out
		cmd.Stderr = &out
		err := cmd.Run()
		return out.String(), err
	}
	program := p.o.Program
	place := func(script string) {
		p.t.Helper()
		err := errors.Join(os.RemoveAll(program), os.MkdirAll(filepath.Dir(program), 0o700),
			os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		if err != nil {
			p.t.Fatal(err)
		}
	}
	place("echo \"$@\"\ncat")
	out, err := run()
	if err != nil || !strings.HasPrefix(out, "hook ") ||
		!strings.Contains(out, "--agent "+name+" --data "+p.o.Data+"\n") || !strings.HasSuffix(out, `{"a":1}`) {
		p.t.Errorf("%s, %s: %s says %q, %v", shell, name, line, out, err)
	}
	for what, change := range map[string]func() error{
		"cannot be started": func() error { return os.Chmod(program, 0o600) },
		"is gone":           func() error { return os.Remove(program) },
		"is a folder": func() error {
			_ = os.Remove(program)
			return os.Mkdir(program, 0o700)
		},
		"is a link to nothing": func() error {
			_ = os.Remove(program)
			return os.Symlink("/nowhere/scrollback", program)
		},
		"has lost its folder": func() error { return os.RemoveAll(filepath.Dir(program)) },
	} {
		place("echo x")
		if err := change(); err != nil {
			p.t.Fatal(err)
		}
		if out, err := run(); err != nil || out != "" {
			p.t.Errorf("%s, %s, the program %s: %s says %q, %v", shell, name, what, line, out, err)
		}
	}
}
