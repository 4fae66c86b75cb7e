package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// names are the agents that can be set up.
func names() []string { return slices.Sorted(maps.Keys(listTargets)) }

// person is somebody's machine.
type person struct {
	t    *testing.T
	home string
	o    Options
}

func newPerson(t *testing.T, names ...string) *person {
	t.Helper()
	home := filepath.Join(t.TempDir(), "it's home")
	p := &person{t: t, home: home, o: Options{Program: "/opt/it's a/scrollback", Data: filepath.Join(home, "data"),
		Hooks: true, Agents: names}}
	p.o.Machine = agents.Machine{System: "linux", Home: home, Working: filepath.Join(home, "work"),
		Getenv: func(string) string { return "" }}
	p.write("work/file", "x")
	return p
}

func (p *person) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.home, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o640)); err != nil {
		p.t.Fatal(err)
	}
}

// tree returns the home folder but for the data: files with their modes, links, and folders.
func (p *person) tree() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.home, path)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case path == p.o.Data:
			return fs.SkipDir
		case d.IsDir():
			out[name+"/"] = ""
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out[name] = "-> " + to
		default:
			text, err := os.ReadFile(path)
			out[name] = fmt.Sprint(info.Mode(), " ", string(text))
			return err
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *person) run(plan func(r *Run) (*Plan, error)) *Plan {
	p.t.Helper()
	r, err := Begin(p.t.Context(), p.o, true)
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := plan(r)
	if err == nil {
		err = out.Apply()
	}
	if err := errors.Join(err, r.End()); err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *person) install() *Plan   { return p.run((*Run).Install) }
func (p *person) uninstall() *Plan { return p.run((*Run).Uninstall) }

// same fails if the home folder is not what it was.
func (p *person) same(was map[string]string, about string) {
	p.t.Helper()
	is := p.tree()
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if before, there := was[name]; !there {
			p.t.Errorf("%s: %s is left: %q", about, name, is[name])
		} else if before != is[name] {
			p.t.Errorf("%s: %s was\n%q and is\n%q", about, name, before, is[name])
		}
	}
	for name := range was {
		if _, there := is[name]; !there {
			p.t.Errorf("%s: %s is gone", about, name)
		}
	}
}

// settings are what people have in the files into which something is put, by format; %s is the key of the table.
var settings = map[editor.Format][]string{
	editor.JSON: {"", "{}", "{\n    \"a\":   [\"Bash(ls:*)\"]\n}\n", "{\r\n\t\"a\": 1,\r\n\t\"%s\": {\r\n\t\t\"x\": {}\r\n\t}\r\n}",
		"\uFEFF{\"a\": {\"b\": 1}}"},
	editor.JSONC: {"", "// mine\n", "{\n  // mine\n  \"a\": 1, // one\n  \"%s\": {\n    \"x\": {}, // two\n  },\n}\n"},
	editor.JSON5: {"", "// mine\n{\n  a: 'x', // y\n  %s: {},\n}\n"},
	editor.TOML: {"", "# mine\nmodel = \"m\"   # keep\n[projects.\"/a\"]\ntrust_level = \"trusted\"", "a = 1\r\n\r\n[%s.x]\r\ncommand = 'y'\r\n",
		"\uFEFFa = [1, # one\n  2,\n]\n"},
	editor.YAML: {"", "# mine\na: 1\n", "a: 1\r\n%s:\r\n  x: {b: 1} # c\r\nz: [1,\r\n  2]\r\n", "a: 1"},
}

// Every agent is set up beside whatever its person has, twice is nothing, and the way back leaves every byte and
// folder as it was; also from a run with another program between.
func TestThereAndBack(t *testing.T) {
	for _, name := range names() {
		for i := -1; i < 5; i++ {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				thereAndBack(t, name, i)
			})
		}
	}
}

// fill writes the i-th settings of each file of an agent into which something is put; every other behind a link.
func (p *person) fill(name string, i int) {
	p.t.Helper()
	r := p.begin()
	for k, target := range r.targets(name) {
		texts := settings[target.format]
		if target.whole != nil || i < 0 || i >= len(texts) {
			continue
		}
		text := texts[i]
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, target.puts[0].keys[0])
		}
		rel, _ := filepath.Rel(p.home, target.path)
		if k%2 == 0 && i == 2 {
			p.write("dotfiles/"+name+filepath.Base(rel), text)
			p.write(filepath.Join(filepath.Dir(rel), "other"), "x")
			to, _ := filepath.Rel(filepath.Dir(target.path), filepath.Join(p.home, "dotfiles", name+filepath.Base(rel)))
			if err := os.Symlink(to, target.path); err != nil {
				p.t.Fatal(err)
			}
			continue
		}
		p.write(rel, text)
	}
}

func (p *person) begin() *Run {
	r, err := Begin(p.t.Context(), p.o, false)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// targets are the files of an agent as they are wanted.
func (r *Run) targets(name string) []target { return targetsOf(name, r.place, r.shape()) }

func thereAndBack(t *testing.T, name string, i int) {
	p := newPerson(t, name)
	p.fill(name, i)
	was := p.tree()
	plan := p.install()
	if failed := plan.Failed(); len(failed) > 0 {
		t.Fatalf("refused: %+v", failed)
	}
	installed := p.tree()
	program := func() (n int) {
		for _, text := range p.tree() {
			n += strings.Count(text, "scrollback")
		}
		return n
	}
	if program() == 0 || !plan.Serves[name] {
		t.Fatalf("nothing names the program: %v", plan.Serves)
	}
	again := p.install()
	if !again.IsDone() {
		t.Errorf("the second run changes %+v", again.Actions)
	}
	p.same(installed, "a second time")
	p.o.Program = "/else where/scrollback"
	if moved := p.install(); moved.IsDone() || len(moved.Failed()) > 0 {
		t.Errorf("a moved program is not mended: %+v", moved.Actions)
	}
	for name, text := range p.tree() {
		if strings.Contains(text, "/opt/it") {
			t.Errorf("%s has the old program: %q", name, text)
		}
	}
	p.uninstall()
	p.same(was, "and back")
	if _, err := os.Stat(recordPath(p.o.Data)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the record is left: %v", err)
	}
	if again := p.uninstall(); !again.IsDone() {
		t.Errorf("the second uninstall changes %+v", again.Actions)
	}
}

// Without a record, or after others have changed the files, ours goes and theirs stays.
func TestWithoutRecord(t *testing.T) {
	for _, name := range names() {
		for i := -1; i < 5; i++ {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				p := newPerson(t, name)
				p.fill(name, i)
				was := p.tree()
				p.install()
				if err := os.Remove(recordPath(p.o.Data)); err != nil {
					t.Fatal(err)
				}
				p.o.Program = "/else/scrollback"
				if plan := p.install(); plan.IsDone() || len(plan.Failed()) > 0 {
					t.Fatalf("it is not recognised: %+v", plan)
				}
				if err := os.Remove(recordPath(p.o.Data)); err != nil {
					t.Fatal(err)
				}
				p.uninstall()
				for file, text := range p.tree() {
					if strings.Contains(text, "/else/scrollback") || strings.Contains(text, "/opt/it") {
						t.Errorf("%s still names the program: %q", file, text)
					}
				}
				for file, text := range was {
					is, there := p.tree()[file]
					if hooks := strings.HasSuffix(file, "hooks.json"); !hooks && (!there || len(is) > len(text)+60) {
						t.Errorf("%s was\n%q and is\n%q", file, text, is)
					}
				}
			})
		}
	}
}

// others is Codex' file of hooks with those of somebody else.
const others = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\", \"timeout\": 5}]}\n    ]\n  }\n}\n"

// Hooks of others stay, in their order, also if they come later; what they have added stays.
func TestHooksOfOthers(t *testing.T) {
	p := newPerson(t, agents.Codex)
	p.write(".codex/hooks.json", others)
	p.write(".codex/config.toml", "a = 1\n")
	was := p.tree()
	p.install()
	path := filepath.Join(p.home, ".codex", "hooks.json")
	text, _ := os.ReadFile(path)
	v, _, err := editor.Lookup(text, editor.JSON, "hooks", "SessionStart")
	items, _ := v.([]any)
	if err != nil || len(items) != 2 || !strings.Contains(fmt.Sprint(items[0]), "mine") {
		t.Fatalf("hooks are %s, %v", text, err)
	}
	p.uninstall()
	p.same(was, "and back")
	p.install()
	text, _ = os.ReadFile(path)
	c, err := editor.Append(text, editor.JSON, []string{"hooks", "SessionStart"},
		editor.Object{{Key: "hooks", Value: []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	p.write(".codex/hooks.json", string(c.Text))
	p.write(".codex/config.toml", "b = 2\n"+was[".codex/config.toml"][len("-rw-r----- "):]+
		"\n[mcp_servers.scrollback]\ncommand = \"/opt/it's a/scrollback\"\nargs = [\"mcp\"]\nenabled = true\n\n[z]\n")
	p.uninstall()
	text, _ = os.ReadFile(path)
	v, _, err = editor.Lookup(text, editor.JSON, "hooks")
	if err != nil || fmt.Sprint(v) != "map[SessionStart:[map[hooks:[map[command:mine timeout:5 type:command]]] map[hooks:[]]]]" {
		t.Errorf("hooks are %v\n%s, %v", v, text, err)
	}
	if text, _ := os.ReadFile(filepath.Join(p.home, ".codex", "config.toml")); string(text) != "b = 2\na = 1\n\n[z]\n" {
		t.Errorf("settings are %q", text)
	}
}

// A server that somebody else has written is kept, by install and by uninstall.
func TestServerOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text string }{
		{agents.Codex, ".codex/config.toml", "[mcp_servers.scrollback]\ncommand = \"scrollback\"\nargs = [\"mcp\"]\n"},
		{agents.ClaudeCode, ".claude.json", `{"mcpServers": {"scrollback": {"type": "stdio", "command": "scrollback", "args": ["mcp"]}}}`},
		{agents.GeminiCLI, ".gemini/settings.json", "{\n // mine\n \"mcpServers\": {\"scrollback\": {\"command\": \"/x/scrollback\", \"args\": []}}}"},
		{agents.QwenCode, ".qwen/settings.json", "{\"mcpServers\": {\"scrollback\": {}}}"},
		{agents.CopilotCLI, ".copilot/mcp-config.json", "{\"mcpServers\": {\"scrollback\": {\"url\": \"http://x\"}}}"},
	} {
		p := newPerson(t, c.name)
		p.write(c.file, c.text)
		was := p.tree()
		plan := p.install()
		if plan.Serves[c.name] || !plan.Calls[c.name] || !slices.Contains(plan.Foreign, c.name) {
			t.Errorf("%s: %+v", c.name, plan)
		}
		for file, text := range p.tree() {
			if strings.Contains(text, `"mcp"`) && file != filepath.FromSlash(c.file) {
				t.Errorf("%s: the server is named again in %s: %s", c.name, file, text)
			}
		}
		p.same(merge(p.tree(), was), c.name)
		if again := p.install(); !again.IsDone() {
			t.Errorf("%s: the second run changes %+v", c.name, again.Actions)
		}
		p.uninstall()
		p.same(was, c.name)
	}
}

func merge(under, over map[string]string) map[string]string {
	maps.Copy(under, over)
	return under
}

// What cannot be read or may not be written is refused with its line, stays, and holds up nobody else.
func TestRefused(t *testing.T) {
	p := newPerson(t, agents.Codex, agents.Crush, agents.ClaudeCode, agents.Zed)
	p.write(".codex/config.toml", "a = 1\na = 2\n")
	p.write(".config/crush/crush.json", "{\n  // mine\n}\n")
	p.write(".config/zed/settings.json", "{}")
	if err := os.Chmod(filepath.Join(p.home, ".config/zed/settings.json"), 0o444); err != nil {
		t.Fatal(err)
	}
	was := p.tree()
	plan := p.install()
	lines := map[string]int{}
	for _, a := range plan.Failed() {
		lines[a.Agent] = a.Line
		if a.Why == "" || a.Err == nil {
			t.Errorf("%+v has no reason", a)
		}
	}
	if fmt.Sprint(lines) != "map[codex:2 crush:2 zed:0]" || !plan.Serves[agents.ClaudeCode] {
		t.Errorf("refused are %v; %+v", lines, plan)
	}
	p.same(merge(p.tree(), was), "refused")
	p.uninstall()
	p.same(was, "and back")
}

// A file of ours that somebody changed stays when it is installed again, and goes when it is uninstalled. One that
// somebody else wrote in its place stays.
func TestOwnFilesOfOthers(t *testing.T) {
	p := newPerson(t, agents.Pi, agents.Opencode)
	p.write(".config/opencode/plugins/scrollback.js", "mine")
	was := p.tree()
	if plan := p.install(); plan.Serves[agents.Opencode] {
		t.Errorf("it is set up over somebody's file: %+v", plan)
	}
	p.write(".pi/agent/extensions/scrollback.ts", "changed")
	changed := p.tree()
	p.install()
	p.same(changed, "installed again")
	p.uninstall()
	p.same(was, "and back")
}

// A run may be killed before any write: files are whole, and a run after it, either way, ends as if nothing had been.
func TestKilledBetweenWrites(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	all := []string{agents.ClaudeCode, agents.Codex, agents.CopilotCLI, agents.OpenClaw}
	for _, first := range []func(r *Run) (*Plan, error){(*Run).Install, (*Run).Uninstall} {
		for at, more := 0, true; more; at++ {
			p := newPerson(t, all...)
			for _, name := range all {
				p.fill(name, 3)
			}
			was := p.tree()
			p.install()
			installed := p.tree()
			if at%2 == 0 {
				p.uninstall()
			} else {
				p.o.Program = "/moved/scrollback"
			}
			r, err := Begin(t.Context(), p.o, true)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := first(r)
			if err != nil {
				t.Fatal(err)
			}
			left := at / 2
			plan.step = func() error {
				if left--; left < 0 {
					return stopped
				}
				return nil
			}
			err = plan.Apply()
			if more = err != nil || at%2 == 0; err != nil && !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			if err := r.End(); err != nil {
				t.Fatal(err)
			}
			for _, a := range plan.Actions { // as if it had been killed within the next write
				if a.was.real != "" {
					_ = os.WriteFile(waiting(a.was.real), []byte("half"), 0o600)
				}
			}
			p.o.Program = "/opt/it's a/scrollback"
			if at%4 < 2 {
				p.install()
				p.same(installed, fmt.Sprint("installed after ", at))
			}
			p.uninstall()
			p.same(was, fmt.Sprint("uninstalled after ", at))
			if t.Failed() {
				return
			}
		}
	}
}

// Two at once end as one does.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t, names()...)
	for _, name := range names() {
		p.fill(name, 2)
	}
	was := p.tree()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			r, err := Begin(t.Context(), p.o, true)
			if err != nil {
				t.Error(err)
				return
			}
			plan, err := r.Install()
			if err == nil {
				err = plan.Apply()
			}
			if err := errors.Join(err, r.End()); err != nil || len(plan.Failed()) > 0 {
				t.Error(err, plan.Failed())
			}
		})
	}
	wait.Wait()
	if plan := p.install(); !plan.IsDone() {
		t.Errorf("something is left to be done: %+v", plan.Actions)
	}
	p.uninstall()
	p.same(was, "and back")
}

// Without hooks, or with an older Claude Code, other files are written; what the first run left over goes.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	p := newPerson(t, names()...)
	p.write(".claude/settings.json", "{\"a\": 1}\n")
	was := p.tree()
	p.install()
	p.o.Hooks = false
	if plan := p.install(); plan.IsDone() || len(plan.Calls) > 0 {
		t.Errorf("hooks: %v", plan.Calls)
	}
	for file, text := range p.tree() {
		if strings.Contains(text, "UserPromptSubmit") || strings.Contains(text, "const hooks = true") || strings.Contains(text, "BeforeAgent") {
			t.Errorf("%s calls hooks: %s", file, text)
		}
	}
	p.o.Hooks = true
	p.o.Old = true
	p.install()
	if text := p.tree()[filepath.FromSlash(".claude/settings.json")]; !strings.Contains(text, "SessionStart") ||
		p.tree()[filepath.FromSlash(".claude/skills/scrollback/.mcp.json")] != "" {
		t.Errorf("an old Claude Code has %s", text)
	}
	p.o.Old = false
	p.install()
	if text := p.tree()[filepath.FromSlash(".claude/settings.json")]; !strings.HasSuffix(text, " {\"a\": 1}\n") {
		t.Errorf("a new Claude Code has %s", text)
	}
	p.uninstall()
	p.same(was, "and back")
}

// Settings that a variable had elsewhere are found by the record.
func TestPlacesOfTheRecord(t *testing.T) {
	p := newPerson(t, agents.Codex, agents.ClaudeCode)
	p.write("elsewhere/config.toml", "# mine\n")
	was := p.tree()
	getenv := p.o.Machine.Getenv
	p.o.Machine.Getenv = func(name string) string {
		return map[string]string{"CODEX_HOME": filepath.Join(p.home, "elsewhere"),
			"CLAUDE_CONFIG_DIR": filepath.Join(p.home, "claude")}[name]
	}
	p.install()
	p.o.Machine.Getenv = getenv
	p.uninstall()
	p.same(was, "and back")
}

// Trust is written only if it is asked for, stays with what was trusted, and goes with it.
func TestTrust(t *testing.T) {
	t.Parallel()
	p := newPerson(t, agents.Codex)
	p.write(".codex/hooks.json", others)
	p.write(".codex/config.toml", "# mine\n")
	was := p.tree()
	trusted := func() int {
		return strings.Count(p.tree()[filepath.FromSlash(".codex/config.toml")], "trusted_hash")
	}
	p.install()
	if trusted() != 0 {
		t.Error("hooks are trusted without a word")
	}
	p.o.Trust = true
	p.install()
	if text := p.tree()[filepath.FromSlash(".codex/config.toml")]; trusted() != 2 || !strings.Contains(text, "hooks.json:session_start:1:0") {
		t.Errorf("settings are %s", text)
	}
	p.o.Trust = false
	if plan := p.install(); !plan.IsDone() || trusted() != 2 {
		t.Errorf("trust is lost by a run without it: %d, %+v", trusted(), plan.Actions)
	}
	p.o.Program = "/moved/scrollback"
	if p.install(); trusted() != 0 {
		t.Error("another program is trusted without a word")
	}
	p.o.Trust = true
	p.install()
	if err := os.Remove(recordPath(p.o.Data)); err != nil {
		t.Fatal(err)
	}
	p.uninstall()
	is := p.tree()
	if is[filepath.FromSlash(".codex/config.toml")] != was[filepath.FromSlash(".codex/config.toml")] {
		t.Errorf("settings are %q", is[filepath.FromSlash(".codex/config.toml")])
	}
}

// What OpenClaw has written of the plugin goes with it.
func TestLinkedPlugin(t *testing.T) {
	p := newPerson(t, agents.OpenClaw)
	p.write(".openclaw/openclaw.json", "{a: 1}")
	p.install()
	folder := OpenClawPlugin(p.o.Data)
	p.write(".openclaw/openclaw.json", `{"a": 1, "mcp": {"servers": {"scrollback": {"command": "/opt/it's a/scrollback",
  "args": ["mcp"]}}}, "plugins": {"load": {"paths": ["/mine", "`+folder+`"]},
  "entries": {"scrollback": {"enabled": true}, "mine": {}}}}`)
	p.uninstall()
	text, err := os.ReadFile(filepath.Join(p.home, ".openclaw", "openclaw.json"))
	want := "{\"a\": 1, \"plugins\": {\"load\": {\"paths\": [\"/mine\"]},\n  \"entries\": {\"mine\": {}}}}"
	if err != nil || string(text) != want {
		t.Errorf("settings are\n%s\nwant\n%s, %v", text, want, err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the plugin is left: %v", err)
	}
}
