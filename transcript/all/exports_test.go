package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/all"
)

// begins returns how a file begins, as far as it is looked at.
func begins(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b[:min(len(b), 64<<10)]
}

// takers returns the tools that take a file for one of theirs.
func takers(name string, head []byte) (out []string) {
	for _, tool := range all.Tools() {
		if tool.Sniff(filepath.Base(name), head) {
			out = append(out, tool.Name())
		}
	}
	return out
}

// The export of each service is told from those of the others by how it begins, whatever it
// is called.
func TestExportsAreToldApart(t *testing.T) {
	for pattern, want := range map[string]string{
		"../chatgpt/testdata/place/export/conversations-*.json": "chatgpt",
		"../chatgpt/testdata/place/export/user.json":            "",
		"../chatgpt/testdata/place/export/export_manifest.json": "",
		"../claude/testdata/place/export/conversations.json":    "claude",
		"../claude/testdata/place/conversations.jsonl":          "claude",
		"../claude/testdata/place/dump.json":                    "claude",
		"../claude/testdata/place/export/users.json":            "",
		"../claude/testdata/place/export/projects.json":         "",
		"../librechat/testdata/place/*.json":                    "librechat",
		"../openwebui/testdata/place/*.json":                    "open-webui",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, name := range names {
			for _, called := range []string{name, "conversations.json", "export.json"} {
				if strings.HasSuffix(name, "users.json") && called != name {
					continue
				}
				if got := strings.Join(takers(called, begins(t, name)), " "); got != want {
					t.Errorf("%s, called %s, is taken for one of %q, want %q", name, called, got, want)
				}
			}
		}
	}
}

// No tool takes a file of our own formats, and no format takes an export.
func TestExportsAndFormats(t *testing.T) {
	ours := []string{
		`{"archive":{"format":"scrollback","version":1,"created_at":1},"branches":[],"conversation":{"id":"x","title":"t"},"messages":[]}`,
		`{"conversation":{"id":"c","title":"t"}}` + "\n" + `{"role":"user","content":"hi"}`,
		`{"role":"user","content":"hi","id":"1"}`,
		`{"id":"x","title":"t","createdAt":1,"updatedAt":2,"messages":[{"id":"m","role":"user","content":"hi","timestamp":1}]}`,
		`{"cells":[],"nbformat":4,"metadata":{}}`,
	}
	for _, head := range ours {
		if got := takers("conversations.json", []byte(head)); len(got) > 0 {
			t.Errorf("%s is taken for one of %v", head, got)
		}
	}
	gemini := `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","messages":[]}`
	if got := takers("session.json", []byte(gemini)); len(got) != 1 || got[0] != "gemini-cli" {
		t.Errorf("%s is taken for one of %v", gemini, got)
	}
	for _, name := range []string{
		"../chatgpt/testdata/place/export/conversations-000.json",
		"../claude/testdata/place/export/conversations.json",
		"../claude/testdata/place/dump.json",
		"../librechat/testdata/place/flat.json",
		"../openwebui/testdata/place/chat-export-1767000000000.json",
	} {
		for _, f := range all.Importers() {
			if f.Sniff(begins(t, name)) {
				t.Errorf("%s is taken for %s", name, f.Name())
			}
		}
	}
}
