package tooltest

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
)

// CompareGolden compares what a tool's fixtures say, line by line, with a file, or writes that.
func CompareGolden(t *testing.T, c Case, file string, update bool) {
	t.Helper()
	got := strings.Join(ScriptLines(ReadEntries(t, c.Tool, c.FS)), "\n") + "\n"
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the fixtures say\n%s\nwant\n%s", got, want)
	}
}

// FuzzTool wants of a tool that whatever the bytes of its file are, each conversation is described
// once, and ends. It begins with some files.
func FuzzTool(f *testing.F, tool transcript.Tool, files fs.FS, seeds ...string) {
	for _, name := range seeds {
		b, err := fs.ReadFile(files, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, fault := range FindFaults(tool, "conversations.json", b) {
			t.Error(fault)
		}
	})
}
