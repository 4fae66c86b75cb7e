package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCommands: the commands of both READMEs do what they are for, one after the other, in
// a folder where nothing was before and without a key.
func TestReadmeCommands(t *testing.T) {
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("../../" + name)
			if err != nil {
				t.Fatal(err)
			}
			block := regexp.MustCompile("(?s)```sh\n(go install.*?)```").FindSubmatch(text)
			if block == nil {
				t.Fatal("there are no commands")
			}
			home := t.TempDir()
			data := t.TempDir()
			t.Chdir(t.TempDir())
			t.Setenv("HOME", home) // where other tools are looked for
			t.Setenv("SCROLLBACK_DATA", data)
			said := `{"type":"user","sessionId":"5e551011-0000-4000-8000-000000000001","uuid":"5e551011-0000-4000-8000-000000000002",` +
				`"parentUuid":null,"timestamp":"2026-03-05T10:00:00Z","cwd":"/srv","message":{"role":"user","content":"What is a tide gauge?"}}` + "\n"
			session := filepath.Join(home, ".claude", "projects", "-srv", "5e551011-0000-4000-8000-000000000001.jsonl")
			if err := os.MkdirAll(filepath.Dir(session), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, session, []byte(said))
			write(t, "talk.jsonl", []byte(strings.Repeat(`{"role":"user","content":"The blue depot has seven pumps."}`+"\n"+
				`{"role":"assistant","content":"Noted: seven pumps."}`+"\n", 20)))
			n := 0
			for line := range strings.Lines(string(block[1])) {
				if _, command, ok := strings.Cut(line, "scrollback "); ok && !strings.HasPrefix(line, "go ") {
					runReadmeCommand(t, data, strings.HasPrefix(line, "git diff |"), command)
					n++
				}
			}
			if n < 15 {
				t.Errorf("found %d commands", n)
			}
		})
	}
}

// runReadmeCommand runs a command as it is written, with something on standard input where
// another program is before it.
func runReadmeCommand(t *testing.T, data string, piped bool, command string) {
	t.Helper()
	command, _, _ = strings.Cut(command, " # ")
	if strings.Contains(command, "history:…") {
		inside(t, data, "clear", "latest")
		_, out, _ := inside(t, data, "context", "list", "latest")
		command = strings.ReplaceAll(command, "history:…", regexp.MustCompile(`history:\S+`).FindString(out))
		inside(t, data, "uncompact", "latest")
	}
	args := regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(command, -1)
	for i := range args {
		args[i] = strings.Trim(args[i], `"'`)
	}
	if args[0] == "watch" {
		goingOn(t, args, "following")
		return
	}
	input := ""
	switch {
	case piped:
		input = "+a line that was added\n"
	case len(args) == 1 && args[0] == "chat": // somebody says something, which the next command goes on with
		input = "The ferry leaves at nine.\n"
	}
	var out, errs bytes.Buffer
	if code := runProgram(context.Background(), args, strings.NewReader(input), &out, &errs); code != 0 {
		t.Errorf("scrollback %s: exit %d\n%s%s", command, code, out.String(), errs.String())
	}
	if silent := args[0] == "export" || args[0] == "chat" || args[0] == "mcp"; out.Len() == 0 && !silent {
		t.Errorf("scrollback %s printed nothing", command)
	}
	if strings.HasPrefix(command, "run --conversation") && !strings.Contains(out.String(), "7F3K-221") {
		t.Errorf("the answer is %q", out.String())
	}
}
