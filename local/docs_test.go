package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// The Go code of the README and of the guide is true: a whole program builds, runs and
// is the same in both, and everything else is part of an example.
func TestDocumentedCode(t *testing.T) {
	examples := ""
	files, err := filepath.Glob("example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		examples += flat(read(t, name))
	}
	whole := map[string]bool{}
	parts := 0
	for _, name := range []string{"../README.md", "../docs/guides/library.md"} {
		blocks := goBlock.FindAllStringSubmatch(read(t, name), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no Go code", name)
		}
		for _, b := range blocks {
			switch {
			case strings.HasPrefix(b[1], "package main\n"):
				whole[b[1]] = true
			case !strings.Contains(examples, flat(b[1])):
				t.Errorf("this code of %s is in no example:\n%s", name, b[1])
			default:
				parts++
			}
		}
	}
	if len(whole) != 1 || parts < 8 {
		t.Errorf("found %d programs and %d parts of examples", len(whole), parts)
	}
	for program := range whole {
		runProgram(t, program)
	}
}

// mostProgram is how large a small program with the library may be, stripped, in bytes. It is 24 MB on Linux.
const mostProgram = 26e6

// runProgram builds a program against this module and runs it twice in a folder of its
// own.
func runProgram(t *testing.T, program string) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	binary := filepath.Join(dir, "main.exe")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary,
		source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostProgram {
		t.Errorf("a small program is %.1f MB, stripped; at most %.0f should be", float64(info.Size())/1e6, mostProgram/1e6)
	}
	for range 2 {
		run := exec.CommandContext(t.Context(), binary)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Noted.") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "scrollback.db")); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// flat returns code without its indentation.
func flat(code string) string {
	var out strings.Builder
	for line := range strings.Lines(code) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}
