//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// snapshot returns the files of a folder with their contents.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[name] = "folder"
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isListening reports whether somebody listens at the address of a server.
func isListening(t *testing.T, address string) bool {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// A client gets its arguments and its input as they are, variables that lead it to a server of this process, and
// nothing of its home folder changes; its exit code is that of the command, the server ends with it, and what it said
// is kept.
func TestRunWith(t *testing.T) {
	t.Parallel()
	l := newLaunchTest(t, "claude")
	if err := os.MkdirAll(filepath.Join(l.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.home, ".claude", "settings.json"), []byte(`{"model": "opus"}`))
	before := snapshot(t, l.home)
	l.env = append(l.env, "NO_PROXY=.example.org,10.0.0.1", "no_proxy=")
	args := []string{"-p", "", "--version", "--data", "elsewhere", "--", "--json", "two words"}
	g, out, code := l.run("typed\n", append([]string{"claude-code"}, args...)...)
	if code != 7 || out != "said by the client\n" || g.Stdin != "typed\n" || g.Status != http.StatusOK {
		t.Errorf("exit %d, printed %q; the client read %q, its request got %d", code, out, g.Stdin, g.Status)
	}
	if !slices.Equal(g.Args, args) {
		t.Errorf("its arguments are %q, want %q", g.Args, args)
	}
	if !g.Pipes {
		t.Error("what it starts ignores pipes that nobody reads")
	}
	address := g.env("ANTHROPIC_BASE_URL")
	if !strings.HasPrefix(address, "http://127.0.0.1:") || isListening(t, address) {
		t.Errorf("the server at %q has not ended", address)
	}
	for name, want := range map[string]string{"ENABLE_TOOL_SEARCH": "true", "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1",
		"ANTHROPIC_AUTH_TOKEN": "no-key-needed", "NO_PROXY": ".example.org,10.0.0.1,127.0.0.1,localhost,::1",
		"no_proxy": ".example.org,10.0.0.1,127.0.0.1,localhost,::1"} {
		if got := g.env(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if after := snapshot(t, l.home); !equalMaps(before, after) {
		t.Errorf("the home folder was %v, and is %v", before, after)
	}
	if found := output(t, l.data, "search", "quince"); !strings.Contains(found, "quince is ripe") {
		t.Errorf("a search finds %q", found)
	}
	l.env = append(l.env, "ANTHROPIC_API_KEY=sk-own", "ENABLE_TOOL_SEARCH=auto")
	if g, _, _ := l.run("", "--", "claude"); g.env("ANTHROPIC_AUTH_TOKEN") != "" || g.env("ENABLE_TOOL_SEARCH") != "auto" ||
		len(g.Args) != 0 {
		t.Errorf("what the person has set gives way: %q, %q, arguments %q", g.env("ANTHROPIC_AUTH_TOKEN"),
			g.env("ENABLE_TOOL_SEARCH"), g.Args)
	}
}

func equalMaps(a, b map[string]string) bool {
	return len(a) == len(b) && fmt.Sprint(a) == fmt.Sprint(b)
}

// The server at the configured address is used if it serves the same data, and lets a client in that has no key.
func TestRunWithUsesServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		data func(l *launchTest) string
		used bool
	}{
		{"same data", nil, func(l *launchTest) string { return l.data }, true},
		{"the same by a link", nil, func(l *launchTest) string {
			link := filepath.Join(l.t.TempDir(), "link")
			if err := os.Symlink(l.data, link); err != nil {
				l.t.Fatal(err)
			}
			return link
		}, true},
		{"other data", nil, func(l *launchTest) string { return l.t.TempDir() }, false},
		{"one that changes nothing", []string{"--read-only"}, func(l *launchTest) string { return l.data }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLaunchTest(t, "claude")
			output(t, l.data, "run", "hello")
			s := serve(t, c.data(l), nil, c.args...)
			l.env = append(l.env, "SCROLLBACK_ADDR="+strings.TrimPrefix(s.url, "http://"))
			g, _, code := l.run("", "claude")
			if used := g.env("ANTHROPIC_BASE_URL") == s.url; used != c.used || code != 7 || g.Status != 200 {
				t.Errorf("it asks %s, the server is at %s; exit %d, status %d", g.env("ANTHROPIC_BASE_URL"), s.url, code,
					g.Status)
			}
			if !isListening(t, s.url) {
				t.Error("the server ended with the client")
			}
		})
	}
}

// Signals reach the client, which decides what becomes of them; its server goes on as long as it does.
func TestRunWithSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			l := newLaunchTest(t, "claude")
			cmd := l.command("claude", "wait")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal, which would send it too
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, len("waiting\n"))); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait() // its exit code is looked at
			if g := l.given(); g.Signal != s.String() || g.Status != http.StatusOK || cmd.ProcessState.ExitCode() != 7 {
				t.Errorf("the client got %q; then its request got %d, and the exit code is %d", g.Signal, g.Status,
					cmd.ProcessState.ExitCode())
			}
		})
	}
}

// A client that dies of a signal gives the exit code that shells give it.
func TestRunWithKilled(t *testing.T) {
	t.Parallel()
	l := newLaunchTest(t, "unused")
	bin, _, _ := strings.Cut(strings.TrimPrefix(l.env[len(l.env)-1], "PATH="), string(os.PathListSeparator))
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\nkill -9 $$\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := l.command("claude")
	_ = cmd.Run() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 137 {
		t.Errorf("exit %d, want 137", code)
	}
}

// What is not known and what is not installed is said.
func TestRunWithNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"emacs"}, 2, []string{`"emacs"`, "claude-code, codex, gemini-cli, opencode, qwen-code, pi, copilot-cli, cline, continue"}},
		{[]string{"--"}, 2, []string{"claude-code, codex"}},
		{nil, 2, []string{"client"}},
		{[]string{"continue", "-p"}, 3, []string{"cn is not on PATH", "install continue"}},
	} {
		cmd := command(t, data, []string{"PATH=" + t.TempDir()}, append([]string{"run-with"}, c.args...)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run() // its exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%q: exit %d, want %d", c.args, code, c.code)
		}
		says(t, errs.String(), c.says...)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) > 0 {
		t.Errorf("it made %v, %v", entries, err)
	}
}

// The doctor says of each client that asks a server of this machine who responds there, and shows the line that leads
// nowhere, and nothing else of the file.
func TestDoctorPointers(t *testing.T) {
	t.Parallel()
	l := newLaunchTest(t, "unused")
	s := serve(t, l.data, nil)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + gone.Addr().String()
	gone.Close()
	if err := os.MkdirAll(filepath.Join(l.home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.home, ".codex", "config.toml"), []byte("model = \"x\"\nopenai_base_url = \""+s.url+"/v1\"\n"))
	write(t, filepath.Join(l.home, ".zshrc"), []byte("export OPENAI_BASE_URL="+other.URL+"/v1\nexport OPENAI_API_KEY=SECRET"+
		" ANTHROPIC_BASE_URL="+nobody+"\n"))
	env := append(l.env, "ZDOTDIR=", "CODEX_HOME=", "OPENAI_BASE_URL=", "ANTHROPIC_BASE_URL=", "GOOGLE_GEMINI_BASE_URL=")
	run := func(args ...string) string {
		t.Helper()
		out, err := command(t, l.data, env, append([]string{"doctor", "agents"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out, []byte("SECRET")) {
			t.Errorf("it shows a secret:\n%s", out)
		}
		return string(out)
	}
	says(t, run(), "codex: goes through scrollback at "+s.url+" (openai_base_url in "+l.home+"/.codex/config.toml, line 2)",
		"qwen-code: asks another server at "+other.URL, "claude-code: points at "+nobody+", where nothing answers",
		"remove ANTHROPIC_BASE_URL in "+l.home+"/.zshrc, line 2\n  ANTHROPIC_BASE_URL="+nobody+"\n")
	var found struct {
		Pointers []struct{ Client, Answers string }
	}
	if err := json.Unmarshal([]byte(run("--json")), &found); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found.Pointers); got != "[{codex scrollback} {qwen-code other} {claude-code nothing}]" &&
		got != "[{codex scrollback} {claude-code nothing} {qwen-code other}]" {
		t.Errorf("as JSON it says %s", got)
	}
}
