//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// tty is the program in a terminal: what it wrote, and keys to press.
type tty struct {
	t   *testing.T
	cmd *exec.Cmd
	f   *os.File

	mu    sync.Mutex
	wrote strings.Builder
	seen  int // expected already
}

// inTerminal starts the program in a terminal of 80 columns.
func inTerminal(t *testing.T, data string, env []string, args ...string) *tty {
	t.Helper()
	w := &tty{t: t, cmd: command(t, data, append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR="}, env...),
		args...)}
	var err error
	if w.f, err = pty.StartWithSize(w.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.cmd.Process.Kill()
		w.f.Close()
	})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := w.f.Read(buf)
			w.mu.Lock()
			w.wrote.Write(buf[:n])
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return w
}

var escapes = regexp.MustCompile(`\x1b\][^\a\x1b]*(\a|\x1b\\)|\x1b[\[(][0-9;?<>=]*[A-Za-z]|\x1b[=>78]`)

// text returns what was written, without what moves and colours.
func (w *tty) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return escapes.ReplaceAllString(w.wrote.String(), "")
}

// raw returns all that was written.
func (w *tty) raw() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote.String()
}

// displayed returns how many columns a row takes.
func displayed(row string) int { return columns.TextWidth(row) }

// shows waits for a text behind those expected before.
func (w *tty) shows(want string) {
	w.t.Helper()
	if !w.within(20*time.Second, want) {
		w.t.Fatalf("no %q in\n%s", want, w.text()[w.seen:])
	}
}

func (w *tty) within(limit time.Duration, want string) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(limit); ; {
		if at := strings.Index(w.text()[w.seen:], want); at >= 0 {
			w.seen += at + len(want)
			return true
		}
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
}

// keys presses keys.
func (w *tty) keys(s string) {
	w.t.Helper()
	if _, err := io.WriteString(w.f, s); err != nil {
		w.t.Fatal(err)
	}
}

// says types keys and presses Enter until the chat takes the line, which it does
// not while a reply is coming. row is the last one it then prints of it; what is
// still being typed looks alike but for its style.
func (w *tty) says(keys, row string) {
	w.t.Helper()
	printed := "\x1b[1m> " + row + "\x1b[0m"
	taken := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Count(w.wrote.String(), printed)
	}
	before := taken()
	w.keys(keys)
	for range 100 {
		w.keys("\r")
		for range 30 {
			if taken() > before {
				w.seen = strings.LastIndex(w.text(), "> "+row)
				return
			}
			w.within(10*time.Millisecond, "\x00") // a moment
		}
	}
	w.t.Fatalf("%q was never taken:\n%s", keys, w.text()[w.seen:])
}

// ends waits for the end and answers the exit code.
func (w *tty) ends() int {
	w.t.Helper()
	err := w.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return 0
}

// A conversation in a real terminal, with its keys.
func TestChatTerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := inTerminal(t, data, slow, "chat")
	w.shows("/help lists the commands")
	w.shows("Ask anything")
	w.says("to be forgotten\x03"+fact, "from the lighthouse, wrapped in oilcloth, next to the old tide table of 1962.")
	w.shows("a real model use --model provider/name.")

	w.says(question, question)
	w.shows("From this conversation:")
	w.keys("\x03") // in the middle of the reply
	w.shows("interrupted; what was written so far is saved")

	w.says("灯塔的钥匙在哪里?", "灯塔的钥匙在哪里?")
	w.says("one\x1b\rtwo", "two")                   // Alt+Enter
	w.says("\x1b[200~three\nfour\x1b[201~", "four") // pasted
	w.says("five\\\rsix", "six")                    // a backslash at the end
	w.says("seven", "seven")
	w.says("\x1b[A", "seven")                           // Up
	w.says("\x1b[A\x1b[A\x1b[A\x1b[B\x1b[B!", "seven!") // and down again
	w.says("/title 灯塔", "/title 灯塔")
	w.shows("title: 灯塔")
	w.says("/nope", "/nope")
	w.shows("No such command: /nope")

	w.keys("\x1b[200~the words of this line go over the narrow edge\x1b[201~")
	w.shows("narrow edge")
	if err := pty.Setsize(w.f, &pty.Winsize{Rows: 10, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	w.shows("> over the narrow edge") // the line being typed is cut again
	w.says("", "over the narrow edge")
	w.says("/model", "/model")
	w.shows("model: offline")
	w.keys("\x04")
	w.shows("To continue later: scrollback chat ")
	if code := w.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}

	log := output(t, data, "show", "latest", "--after", "0", "--max", "100")
	for _, want := range []string{"assistant · .* · interrupted\nFrom this conversation", "\none\ntwo\n",
		"\nthree\nfour\n", "\nfive\nsix\n",
		"(?s)\nseven\n.*\nseven\n.*\nseven!\n", "\n灯塔的钥匙在哪里\\?\n", "\nthe words of this line go over the narrow edge\n"} {
		if !regexp.MustCompile(want).MatchString(log) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "forgotten") || strings.Contains(log, "/title") {
		t.Errorf("the log holds what was not said:\n%s", log)
	}
}

// A resumed conversation is picked from a list and shows its end; NO_COLOR is respected; Ctrl-C at an empty
// prompt asks, and leaves when it is pressed again; the locale's language is spoken; what a message holds does
// nothing to the terminal.
func TestChatResumed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", "A \x1b]0;stolen title\a\x1b[31mred herring")
	output(t, data, "run", "Another one")
	w := inTerminal(t, data, []string{"NO_COLOR=1", "LC_ALL=zh_CN.UTF-8"}, "chat", "--resume")
	w.shows("> ")
	w.shows("Another one")
	w.shows("Enter 继续")
	w.keys("\x1b[B")
	w.shows("> ")
	w.keys("\r")
	w.shows("2 条消息")
	w.shows("> A �]0;stolen title��[31mred herring")
	w.shows("想问什么？")
	w.keys("\x03")
	w.shows("再按一次 Ctrl-C 退出")
	w.keys("\x03")
	w.shows("以后继续")
	if code := w.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if styled := regexp.MustCompile(`\x1b\[[0-9;]*[1-9][0-9;]*m`).FindString(w.wrote.String()); styled != "" {
		t.Errorf("in spite of NO_COLOR there is %q", styled)
	}
}

// The program told to end in the middle of a reply saves what was written.
func TestChatTerminated(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", fact)
	w := inTerminal(t, data, slow, "chat", "latest")
	w.shows("Ask anything")
	w.says(question, question)
	w.shows("From this conversation:")
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := w.ends(); code != 130 {
		t.Errorf("exit %d", code)
	}
	if log := output(t, data, "show", "latest"); !strings.Contains(log, "interrupted\nFrom this conversation") {
		t.Errorf("the log shows\n%s", log)
	}
}

// Tab completes what a reference names, in a conversation that does not exist yet and in one
// that goes on; what was not simply read is said under the prompt.
func TestChatReferences(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	root := t.TempDir()
	for name, text := range map[string]string{"src/harbour.md": "The spare key hangs behind the lighthouse.\n",
		"src/harvest.md": "see @[harvest.md]\n", "src/two words.txt": "x\n", "潮汐表.md": "七月一日的高潮在早上六点二十分。\n"} {
		fill(t, root, name, text)
	}
	w := inTerminal(t, data, nil, "chat", "--root", root)
	w.shows("Ask anything")
	w.keys("Where does the spare key hang? @s\t")
	w.shows("@src/")
	w.keys("h\t")
	w.shows("  harvest.md")
	w.keys("b\t")
	w.shows("harbour.md")
	w.says("", "Where does the spare key hang? @src/harbour.md")
	w.shows("[#1] “The spare key hangs behind the lighthouse.”")

	w.keys("再看@[潮\t")
	w.shows("潮汐表.md]")
	w.keys("和@src/tw\t")
	w.shows("two words.txt]")
	w.keys("和@src/har\t")
	w.shows("  harvest.md")
	w.keys("\t\t\x1b[Z") // the first, the second, the first again
	w.says("", "再看@[潮汐表.md]和@[src/two words.txt]和@src/harbour.md")
	w.shows("@[src/harbour.md]: unchanged since version 1, in message #1")
	w.says("@[src/harvest.md:9] @[../other] @[src/harvest.md]", "@[src/harvest.md:9] @[../other] @[src/harvest.md]")
	w.shows("@[src/harvest.md:9]: line 9 is past the end: the file has 1 line")
	w.shows("@[../other]: refused: outside the roots")
	w.shows("a circle: @[harvest.md] leads back to src/harvest.md")
	w.keys("@zzz\t")
	w.shows("no file in the conversation's folders begins like this")
	w.keys("\x03\x04")
	w.shows("To continue later: scrollback chat ")
	if code := w.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
