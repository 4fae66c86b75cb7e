package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/workspace/foldertest"
)

var fill = foldertest.Fill

// top returns a new folder without links on the way to it.
func top(t testing.TB) string {
	t.Helper()
	at, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func resolve(t testing.TB, text string, o Options) []Found {
	t.Helper()
	found, err := Resolve(context.Background(), text, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		content := f.Content
		if f.Image != nil {
			content = string(f.Image)
		}
		sum := sha256.Sum256([]byte(content))
		switch {
		case f.Mark == "" || f.Kind == "" || f.Source == "" || f.Version != 0 || f.SameAs != 0:
			t.Errorf("%+v is not complete", f.Reference)
		case f.Error != "" && (content != "" || f.SHA256 != "" || f.Bytes != 0 || f.URL != ""):
			t.Errorf("%s has an error and content", f.Source)
		case f.Error == "" && f.URL == "" && (f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != int64(len(content))):
			t.Errorf("%s: its hash or length is not that of its content", f.Source)
		}
	}
	return found
}

// lines shows what was found, one line each: kind, source and content, note or error.
func shown(found []Found) string {
	var w strings.Builder
	for _, f := range found {
		fmt.Fprintf(&w, "%s %s", f.Kind, f.Source)
		if f.Mark != f.Source {
			fmt.Fprintf(&w, " @[%s]", f.Mark)
		}
		switch {
		case f.Error != "":
			fmt.Fprintf(&w, " ERROR %s", f.Error)
		case f.URL != "":
			fmt.Fprintf(&w, " AT %s", f.URL)
		case f.Image != nil:
			fmt.Fprintf(&w, " IMAGE of %d", len(f.Image))
		default:
			fmt.Fprintf(&w, " = %.200q", f.Content)
		}
		if f.Note != "" {
			fmt.Fprintf(&w, " (%s)", f.Note)
		}
		w.WriteByte('\n')
	}
	return w.String()
}

// want compares what was found with lines of text.
func want(t *testing.T, text string, o Options, lines ...string) {
	t.Helper()
	got := shown(resolve(t, text, o))
	expected := strings.Join(lines, "\n")
	if expected != "" {
		expected += "\n"
	}
	if got != expected {
		t.Errorf("%.300q\n found\n%s wanted\n%s", text, got, expected)
	}
}

func TestFilesAndLines(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{"src/a.ts": "l1\nl2\nl3\nl4\nl5\n", "src/b": "one\r\ntwo\r\nthree", "empty": "",
		"a:10":    "named",
		"a":       "1\n2\n",
		"说明 一.md": "# 说明\n", "x[1].txt": "x", " spaced ": "s", "bom.txt": "\ufeffhello\nyou", "one": "1\n"})
	o := Options{Roots: []string{root}}
	want(t, "look @[src/a.ts:2:3] ok @[src/a.ts]", o, `file src/a.ts:2:3 = "l2\nl3"`,
		`file src/a.ts = "l1\nl2\nl3\nl4\nl5\n"`)
	want(t, "@[src/a.ts:4:9] @[src/a.ts:5] @[src/a.ts:1:1]", o, `file src/a.ts:4:9 = "l4\nl5"`, `file src/a.ts:5 = "l5"`,
		`file src/a.ts:1:1 = "l1"`)
	want(t, "@[src/a.ts:6] @[src/a.ts:900:901] @[one:2] @[empty:1] @[src/a.ts:3:2]", o,
		"file src/a.ts:6 ERROR line 6 is past the end: the file has 5 lines",
		"file src/a.ts:900:901 ERROR line 900 is past the end: the file has 5 lines",
		"file one:2 ERROR line 2 is past the end: the file has 1 line",
		"file empty:1 ERROR line 1 is past the end: the file has 0 lines",
		"file src/a.ts:3:2 ERROR lines 3 to 2 are in reverse")
	want(t, "@[src/b:1:2] @[src/b:2] @[src/b]", o, `file src/b:1:2 = "one\r\ntwo"`, `file src/b:2 = "two"`,
		`file src/b = "one\r\ntwo\r\nthree"`)
	want(t, "@[a:10] @[a:2] @[a:10:1] @[a:1:2]", o, `file a:10 = "named"`, `file a:2 = "2"`, `file a:10:1 = "named"`,
		`file a:1:2 = "1\n2"`)
	want(t, "@[说明 一.md] @[x[1].txt] @[ x[1].txt ] @[ spaced ] @[empty]", o, `file 说明 一.md = "# 说明\n"`,
		`file x[1].txt = "x"`,
		`file  spaced  = "s"`, `file empty = ""`)
	want(t, "@[bom.txt] @[bom.txt:1]", o, `file bom.txt = "hello\nyou"`, `file bom.txt:1 = "hello"`)
	want(t, "@[src/a.ts:1] @[./src/a.ts:1] @[src//a.ts:1] @[src/a.ts:1]", o, `file src/a.ts:1 = "l1"`)
	want(t, "@[nope.ts] @[nope.ts:3] @[nope.ts] @[src/nope]", o, "file nope.ts ERROR not found",
		"file nope.ts @[nope.ts:3] ERROR not found",
		"file src/nope ERROR not found")
	want(t, "nothing here", o)
	for name, lang := range map[string]string{"src/a.ts": "typescript", "说明 一.md": "markdown", "src/b": ""} {
		if got := resolve(t, "@["+name+"]", o)[0].Language; got != lang {
			t.Errorf("%s is in %q", name, got)
		}
	}
}

func TestWithoutBrackets(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{"src/a.go": "1\n2\n", "README": "r", "文档/一.txt": "一", "out": "->/etc/hostname",
		"v1.2": "v"})
	o := Options{Roots: []string{root}, Plain: true}
	want(t, "see @src/a.go, (@README) and @v1.2.", o, `file src/a.go = "1\n2\n"`, `file README = "r"`, `file v1.2 = "v"`)
	want(t, "看@src/a.go的第三行，@文档/一.txt，@README在哪", o, `file src/a.go = "1\n2\n"`, `file 文档/一.txt = "一"`,
		`file README = "r"`)
	want(t, "@src/a.go:2 @src @src/", o, `file src/a.go:2 = "2"`, `folder src = "[FILE] a.go\n"`)
	want(t, "@alice write to me@README or a@src.go, @nobody @../x @/etc/passwd @README.md", o)
	want(t, "@out @src/a.go:9", o, "file out ERROR refused: outside the roots",
		"file src/a.go:9 ERROR line 9 is past the end: the file has 2 lines")
	want(t, "@README", Options{Roots: []string{root}})
	want(t, "@README", Options{Plain: true})
}

func TestFolders(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{"d/b.txt": "", "d/a/": "", "d/.hidden": "", "d/Z": "", "d/link": "->a",
		"d/out": "->/etc", "d/两 个": "",
		"d/two\nlines": "", "e/": ""})
	o := Options{Roots: []string{root}}
	want(t, "@[d] @[d/] @[e] @[d:1]", o,
		`folder d = "[FILE] .hidden\n[FILE] Z\n[DIR] a\n[FILE] b.txt\n[DIR] link\n[FILE] out\n[FILE] \"two\\nlines\"\n[FILE] 两 个\n"`,
		`folder e = ""`, "folder d:1 ERROR a folder has no lines")
	o.Limits.Entries = 2
	want(t, "@[d]", o, `folder d = "[FILE] .hidden\n[FILE] Z\n" (cut: 2 of 8 entries)`)
}

func TestSeveralRoots(t *testing.T) {
	at := top(t)
	fill(t, at, map[string]string{"app/a.go": "one", "x/app/a.go": "two", "x/app/b.go": "b"})
	o := Options{Roots: []string{filepath.Join(at, "app"), filepath.Join(at, "x", "app")}}
	want(t, "@[a.go] @[app/a.go] @[app-2/a.go] @[b.go:1] @[app-2] @["+at+"/x/app/a.go]", o,
		`file app/a.go @[a.go] = "one"`,
		`file app-2/a.go = "two"`, `file app-2/b.go:1 @[b.go:1] = "b"`, `folder app-2 = "[FILE] a.go\n[FILE] b.go\n"`)
}

// What the program this format comes from does with the same files: what it keeps is
// kept, and what it read outside the roots is refused.
func TestMutsumi(t *testing.T) {
	at := top(t)
	fill(t, at, map[string]string{"ws/src/a.ts": "l1\nl2\nl3\nl4\nl5\n", "ws/note.md": "Include: @[src/a.ts:2:3] end",
		"ws/a/b.ts": "b",
		"ws/ab.ts":  "SECRET"})
	ws := Options{Roots: []string{filepath.Join(at, "ws")}}
	want(t, "look @[src/a.ts:2:3] ok", ws, `file src/a.ts:2:3 = "l2\nl3"`)
	want(t, "@[note.md]", ws, `file note.md = "Include: @[src/a.ts:2:3] end"`, `file src/a.ts:2:3 = "l2\nl3"`)
	want(t, "x @[nope.ts] y", ws, "file nope.ts ERROR not found")
	want(t, "@[../../etc/hostname]", ws, "file ../../etc/hostname ERROR refused: outside the roots")
	for _, c := range []struct{ root, name, want string }{
		{"/", "ws/a/b.ts", "b"}, {"/ws/a", "ws/ab.ts", ""}, {"/ws/a/", "ws/a", "[FILE] b.ts\n"},
		{"/ws/a", "ws/a/", "[FILE] b.ts\n"},
		{"", "ws/a/b.ts", ""},
	} {
		o := Options{}
		if c.root != "" {
			o.Roots = []string{at + c.root}
		}
		found := resolve(t, "@[file://"+filepath.Join(at, c.name)+"]", o)
		if found[0].Content != c.want || strings.HasPrefix(found[0].Error, "refused: ") != (c.want == "") {
			t.Errorf("%s in %q is %s", c.name, c.root, shown(found))
		}
	}
}

func TestRefused(t *testing.T) {
	at := top(t)
	fill(t, at, map[string]string{"ws/a": "", "ws/out": "->../secret", "secret": "SECRET",
		"ws/b.md": "@[../secret] @[none.txt] @[a]"})
	o := Options{Roots: []string{filepath.Join(at, "ws")}}
	want(t, "@[../secret] @[../none] @[/etc/passwd] @[out] @[secret]", o,
		"file ../secret ERROR refused: outside the roots",
		"file ../none ERROR refused: outside the roots", "file /etc/passwd ERROR refused: outside the roots",
		"file out ERROR refused: outside the roots", "file secret ERROR not found")
	want(t, "@[a]", Options{}, "file a ERROR refused: no folder was granted")
	want(t, "@[b.md]", o, `file b.md = "@[../secret] @[none.txt] @[a]"`,
		"file ../secret ERROR refused: outside the roots, named in b.md",
		"file none.txt ERROR not found, named in b.md", `file a = ""`)
}

func TestTools(t *testing.T) {
	o := Options{}
	want(t, `@[context_search{"query": "x"}] @[ls{"p":1}]`, o,
		`tool context_search{"query":"x"} @[context_search{"query": "x"}] ERROR refused: recall tools cannot be run here`)
	var calls []string
	o.Call = func(_ context.Context, tool string, args json.RawMessage) (string, error) {
		calls = append(calls, tool+" "+string(args))
		if tool == "context_grep" {
			return "lost", errors.New("no such conversation")
		}
		return strings.Repeat("é", 10), nil
	}
	o.Limits.FileBytes = 9
	want(t, `@[context_grep{"a": }] @[context_list{} x]`, o, `tool context_grep{"a": } ERROR its arguments are not JSON`,
		`tool context_list{} x ERROR its arguments are not JSON`)
	want(t, `@[context_list{}] @[context_grep{"a":[1,2]}] @[context_list{ }]`, o,
		`tool context_list{} = "éééé" (cut: the first 8 of 20 bytes)`,
		`tool context_grep{"a":[1,2]} ERROR no such conversation`)
	if !slices.Equal(calls, []string{"context_list {}", `context_grep {"a":[1,2]}`}) {
		t.Errorf("called %q", calls)
	}
}

func TestResolveEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := Resolve(ctx, "@[a]", Options{}); scrollback.CodeOf(err) != scrollback.Canceled || found != nil {
		t.Errorf("after its end: %v, %v", found, err)
	}
}
