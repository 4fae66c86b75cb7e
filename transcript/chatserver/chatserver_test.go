package chatserver_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/chatserver"
)

var update = flag.Bool("update", false, "write golden files")

// read returns all that a file comes to.
func read(t *testing.T, r io.Reader) (out []transcript.Entry) {
	t.Helper()
	for e, err := range (chatserver.Format{}).Read(r) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// picture returns entries as JSON, without what they do not say.
func picture(t *testing.T, entries []transcript.Entry) string {
	t.Helper()
	var out strings.Builder
	for _, e := range entries {
		var v any
		switch {
		case e.Bad != nil:
			v = e.Bad
		case e.Conversation != nil:
			v = map[string]any{"source": e.Source, "title": e.Conversation.Title, "model": e.Conversation.Model,
				"meta": e.Conversation.Meta}
		default:
			m := e.Message
			v = map[string]any{"line": e.Line, "id": m.ID, "role": m.Role, "parts": m.Parts, "model": m.Model, "usage": m.Usage,
				"created_at": m.CreatedAt, "meta": m.Meta, "bytes": len(e.Bytes)}
		}
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	b, err := os.ReadFile("testdata/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	if !(chatserver.Format{}).Sniff(b) || !(chatserver.Format{}).Sniff(b[:900]) {
		t.Error("not recognized")
	}
	got := picture(t, read(t, strings.NewReader(string(b))))
	golden := filepath.Join("testdata", "conversation.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
	if one := picture(t, read(t, iotest.OneByteReader(strings.NewReader(string(b))))); one != got {
		t.Error("read byte by byte it is something else")
	}
}

// What is not a file of this server is left to others.
func TestSniff(t *testing.T) {
	for _, s := range []string{"", "{", "[]", "7", `{"messages":[]}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}]}`,
		`{"conversationId":"c","title":"t","messages":[]}`, `{"sessionId":"s","id":"x","updatedAt":1,"messages":[]}`,
		`{"role":"user","content":"x"}`, `{"archive":{"format":"scrollback"},"id":"x","updatedAt":1}`} {
		if (chatserver.Format{}).Sniff([]byte(s)) {
			t.Errorf("recognized %s", s)
		}
	}
}

// A file that was cut off gives what it holds, and says so; one that cannot be read is an
// error.
func TestCutOff(t *testing.T) {
	b, err := os.ReadFile("testdata/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	cut := whole[:strings.Index(whole, `"id": "m4"`)]
	got := read(t, strings.NewReader(cut))
	last := got[len(got)-1].Bad
	if len(got) != 4 || last == nil || last.Reason != "the file ends early: of its last record only 8 bytes are there" {
		t.Errorf("%d entries, the last %+v", len(got), last)
	}
	failing := io.MultiReader(strings.NewReader(cut), iotest.ErrReader(errors.New("disk")))
	for _, err = range (chatserver.Format{}).Read(failing) {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("a disk that fails: %v", err)
	}
}

// What is kept until the end of a file is bounded, in however many fields it comes.
func TestManyFields(t *testing.T) {
	if testlength.Choose(true, true, false) {
		t.Skip("it reads 256 MiB: that is for where tests are long")
	}
	field := `"` + strings.Repeat("x", 1<<20) + `"`
	file, out := io.Pipe()
	go func() {
		_, err := io.WriteString(out, `{"id":"x","updatedAt":1`)
		for i := 0; err == nil && i < 400; i++ {
			_, err = fmt.Fprintf(out, `,"f%d":%s`, i, field)
		}
		out.Close()
	}()
	got := read(t, file)
	file.Close()
	if last := got[len(got)-1].Bad; last == nil || !strings.Contains(last.Reason, "longer than") {
		t.Errorf("%d entries, the last %+v", len(got), last)
	}
}

// Whatever a file holds, it is read to its end, and what it says is a message or bad.
func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/conversation.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(b), "", "{", `{"messages":7}`, `{"messages":[null,1,{}]}`,
		`{"id":7,"messages":[{"role":"user","content":7}]}`,
		`{"messages":[{"role":"system","meta":{"event":1}},{"role":"user","content":[{"type":"text","text":"x"}],"meta":[]}]}`,
		`{"messages":[{"role":"user","content":"x","timestamp":-1,"attachments":[{"data":"?"}]}]}`, "\uFEFF{}",
		`{"messages":[{"role":"user"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		_ = (chatserver.Format{}).Sniff([]byte(file))
		for i, e := range read(t, strings.NewReader(file)) {
			if e.Bad != nil || e.Conversation != nil {
				continue
			}
			if _, err := scrollback.ParseRole(string(e.Message.Role)); err != nil || len(e.Message.Parts) == 0 ||
				e.Message.CreatedAt < 0 {
				t.Fatalf("entry %d: %+v", i, e)
			}
			for at := range e.Bytes {
				if at >= len(e.Message.Parts) {
					t.Fatalf("entry %d has bytes for part %d", i, at)
				}
			}
			if _, err := transcript.ImportMark(e); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What is damaged of a file costs no more than itself.
func TestDamage(t *testing.T) {
	file := `{"id":"c","title":"t","createdAt":1,"messages":[{"id":"m1","role":"user","content":"one","timestamp":1},` +
		`{"id":"m2","role":"assistant","content":"two","timestamp":2,"meta":{"reaso` + "\x00\x00" +
		`{"id":"m3","role":"user","content":"three","timestamp":3},{"id":"m4","role":"assistant","con`
	var said []string
	bad := 0
	for _, e := range read(t, strings.NewReader(file)) {
		if e.Bad != nil {
			bad++
		} else if e.Conversation == nil {
			said = append(said, e.Message.Parts.Text())
		}
	}
	if d := cmp.Diff([]string{"one", "two", "three"}, said); d != "" || bad < 2 {
		t.Errorf("%d are bad: %s", bad, d)
	}
}
