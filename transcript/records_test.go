package transcript_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scrollback-ai/scrollback/transcript"
)

// records returns those of a file, and its damage, in order: "line json" and "line !reason".
func records(t *testing.T, file string) (out []string) {
	t.Helper()
	r := transcript.NewRecords(strings.NewReader(file))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case rec.Torn:
			out = append(out, fmt.Sprintf("%d torn", rec.Line))
		case rec.JSON == nil:
			out = append(out, fmt.Sprintf("%d damaged", rec.Line))
		default:
			out = append(out, fmt.Sprintf("%d %s", rec.Line, rec.JSON))
		}
	}
}

func wide(text string, little bool) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(text)) {
		hi := byte(c >> 8)
		lo := byte(c)
		if little {
			hi, lo = lo, hi
		}
		b.WriteByte(hi)
		b.WriteByte(lo)
	}
	return b.String()
}

func TestRecords(t *testing.T) {
	const a, b, c = `{"id":"a","text":"one"}`, `{"id":"b","text":"two {odd} \"}{"}`, `{"id":"c","list":[{"id":"x","n":1}]}`
	nul := "\x00\x00\x00"
	for name, test := range map[string]struct{ file, want string }{
		"lines":                 {a + "\n" + b + "\r\n\n" + c, "1 A;2 B;4 C"},
		"a mark of byte order":  {"\uFEFF" + a + "\n\uFEFF" + b, "1 A;2 B"},
		"NULs beside":           {nul + a + nul + "\n" + nul + "\n" + nul + b + "\n", "1 A;2 damaged;3 B"},
		"NULs within":           {a + "\n" + c[:8] + nul + c[8:] + "\n" + b, "1 A;2 C;2 damaged;3 B"},
		"NULs at the end":       {a + "\n" + nul, "1 A;2 torn"},
		"glued":                 {a + b + "," + c + "\n" + a, "1 A;1 B;1 C;2 A"},
		"glued by NULs":         {a + nul + b + "\n", "1 A;1 B"},
		"torn and whole":        {a + "\n" + b[:20] + b + "\n" + c, "1 A;2 damaged;2 B;3 C"},
		"torn first":            {b[:12] + b + "\n" + c, "1 damaged;1 B;2 C"},
		"torn within an object": {c[:31] + c + "\n" + a, "1 damaged;1 C;2 A"},
		"torn behind an object": {c[:len(c)-2] + "," + c + "\n", "1 damaged;1 C"},
		"torn at a colon":       {a + "\n" + c[:10] + c, "1 A;2 damaged;2 C"},
		"torn line":             {a + "\n" + b[:20] + "\n" + c + "\n", "1 A;2 damaged;3 C"},
		"torn end":              {a + "\n" + b[:20], "1 A;2 torn"},
		"torn end of a line":    {a + b[:20], "1 A;1 torn"},
		"garbage":               {"hello\n" + a + "\nbye " + b, "1 damaged;2 A;3 damaged;3 B"},
		"a line break in a text": {
			a + "\n" + strings.Replace(b, "two ", "tw\no\r\n", 1) + "\n" + c,
			`1 A;2 {"id":"b","text":"tw\u000ao\u000d\u000a{odd} \"}{"};5 C`,
		},
		"a tab in a text":             {strings.Replace(a, "one", "o\tne", 1), `1 {"id":"a","text":"o\u0009ne"}`},
		"printed over lines":          {a + "\n{\n  \"id\": \"d\"\n}\n" + b, "1 A;2 {\n  \"id\": \"d\"\n};5 B"},
		"printed over lines and torn": {a + "\n{\n  \"id\": \"d\",\n" + b + "\n", "1 A;2 damaged;3 damaged;4 B"},
		"broken after several lines":  {"{\"id\":\n}\n" + b, "1 damaged;2 damaged;3 B"},
		"separators of lines": {strings.Replace(a, "one", "o\u2028n\u2029e", 1),
			"1 " + strings.Replace(a, "one", "o\u2028n\u2029e", 1)},
		"UTF-16":                 {"\xff\xfe" + wide(a+"\n"+b+"\n", true), "1 A;2 B"},
		"UTF-16, big end first":  {"\xfe\xff" + wide(a+"\n"+b+"\n", false), "1 A;2 B"},
		"UTF-16 without a mark":  {wide(a+"\n"+b+"\n", true), "1 A;2 B"},
		"lines that end with CR": {a + "\r" + b + "\r" + c + "\r", "1 A;1 B;1 C"},
		"blocks that begin as it does": {
			`{"type":"x","parts":[{"type":"text","text":"y"},{"type":"text","te` + `{"type":"x","parts":[]}` + "\n",
			`1 damaged;1 {"type":"x","parts":[]}`,
		},
	} {
		want := strings.NewReplacer(" A", " "+a, " B", " "+b, " C", " "+c).Replace(test.want)
		if got := strings.Join(records(t, test.file), ";"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// A hostile file costs no more than some times its length.
func TestRecordsBounded(t *testing.T) {
	for _, file := range []string{
		strings.Repeat(`{"a":`, 300_000), strings.Repeat(`{"a":1`, 300_000), strings.Repeat("{\"a\"\n", 300_000),
		strings.Repeat("{\n", 300_000),
		strings.Repeat(`{"a":"`, 300_000), strings.Repeat("[\n{\"a\":1},\n", 100_000),
	} {
		if out := records(t, file); len(out) == 0 {
			t.Error("nothing was said")
		}
	}
}

// What damage leaves whole is read, wherever it is.
func FuzzRecords(f *testing.F) {
	f.Add("{\"a\":1}", 3, "\x00{")
	f.Fuzz(func(t *testing.T, one string, at int, damage string) {
		for _, r := range records(t, one) {
			if strings.TrimSpace(r) == "" {
				t.Fatal("an empty record")
			}
		}
		const whole = `{"uuid":"7","text":"whole"}`
		damage = strings.NewReplacer("\n", "", "{", "", "[", "", "\"", "", "\\", "", "\xff\xfe", "", "\xfe\xff",
			"").Replace(damage)
		file := whole + "\n" + damage + whole + "\n" + whole + "\n"
		n := 0
		for _, r := range records(t, file) {
			if strings.HasSuffix(r, whole) {
				n++
			}
		}
		if n != 3 {
			t.Fatalf("%d of 3 records of %q are read", n, file)
		}
	})
}
