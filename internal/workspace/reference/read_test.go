package reference

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sparse makes a file that begins with a text and is large only by what it says.
func sparse(t testing.TB, at, begin string, size int64) {
	t.Helper()
	if err := os.WriteFile(at, []byte(begin), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(at, size); err != nil {
		t.Skipf("this needs a file system with sparse files: %v", err)
	}
}

func TestWhatIsNotText(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{
		"zip": "PK\x03\x04\x00\x00", "late": strings.Repeat("x", 20_000) + "\x00", "latin": "un\ncaf\xe9\n",
		"cut": "abc\xe4\xb8",
		"le":  "\xff\xfeh\x00\xe9\x00\n\x00\x2d\x4e=\xd8\x00\xde", "be": "\xfe\xff\x00h\x00\n\x00i", "odd": "\xff\xfeh\x00x",
		"null.le": "\xff\xfe\x00\x00h\x00",
	})
	if err := mkfifo(filepath.Join(root, "pipe")); err != nil {
		t.Fatal(err)
	}
	o := Options{Roots: []string{root}}
	want(t, "@[zip] @[late] @[zip:1] @[late:1]", o, "file zip ERROR a binary file of 6 bytes",
		"file late ERROR a binary file of 20,001 bytes",
		"file zip:1 ERROR a binary file of 6 bytes", "file late:1 ERROR these lines are not text")
	want(t, "@[latin] @[latin:1] @[latin:2] @[cut]", o, "file latin ERROR not UTF-8 text: the byte 0xe9 in line 2",
		`file latin:1 = "un"`,
		"file latin:2 ERROR not UTF-8 text: the byte 0xe9 in line 2",
		"file cut ERROR not UTF-8 text: the byte 0xe4 in line 1")
	want(t, "@[le] @[be] @[odd] @[le:2] @[be:3] @[null.le]", o, `file le = "hé\n中😀"`, `file be = "h\ni"`, `file odd = "h"`,
		`file le:2 = "中😀"`,
		"file be:3 ERROR line 3 is past the end: the file has 2 lines", "file null.le ERROR a binary file of 6 bytes")
	want(t, "@[pipe] @[pipe:2]", o, "file pipe ERROR not a regular file", "file pipe @[pipe:2] ERROR not a regular file")
}

// A file is read as far as it is asked for, whatever its size.
func TestLargeFiles(t *testing.T) {
	root := top(t)
	text := strings.Repeat("line\n", 100_000)
	fill(t, root, map[string]string{"log": text, "line": strings.Repeat("é", 200_000), "fits": strings.Repeat("x", 1000)})
	sparse(t, filepath.Join(root, "huge"), strings.Repeat("line\n", 3000), 5<<30)
	sparse(t, filepath.Join(root, "zeros"), "", 5<<30)
	sparse(t, filepath.Join(root, "photo"), "\x89PNG\r\n\x1a\n", 5<<30)
	o := Options{Roots: []string{root}}
	want(t, "@[huge] @[huge:10:11] @[huge:2999] @[huge:90000] @[zeros] @[zeros:2] @[photo]", o,
		"file huge ERROR too large: 5,368,709,120 bytes, and at most 262,144 bytes are read; name lines of it, as in @[path:1:200]",
		`file huge:10:11 = "line\nline"`, `file huge:2999 = "line"`,
		"file huge:90000 ERROR too large: line 90000 is not within its first 67,108,864 bytes",
		"file zeros ERROR a binary file of 5,368,709,120 bytes", "file zeros:2 ERROR a binary file of 5,368,709,120 bytes",
		"image photo ERROR too large: 5,368,709,120 bytes, and an image has at most 20,971,520 bytes")
	found := resolve(t, "@[log] @[log:1:90000] @[line:1] @[log:99999:100000]", o)
	if !strings.HasPrefix(found[0].Error, "too large: 500,000 bytes") {
		t.Errorf("found %s", shown(found[:1]))
	}
	if f := found[1]; f.Bytes < 250<<10 || f.Bytes > 256<<10 ||
		f.Note != "cut in line 52429: at most 262,144 bytes are read" {
		t.Errorf("found %d bytes, %s", f.Bytes, f.Note)
	}
	if f := found[2]; f.Bytes != 256<<10 || f.Note != "cut in line 1: at most 262,144 bytes are read" || f.Error != "" {
		t.Errorf("found %d bytes, %s, %s", f.Bytes, f.Note, f.Error)
	}
	if f := found[3]; f.Content != "line\nline" {
		t.Errorf("found %s", shown(found[3:]))
	}
	o.Limits.FileBytes = 3
	want(t, "@[line:1] @[fits]", o, `file line:1 = "é" (cut in line 1: at most 3 bytes are read)`,
		"file fits ERROR too large: 1,000 bytes, and at most 3 bytes are read; name lines of it, as in @[path:1:200]")
}

// Looking for lines far behind, many times, has an end.
func TestLinesFarBehind(t *testing.T) {
	root := top(t)
	o := Options{Roots: []string{root}}
	sparse(t, filepath.Join(root, "huge"), strings.Repeat("line\n", 3000), 1<<30)
	var text strings.Builder
	for i := range 100 {
		text.WriteString("@[huge:" + strconv.Itoa(90_000+i) + "] ")
	}
	for _, f := range resolve(t, text.String(), o) {
		if !strings.HasPrefix(f.Error, "too large: line 90") {
			t.Fatalf("%s: %s", f.Source, f.Error)
		}
	}
}

const png = "\x89PNG\r\n\x1a\nrest"

func TestImages(t *testing.T) {
	at := top(t)
	fill(t, at, map[string]string{"ws/p.png": png, "ws/my photo.txt": png, "ws/a%20b.png": "raw " + png,
		"ws/c d.jpg": "\xff\xd8\xffjpeg",
		"ws/x.gif":   "GIF89a",
		"ws/w":       "RIFF\x00\x00\x00\x00WEBPVP8 ", "ws/note.png": "text", "ws/none.png": "", "secret.png": png,
		"ws/d/":      "",
		"ws/out.png": "->../secret.png"})
	o := Options{Roots: []string{filepath.Join(at, "ws")}}
	want(t, "![a](p.png) ![b](./p.png) @[p.png] ![c](<my photo.txt>) ![d](a%20b.png) ![e](c%20d.jpg)", o,
		`image p.png @[![a](p.png)] IMAGE of 12`, `image my photo.txt @[![c](<my photo.txt>)] IMAGE of 12`,
		`image a%20b.png @[![d](a%20b.png)] IMAGE of 16`, `image c d.jpg @[![e](c%20d.jpg)] IMAGE of 7`)
	want(t, "![u](file://"+at+"/ws/c%20d.jpg)", o, "image c d.jpg @[![u](file://"+at+"/ws/c%20d.jpg)] IMAGE of 7")
	want(t, "@[p.png] ![b](p.png) @[x.gif] @[w] @[note.png] @[p.png:3]", o, `image p.png IMAGE of 12`,
		`image x.gif IMAGE of 6`,
		`image w IMAGE of 16`,
		`file note.png = "text"`, "image p.png:3 ERROR an image has no lines")
	want(t, "![a](../secret.png) ![b](out.png) ![c](nope.png) ![d](d) ![e](none.png) ![f](note.png)", o,
		"image ../secret.png @[![a](../secret.png)] ERROR refused: outside the roots",
		"image out.png @[![b](out.png)] ERROR refused: outside the roots",
		"image nope.png @[![c](nope.png)] ERROR not found", "image d @[![d](d)] ERROR not an image: a folder",
		"image none.png @[![e](none.png)] ERROR not an image: an empty file", "image note.png @[![f](note.png)] IMAGE of 4")
	want(t, "![a](p.png)", Options{}, "image p.png @[![a](p.png)] ERROR refused: no folder was granted")
	o.Limits = MarkLimits{Images: 1, ImageBytes: 12}
	want(t, "![d](a%20b.png) @[p.png] @[x.gif] ![h](https://h/x.png)", o,
		"image a%20b.png @[![d](a%20b.png)] ERROR too large: 16 bytes, and an image has at most 12 bytes",
		"image p.png IMAGE of 12",
		"image x.gif ERROR left out: the limit of images is 1",
		"image https://h/x.png @[![h](https://h/x.png)] ERROR refused: remote images are not allowed")
	o.Limits = MarkLimits{ImagesSum: 20}
	want(t, "@[p.png] ![d](a%20b.png) ![e](c%20d.jpg)", o, "image p.png IMAGE of 12",
		"image a%20b.png @[![d](a%20b.png)] ERROR left out: the images of a prompt have at most 20 bytes",
		"image c d.jpg @[![e](c%20d.jpg)] IMAGE of 7")
}

func TestImagesElsewhere(t *testing.T) {
	text := "![h](https://h/x.png) ![i](HTTP://h/y) ![j](https://h/x.png)"
	want(t, text, Options{}, "image https://h/x.png @[![h](https://h/x.png)] ERROR refused: remote images are not allowed",
		"image HTTP://h/y @[![i](HTTP://h/y)] ERROR refused: remote images are not allowed")
	want(t, text, Options{Remote: true}, "image https://h/x.png @[![h](https://h/x.png)] AT https://h/x.png",
		"image HTTP://h/y @[![i](HTTP://h/y)] AT HTTP://h/y")
	want(t, text, Options{Remote: true, Limits: MarkLimits{Images: 1}},
		"image https://h/x.png @[![h](https://h/x.png)] AT https://h/x.png",
		"image HTTP://h/y @[![i](HTTP://h/y)] ERROR left out: the limit of images is 1")
}

func TestDataImages(t *testing.T) {
	body := base64.StdEncoding.EncodeToString([]byte(png))
	url := "data:image/png;base64," + body
	found := resolve(t, "![a]("+url+") ![b]("+url+
		") ![c](data:image/gif,GIF89a%20) ![d](data:x;base64,***) ![e](data:image/png)", Options{})
	if len(found) != 4 || string(found[0].Image) != png || string(found[1].Image) != "GIF89a " {
		t.Fatalf("found\n%s", shown(found))
	}
	f := found[0]
	if f.Mark != "![a](data:image/png;base64,…)" || !strings.HasPrefix(f.Source, "data:image/png;base64 ") ||
		len(f.Source) > 60 {
		t.Errorf("its mark is %q and its source %q", f.Mark, f.Source)
	}
	for _, f := range found[2:] {
		if f.Error != "not a data URL" {
			t.Errorf("found %s", shown([]Found{f}))
		}
	}
	f = resolve(t, "![a]("+url+")", Options{Limits: MarkLimits{ImageBytes: 11}})[0]
	if f.Error != "too large: 12 bytes, and an image has at most 11 bytes" {
		t.Errorf("found %s", shown([]Found{f}))
	}
	f = resolve(t, "![a]("+url+")", Options{Limits: MarkLimits{ImageBytes: 2}})[0]
	if !strings.HasPrefix(f.Error, "too large: a data URL of 38 bytes") {
		t.Errorf("found %s", shown([]Found{f}))
	}
}

// Whatever a prompt and a file say, nothing outside is read and it ends within its limits.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"@[a.md:1:2] @b ![c](p.png)", "@[../secret] @[out] ![x](out)", "@[d/../a.md]@[.]@[ws]",
		"@[%2e%2e/secret]",
		"@[file:../secret]", "![a](data:image/png;base64,AAAA)", "@[context_x{}]", "@[d:1]@[a.md:9]"} {
		f.Add(s, s)
	}
	at := top(f)
	fill(f, at, map[string]string{"ws/b": "b\nc", "ws/d/p.png": png, "ws/p.png": png, "ws/out": "->../secret",
		"ws/up":  "->..",
		"secret": "SECRET", "x/y": "SECRET"})
	f.Fuzz(func(t *testing.T, prompt, file string) {
		fill(t, at, map[string]string{"ws/a.md": strings.ReplaceAll(file, "SECRET", "")})
		o := Options{Roots: []string{filepath.Join(at, "ws")}, Plain: true,
			Limits: MarkLimits{Files: 5, TotalBytes: 1000, FileBytes: 500, Images: 2},
			Call:   func(context.Context, string, json.RawMessage) (string, error) { return "called", nil }}
		found := resolve(t, strings.ReplaceAll(prompt, "SECRET", ""), o)
		total := int64(0)
		images := 0
		for _, f := range found {
			if strings.Contains(f.Content+string(f.Image), "SECRET") {
				t.Fatalf("%q reads what is outside", f.Mark)
			}
			if f.Image != nil {
				images++
			} else {
				total += f.Bytes
			}
		}
		if len(found) > 6 || total > 1000 || images > 2 {
			t.Fatalf("%d were found with %d bytes and %d images", len(found), total, images)
		}
	})
}
