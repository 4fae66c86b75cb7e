package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
)

// typescript finds the types in pi's plugin, which an older node does not read.
var typescript = regexp.MustCompile(`([\w)])\??: ` +
	`(?:string|boolean|object|any|unknown|Promise<string>)(?:\[\])?(?: \| undefined)?`)

// pluginFiles are the modules that install writes, with what was recorded of their agents.
var pluginFiles = []struct{ agent, file, shape, session string }{
	{"opencode", ".config/opencode/plugins/scrollback.js", "opencode-plugin", "ses_de617df65ffeuCRsQ83izHUXlB"},
	{"kilo", ".config/kilo/plugins/scrollback.js", "kilo-plugin", "ses_de616c2fdffercOQDZIsM3JvP2"},
	{"pi", ".pi/agent/extensions/scrollback.ts", "pi-extension", "UUID"},
	{"cline", ".cline/plugins/scrollback.js", "cline-cli-plugin", "conv_1795732104181_1p592r0"},
	{"openclaw", "agents/openclaw/index.js", "openclaw-plugin", "s1"},
}

// pluginSaid is what a plugin made of what was recorded, as host.mjs prints it.
type pluginSaid map[string]json.RawMessage

// has checks that a result holds texts, or with none that there is no text in it.
func (s pluginSaid) has(t *testing.T, agent, what string, texts ...string) {
	t.Helper()
	raw := string(s[what])
	for _, text := range texts {
		if strings.Count(raw, text) != 1 {
			t.Errorf("%s, %s: %q is not there once: %s", agent, what, text, raw)
		}
	}
	if len(texts) == 0 && strings.Contains(raw, "installed by this user") {
		t.Errorf("%s, %s: something is told: %s", agent, what, raw)
	}
}

// runPlugin runs a plugin that install has written, in the stand-in for its agent.
func (h *hooked) runPlugin(agent, file, shape string) pluginSaid {
	h.Helper()
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("SCROLLBACK_REQUIRE_SERVICES") == "" {
		h.Skip("node is not installed")
	} else if err != nil {
		h.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join("testdata", "hooks", shape+".in.json"))
	if err != nil {
		h.Fatal(err)
	}
	text := strings.ReplaceAll(string(recorded), "/home/me/shop", filepath.ToSlash(h.shop))
	text = regexp.MustCompile(`Say hello\. Marker \w+\.`).ReplaceAllString(text, hookPrompt)
	shape = filepath.Join(h.TempDir(), "shape.json")
	write(h.T, shape, []byte(text))
	path := filepath.Join(h.home, filepath.FromSlash(file))
	if agent == "openclaw" {
		path = filepath.Join(h.data, filepath.FromSlash(file))
	}
	module, err := os.ReadFile(path)
	if err != nil {
		h.Fatal(err)
	}
	if strings.HasSuffix(file, ".ts") {
		module = typescript.ReplaceAll(module, []byte("$1"))
	}
	path = filepath.Join(h.TempDir(), "plugin.mjs")
	write(h.T, path, module)
	cmd := exec.CommandContext(h.Context(), node, filepath.Join("testdata", "hooks", "host.mjs"), agent, path, shape)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	said := pluginSaid{}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil || errs.Len() > 0 {
		h.Fatalf("%s: %v\n%s\n%s", agent, err, out, errs.String())
	}
	return said
}

func (h *hooked) install(more ...string) {
	h.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"install", "--here", "--agent", "opencode,kilo,pi,cline,openclaw"}, more...)
	if code := runProgram(h.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		h.Fatalf("install: %d\n%s%s", code, out.String(), errs.String())
	}
}

// The plugins that install writes hand in what the real agents give them, and pass on what they are told: once, at its
// place, and not in what agents do among themselves.
func TestPlugins(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	h.install()
	const sentence = "Keep names, numbers, paths and decisions word for word."
	for _, p := range pluginFiles {
		said := h.runPlugin(p.agent, p.file, p.shape)
		said.has(t, p.agent, "first", hookFact, hookOpen)
		said.has(t, p.agent, "child")
		switch p.agent {
		case "opencode", "kilo":
			said.has(t, p.agent, "again")
			said.has(t, p.agent, "resumed", hookFact)
			said.has(t, p.agent, "compacting", sentence)
			said.has(t, p.agent, "compacted", hookFact)
			var parts []struct {
				ID, SessionID, MessageID, Type string
				Synthetic                      bool
			}
			if err := json.Unmarshal(said["first"], &parts); err != nil || len(parts) != 1 || !parts[0].Synthetic ||
				parts[0].Type != "text" || !strings.HasPrefix(parts[0].ID, "prt_") || parts[0].SessionID != p.session ||
				!strings.HasPrefix(parts[0].MessageID, "msg_") {
				t.Errorf("%s: the part is %s, %v", p.agent, said["first"], err)
			}
			if string(said["kept"]) != `"http://x"` || !strings.Contains(string(said["mcp"]), `"mcp"`) {
				t.Errorf("%s: servers are %s, a person's is %s", p.agent, said["mcp"], said["kept"])
			}
		case "pi":
			said.has(t, p.agent, "again")
			said.has(t, p.agent, "custom")
			said.has(t, p.agent, "resumed", hookFact)
			said.has(t, p.agent, "compacted", hookFact)
			if first := string(said["first"]); !strings.Contains(first, `"customType":"scrollback"`) ||
				!strings.Contains(first, `"display":false`) || !strings.Contains(string(said["mcp"]), `"args":["mcp"`) {
				t.Errorf("pi gets %s, and the servers %s", first, said["mcp"])
			}
		case "cline":
			if string(said["again"]) != string(said["first"]) || len(said["first"]) == 0 {
				t.Errorf("cline is told otherwise in its next request: %s, before %s", said["again"], said["first"])
			}
			said.has(t, p.agent, "result", hookFact, hookOpen)
		case "openclaw":
			var first, again map[string]string
			if err := json.Unmarshal(said["first"], &first); err != nil || !strings.Contains(first["appendContext"], hookFact) ||
				!strings.Contains(first["appendSystemContext"], hookOpen) {
				t.Errorf("openclaw gets %s, %v", said["first"], err)
			}
			if err := json.Unmarshal(said["again"], &again); err != nil ||
				again["appendSystemContext"] != first["appendSystemContext"] || again["appendContext"] != "" {
				t.Errorf("openclaw gets %s again, %v", said["again"], err)
			}
			if n := strings.Count(string(said["compacted"]), hookFact); n != 1 {
				t.Errorf("openclaw gets %s after its compaction", said["compacted"])
			}
			if strings.Contains(string(said["restarted"]), hookOpen) {
				t.Errorf("a session that goes on is told of a start that it did not have: %s", said["restarted"])
			}
			said.has(t, p.agent, "timer")
			said.has(t, p.agent, "nothing")
		}
		h.listed(p.agent, p.session)
	}
}

// listed checks what the hooks of an agent have noted: each event of the session in its folder, and a stop.
func (h *hooked) listed(agent, session string) {
	h.Helper()
	l, err := ledger.Open(h.Context(), h.data)
	if err != nil {
		h.Fatal(err)
	}
	defer l.Close()
	rows, err := l.List(h.Context(), 1000)
	if err != nil {
		h.Fatal(err)
	}
	var events []string
	for _, r := range rows {
		switch {
		case r.Agent != agent:
		case r.Folder != h.shop:
			h.Errorf("%s works in %q: %+v", agent, r.Folder, r)
		case r.Session == session && !slices.Contains(events, r.Event):
			events = append(events, r.Event)
		case strings.Contains(r.Session, "child"):
			h.Errorf("%s asks for what another works for: %+v", agent, r)
		}
	}
	slices.Sort(events)
	want := "pre-compact prompt session-start stop"
	if agent == "pi" || agent == "cline" || agent == "openclaw" {
		want = "prompt session-start stop"
	}
	if got := strings.Join(events, " "); got != want {
		h.Errorf("%s: the hooks noted %q, want %q", agent, got, want)
	}
}

// A plugin whose program is gone, does not start, or prints nonsense, says nothing and holds nobody up; one that is to
// call no hooks calls none.
func TestPluginsWithoutProgram(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	h.install()
	called := regexp.MustCompile(`(?m)^(const program(?:: string)? = ).*;$`)
	odd := filepath.Join(t.TempDir(), "scrollback")
	for what, program := range map[string]string{"gone": "", "no program": "text\n",
		"nonsense":  "#!/bin/sh\necho nonsense\n",
		"a failure": "#!/bin/sh\necho '{\"text\":\"installed by this user\"}'\nexit 3\n",
		"a list":    "#!/bin/sh\necho '[1]'\n"} {
		_ = os.Remove(odd)
		if program != "" {
			if err := os.WriteFile(odd, []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range pluginFiles {
			path := filepath.Join(h.home, filepath.FromSlash(p.file))
			if p.agent == "openclaw" {
				path = filepath.Join(h.data, filepath.FromSlash(p.file))
			}
			whole, err := os.ReadFile(path)
			if err != nil || !called.Match(whole) {
				t.Fatalf("%s calls no program: %v", path, err)
			}
			write(t, path, called.ReplaceAll(whole, fmt.Appendf(nil, "${1}%q;", odd)))
			for name, raw := range h.runPlugin(p.agent, p.file, p.shape) {
				if strings.Contains(string(raw), "installed by this user") || strings.Contains(string(raw), "nonsense") {
					t.Errorf("%s, %s: %s is %s", p.agent, what, name, raw)
				}
			}
			write(t, path, whole)
		}
	}
	h.install("--no-hooks")
	for _, p := range pluginFiles[:3] {
		if said := h.runPlugin(p.agent, p.file, p.shape); said["first"] != nil || said["mcp"] == nil {
			t.Errorf("%s without hooks: %v", p.agent, said)
		}
	}
}
