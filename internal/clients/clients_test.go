package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clients"
)

const (
	address     = "http://127.0.0.1:7077"
	placeholder = "nothing"
)

// bench is a person's machine.
type bench struct {
	t    *testing.T
	home string
	env  map[string]string
	args []string
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, home: t.TempDir(), env: map[string]string{}}
}

// write writes a file of the home folder.
func (b *bench) write(name, text string) {
	b.t.Helper()
	name = filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) machine() clients.Machine {
	return clients.Machine{System: "linux", Home: b.home, Working: filepath.Join(b.home, "work"),
		Getenv: func(name string) string { return b.env[name] }}
}

// prepare returns what a client is started with. Its folder is gone when the test ends.
func (b *bench) prepare(name string) *clients.Launch {
	b.t.Helper()
	c, err := clients.Find(name)
	if err != nil {
		b.t.Fatal(err)
	}
	l := &clients.Launch{Machine: b.machine(), Address: address, Model: "offline", Placeholder: placeholder,
		Arguments: b.args}
	if err := c.Prepare(l); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.t.Error(err)
		}
		if l.Folder == "" {
			return
		}
		if _, err := os.Stat(l.Folder); !os.IsNotExist(err) {
			b.t.Errorf("%s is left: %v", l.Folder, err)
		}
	})
	if l.Folder != "" && strings.HasPrefix(l.Folder, b.home) {
		b.t.Errorf("%s is in the home folder", l.Folder)
	}
	return l
}

// Each client is led to the face that it speaks with, and gets a key only where it would not start without one.
func TestPrepare(t *testing.T) {
	for _, c := range []struct {
		about, client string
		env           map[string]string
		files         map[string]string
		args          []string
		set           map[string]string // "": it is not set
		before        []string
	}{
		{about: "nothing is set", client: "claude", set: map[string]string{"ANTHROPIC_BASE_URL": address,
			"ANTHROPIC_AUTH_TOKEN": placeholder, "ENABLE_TOOL_SEARCH": "true", "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"}},
		{about: "a key and preferences", client: "claude",
			env: map[string]string{"ANTHROPIC_API_KEY": "own", "ENABLE_TOOL_SEARCH": "false",
				"CLAUDE_CODE_GATEWAY_HINT_HEADERS": "0"},
			set: map[string]string{"ANTHROPIC_AUTH_TOKEN": "", "ENABLE_TOOL_SEARCH": "",
				"CLAUDE_CODE_GATEWAY_HINT_HEADERS": ""}},
		{about: "signed in", client: "claude", files: map[string]string{".claude/.credentials.json": "{}"},
			set: map[string]string{"ANTHROPIC_AUTH_TOKEN": ""}},
		{about: "signed in elsewhere", client: "claude",
			files: map[string]string{".claude.json": `{"oauthAccount": {"accountUuid": "x"}}`},
			set:   map[string]string{"ANTHROPIC_AUTH_TOKEN": ""}},
		{about: "an address of its own", client: "claude",
			files:  map[string]string{".claude/settings.json": `{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}`},
			before: []string{"--settings", `{"env":{"ANTHROPIC_BASE_URL":"` + address + `"}}`}},
		{about: "an address of its own, and settings that are given", client: "claude", args: []string{"--settings=x.json"},
			files: map[string]string{".claude/settings.json": `{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}`},
			set:   map[string]string{"CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST": "1"}},
		{about: "nothing is set", client: "codex", before: []string{"-c", `model_provider="scrollback"`, "-c",
			`model_providers.scrollback={name="scrollback",wire_api="responses",supports_websockets=true,base_url="` +
				address + `/v1"}`}, set: map[string]string{"OPENAI_API_KEY": "", "CODEX_API_KEY": ""}},
		{about: "a key", client: "codex", env: map[string]string{"CODEX_API_KEY": "own"},
			before: []string{"-c", `openai_base_url="` + address + `/v1"`}},
		{about: "signed in", client: "codex", files: map[string]string{".codex/auth.json": "{}"},
			before: []string{"-c", `openai_base_url="` + address + `/v1"`}},
		{about: "another provider", client: "codex",
			files:  map[string]string{".codex/config.toml": "model_provider = \"mine\"\n[model_providers.mine]\n"},
			before: []string{"-c", `model_providers.mine.base_url="` + address + `/v1"`}},
		{about: "the provider of a profile", client: "codex", files: map[string]string{".codex/auth.json": "{}",
			".codex/config.toml": "profile = \"p\"\nmodel_provider = \"mine\"\n[profiles.p]\nmodel_provider = \"openai\"\n"},
			before: []string{"-c", `openai_base_url="` + address + `/v1"`}},
		{about: "a key is chosen", client: "gemini",
			files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
			set:   map[string]string{"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": "", "GEMINI_CLI_HOME": ""}},
		{about: "a key in a file", client: "gemini", files: map[string]string{".gemini/.env": "export GEMINI_API_KEY=own\n"},
			set: map[string]string{"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": ""}},
		{about: "a key in the project's file", client: "gemini", files: map[string]string{".env": "GEMINI_API_KEY=own\n"},
			set: map[string]string{"GEMINI_API_KEY": ""}},
		{about: "nothing is set", client: "gemini", files: map[string]string{".gemini/.env": "# GEMINI_API_KEY=own\n"},
			set: map[string]string{"GEMINI_API_KEY": placeholder}},
		{about: "nothing is set", client: "qwen", set: map[string]string{"OPENAI_API_KEY": placeholder,
			"OPENAI_BASE_URL": address + "/v1", "OPENAI_MODEL": "offline"},
			before: []string{"--auth-type", "openai", "--openai-base-url", address + "/v1"}},
		{about: "a model, a key and flags", client: "qwen", args: []string{"--auth-type=openai"},
			files: map[string]string{".qwen/settings.json": `{"model": {"name": "m"}, // mine
				"env": {"OPENAI_API_KEY": "own"}}`},
			set: map[string]string{"OPENAI_API_KEY": "", "OPENAI_MODEL": ""}, before: []string{"--openai-base-url",
				address + "/v1"}},
		{about: "nothing is set", client: "copilot", set: map[string]string{"COPILOT_PROVIDER_BASE_URL": address + "/v1",
			"COPILOT_MODEL": "offline", "COPILOT_PROVIDER_API_KEY": ""}},
		{about: "a model", client: "copilot", env: map[string]string{"COPILOT_MODEL": "m"},
			set: map[string]string{"COPILOT_MODEL": ""}},
		{about: "its configuration is given", client: "continue", args: []string{"--config", "c.yaml"}},
		{about: "a provider is given", client: "cline", args: []string{"-P", "anthropic"}},
		{about: "no proxy for anything", client: "copilot", env: map[string]string{"NO_PROXY": "*"},
			set: map[string]string{"NO_PROXY": "*", "no_proxy": "*"}},
		{about: "some in small letters", client: "copilot", env: map[string]string{"no_proxy": "a.example, localhost"},
			set: map[string]string{"NO_PROXY": "a.example,localhost,127.0.0.1,::1"}},
	} {
		t.Run(c.client+", "+c.about, func(t *testing.T) {
			b := newBench(t)
			b.args = c.args
			if c.env != nil {
				b.env = c.env
			}
			for name, text := range c.files {
				b.write(name, text)
			}
			l := b.prepare(c.client)
			for name, want := range c.set {
				if got := l.Set[name]; got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if c.before != nil && !slices.Equal(l.Before, c.before) || c.before == nil && len(c.args) > 0 && len(l.Before) > 0 {
				t.Errorf("before its arguments come %q, want %q", l.Before, c.before)
			}
		})
	}
}

// opencode gets its settings by a variable: those of the person stay in it, and a model is chosen only for somebody who
// has none, nor a key.
func TestPrepareOpencode(t *testing.T) {
	type settings struct {
		Model    string
		Theme    string
		Provider map[string]struct {
			Options struct{ BaseURL, APIKey, Timeout string }
		}
	}
	read := func(b *bench) (s settings) {
		t.Helper()
		if err := json.Unmarshal([]byte(b.prepare("opencode").Set["OPENCODE_CONFIG_CONTENT"]), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	b := newBench(t)
	b.env["OPENCODE_CONFIG_CONTENT"] = `{"theme": "dark", "provider": {"openai": {"options": {"timeout": "9"}}}}`
	s := read(b)
	if s.Model != "scrollback/offline" || s.Theme != "dark" || s.Provider["openai"].Options.Timeout != "9" ||
		s.Provider["openai"].Options.BaseURL != address+"/v1" || s.Provider["google"].Options.BaseURL != address+"/v1beta" ||
		s.Provider["anthropic"].Options.BaseURL != address+"/v1" || s.Provider["scrollback"].Options.APIKey != placeholder {
		t.Errorf("it is %+v", s)
	}
	for _, has := range []func(b *bench){
		func(b *bench) { b.write(".local/share/opencode/auth.json", "{}") },
		func(b *bench) { b.env["ANTHROPIC_API_KEY"] = "own" },
		func(b *bench) { b.write(".config/opencode/opencode.jsonc", "{\"model\": \"openai/x\"} // mine\n") },
	} {
		b := newBench(t)
		if has(b); read(b).Model != "" {
			t.Error("a model is chosen for somebody who has one, or a key")
		}
	}
}

// Programs that read files get them from a folder of the launch.
func TestPrepareFiles(t *testing.T) {
	for name, file := range map[string]func(l *clients.Launch) string{
		"pi":       func(l *clients.Launch) string { return l.Before[1] },
		"cline":    func(l *clients.Launch) string { return l.Set["CLINE_PROVIDER_SETTINGS_PATH"] },
		"continue": func(l *clients.Launch) string { return l.Before[1] },
	} {
		l := newBench(t).prepare(name)
		text, err := os.ReadFile(file(l))
		if err != nil || !strings.Contains(string(text), address+"/v1") || !strings.Contains(string(text), placeholder) {
			t.Errorf("%s reads %q, %v", name, text, err)
		}
		if filepath.Dir(file(l)) != l.Folder {
			t.Errorf("%s is not in %s", file(l), l.Folder)
		}
	}
}

// Gemini CLI's own folder is stood in for: what was there is there, its settings choose the key, and what it makes or
// replaces is in the person's folder afterwards, but for those settings.
func TestStandIn(t *testing.T) {
	const own = `{"security": {"auth": {"selectedType": "oauth-personal"}}, "ui": {"theme": "mine"}}`
	b := newBench(t)
	b.write(".gemini/settings.json", own)
	b.write(".gemini/projects.json", "old")
	b.write(".gemini/tmp/session", "first")
	c, err := clients.Find("gemini-cli")
	if err != nil {
		t.Fatal(err)
	}
	l := &clients.Launch{Machine: b.machine(), Address: address, Placeholder: placeholder}
	if err := c.Prepare(l); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(l.Set["GEMINI_CLI_HOME"], ".gemini")
	settings, err := os.ReadFile(filepath.Join(in, "settings.json"))
	if err != nil || string(settings) != `{"security":{"auth":{"selectedType":"gemini-api-key"}},"ui":{"theme":"mine"}}` {
		t.Errorf("its settings are %s, %v", settings, err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(in, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		beside := filepath.Join(in, name) + ".new"
		if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(beside, filepath.Join(in, name)); err != nil {
			t.Fatal(err)
		}
	}
	put("tmp/second", "second")
	put("projects.json", "new")
	put("history/deep/file", "third")
	put("settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"settings.json": own, "projects.json": "new", "tmp/session": "first",
		"tmp/second": "second", "history/deep/file": "third"} {
		if got, err := os.ReadFile(filepath.Join(b.home, ".gemini", name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(l.Folder); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", l.Folder, err)
	}
}

// Every client can be found by all its names, and nobody else is.
func TestFind(t *testing.T) {
	for alias, name := range map[string]string{"claude": "claude-code", "claude-code": "claude-code",
		"gemini": "gemini-cli", "cn": "continue", "qwen": "qwen-code", "copilot": "copilot-cli"} {
		if c, err := clients.Find(alias); err != nil || c.Name != name {
			t.Errorf("%s is %s, %v", alias, c.Name, err)
		}
	}
	if _, err := clients.Find("emacs"); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("emacs: %v", err)
	}
}

// Settings that point at a server of this machine are found wherever they may stand, and nothing else is.
func TestFindPointers(t *testing.T) {
	b := newBench(t)
	b.env["COPILOT_PROVIDER_BASE_URL"] = "http://[::1]:7077/v1"
	b.env["XDG_CONFIG_HOME"] = filepath.Join(b.home, "conf")
	b.write(".claude/settings.json", "{\"env\": {\n\"ANTHROPIC_BASE_URL\": \"http://localhost:7077\",\n\"K\": \"SECRET\"}}")
	b.write("work/.claude/settings.local.json", `{"env":{"A":"SECRET","ANTHROPIC_BASE_URL":"http://127.0.0.1:1/"}}`)
	b.write(".codex/config.toml", "# openai_base_url = \"http://127.0.0.1:2/v1\"\n[model_providers.x]\n"+
		"base_url = 'http://10.1.1.1:7077/v1'\n[mcp_servers.s]\nurl = \"http://127.0.0.1:7077/mcp\"\n")
	b.write(".gemini/.env", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.2:7077\nGEMINI_API_KEY=SECRET\n")
	b.write("conf/opencode/opencode.json", `{"provider":{"x":{"options":{"baseURL":"http://127.0.0.1:3/v1"}},
		// "y": {"options": {"baseURL": "http://127.0.0.1:4/v1"}}
		"z":{"options":{"baseURL":"https://api.example.org/v1"}}}}`)
	b.write(".pi/agent/models.json", `{"providers": {"anthropic": {"baseUrl": "http://0.0.0.0:5"}}}`)
	b.write(".cline/data/settings/providers.json", `{"baseUrl": "http://127.0.0.1:6/v1"}`)
	b.write(".continue/config.yaml", "models:\n  - apiBase: http://127.0.0.1:7/v1\n")
	b.write(".bashrc", "export ANTHROPIC_BASE_URL=https://api.anthropic.com\nexport OPENAI_BASE_URL='http://me:SECRET@127.0.0.1:8/v1' X=SECRET\n"+
		"  # export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nMY_ANTHROPIC_BASE_URL=http://127.0.0.1:9\n")
	b.write("conf/fish/config.fish", "set -gx ANTHROPIC_BASE_URL http://127.0.0.1:10\n")
	b.write(".zshrc", "typeset -x ANTHROPIC_BASE_URL=\"http://127.0.0.1:11\"\n")
	var got []string
	all := clients.FindPointers(b.machine(), "10.1.1.1:7077")
	for _, p := range all.Found {
		file, _ := filepath.Rel(b.home, p.File)
		got = append(got, strings.Join([]string{p.Client, p.Setting, p.Address, file, strings.Repeat("i", p.Line)}, " "))
		if strings.Contains(p.Text, "SECRET") || strings.Contains(p.Address, "SECRET") {
			t.Errorf("it shows %q at %q", p.Text, p.Address)
		}
	}
	want := []string{
		"claude-code ANTHROPIC_BASE_URL http://localhost:7077 .claude/settings.json ii",
		"claude-code ANTHROPIC_BASE_URL http://127.0.0.1:1 work/.claude/settings.local.json i",
		"codex base_url http://10.1.1.1:7077 .codex/config.toml iii",
		"gemini-cli GOOGLE_GEMINI_BASE_URL http://127.0.0.2:7077 .gemini/.env i",
		"opencode baseURL http://127.0.0.1:3 conf/opencode/opencode.json i",
		"pi baseUrl http://0.0.0.0:5 .pi/agent/models.json i",
		"copilot-cli COPILOT_PROVIDER_BASE_URL http://[::1]:7077  ",
		"cline baseUrl http://127.0.0.1:6 .cline/data/settings/providers.json i",
		"continue apiBase http://127.0.0.1:7 .continue/config.yaml ii",
		"qwen-code OPENAI_BASE_URL http://127.0.0.1:8 .bashrc ii",
		"claude-code ANTHROPIC_BASE_URL http://127.0.0.1:11 .zshrc i",
		"claude-code ANTHROPIC_BASE_URL http://127.0.0.1:10 conf/fish/config.fish i",
	}
	if !slices.Equal(got, want) || len(all.Problems) > 0 {
		t.Errorf("found are\n%s\nwant\n%s\nproblems %v", strings.Join(got, "\n"), strings.Join(want, "\n"), all.Problems)
	}
}

// A file that may not be read is named, and the rest is looked at.
func TestFindPointersUnreadable(t *testing.T) {
	b := newBench(t)
	b.write(".bashrc/inside", "")
	b.write(".zshrc", "export ANTHROPIC_BASE_URL=http://127.0.0.1:1\n")
	all := clients.FindPointers(b.machine(), "")
	if len(all.Found) != 1 || len(all.Problems) != 1 || filepath.Base(all.Problems[0].File) != ".bashrc" {
		t.Errorf("found are %v, problems %v", all.Found, all.Problems)
	}
}
