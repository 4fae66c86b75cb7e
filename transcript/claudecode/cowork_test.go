package claudecode_test

import (
	"io/fs"
	"os"

	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// taskFiles are sessions of Claude Code where Cowork would have them, by descriptions of it.
func taskFiles(t *testing.T, in string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{in + "local_1.json": {Data: []byte(`{"sessionId":"local_1","title":"The harbour's tides",` +
		`"cwd":"/sessions/calm-sea","userSelectedFolders":["/home/me/harbour"]}`)},
		in + "local_1/audit.jsonl": {Data: []byte("{}\n")}}
	from := os.DirFS("testdata/fork")
	if err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(from, name)
		out[in+"local_1/.claude/projects/-sessions-calm-sea/"+name] = &fstest.MapFile{Data: raw}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Tasks are read as sessions of Claude Code, called and placed as the program says.
func TestCowork(t *testing.T) {
	for _, in := range []string{"", "account/", "account/org/", "account/org/agent/"} {
		files := taskFiles(t, in)
		n := 0
		for _, e := range tooltest.ReadEntries(t, claudecode.Cowork(), files) {
			if e.Conversation == nil || e.Agent != nil {
				continue
			}
			n++
			if e.Conversation.Title != "The harbour's tides" || e.Origin.Folder != "/home/me/harbour" {
				t.Errorf("%s: %q in %q", in, e.Conversation.Title, e.Origin.Folder)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d conversations", in, n)
		}
	}
	tooltest.Run(t, tooltest.Case{Tool: claudecode.Cowork(), FS: taskFiles(t, "account/org/"), Mutants: 100})
}

func TestCoworkHomes(t *testing.T) {
	for system, want := range map[string]string{
		"linux":  "/home/u/.config/Claude/local-agent-mode-sessions",
		"darwin": "/home/u/Library/Application Support/Claude/local-agent-mode-sessions",
		"windows": "/home/u/AppData/Roaming/Claude/local-agent-mode-sessions " +
			"/home/u/AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/local-agent-mode-sessions",
	} {
		m := transcript.Machine{System: system, Home: "/home/u", Getenv: func(string) string { return "" }}
		if d := cmp.Diff(want, strings.Join(claudecode.Cowork().Homes(m), " ")); d != "" {
			t.Error(d)
		}
	}
}
