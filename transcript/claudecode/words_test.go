package claudecode_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// What a person says beside something that the tool wrote in their name, in one text, is talk;
// so is what stands behind a command.
func TestTalkBesideWhatTheToolWrote(t *testing.T) {
	const id = "c7000000-0000-4000-8000-0000000000a1"
	for text, want := range map[string]string{
		"<local-command-stdout>done</local-command-stdout>\n\nnow mend it":                                  "now mend it",
		"<local-command-caveat>Caveat</local-command-caveat><local-command-stderr>x</local-command-stderr>": "",
		"<local-command-stdout>cut off": "",
		"<task-notification>\n<task-id>7</task-id>\n</task-notification>\nwhat did it find?":              "what did it find?",
		"<system-reminder>note</system-reminder><ide_selection>x</ide_selection>why?":                     "why?",
		"<ide_diagnostics>[]</ide_diagnostics>\nfix them":                                                 "fix them",
		"<bash-input>ls</bash-input>\n<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>\nwhich?": "!ls\n\na.go\n\nwhich?",
		"<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>":                                      "a.go",
		"<command-name>/model</command-name>\n<command-message>model</command-message>" +
			"\n<command-args>x</command-args>\nand now?": "/model x\n\nand now?",
		"<user-memory-input>tabs</user-memory-input>":               "#tabs",
		"<user-memory-input>tabs</user-memory-input> and format it": "#tabs\n\nand format it",
		"look at <b>this</b>":                                       "look at <b>this</b>",
	} {
		line := func(n int, kind string, message any) string {
			raw, err := json.Marshal(map[string]any{"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", n), "sessionId": id,
				"parentUuid": map[bool]any{true: nil, false: fmt.Sprintf("00000000-0000-4000-8000-%012d", n-1)}[n == 1],
				"timestamp":  fmt.Sprintf("2026-03-02T10:00:%02d.000Z", n), "type": kind, "message": message})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw) + "\n"
		}
		data := line(1, "user", map[string]any{"role": "user", "content": text}) +
			line(2, "assistant", map[string]any{"role": "assistant", "id": "msg_1", "model": "m", "stop_reason": "end_turn",
				"content": []any{map[string]any{"type": "text", "text": "Done"}}})
		files := fstest.MapFS{"projects/-w/" + id + ".jsonl": {Mode: 0o644, Data: []byte(data)}}
		var got []string
		for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, files) {
			if len(e.Message.Parts) > 0 {
				got = append(got, e.Message.Parts.Text())
			}
		}
		wanted := []string{want, "Done"}
		if want == "" {
			wanted = wanted[1:]
		}
		if d := cmp.Diff(wanted, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

// The last lines of a file that stand in another order than they were said in are read in the
// order that they name, to the newest message.
func TestLinesInAnotherOrder(t *testing.T) {
	const id = "c7000000-0000-4000-8000-0000000000a2"
	var lines []string
	for n := 1; n <= 6; n++ {
		role := "user"
		content := any(fmt.Sprint("m", n))
		if n%2 == 0 {
			role = "assistant"
			content = []any{map[string]any{"type": "text", "text": content}}
		}
		var parent any
		if n > 1 {
			parent = fmt.Sprintf("00000000-0000-4000-8000-%012d", n-1)
		}
		raw, err := json.Marshal(map[string]any{"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", n), "sessionId": id,
			"parentUuid": parent, "timestamp": fmt.Sprintf("2026-03-02T10:00:%02d.000Z", n), "type": role,
			"message": map[string]any{"role": role, "id": fmt.Sprint("msg", n), "model": "m", "stop_reason": "end_turn",
				"content": content}})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(raw))
	}
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 5, 4}, {0, 1, 3, 2, 5, 4}, {5, 4, 3, 2, 1, 0}} {
		data := ""
		for _, at := range order {
			data += lines[at] + "\n"
		}
		files := fstest.MapFS{"projects/-w/" + id + ".jsonl": {Mode: 0o644, Data: []byte(data)}}
		var path []string // the current one, as it is told in the end
		for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, files) {
			if e.Rewind != nil {
				path = path[:*e.Rewind]
			} else if len(e.Message.Parts) > 0 {
				path = append(path, e.Message.Parts.Text())
			}
		}
		if d := cmp.Diff([]string{"m1", "m2", "m3", "m4", "m5", "m6"}, path); d != "" {
			t.Errorf("%v: %s", order, d)
		}
	}
}
