package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// yard returns a folder with roots and what is beside them: app and the app of another, each
// with a file; a secret that is in none.
func yard(t testing.TB) (top string, roots []string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, top, map[string]string{
		"app/main.go": "main", "app/docs/read me.md": "read", "app/only-here.txt": "here", "app/app/inner.txt": "inner",
		"other/app/main.go": "other main", "other/app/only-there.txt": "there", "other/app/docs/": "",
		"secret.txt": "SECRET", "secrets/key": "SECRET", "app-too/x": "SECRET",
	})
	return top, []string{filepath.Join(top, "app"), filepath.Join(top, "other", "app")}
}

func open(t testing.TB, roots ...string) *Folders {
	t.Helper()
	f := OpenFolders(roots)
	t.Cleanup(f.Close)
	return f
}

// read returns the content and source of what a name means, or its error.
func read(f *Folders, name, near string) (string, error) {
	file, err := f.Open(name, near)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if file.Dir {
		return file.Source + ": a folder", nil
	}
	b, err := io.ReadAll(file)
	return file.Source + ": " + string(b), err
}

func TestNamesInFolders(t *testing.T) {
	top, roots := yard(t)
	one := open(t, roots[0])
	two := open(t, roots...)
	for _, c := range []struct {
		f                *Folders
		name, near, want string
	}{
		{one, "main.go", "", "main.go: main"},
		{one, "./docs/../main.go", "", "main.go: main"},
		{one, "docs/read me.md", "", "docs/read me.md: read"},
		{one, "docs/", "", "docs: a folder"},
		{one, ".", "", ".: a folder"},
		{one, "app/main.go", "", "main.go: main"},
		{one, "app/inner.txt", "", "app/inner.txt: inner"}, // what is in the root comes before its own name
		{one, roots[0], "", ".: a folder"},
		{one, roots[0] + "/", "", ".: a folder"},
		{one, filepath.Join(roots[0], "main.go"), "", "main.go: main"},
		{one, "file://" + roots[0] + "/docs/read%20me.md", "", "docs/read me.md: read"},
		{one, "FILE://localhost" + roots[0] + "/main.go", "", "main.go: main"},
		{one, "file:main.go", "", "main.go: main"},
		{one, "read me.md", filepath.Join(roots[0], "docs"), "docs/read me.md: read"},
		{one, "../main.go", filepath.Join(roots[0], "docs"), "main.go: main"},
		{two, "main.go", "", "app/main.go: main"},
		{two, "app/main.go", "", "app/main.go: main"},
		{two, "app-2/main.go", "", "app-2/main.go: other main"},
		{two, "only-there.txt", "", "app-2/only-there.txt: there"},
		{two, "app/only-there.txt", "", ""},
		{two, filepath.Join(roots[1], "main.go"), "", "app-2/main.go: other main"},
		{two, "app-2", "", "app-2: a folder"},
		{open(t, roots[0], top), filepath.Join(top, "app", "main.go"), "", "app/main.go: main"}, // the innermost root
	} {
		got, err := read(c.f, c.name, c.near)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q near %q is %q, %v, want %q", c.name, c.near, got, err, c.want)
		}
	}
}

func TestRootsOfOneName(t *testing.T) {
	for want, roots := range map[string]string{
		"app app-2 app-3":   "/a/app /b/app /c/app/",
		"app app-3 app-2":   "/a/app /b/app /c/app-2",
		"root app":          "/ /a/app",
		"app app-2 app-2-2": "/a/app /x/app-2 /y/app-2",
	} {
		f := &Folders{}
		var got []string
		for i, list := 0, strings.Fields(roots); i < len(list); i++ {
			name := f.distinctName(list, i)
			f.roots = append(f.roots, openedRoot{name: name})
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s are named %s, want %s", roots, got, want)
		}
	}
}

// Nothing outside the roots is read, whatever names it, and the same is said of what is
// there and what is not.
func TestNothingOutside(t *testing.T) {
	top, roots := yard(t)
	fill(t, roots[0], map[string]string{
		"out.txt": "->../secret.txt", "gone": "->../no-such-secret", "abs.txt": "->" + filepath.Join(top, "secret.txt"),
		"folder": "->../secrets", "deep/up": "->../../secrets", "twice": "->folder", "env": "->/proc/self/environ",
		"null": "->/dev/null",
		"dots": "->docs/../../secret.txt", "loop": "->loop",
	})
	f := open(t, roots...)
	long := strings.Repeat("x", 300)
	for name, want := range map[string]error{
		"../secret.txt": ErrOutside, "../no-such-secret": ErrOutside, "docs/../../secret.txt": ErrOutside, "..": ErrOutside,
		"app/../../secret.txt": ErrOutside, "../app-too/x": ErrOutside, "../app/main.go": ErrOutside,
		filepath.Join(top, "secret.txt"): ErrOutside, filepath.Join(top, "none"): ErrOutside, top: ErrOutside,
		"/":                 ErrOutside,
		roots[0] + "-too/x": ErrOutside, roots[0] + "/../secret.txt": ErrOutside, "/etc/passwd": ErrOutside,
		"/no/such":           ErrOutside,
		"file:///etc/passwd": ErrOutside, "file://" + top + "/secret%2Etxt": ErrOutside, "file:///etc%2fpasswd": ErrOutside,
		"file:..%2f..%2fsecret.txt": ErrOutside, "file://otherhost/etc/passwd": nil, "file://%zz": ErrMissing,
		"out.txt": ErrOutside, "gone": ErrOutside, "abs.txt": ErrOutside, "folder/key": ErrOutside, "deep/up/key": ErrOutside,
		"twice/key": ErrOutside, "env": ErrOutside, "null": ErrOutside, "dots": ErrOutside, "folder": ErrOutside,
		"/proc/self/environ": ErrOutside, "/dev/stdin": ErrOutside, "/proc/self/root/etc/passwd": ErrOutside,
		`..\secret.txt`: nil, `..\..\secret.txt`: nil, `\secret.txt`: nil, "main.go\x00": ErrMissing,
		"main.go\x00.txt": ErrMissing,
		"":                ErrMissing,
		"main.go/":        nil, "main.go/x": ErrMissing, "main.go.": ErrMissing, "main.go ": ErrMissing,
		"docs/...": ErrMissing, "NUL": ErrMissing,
		"CON": ErrMissing, "aux.txt": ErrMissing, "~/secret.txt": ErrMissing, "$HOME": ErrMissing, long: ErrMissing,
		strings.Repeat("x/", 3000): ErrMissing, strings.Repeat("../../", 3000) + "etc/passwd": ErrOutside,
		"．．/secret.txt": ErrMissing, "..／secret.txt": ErrMissing, "%2e%2e/secret.txt": ErrMissing, "\xff\xfe": ErrMissing,
	} {
		got, err := read(f, name, "")
		if strings.Contains(got, "SECRET") || want != nil && !errors.Is(err, want) {
			t.Errorf("%.60q is %q, %v, want %v", name, got, err, want)
		}
		if got, err := read(f, name, filepath.Join(roots[0], "docs")); strings.Contains(got, "SECRET") {
			t.Errorf("%.60q beside a file is %q, %v", name, got, err)
		}
	}
	if _, err := read(f, "loop", ""); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a loop of links: %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := read(f, "MAIN.GO", ""); !errors.Is(err, ErrMissing) {
			t.Errorf("another case: %v", err)
		}
	}
	if _, err := read(open(t), "main.go", ""); !errors.Is(err, ErrNoFolder) {
		t.Errorf("without folders: %v", err)
	}
	if _, err := read(open(t, filepath.Join(top, "none")), "main.go", ""); !errors.Is(err, ErrMissing) {
		t.Errorf("in a root that is gone: %v", err)
	}
}

// A name that leads out is told from one that is outside: the first exists for those
// who may look, the second may be anything.
func TestNamed(t *testing.T) {
	_, roots := yard(t)
	fill(t, roots[0], map[string]string{"out": "->../secret.txt"})
	f := open(t, roots[0])
	for name, want := range map[string]bool{"out": true, "none": false, "../secret.txt": false, "/etc/passwd": false} {
		if _, err := read(f, name, ""); IsNameError(err) != want {
			t.Errorf("%s: named is %v for %v", name, IsNameError(err), err)
		}
	}
	if _, err := read(open(t), "out", ""); IsNameError(err) || IsNameError(nil) {
		t.Errorf("without folders something is named: %v", err)
	}
}

// Links that stay inside, absolute ones and those into another root included, are
// followed, and what they lead to keeps the name it was given.
func TestLinksInside(t *testing.T) {
	_, roots := yard(t)
	fill(t, roots[0], map[string]string{
		"near": "->main.go", "docs/up": "->../main.go", "absolute": "->" + filepath.Join(roots[0], "main.go"),
		"across": "->../other/app/only-there.txt", "folder": "->" + roots[1], "again": "->folder/docs/../main.go",
	})
	f := open(t, roots...)
	for name, want := range map[string]string{
		"near": "app/near: main", "docs/up": "app/docs/up: main", "absolute": "app/absolute: main",
		"across": "app/across: there",
		"folder": "app/folder: a folder", "folder/main.go": "app/folder/main.go: other main",
		"again": "app/again: other main",
	} {
		if got, err := read(f, name, ""); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	if got, err := read(open(t, roots[0]), "across", ""); !errors.Is(err, ErrOutside) {
		t.Errorf("without the other root its file is %q, %v", got, err)
	}
}

// A name is found in either form of Unicode, as it is written on the disk.
func TestFormsOfNames(t *testing.T) {
	_, roots := yard(t)
	composed := norm.NFC.String("Größe/é.txt")
	apart := norm.NFD.String("Überblick.txt")
	fill(t, roots[0], map[string]string{composed: "one", apart: "two", "文件 夹/说明：一.md": "three"})
	f := open(t, roots[0])
	for name, want := range map[string]string{
		norm.NFD.String(composed): composed + ": one", norm.NFC.String(apart): apart + ": two",
		"文件 夹/说明：一.md": "文件 夹/说明：一.md: three",
	} {
		if got, err := read(f, name, ""); got != want || err != nil {
			t.Errorf("%+q is %+q, %v", name, got, err)
		}
	}
}

// What is not a file is refused without being opened, and nothing waits for a writer.
func TestIrregular(t *testing.T) {
	_, roots := yard(t)
	if err := mkfifo(filepath.Join(roots[0], "pipe")); err != nil {
		t.Fatal(err)
	}
	names := []string{"pipe"}
	f := open(t, roots[0])
	if runtime.GOOS == "linux" {
		f = open(t, roots[0], "/")
		names = append(names, "/proc/self/environ", "/dev/null", "/dev/zero", "/proc/self/fd/0")
	}
	for _, name := range names {
		if got, err := read(f, name, ""); err == nil || errors.Is(err, ErrOutside) && strings.HasPrefix(name, "/dev") {
			t.Errorf("%s is %.40q, %v", name, got, err)
		}
	}
	if _, err := read(f, "pipe", ""); !errors.Is(err, ErrIrregular) && runtime.GOOS != "windows" {
		t.Errorf("a pipe: %v", err)
	}
	fill(t, roots[0], map[string]string{"empty": ""})
	if got, err := read(f, filepath.Join(roots[0], "empty"), ""); err != nil || !strings.HasSuffix(got, "empty: ") {
		t.Errorf("an empty file is %q, %v", got, err)
	}
}

// A file that nobody may read says so.
func TestNotReadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file: run this as another user")
	}
	_, roots := yard(t)
	if err := os.Chmod(filepath.Join(roots[0], "main.go"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := read(open(t, roots[0]), "main.go", ""); err == nil || err.Error() != "not readable: permission denied" {
		t.Errorf("a closed file: %v", err)
	}
}
