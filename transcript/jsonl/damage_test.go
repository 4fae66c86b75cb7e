package jsonl_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript/jsonl"
)

// wide returns a text as PowerShell redirects it into a file.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, c)
	}
	return string(out)
}

// What damage leaves whole is read, and the rest is named by its line.
func TestDamage(t *testing.T) {
	const a, b = `{"role":"user","content":"one"}`, `{"role":"model","content":"two"}`
	for name, test := range map[string]struct {
		file string
		bad  int
	}{
		"whole": {a + "\n" + b + "\n", 0}, "glued": {a + b, 0},
		"NULs": {"\x00\x00" + a + "\n\x00\x00\n" + b, 1}, "UTF-16": {wide(a + "\n" + b), 0},
		"torn": {a + "\n" + b[:20] + b + "\n", 1}, "the end": {a + "\n" + b + "\n" + a[:9], 1},
	} {
		if !(jsonl.Format{}).Sniff([]byte(test.file)) {
			t.Errorf("%s: it is not known", name)
		}
		var said []string
		bad := 0
		for e, err := range (jsonl.Format{}).Read(strings.NewReader(test.file)) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Bad != nil:
				bad++
			default:
				said = append(said, string(e.Message.Role)+" "+e.Message.Parts.Text())
			}
		}
		want := string(scrollback.RoleUser) + " one;" + string(scrollback.RoleAssistant) + " two"
		if got := strings.Join(said, ";"); got != want || bad != test.bad {
			t.Errorf("%s: %q with %d bad lines, want %q with %d", name, got, bad, want, test.bad)
		}
	}
}
