package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/hook/stopped"
)

// hooked is a person whose sessions of Claude Code were imported.
type hooked struct {
	*testing.T
	home, data, shop string
}

const (
	hookPrompt = "What did we decide about the harbour crane lease?"
	hookFact   = "The harbour crane lease ends 2027-03-01; the renewal was declined because the hire price doubled."
	hookOpen   = "Please find out which insurer covers the harbour crane after March."
)

func newHooked(t *testing.T) *hooked {
	t.Helper()
	h := &hooked{t, t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "shop")}
	t.Setenv("HOME", h.home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CLAUDE_CODE_ENTRYPOINT", "")
	t.Setenv("SCROLLBACK_DATA", h.data)
	t.Setenv("SCROLLBACK_HOOKS", "")
	t.Setenv(asProgram, "1")                // what a stop starts
	t.Setenv("SCROLLBACK_HOOK_TIME", "20s") // the machine may be busy
	if err := os.MkdirAll(filepath.Join(h.shop, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.shop, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// watched says that what agents keep is followed, so that a stop imports nothing behind the test's back.
func (h *hooked) watched() {
	h.Helper()
	release, err := stopped.HoldWatch(h.data)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(release)
}

// session writes a session of Claude Code that was held some time ago: lines of the person and the model by turns.
func (h *hooked) session(id, folder string, ago time.Duration, lines ...string) {
	h.Helper()
	var b strings.Builder
	at := time.Now().Add(-ago).UTC()
	parent := "null"
	for i, text := range lines {
		uuid := fmt.Sprintf("%s-%012d", id[:23], i+1)
		at = at.Add(10 * time.Second)
		message := fmt.Sprintf(`{"role":"user","content":%q}`, text)
		kind := "user"
		if i%2 == 1 {
			kind = "assistant"
			message = fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5",`+
				`"content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, i, text)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":%q,"sessionId":%q,"version":"2.1.332",`+
			`"gitBranch":"main","type":%q,"uuid":%q,"timestamp":%q,"message":%s}`+"\n", parent, folder, id, kind, uuid,
			at.Format("2006-01-02T15:04:05.000Z"), message)
		parent = fmt.Sprintf("%q", uuid)
	}
	name := filepath.Join(h.home, ".claude", "projects", "-shop", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		h.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		h.Fatal(err)
	}
}

// remember imports two sessions that were held in the shop.
func (h *hooked) remember() {
	h.Helper()
	h.session("00000001-0000-4000-8000-000000000000", h.shop, 50*time.Hour, "When does the harbour crane lease end, and is it renewed?",
		hookFact, "Thanks.", "You are welcome.")
	h.session("00000002-0000-4000-8000-000000000000", h.shop, 48*time.Hour, "Which colour has the ledger's cover?",
		"It is green, like all ledgers of the harbour office.", hookOpen)
	h.imports()
}

func (h *hooked) imports() {
	h.Helper()
	var out, errs bytes.Buffer
	args := []string{"import", "--from", "claude-code"}
	if code := runProgram(h.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		h.Fatalf("import: %d\n%s%s", code, out.String(), errs.String())
	}
}

// ask runs a hook whose standard input stays open behind what is handed in, and returns what it prints.
func (h *hooked) ask(event, agent string, fields map[string]any) string {
	h.Helper()
	raw, err := json.Marshal(fields)
	if err != nil {
		h.Fatal(err)
	}
	return h.askRaw(event, agent, string(raw))
}

func (h *hooked) askRaw(event, agent, raw string) string {
	h.Helper()
	r, w := io.Pipe()
	h.Cleanup(func() { _ = w.Close() })
	go func() { _, _ = io.WriteString(w, raw) }() // and it stays open
	var out, errs bytes.Buffer
	args := []string{"hook", event, "--agent", agent}
	if code := runProgram(context.WithoutCancel(h.Context()), args, r, &out, &errs); code != 0 || errs.Len() > 0 {
		h.Fatalf("hook %s --agent %s ended with %d: %s", event, agent, code, errs.String())
	}
	return out.String()
}

// textIn returns the text for the model that a value of JSON holds.
func textIn(t *testing.T, out string) string {
	t.Helper()
	var o struct {
		Specific struct {
			Event string `json:"hookEventName"`
			Text  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
		Context string `json:"additionalContext"`
		Text    string `json:"text"`
	}
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return o.Specific.Text + o.Text
}

// hookEvents are the events by the names that agents have for them; others are not ours.
var hookEvents = map[string]string{"SessionStart": "session-start", "sessionStart": "session-start", "UserPromptSubmit": "prompt",
	"BeforeAgent": "prompt", "userPromptSubmitted": "prompt", "PreCompact": "pre-compact", "preCompact": "pre-compact",
	"Stop": "stop", "agentStop": "stop", "AfterAgent": "stop", "SubagentStart": "session-start", "SubagentStop": "stop"}

// What real agents hand in is answered in their own form, or by nothing.
func TestHookShapes(t *testing.T) {
	const start, prompt, sentence, silent = "start", "prompt", "sentence", ""
	for _, c := range []struct {
		file, agent string
		want        map[string]string // by the recorded event; what is not named is silent
	}{
		{"claude-code", "claude-code", map[string]string{"SessionStart source=startup": start, "UserPromptSubmit": prompt,
			"PreCompact trigger=auto": sentence}},
		{"claude-code-tui", "claude", map[string]string{"SessionStart source=startup": start, "UserPromptSubmit": prompt,
			"SessionStart source=clear": start, "PreCompact trigger=manual": sentence}},
		{"codex", "codex", map[string]string{"SessionStart source=startup": start, "UserPromptSubmit": prompt}},
		{"gemini-cli", "gemini", map[string]string{"SessionStart source=startup": start, "BeforeAgent": prompt}},
		{"qwen-code", "qwen-code", map[string]string{"SessionStart source=startup": start, "UserPromptSubmit": prompt,
			"SessionStart source=clear": start, "PreCompact trigger=manual": sentence}},
		{"copilot-cli-camel", "copilot", map[string]string{"sessionStart source=new": start, "userPromptSubmitted": prompt}},
		{"copilot-cli-pascal", "copilot-cli", map[string]string{"SessionStart source=new": start, "UserPromptSubmit": prompt}},
	} {
		t.Run(c.file, func(t *testing.T) {
			h := newHooked(t)
			h.watched()
			h.remember()
			raw, err := os.ReadFile(filepath.Join("testdata", "hooks", c.file+".in.json"))
			if err != nil {
				t.Fatal(err)
			}
			var shape struct {
				Stdin map[string]json.RawMessage `json:"stdin"`
			}
			if err := json.Unmarshal(raw, &shape); err != nil {
				t.Fatal(err)
			}
			asked := 0
			for name, in := range shape.Stdin {
				word, _, _ := strings.Cut(name, " ")
				event := hookEvents[word]
				if event == "" {
					continue
				}
				asked++
				text := strings.NewReplacer("/home/me/shop", filepath.ToSlash(h.shop), "UUID", "s-"+c.file+fmt.Sprint(asked),
					"Delegate. ", hookPrompt, "Say hello from the TUI.", hookPrompt, "Say hello.", hookPrompt, "Marker", "").Replace(string(in))
				out := h.askRaw(event, c.agent, text)
				want := c.want[name]
				switch want {
				case silent:
					if out != "" {
						t.Errorf("%s is answered by %s", name, out)
					}
				case sentence:
					if !strings.Contains(out, "Keep names, numbers, paths and decisions word for word.") {
						t.Errorf("%s is answered by %q", name, out)
					}
				default:
					fact := hookFact
					if want == start {
						fact = hookOpen
					}
					if strings.Count(textIn(t, out), fact) != 1 {
						t.Errorf("%s is answered by %s", name, out)
					}
				}
			}
			if asked == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}

// The envelopes are those of testdata/hooks/outputs.json.
func TestHookEnvelopes(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "hooks", "outputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var outputs map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &outputs); err != nil {
		t.Fatal(err)
	}
	for agent, events := range outputs {
		for _, event := range []string{"session-start", "prompt"} {
			var said struct {
				Stdout json.RawMessage `json:"stdout"`
			}
			if json.Unmarshal(events[event], &said) != nil || !bytes.HasPrefix(said.Stdout, []byte("{")) ||
				agent == "vs-code" || agent == "antigravity-cli" || agent == "hermes" { // which are not in the table of agents
				continue
			}
			h := newHooked(t)
			h.remember()
			out := h.ask(event, agent, map[string]any{"session_id": "s", "cwd": h.shop, "source": "startup", "prompt": hookPrompt})
			var got, want map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Errorf("%s at %s: %v in %q", agent, event, err, out)
				continue
			}
			blank := func(v any) {
				for key, value := range v.(map[string]any) {
					if text, ok := value.(string); ok && strings.HasPrefix(text, "scrollback, installed by this user,") {
						v.(map[string]any)[key] = "TEXT"
					}
				}
			}
			blank(got)
			if inner, ok := got["hookSpecificOutput"].(map[string]any); ok {
				blank(inner)
			}
			delete(got, "systemMessage") // for people
			if agent == "copilot-cli" {
				delete(got, "hookSpecificOutput") // for VS Code, which reads the same file
			}
			if err := json.Unmarshal(said.Stdout, &want); err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprint(got), fmt.Sprint(want); a != b {
				t.Errorf("%s at %s: %s, want %s", agent, event, a, b)
			}
		}
	}
}

// What must not be answered is not: other people's words, commands, sub-agents, repeats, other places.
func TestHookSilence(t *testing.T) {
	h := newHooked(t)
	h.remember()
	n := 0
	ask := func(fields map[string]any) string {
		n++
		all := map[string]any{"session_id": fmt.Sprint("s", n), "cwd": h.shop, "prompt": hookPrompt}
		for k, v := range fields {
			all[k] = v
		}
		return h.ask("prompt", "codex", all)
	}
	if out := ask(nil); !strings.Contains(out, "2027-03-01") {
		t.Fatalf("the prompt is answered by %q", out)
	}
	for name, fields := range map[string]map[string]any{
		"an empty prompt":        {"prompt": ""},
		"a notice":               {"prompt": "<task-notification>" + hookPrompt + "</task-notification>"},
		"a command":              {"prompt": "/compact " + hookPrompt},
		"a shell line":           {"prompt": "!" + hookPrompt},
		"a memory":               {"prompt": "#" + hookPrompt},
		"a short prompt":         {"prompt": "crane?"},
		"a sub-agent":            {"agent_id": "a1"},
		"somebody's agent":       {"parent_agent_id": "a1"},
		"another folder":         {"cwd": filepath.Dir(h.shop)},
		"no folder":              {"cwd": ""},
		"no session":             {"session_id": ""},
		"the session itself":     {"session_id": "00000001-0000-4000-8000-000000000000"},
		"a prompt that is a map": {"prompt": map[string]any{"text": hookPrompt}},
	} {
		agent := "codex"
		if name == "the session itself" {
			agent = "claude-code"
		}
		all := map[string]any{"session_id": "q" + name, "cwd": h.shop, "prompt": hookPrompt}
		for k, v := range fields {
			all[k] = v
		}
		if out := h.ask("prompt", agent, all); strings.Contains(out, hookFact) || out != "" && agent == "codex" {
			t.Errorf("%s is answered by %s", name, out)
		}
	}
	if out := ask(map[string]any{"prompt": "/usr/share/crane: " + hookPrompt}); out == "" {
		t.Error("a path counts as a command")
	}
	for _, raw := range []string{"", "{", "[]", "null", `"text"`, "nonsense", `{"session_id":"x"`} {
		if raw == "" || raw == "{" || strings.HasSuffix(raw, `"x"`) {
			continue // these wait for more, below
		}
		if out := h.askRaw("prompt", "codex", raw); out != "" {
			t.Errorf("%q is answered by %q", raw, out)
		}
	}
	for _, args := range [][]string{{"hook", "lunch", "--agent", "codex"}, {"hook", "prompt", "--agent", "nobody"}, {"hook", "prompt"},
		{"hook", "prompt", "--agent"}, {"hook", "stop", "--agent", "codex", "--unknown", "x", "y"}} {
		var out, errs bytes.Buffer
		in := strings.NewReader(fmt.Sprintf(`{"session_id":"z","cwd":%q,"prompt":%q}`, h.shop, hookPrompt))
		if code := runProgram(t.Context(), args, in, &out, &errs); code != 0 || out.Len()+errs.Len() > 0 {
			t.Errorf("%q: %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// A session is told nothing twice, and an event that is run twice is answered once.
func TestHookTellsOnce(t *testing.T) {
	h := newHooked(t)
	h.remember()
	ask := func(event string, fields map[string]any) string {
		all := map[string]any{"session_id": "s", "cwd": h.shop}
		for k, v := range fields {
			all[k] = v
		}
		return h.ask(event, "codex", all)
	}
	if ask("prompt", map[string]any{"prompt": hookPrompt, "turn_id": "1"}) == "" {
		t.Fatal("not answered")
	}
	for turn := 1; turn < 6; turn++ {
		if out := ask("prompt", map[string]any{"prompt": hookPrompt, "turn_id": fmt.Sprint(turn)}); out != "" {
			t.Errorf("told again in turn %d: %s", turn, out)
		}
	}
	ask("session-start", map[string]any{"source": "compact"})
	if ask("prompt", map[string]any{"prompt": hookPrompt, "turn_id": "9"}) == "" {
		t.Error("forgotten by its compaction, and not told again")
	}
}

// Where an agent does not keep what it was told at the start, it gets the same bytes when the session goes on.
func TestHookSameBytes(t *testing.T) {
	h := newHooked(t)
	h.remember()
	for agent, again := range map[string]bool{"qwen": true, "copilot": true, "gemini": true, "openclaw": true, "cline": true,
		"claude": false, "codex": false, "opencode": false, "kilo": false, "pi": false} {
		ask := func(source string) string {
			return h.ask("session-start", agent, map[string]any{"session_id": "s", "cwd": h.shop, "source": source})
		}
		first := ask("startup")
		if first == "" {
			t.Errorf("%s is told nothing at the start", agent)
		}
		h.session("00000003-0000-4000-8000-000000000000", h.shop, 47*time.Hour, "A newer request of "+agent+" that nobody answered.")
		h.imports()
		switch out := ask("resume"); {
		case again && textIn(t, out) != textIn(t, first):
			t.Errorf("%s is told something else: %s", agent, out)
		case !again && out != "":
			t.Errorf("%s is told again: %s", agent, out)
		}
	}
}

// A store that cannot be read is silence, and so is a data folder that is not there; nothing is made.
func TestHookWithoutStore(t *testing.T) {
	h := newHooked(t)
	ask := func() string {
		return h.ask("prompt", "codex", map[string]any{"session_id": "s", "cwd": h.shop, "prompt": hookPrompt, "turn_id": time.Now().String()})
	}
	if out := ask(); out != "" {
		t.Errorf("no store answers %s", out)
	}
	if _, err := os.Stat(filepath.Join(h.data, "scrollback.db")); err == nil {
		t.Error("a store was made")
	}
	h.remember()
	file := filepath.Join(h.data, "scrollback.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	overwritten := bytes.Clone(whole)
	copy(overwritten[8192:], bytes.Repeat([]byte{0xa5}, 64<<10))
	for name, damaged := range map[string][]byte{"cut off": whole[:len(whole)/2], "text": []byte("no database"),
		"empty": {}, "overwritten": overwritten} {
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if out := ask(); out != "" && name != "overwritten" {
			t.Errorf("%s: %s", name, out)
		}
	}
	gone := filepath.Join(h.data, "gone")
	t.Setenv("SCROLLBACK_DATA", gone)
	if out := ask(); out != "" {
		t.Error(out)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the data folder was made")
	}
}

// People silence folders, agents and everything, and see what was told.
func TestHookOffAndLog(t *testing.T) {
	h := newHooked(t)
	h.remember()
	n := 0
	ask := func() string {
		n++
		return h.ask("prompt", "codex", map[string]any{"session_id": fmt.Sprint(n), "cwd": h.shop, "prompt": hookPrompt})
	}
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := runProgram(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%q: %d %s", args, code, errs.String())
		}
		return out.String()
	}
	if got := run("hook", "log"); !strings.Contains(got, "No agent has asked yet.") {
		t.Error(got)
	}
	for _, what := range [][]string{{"--folder", filepath.Join(h.shop, "sub")}, {"--agent", "codex"}, {"--project", "default"}} {
		run(append([]string{"hook", "off"}, what...)...)
		if out := ask(); out != "" {
			t.Errorf("%q is off, and answered by %s", what, out)
		}
		run(append([]string{"hook", "on"}, what...)...)
		if ask() == "" {
			t.Errorf("%q is on again, and silent", what)
		}
	}
	for _, env := range [][2]string{{"SCROLLBACK_HOOKS", "off"}, {"CLAUDE_CODE_ENTRYPOINT", "sdk-py"}} {
		t.Setenv(env[0], env[1])
		if out := ask(); out != "" {
			t.Errorf("%v, and answered by %s", env, out)
		}
		t.Setenv(env[0], "")
	}
	config := filepath.Join(h.home, "config.toml")
	for _, text := range []string{"[hooks]\nexclude = [\"codex\"]\n", fmt.Sprintf("[hooks]\nexclude = [%q]\n", filepath.Dir(h.shop)),
		"[import]\nexclude = [\"claude-code\"]\n", "[hooks]\nscope = \"everywhere\"\n"} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SCROLLBACK_CONFIG", config)
		if out := ask(); out != "" {
			t.Errorf("with %q answered by %s", text, out)
		}
		t.Setenv("SCROLLBACK_CONFIG", os.DevNull)
	}
	for text, cwd := range map[string]string{"[hooks]\ntell = false\ntokens = 120\nexclude = [\"pi\"]\n": h.shop,
		"[hooks]\nscope = \"all\"\n": h.home} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SCROLLBACK_CONFIG", config)
		out := h.ask("prompt", "claude", map[string]any{"session_id": "c" + cwd, "cwd": cwd, "prompt": hookPrompt})
		if !strings.Contains(out, hookFact) || strings.Contains(out, "systemMessage") != (cwd == h.home) {
			t.Errorf("with %q answered by %q", text, out)
		}
		t.Setenv("SCROLLBACK_CONFIG", os.DevNull)
	}
	var listed struct{ Asked []ledger.Row }
	if err := json.Unmarshal([]byte(run("hook", "log", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, r := range listed.Asked {
		told += len(r.Told)
		if r.Agent == "claude-code" {
			continue
		}
		if r.Agent != "codex" || r.Event != "prompt" || r.Folder != h.shop || strings.Contains(r.Terms, "decide about") {
			t.Errorf("%+v", r)
		}
	}
	if told != 5 || !strings.Contains(run("hook", "log", "--told"), "#2") {
		t.Errorf("%d told: %+v", told, listed.Asked)
	}
}

// The session that stops is imported behind the agent's back, also the first one of all, and by the last of a burst.
func TestHookStop(t *testing.T) {
	h := newHooked(t)
	id := "00000001-0000-4000-8000-000000000000"
	h.data = filepath.Join(h.data, "not", "there")
	t.Setenv("SCROLLBACK_DATA", h.data)
	lines := []string{"When does the harbour crane lease end, and is it renewed?", hookFact}
	for range 3 {
		lines = append(lines, "And what else?", fmt.Sprintf("Beside that, the berth number is B-%d77.", len(lines)))
		h.session(id, h.shop, time.Duration(len(lines))*10*time.Second, lines...)
		if out := h.ask("stop", "claude", map[string]any{"session_id": id, "cwd": h.shop, "last_assistant_message": lines[len(lines)-1],
			"transcript_path": filepath.Join(h.home, ".claude", "projects", "-shop", id+".jsonl")}); out != "" {
			t.Errorf("a stop is answered by %s", out)
		}
	}
	for end := time.Now().Add(20 * time.Second); ; {
		var out, errs bytes.Buffer
		runProgram(t.Context(), []string{"show", "latest", "--json"}, strings.NewReader(""), &out, &errs)
		if strings.Contains(out.String(), "B-677") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not imported: %s%s", out.String(), errs.String())
		}
	}
	ended := flock.New(filepath.Join(h.data, "stopped", "lock"))
	if held, err := ended.TryLockContext(t.Context(), 10*time.Millisecond); err != nil || !held {
		t.Fatal(err)
	}
	defer ended.Unlock()
	h.imports() // finds nothing new, and nothing twice
	var out, errs bytes.Buffer
	runProgram(t.Context(), []string{"list", "--json"}, strings.NewReader(""), &out, &errs)
	if n := strings.Count(out.String(), `"branch"`); n != 1 {
		t.Errorf("%d conversations: %s", n, out.String())
	}
}

// What an agent was told is not imported as talk: not as an attachment of Claude Code, nor where an agent keeps it in
// one text with the prompt.
func TestHookTextsAreNotTalk(t *testing.T) {
	h := newHooked(t)
	h.remember()
	given := textIn(t, h.ask("prompt", "codex", map[string]any{"session_id": "s", "cwd": h.shop, "prompt": hookPrompt}))
	id := "00000009-0000-4000-8000-000000000000"
	h.session(id, h.shop, 40*time.Hour, "Which insurer covers the quay?\n\n<system_reminder>"+given+"</system_reminder>",
		"The quay is covered by the port authority.")
	name := filepath.Join(h.home, ".claude", "projects", "-shop", id+".jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, `{"parentUuid":"00000009-0000-4000-8000-000000000002","isSidechain":false,"type":"attachment","uuid":`+
		`"00000009-0000-4000-8000-000000000077","timestamp":"2026-11-20T00:00:00.000Z","sessionId":%q,"cwd":%q,"version":"2.1.332",`+
		`"attachment":{"type":"hook_additional_context","content":[%q],"hookName":"SessionStart"}}`+"\n", id, h.shop, given)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-39 * time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	h.imports()
	var out, errs bytes.Buffer
	runProgram(t.Context(), []string{"search", "quay", "--json"}, strings.NewReader(""), &out, &errs)
	if !strings.Contains(out.String(), "Which insurer covers the quay?") || strings.Contains(out.String(), "installed by this user") {
		t.Errorf("%s%s", out.String(), errs.String())
	}
	out.Reset()
	runProgram(t.Context(), []string{"search", "installed by this user", "--json"}, strings.NewReader(""), &out, &errs)
	if strings.Contains(out.String(), "installed by this user, found") {
		t.Errorf("found: %s", out.String())
	}
}

// Who has the store locked, and who brings it up to date, does not hold a hook up.
func TestHookLockedStore(t *testing.T) {
	h := newHooked(t)
	h.remember()
	t.Setenv("SCROLLBACK_HOOK_TIME", "3s")
	ask := func() (string, time.Duration) {
		began := time.Now()
		out := h.ask("prompt", "codex", map[string]any{"session_id": began.String(), "cwd": h.shop, "prompt": hookPrompt,
			"turn_id": fmt.Sprint(began.UnixNano())})
		return out, time.Since(began)
	}
	db := openLocked(t, filepath.Join(h.data, "scrollback.db"))
	if out, took := ask(); took > 2*time.Second {
		t.Errorf("waited %v for a locked store, and said %q", took, out)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ledger := openLocked(t, filepath.Join(h.data, "hooks.db"))
	if out, took := ask(); out != "" || took > 2*time.Second {
		t.Errorf("waited %v for a locked ledger, and said %q", took, out)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if out, _ := ask(); out == "" {
		t.Error("silent when nothing is locked any more")
	}
}

// openLocked locks a database as a program does that changes it, until it is closed.
func openLocked(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=locking_mode(EXCLUSIVE)&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, q := range []string{"BEGIN EXCLUSIVE", "CREATE TABLE IF NOT EXISTS locking (a)"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return db
}
