package collect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript"
)

// rewrite changes the file of a copy.
func (l *library) rewrite(name string, change func([]byte) []byte) {
	l.Helper()
	file := filepath.Join(l.copies[name], filepath.FromSlash(l.file))
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, change(b), 0o600)
	}
	if err == nil {
		err = os.Chtimes(file, l.clock, l.clock)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// found brings a copy, and returns what was found.
func (l *library) found(name string) (f collect.Found) {
	l.Helper()
	c, err := collect.New(l.sb.Transfer, l.sb.View, collect.Options{Tools: []transcript.Tool{l.tool}, Path: l.copies[name],
		Machine: collect.ThisMachine(l.folder)})
	if err != nil {
		l.Fatal(err)
	}
	r, err := c.Import(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	for _, f := range r.Tools {
		return f
	}
	return f
}

// Of a file that is damaged, whatever its format, what is whole is read, and the damage is
// named once.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	whole := line(8, "", 0, 0)
	for _, k := range keepers() {
		if k.database != nil || k.format == "aider" { // text, of which nothing can be damaged
			continue
		}
		name := k.format
		if strings.HasSuffix(k.file, "messages.json") {
			name += " cli"
		}
		for what, c := range map[string]struct {
			change func([]byte) []byte
			want   []turn
			reason string
		}{
			"its end is missing": {func(b []byte) []byte {
				return b[:bytes.LastIndex(b, []byte("ask p6"))+3]
			}, whole[:6], "only"},
			"its end is NUL": {func(b []byte) []byte {
				i := bytes.LastIndex(b, []byte("ask p6")) + 3
				return append(b[:i:i], make([]byte, len(b)-i)...)
			}, whole[:6], "NUL"},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, k)
				l.copy("a", whole)
				l.rewrite("a", c.change)
				f := l.found("a")
				paths, _, _ := l.stands()
				if len(paths) != 1 || paths[0] != said(c.want) {
					t.Errorf("it says %q, want %q", paths, said(c.want))
				}
				if f.Failed > 0 || f.BadLines == 0 || len(f.Problems) == 0 || f.Problems[0].Line == 0 {
					t.Errorf("%+v", f)
				}
			})
		}
	}
}

// A file in UTF-16, whatever its format, is read.
func TestFilesInUTF16(t *testing.T) {
	t.Parallel()
	for _, k := range keepers() {
		if k.database != nil {
			continue
		}
		for way, bring := range map[string]func(*library, ...string){"import": ways["import"], "upload": ways["upload"]} {
			name := k.format + " " + way
			if strings.HasSuffix(k.file, "messages.json") {
				name += " cli"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, k)
				l.copy("a", line(4, "", 0, 0))
				l.rewrite("a", func(b []byte) []byte {
					out := []byte{0xff, 0xfe}
					for _, c := range utf16.Encode([]rune(string(b))) {
						out = append(out, byte(c), byte(c>>8))
					}
					return out
				})
				bring(l, "a")
				l.want("in UTF-16", line(4, "", 0, 0), 1)
			})
		}
	}
}

// A message whose content is null, and that says nothing else, is none.
func TestNullContent(t *testing.T) {
	t.Parallel()
	for _, k := range keepers() {
		if k.format == "aider" { // which has no null
			continue
		}
		name := k.format
		if strings.HasSuffix(k.file, "messages.json") {
			name += " cli"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			null := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"say p3"`), []byte("null")) }
			if written := k.write; written != nil {
				k.write = func(of []turn) []byte { return null(written(of)) }
			} else {
				written := k.database
				k.database = func(of []turn) (out []string) {
					for _, s := range written(of) {
						out = append(out, string(null([]byte(s))))
					}
					return out
				}
			}
			l := newLibrary(t, k)
			l.copy("a", line(4, "", 0, 0))
			l.found("a")
			if paths, _, _ := l.stands(); len(paths) != 1 || paths[0] != said(line(3, "", 0, 0)) {
				t.Errorf("it says %q", paths)
			}
		})
	}
}
