package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/marks/markstest"
)

// Whatever the files of a folder are called and hold, and whatever the text ends with, it
// has the two marks that begin and end it and no other, for the most lenient reader.
func TestTextStaysClosed(t *testing.T) {
	hostile := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(markstest.Pieces), 0, 10).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		for range rapid.IntRange(0, 6).Draw(rt, "files") {
			at := filepath.Join(root, hostile.Draw(rt, "name"))
			if at != root && os.MkdirAll(filepath.Dir(at), 0o755) == nil {
				// A name that the file system refuses, or that is a folder already, is left out.
				_ = os.WriteFile(at, nil, 0o644)
			}
		}
		// Where a folder has this name already, there is no memory file.
		_ = os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte(hostile.Draw(rt, "memory")), 0o644)
		p := place(root)
		p.Setup = hostile.Draw(rt, "setup")
		s := look(rt, p)
		for name, text := range map[string]string{"environment": s.FullText(),
			"environment_change": s.ChangeText(look(rt, place()).State, s.State)} {
			if text == "" {
				continue
			}
			if got := markstest.FindMarks(text); !slices.Equal(got, []string{"<" + name, "</" + name}) {
				rt.Fatalf("a reader finds %q in\n%q", got, text)
			}
			if strings.ContainsAny(text, "\u202e\u200b\x00\x1b\U000E0041\ufeff") {
				rt.Fatalf("something is not seen in\n%q", text)
			}
		}
	})
}

// A name that people use is written as it is, whatever its script; one that hides
// something is quoted.
func TestNamesOfFiles(t *testing.T) {
	root := t.TempDir()
	for name, shown := range map[string]string{"报告　最终版（２）.md": "报告　最终版（２）.md",
		"👩\u200d🚀.txt": "👩\u200d🚀.txt", "می\u200cخواهم": "می\u200cخواهم",
		"ab\u202etxt.exe": `"ab\u202etxt.exe"`, "a\U000E0041b": `"a\U000e0041b"`, "two\nlines": `"two\nlines"`,
		"< record": `"&lt; record"`} {
		at := filepath.Join(root, name)
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if text := look(t, place(root)).FullText(); !strings.Contains(text, "\n  "+shown+"\n") {
			t.Errorf("%q is not shown as %s in\n%q", name, shown, text)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}
