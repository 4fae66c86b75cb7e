package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// inspect returns how an agent is set up.
func (p *person) inspect(name string) Setup {
	p.t.Helper()
	all, err := p.begin().Inspect()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range all {
		if s.Agent == name {
			return s
		}
	}
	p.t.Fatalf("%s is not there", name)
	return Setup{}
}

// kinds lists the problems of an agent.
func (s Setup) kinds() string {
	var out []string
	for _, bad := range s.Problems {
		out = append(out, bad.Kind)
	}
	return strings.Join(out, " ")
}

// Each agent that is set up is found, with the program that it calls, also without the record.
func TestInspect(t *testing.T) {
	p := newPerson(t, names()...)
	p.o.Program = filepath.Join(p.home, "it's", "scrollback")
	p.write("it's/scrollback", "program")
	if s := p.inspect(agents.Codex); s.Installed || len(s.Problems) > 0 {
		t.Errorf("nothing is set up: %+v", s)
	}
	p.install()
	for range 2 {
		for _, name := range names() {
			s := p.inspect(name)
			want := ""
			if name == agents.Codex {
				want = Untrusted
			}
			if !s.Installed || s.Program != p.o.Program || s.kinds() != want || len(s.Files) == 0 {
				t.Errorf("%s: %+v", name, s)
			}
			calls := false
			for _, target := range p.begin().targets(name) {
				calls = calls || target.calls
			}
			if calls != (len(s.Hooks) > 0) {
				t.Errorf("%s calls %v", name, s.Hooks)
			}
		}
		_ = os.Remove(recordPath(p.o.Data)) // the second time it is gone
	}
}

// What keeps an agent from asking is found.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{agents.ClaudeCode, ".claude/settings.json", `{"disableAllHooks": true}`, Off},
		{agents.ClaudeCode, ".claude/settings.json", "{\n// mine\n}", Unreadable},
		{agents.ClaudeCode, ".claude.json", `{"mcpServers": {"scrollback": {"command": "scrollback"}}}`, Doubled},
		{agents.ClaudeCode, ".claude/settings.json", `{"disableAllHooks": false}`, ""},
		{agents.GeminiCLI, ".gemini/settings.json", "{// mine\n\"hooksConfig\": {\"enabled\": false}}", Off},
		{agents.QwenCode, ".qwen/settings.json", "{\"disableAllHooks\": true,}", Off},
		{agents.Pi, "program", "gone", Moved},
		{agents.Codex, "x", "x", Untrusted},
	} {
		p := newPerson(t, c.name)
		p.o.Program = filepath.Join(p.home, "scrollback")
		if c.want != Moved {
			p.write("scrollback", "program")
		}
		p.install()
		p.write(c.file, c.text)
		if s := p.inspect(c.name); s.kinds() != c.want {
			t.Errorf("%s with %s: %+v, want %s", c.name, c.text, s, c.want)
		}
	}
	p := newPerson(t, agents.Codex)
	p.o.Program = filepath.Join(p.home, "scrollback")
	p.write("scrollback", "program")
	p.o.Trust = true
	p.install()
	if s := p.inspect(agents.Codex); s.kinds() != "" {
		t.Errorf("trusted hooks: %+v", s)
	}
	p.write("other", "another")
	p.o.Program = filepath.Join(p.home, "other")
	if s := p.inspect(agents.Codex); s.kinds() != Other {
		t.Errorf("another program: %+v", s)
	}
	c := newPerson(t, agents.ClaudeCode)
	c.o.Program = filepath.Join(c.home, "scrollback")
	c.write("scrollback", "program")
	c.o.Old = true
	c.install()
	text := c.tree()[filepath.FromSlash(".claude/settings.json")]
	c.o.Old = false
	c.install()
	_, text, _ = strings.Cut(text, " ")
	c.write(".claude/settings.json", text)
	if s := c.inspect(agents.ClaudeCode); s.kinds() != Doubled {
		t.Errorf("twice: %s", fmt.Sprint(s))
	}
}
