package transcript_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// Other programs' files that are not read are known by how they begin, and nobody takes them.
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
		if transcript.RecognizeUnread(head) == "" {
			t.Errorf("%s is not known", name)
		}
		for _, f := range all.Importers() {
			if f.Sniff(head) {
				t.Errorf("%s is taken for %s", name, f.Name())
			}
		}
		for _, tool := range all.Tools() {
			if tool.Sniff(filepath.Base(name), head) {
				t.Errorf("%s is taken for one of %s", name, tool.Name())
			}
		}
		return nil
	})
	if err != nil || n != 17 {
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
		if got := transcript.RecognizeUnread([]byte(head)); got != "" {
			t.Errorf("%s is taken for %s", head, got)
		}
	}
}
