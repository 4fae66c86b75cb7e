package transcript_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// readers are the tools that take files of other programs, by the files in testdata/unread.
var readers = map[string]string{
	"lmstudio/1772445600000.conversation.json": "lm-studio",
	"takeout/MyActivity.json":                  "gemini-apps",
	"jan/messages.jsonl":                       "jan",
	"grok/prod-grok-backend.json":              "grok",
	"deepseek-plain/conversations.json":        "deepseek",
	"deepseek/conversations.json":              "deepseek",
	"kimi/wire.jsonl":                          "kimi-cli",
	"kimi/context.jsonl":                       "kimi-cli",
	"cursor/agent-transcripts/b0000000-0000-4000-8000-000000000001.jsonl": "cursor",
	"vscode-export.json":          "vscode",
	"vscode/chatSessions/b.jsonl": "vscode",
	"vscode/chatSessions/a.json":  "vscode",
	"copilot/session-state/70000000-0000-4000-8000-000000000001/events.jsonl":               "copilot-cli",
	"qwen/.qwen/projects/-home-me-harbour/chats/80000000-0000-4000-8000-000000000001.jsonl": "qwen-code",
	"silly.jsonl":      "sillytavern",
	"cherry/data.json": "cherry-studio",
	"pi/.pi/agent/sessions/--home-me-harbour--/2026-03-02T10-00-00-000Z_90000000.jsonl": "pi",
}

// Other programs' files are known by how they begin, and nobody takes them but the tool that reads them.
func TestUnread(t *testing.T) {
	n := 0
	err := filepath.WalkDir("testdata/unread", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		head, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		n++
		rel, err := filepath.Rel("testdata/unread", name)
		if err != nil {
			return err
		}
		reader := readers[filepath.ToSlash(rel)]
		if !transcript.IsForeign(head) || (transcript.RecognizeUnread(head) == "") != (reader != "") {
			t.Errorf("%s is not known", name)
		}
		for _, f := range all.Importers() {
			if f.Sniff(head) {
				t.Errorf("%s is taken for %s", name, f.Name())
			}
		}
		for _, tool := range all.Tools() {
			if tool.Sniff(filepath.Base(name), head) != (tool.Name() == reader) {
				t.Errorf("%s is taken for one of %s, or not", name, tool.Name())
			}
		}
		return nil
	})
	if err != nil || n != 18 {
		t.Errorf("%d files, %v", n, err)
	}
}

// What is ours, or is read, is never one of them.
func TestUnreadOthers(t *testing.T) {
	for _, head := range []string{"", "[", `{"role":"user","content":"\"role\":\"_checkpoint\""}`,
		`[{"mapping":{},"title":"t"}]`,
		`{"uuid":"1","sessionId":"2","type":"user","message":{"role":"user","content":"x"}}`,
		`{"sessionId":"s","messages":[]}`,
		`{"conversation":{"id":"c"}}`, `{"messages":[{"role":"user","content":"x"}]}`} {
		if got := transcript.IsForeign([]byte(head)); got {
			t.Errorf("%s is taken for one of another program", head)
		}
	}
}
