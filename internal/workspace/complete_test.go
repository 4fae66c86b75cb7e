package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func complete(t *testing.T, roots []string, typed string, limit int) string {
	t.Helper()
	found, err := Complete(context.Background(), roots, typed, limit)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range found {
		if c.Folder != strings.HasSuffix(c.Path, "/") {
			t.Errorf("%+v", c)
		}
		out = append(out, c.Path)
	}
	return strings.Join(out, " ")
}

func TestComplete(t *testing.T) {
	top, roots := yard(t)
	fill(t, roots[0], map[string]string{
		".gitignore": "*.log\nbuild/\n", "build/main.log": "", "trace.log": "", "docs/.gitignore": "draft*",
		"docs/draft.md": "",
		"Makefile":      "", "docs/MAIN.md": "", "文档/说明.md": "", norm.NFD.String("Größe.txt"): "", ".git/config": "",
		"out": "->" + filepath.Join(top, "secrets"),
	})
	one := roots[:1]
	for _, c := range []struct {
		roots       []string
		typed, want string
	}{
		{one, "", "app/ docs/ 文档/ .gitignore " + norm.NFD.String("Größe.txt") + " Makefile main.go only-here.txt out"},
		{one, "ma", "main.go Makefile docs/MAIN.md"},
		{one, "MAI", "main.go docs/MAIN.md Makefile"}, // what differs by case comes where nothing else matches
		{one, "Ma", "Makefile main.go docs/MAIN.md"},
		{one, "docs", "docs/ docs/MAIN.md docs/.gitignore docs/read me.md"},
		{one, "docs/", "docs/.gitignore docs/MAIN.md docs/read me.md"},
		{one, "docs/re", "docs/read me.md docs/.gitignore"},
		{one, "./docs/re", "./docs/read me.md"},
		{one, "rdme", "docs/read me.md"},
		{one, "说", "文档/说明.md"},
		{one, "文", "文档/ 文档/说明.md"},
		{one, norm.NFC.String("Größ"), norm.NFD.String("Größe.txt")},
		{one, "trace", ""}, {one, "build/", ""}, {one, "docs/dr", ""}, {one, ".git/", ""}, {one, ".git/c", ""},
		{one, "../../", ""}, {one, "../../se", ""}, {one, "/etc/", ""}, {one, "/etc/pass", ""}, {one, "out/", ""},
		{one, "none/x", ""},
		{one, "\xff", ""}, {one, "a\x00", ""},
		{one, filepath.Join(roots[0], "on"), filepath.Join(roots[0], "only-here.txt")},
		{one, roots[0] + "/", strings.Join([]string{roots[0] + "/app/", roots[0] + "/docs/", roots[0] + "/文档/",
			roots[0] + "/.gitignore",
			roots[0] + "/" + norm.NFD.String("Größe.txt"), roots[0] + "/Makefile", roots[0] + "/main.go",
			roots[0] + "/only-here.txt",
			roots[0] + "/out"}, " ")},
		{roots, "", "app/ app-2/"},
		{roots, "app-2", "app-2/ app-2/docs/ app-2/main.go app-2/only-there.txt"},
		{roots, "app-2/m", "app-2/main.go"},
		{roots, "there", "app-2/only-there.txt"},
		{nil, "", ""}, {nil, "x", ""}, {[]string{filepath.Join(top, "none")}, "m", ""},
	} {
		if got := complete(t, c.roots, c.typed, 20); got != c.want {
			t.Errorf("%q continues as\n %q, want\n %q", c.typed, got, c.want)
		}
	}
	for limit, want := range map[int]string{-1: "", 0: "", 1: "main.go", 2: "main.go Makefile"} {
		if got := complete(t, one, "ma", limit); got != want {
			t.Errorf("%d of them are %q", limit, got)
		}
	}
}

// What is offered can be read by the name it has.
func TestCompletionsAreRead(t *testing.T) {
	_, roots := yard(t)
	for _, some := range [][]string{roots, roots[:1], roots[1:]} {
		f := open(t, some...)
		for _, typed := range []string{"", "m", "o", "app", "docs/", "inn", "app/", roots[1] + "/"} {
			found, err := Complete(context.Background(), some, typed, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found {
				file, err := f.Open(c.Path, "")
				if err != nil {
					t.Errorf("%s, offered for %q: %v", c.Path, typed, err)
					continue
				}
				if file.Dir != c.Folder {
					t.Errorf("%s, offered for %q, is another thing", c.Path, typed)
				}
				file.Close()
			}
		}
	}
}

// A large tree is not walked to its end.
func TestCompleteIsBounded(t *testing.T) {
	testlength.SkipShort(t)
	root := t.TempDir()
	files := map[string]string{"zzz/far/": ""}
	for i := range 60 {
		for k := range 100 {
			files[fmt.Sprintf("d%02d/f%03d", i, k)] = ""
		}
	}
	fill(t, root, files)
	found, err := Complete(context.Background(), []string{root}, "f0", 100_000)
	if err != nil || len(found) == 0 || len(found) > maxSought {
		t.Errorf("%d paths, %v", len(found), err)
	}
	if slices.ContainsFunc(found, func(c Completion) bool { return c.Path == "d59/f099" }) {
		t.Error("the whole tree was walked")
	}
	if got := complete(t, []string{root}, "d59/f09", 2); got != "d59/f090 d59/f091" {
		t.Errorf("a folder that is named is not read: %q", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Complete(ctx, []string{root}, "f", 5); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("after its end: %v", err)
	}
}
