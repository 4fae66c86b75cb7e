package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// keeper is a person whose Gemini CLI keeps sessions.
type keeper struct {
	*testing.T
	home, data string
}

func newKeeper(t *testing.T) *keeper { return &keeper{t, t.TempDir(), t.TempDir()} }

func (k *keeper) env() []string {
	return []string{"HOME=" + k.home, "XDG_DATA_HOME=", "GEMINI_CLI_HOME="}
}

// says adds something to a session, or begins it.
func (k *keeper) says(session, word string) {
	k.Helper()
	name := filepath.Join(k.home, ".gemini", "tmp", "p", "chats", "session-"+session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		k.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		k.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		k.Fatal(err)
	}
	text := ""
	if info.Size() == 0 {
		text = fmt.Sprintf(`{"sessionId":%q,"projectHash":"p","startTime":"2026-01-01T00:00:00.000Z",`+
			`"lastUpdated":"2026-01-01T00:00:00.000Z"}`+"\n", session)
	}
	text += fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-01T00:00:01.000Z","type":"user",`+
		`"content":[{"text":"about %s"}]}`+"\n", word, word)
	if _, err := f.WriteString(text); err != nil {
		k.Fatal(err)
	}
}

// watch starts the program and waits until it follows.
func (k *keeper) watch(args ...string) *exec.Cmd {
	k.Helper()
	cmd := command(k.T, k.data, k.env(), append([]string{"watch"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "following") {
			go func() {
				for lines.Scan() {
				}
			}()
			return cmd
		}
	}
	k.Fatal("it ended before it followed")
	return nil
}

// found waits until a word is found in one message.
func (k *keeper) found(word string) {
	k.Helper()
	until(k.T, time.Minute, func() bool {
		var r struct{ Hits []scrollback.Hit }
		_, out, _ := inside(k.T, k.data, "search", "--json", word)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			k.Fatalf("%v: %s", err, out)
		}
		if len(r.Hits) > 1 {
			k.Fatalf("%s is there %d times", word, len(r.Hits))
		}
		return len(r.Hits) == 1
	})
}

// A watch that is killed goes on when it is started again; two at once bring everything
// once; both end when they are told to.
func TestWatchIsKilledAndGoesOn(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.says("one", "apples")
	first := k.watch("--poll", "1h")
	k.found("apples")
	k.says("one", "pears")
	k.says("two", "quinces")
	k.found("pears")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	k.says("one", "plums")
	again := k.watch("--poll", "1h")
	beside := k.watch("--poll", "1h")
	for _, word := range []string{"plums", "quinces"} {
		k.found(word)
	}
	k.says("two", "cherries")
	k.says("one", "walnuts")
	for _, word := range []string{"cherries", "walnuts"} {
		k.found(word)
	}
	for _, cmd := range []*exec.Cmd{again, beside} {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("told to end, it ends with %v", err)
		}
	}
	_, out, _ := inside(t, k.data, "list", "--json")
	if n := strings.Count(out, `"messages":`); n != 2 {
		t.Errorf("%d conversations: %s", n, out)
	}
	if _, out, _ := inside(t, k.data, "doctor"); !strings.Contains(out, "All is well") {
		t.Error(out)
	}
}

// A server follows too, by its flag or its configuration.
func TestServeWatches(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.says("one", "apples")
	config := filepath.Join(k.home, "config.toml")
	if err := os.WriteFile(config, []byte("watch = true\n[import]\npoll = \"1h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, k.data, k.env(), "--watch")
	k.found("apples")
	k.says("one", "pears")
	k.found("pears")
	s.stop()
	k.says("one", "plums")
	s = serve(t, k.data, k.env(), "--config", config)
	k.found("plums")
	k.says("two", "quinces")
	k.found("quinces")
	s.stop()
}

// What cannot be imported is named, with a reason that a person can do something about.
func TestImportSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(dir, "nowhere")}, filepath.Join(dir, "nowhere") + " is not there"},
		{[]string{"--from", "chatgpt"}, "name a file: chatgpt keeps nothing on this machine by itself"},
		{[]string{write("old.db", "SQLite format 3\x00\x10\x00")},
			"the file is a database, but damaged, or not one of the tools'"},
		{[]string{write("noise", "\x1b[2J\x00\xff\u202enoise")}, "line 1 is: ?[2J???noise\n"},
	} {
		code, _, errs := inside(t, t.TempDir(), append([]string{"import"}, c.args...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(errs, "gemini-cli") > 1 {
			t.Errorf("%q: exit %d, %q", c.args, code, errs)
		}
	}
}
