//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// asScrollback returns a folder with a program of that name that runs this one.
func asScrollback(t *testing.T, data string) (env []string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n" + asProgram + "=1 SCROLLBACK_DATA='" + data + "' exec '" + exe + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "scrollback"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
}

// missing skips a test that needs a package of the system, or fails where all must be there.
func missing(t *testing.T, what, to string) {
	t.Helper()
	if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
		t.Fatalf("no %s, and services are required: apt-get install %s", what, what)
	}
	t.Skipf("install %s to test %s", what, to)
}

// Bash completes commands, flags and conversations with the script.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		missing(t, "bash", "its completion")
	}
	data := t.TempDir()
	output(t, data, "run", "The spare key hangs behind the lighthouse.")
	env := asScrollback(t, data)
	for line, want := range map[string]string{
		"scrollback sho":              `^show$`,
		"scrollback show ":            `(?m)^[0-9a-f]+  \(The spare key.*\)$`,
		"scrollback show lighthouse":  `^[0-9a-f]{8,}$`,
		"scrollback run --effort=min": `^minimal$`,
		"scrollback show --al":        `^--all$`,
	} {
		cmd := exec.Command(bash, "--norc", "-c", `source <(scrollback completion bash)
COMP_LINE="$1"; COMP_POINT=${#1}; COMP_TYPE=9; _scrollback; printf '%s\n' "${COMPREPLY[@]}"`, "bash", line)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q goes on with %q, %v; want %s", line, got, err, want)
		}
	}
}

// The manual page is one that groff takes without a word.
func TestManualPage(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		missing(t, "groff-base", "the manual page")
	}
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww")
	cmd.Stdin = strings.NewReader(output(t, t.TempDir(), "man"))
	var errs strings.Builder
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || errs.Len() > 0 || !strings.Contains(string(out), "third bollard") {
		t.Errorf("groff: %v: %s", err, errs.String())
	}
}

// A command whose output nobody reads ends silently and well; one that leaves something
// half done says so with its exit code.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", strings.Repeat("The spare key hangs behind the lighthouse. ", 100))
	for args, want := range map[string]int{"list": 0, "show latest": 0, "show latest --all": 0, "search key": 0, "help": 0,
		"man":   0,
		"usage": 0, "export latest --format jsonl": 130} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := command(t, data, nil, strings.Fields(args)...)
		var errs strings.Builder
		cmd.Stdout = w
		cmd.Stderr = &errs
		_ = cmd.Run() // the exit code is what counts
		w.Close()
		if got := cmd.ProcessState.ExitCode(); got != want || errs.Len() > 0 {
			t.Errorf("%s: exit %d, want %d: %s", args, got, want, errs.String())
		}
	}
}

// A list fits a terminal of 80 columns, with ids that still name one conversation each; in a chat
// too.
func TestListFits(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, title := range []string{"港务长把起重机的备用钥匙放在灯塔旁边，用油布包着，在潮汐表旁边的抽屉里，很长的标题。", strings.Repeat("a long title ", 20)} {
		output(t, data, "run", title)
	}
	w := inTerminal(t, data, nil, "list")
	if code := w.ends(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	w.shows("a long title")
	w.shows("港务长")
	ids := regexp.MustCompile(`(?m)^\d  ([0-9a-f-]+)  `).FindAllStringSubmatch(w.text(), -1)
	if len(ids) != 2 {
		t.Fatalf("the list is\n%s", w.text())
	}
	for _, id := range ids {
		if len(id[1]) >= 36 {
			t.Errorf("the id %s is whole", id[1])
		}
		output(t, data, "show", id[1])
	}
	for line := range strings.Lines(w.text()) {
		if n := displayed(strings.TrimRight(line, "\r\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	chat := inTerminal(t, data, nil, "chat")
	chat.shows("Ask anything")
	chat.says("/resume", "/resume")
	chat.shows("/resume N")
	row := regexp.MustCompile(`(?m)1  [0-9a-f-]{8,35}  .*  a long title.*…\s*$`).FindString(chat.text())
	if row == "" || displayed(strings.TrimSpace(row)) > 79 {
		t.Errorf("in a chat the list is\n%s", chat.text())
	}
	chat.keys("\x04")
	chat.ends()
	if piped := output(t, data, "list"); !regexp.MustCompile(`(?m)^1  [0-9a-f-]{36}  `).MatchString(piped) {
		t.Errorf("through a pipe the list is\n%s", piped)
	}
}

// A slash offers the commands, Tab and Enter take them; Ctrl-C asks before it leaves; Esc
// stops an answer.
func TestChatMenu(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", "The first conversation")
	output(t, data, "run", fact)
	w := inTerminal(t, data, slow, "chat", "latest")
	w.shows("Ask anything")
	w.keys("/")
	w.shows("/help")
	w.shows("more")
	w.keys("res")
	w.shows("continue another conversation")
	w.keys("\t")
	w.shows("The first conversation")
	w.keys("first")
	w.keys("\x1b[B\r")
	w.shows("The first conversation · 2 messages")
	w.says("/resume 1", "/resume 1")
	w.shows("The harbour master")
	w.says(question, question)
	w.shows("From this conversation:")
	w.keys("\x1b") // Esc, in the middle of the reply
	w.shows("interrupted; what was written so far is saved")
	w.keys("\x03")
	w.shows("Ctrl-C again to quit")
	w.keys("x\x03") // another key takes it back; then it clears the line
	w.shows("offline · ")
	w.keys("\x03")
	w.shows("Ctrl-C again to quit")
	w.keys("\x03")
	w.shows("To continue later: scrollback chat ")
	if code := w.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A terminal that becomes narrower in mid-stream does not show twice what was drawn: the
// cursor goes up by the rows that the drawing has become taller by.
func TestChatResized(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", fact)
	w := inTerminal(t, data, slow, "chat", "latest")
	w.shows("Ask anything")
	w.says(question, question)
	w.shows("From this conversation:")
	w.shows("harbour")
	w.shows("under") // in a row that is longer than the terminal will be
	before := len(w.raw())
	if err := pty.Setsize(w.f, &pty.Winsize{Rows: 24, Cols: 45}); err != nil {
		t.Fatal(err)
	}
	goesUp := regexp.MustCompile(`\x1b\[\d*A[^\n]*\x1b\[\d*A|\x1b\[[2-9]A`)
	for range 2000 {
		if goesUp.MatchString(w.raw()[before:]) {
			break
		}
		w.within(10*time.Millisecond, "\x00") // a moment
	}
	if !goesUp.MatchString(w.raw()[before:]) {
		t.Errorf("the cursor does not go up:\n%q", w.raw()[before:])
	}
	w.keys("\x1b\x04")
}

// What was said does nothing to a terminal, whichever command shows it; a file gets it as it is.
func TestNothingSaidDoesSomethingToATerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const bad = "red \u009b31m \u202e \u2066 \x1b[2J end"
	line, err := json.Marshal(map[string]string{"role": "user", "content": bad})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	write(t, file, append(line, "\n"+`{"role":"assistant","content":"ok"}`+"\n"...))
	output(t, data, "import", file)
	ref := regexp.MustCompile(`history:[0-9a-f-]{36}`).FindString(output(t, data, "clear", "latest"))
	for _, args := range [][]string{{"show", "latest"}, {"show", "latest", "--json"}, {"context", "read", ref},
		{"context", "tail", ref},
		{"context", "grep", "latest", "red"}, {"archive", "latest", "-o", "-"},
		{"export", "latest", "-o", "-", "--format", "jsonl"}, {"export", "latest", "-o", "-", "--format", "mtm"},
		{"search", "red"},
		{"list", "--json"}, {"list"}} {
		w := inTerminal(t, data, nil, args...)
		if code := w.ends(); code != 0 {
			t.Errorf("%v: exit %d", args, code)
		}
		w.shows("red")
		wrote := w.raw()
		if strings.ContainsAny(wrote, "\u009b\u202e\u2066") || strings.Contains(wrote, "\x1b[2J") {
			t.Errorf("%v writes %q", args, wrote)
		}
	}
	if got := output(t, data, "export", "latest", "-o", "-", "--format", "jsonl"); !strings.Contains(got, "\u202e") {
		t.Errorf("a pipe gets %q", got)
	}
}
