package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// importing imports a path into a new store, and returns the exit code, what was printed, and
// how many messages each conversation has, ascending.
func importing(t *testing.T, path string) (code int, printed string, messages []int, data string) {
	t.Helper()
	data = t.TempDir()
	var stdout, stderr bytes.Buffer
	code = runProgram(context.Background(), []string{"--data", data, "import", path}, strings.NewReader(""), &stdout,
		&stderr)
	printed = stdout.String() + stderr.String()
	var page struct{ Conversations []struct{ Messages int } }
	stdout.Reset()
	if c := runProgram(context.Background(), []string{"--data", data, "list", "--json"}, strings.NewReader(""), &stdout,
		&stderr); c != 0 {
		t.Fatalf("list: exit %d: %s", c, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Conversations {
		messages = append(messages, c.Messages)
	}
	slices.Sort(messages)
	return code, printed, messages, data
}

// What public reports say is in people's files: damage costs only what it damaged, talk beside
// envelopes is talk, and plain lists of messages are read.
func TestReportedFiles(t *testing.T) {
	root := settled(t)
	for path, want := range map[string]struct {
		messages []int
		said     string // printed beside the result
	}{
		"01-claude-nul":                           {[]int{4, 6}, "only NUL bytes"},
		"02-glued":                                {[]int{6}, "of which only a part is there"},
		"03-surrogate":                            {[]int{4}, ""},
		"04-same-id-two-folders/stub":             {[]int{4}, ""},
		"11-codex-rewritten/sessions":             {[]int{4}, "only what the person said"},
		"07-ide-envelope":                         {[]int{7}, ""},
		"09-raw-newline":                          {[]int{4}, ""},
		"09-raw-newline/generic-utf16.jsonl":      {[]int{2}, ""},
		"31-chatgpt-new/export.zip":               {[]int{2, 4}, "without messages"},
		"32-chatgpt-null-time/conversations.json": {[]int{4}, ""},
		"61-plain-arrays/chat-request.json":       {[]int{4}, ""},
		"61-plain-arrays/finetune.jsonl":          {[]int{2, 2}, ""},
		"61-plain-arrays/messages.json":           {[]int{3}, ""},
		"61-plain-arrays/openai-lines.jsonl":      {[]int{5}, ""},
		"61-plain-arrays/sharegpt.json":           {[]int{2}, ""},
	} {
		t.Run(path, func(t *testing.T) {
			code, printed, messages, data := importing(t, filepath.Join(root, path))
			if code != 0 || !slices.Equal(messages, want.messages) || !strings.Contains(printed, want.said) {
				t.Fatalf("exit %d, %v messages, want %v and %q:\n%s", code, messages, want.messages, want.said, printed)
			}
			shown := wellFormedExport(t, data)
			for _, junk := range []string{"ide_opened_file", "[no type]", "\x00"} {
				if strings.Contains(shown, junk) {
					t.Errorf("it has %q:\n%s", junk, shown)
				}
			}
		})
	}
}

// A message without a time is found by the day of the conversation that it is in.
func TestReportedTime(t *testing.T) {
	_, _, _, data := importing(t, filepath.Join(settled(t), "32-chatgpt-null-time/conversations.json"))
	for query, want := range map[string]string{"ferry on:2024-03-01": "When does the ferry sail?",
		"ferry on:2024-03-02": ""} {
		var stdout, stderr bytes.Buffer
		code := runProgram(context.Background(), []string{"--data", data, "--tz", "UTC", "search", query},
			strings.NewReader(""),
			&stdout, &stderr)
		if code != 0 || !strings.Contains(stdout.String(), want) || want == "" && strings.Contains(stdout.String(), "ferry") {
			t.Errorf("%s: exit %d: %s%s", query, code, stdout.String(), stderr.String())
		}
	}
}

// wellFormedExport returns all conversations of a store as JSON, which must be well-formed.
func wellFormedExport(t *testing.T, data string) string {
	t.Helper()
	var out strings.Builder
	var page struct{ Conversations []struct{ ID string } }
	var stdout, stderr bytes.Buffer
	ask := func(args ...string) string {
		stdout.Reset()
		if code := runProgram(context.Background(), append([]string{"--data", data}, args...), strings.NewReader(""), &stdout,
			&stderr); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	if err := json.Unmarshal([]byte(ask("list", "--json")), &page); err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Conversations {
		got := ask("show", c.ID, "--json")
		if !utf8.ValidString(got) || strings.Contains(strings.ToLower(got), `\ud83d"`) {
			t.Errorf("half a surrogate pair is shown:\n%s", got)
		}
		out.WriteString(got)
	}
	return out.String()
}

// Files of programs that are not read are refused by the name of the program, and leave nothing; those of the others
// bring what was said.
func TestReportedUnknownFiles(t *testing.T) {
	root := filepath.Join(settled(t), "62-unknown")
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		code, printed, messages, _ := importing(t, path)
		name := filepath.ToSlash(strings.TrimPrefix(path, root))
		if name != "/cherry/data.json" { // nothing is said in it
			if code != 0 || len(messages) != 1 || messages[0] < 2 {
				t.Errorf("%s: exit %d, %v messages:\n%s", name, code, messages, printed)
			}
			return nil
		}
		if code == 0 || len(messages) != 0 || !strings.Contains(printed, "looks like") {
			t.Errorf("%s: exit %d, %v messages:\n%s", strings.TrimPrefix(path, root), code, messages, printed)
		}
		return nil
	})
	if err != nil || n != 17 {
		t.Error(fmt.Errorf("%d files: %w", n, err))
	}
}
