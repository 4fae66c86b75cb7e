package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

func TestWriteFile(t *testing.T) {
	top, roots := yard(t)
	fill(t, roots[0], map[string]string{"near": "->docs/new.md", "across": "->" + filepath.Join(roots[1], "main.go")})
	f := open(t, roots...)
	for name, at := range map[string]string{
		"main.go": "app/main.go", "docs/read me.md": "app/docs/read me.md", "app-2/main.go": "other/app/main.go",
		"docs/fresh.md": "app/docs/fresh.md", "only-there.txt": "other/app/only-there.txt", filepath.Join(roots[1], "x"): "other/app/x",
		"across": "other/app/main.go", "near": "app/docs/new.md",
	} {
		if err := f.WriteFile(name, []byte(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(filepath.Join(top, at)); string(got) != name || err != nil {
			t.Errorf("%s is in %s as %q, %v", name, at, got, err)
		}
	}
	for _, link := range []string{"near", "across"} {
		if info, err := os.Lstat(filepath.Join(roots[0], link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	wantNoRests(t, top)
}

// wantNoRests finds no file that a write left behind.
func wantNoRests(t *testing.T, top string) {
	t.Helper()
	err := filepath.WalkDir(top, func(at string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(at, ".tmp") {
			t.Errorf("%s was left behind", at)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteFileRefused(t *testing.T) {
	top, roots := yard(t)
	fill(t, roots[0], map[string]string{"out": "->../secret.txt", "fresh": "->../made.txt", "folder": "->" + filepath.Join(top, "secrets")})
	f := open(t, roots...)
	for name, want := range map[string]scrollback.Code{
		"../secret.txt": scrollback.Refused, filepath.Join(top, "made.txt"): scrollback.Refused, "out": scrollback.Refused,
		"fresh": scrollback.Refused, "folder/key": scrollback.Refused, "folder/made.txt": scrollback.Refused,
		"docs": scrollback.Invalid, ".": scrollback.Invalid, "none/made.txt": scrollback.NotFound, "main.go/made.txt": scrollback.NotFound,
		"": scrollback.NotFound, "a\x00b": scrollback.NotFound,
	} {
		if err := f.WriteFile(name, []byte("x")); scrollback.CodeOf(err) != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if err := open(t).WriteFile("main.go", nil); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("without folders: %v", err)
	}
	for _, name := range []string{"secret.txt", "secrets/key"} {
		if got, err := os.ReadFile(filepath.Join(top, name)); string(got) != "SECRET" || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(top, "made.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made outside: %v", err)
	}
	wantNoRests(t, top)
}

// The mode of a file stays, and one that must not be written to is not replaced.
func TestWriteFileKeepsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here: run this on another system")
	}
	_, roots := yard(t)
	at := filepath.Join(roots[0], "main.go")
	if err := os.Chmod(at, 0o640); err != nil {
		t.Fatal(err)
	}
	f := open(t, roots[0])
	if err := f.WriteFile("main.go", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if os.Getuid() == 0 {
		return // root writes to everything
	}
	if err := os.Chmod(at, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("main.go", []byte("newer")); err == nil {
		t.Error("a file that must not be written to was replaced")
	}
}

// Whoever reads while a file is written sees one content or the other, whole.
func TestWriteFileIsWhole(t *testing.T) {
	_, roots := yard(t)
	f := open(t, roots[0])
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000)}
	write := func(i int) {
		if err := f.WriteFile("main.go", []byte(contents[i%2])); err != nil {
			t.Error(err)
		}
	}
	write(0)
	var writes sync.WaitGroup
	writes.Go(func() {
		for i := range 50 {
			write(i)
		}
	})
	for range 500 {
		got, err := read(f, "main.go", "")
		if got = strings.TrimPrefix(got, "main.go: "); err != nil || got != contents[0] && got != contents[1] {
			t.Errorf("%d bytes are read, %v", len(got), err)
		}
	}
	writes.Wait()
}
