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
		"<task-notification>\n<task-id>7</task-id>\n</task-notification>\nwhat did it find?":                                      "what did it find?",
		"<system-reminder>note</system-reminder><ide_selection>x</ide_selection>why?":                                             "why?",
		"<ide_diagnostics>[]</ide_diagnostics>\nfix them":                                                                         "fix them",
		"<bash-input>ls</bash-input>\n<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>\nwhich?":                         "!ls\n\na.go\n\nwhich?",
		"<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>":                                                              "a.go",
		"<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>x</command-args>\nand now?": "/model x\n\nand now?",
		"<user-memory-input>tabs</user-memory-input>":                                                                             "#tabs",
		"<user-memory-input>tabs</user-memory-input> and format it":                                                               "#tabs\n\nand format it",
		"look at <b>this</b>": "look at <b>this</b>",
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
		var got []string
		for _, e := range tooltest.Entries(t, claudecode.Tool{}, fstest.MapFS{"projects/-w/" + id + ".jsonl": {Mode: 0o644, Data: []byte(data)}}) {
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
