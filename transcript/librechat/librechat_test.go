package librechat_test

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/librechat"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

var place = os.DirFS("testdata/place")

// fixtures are exports that grow where they are JSON.
var fixtures = tooltest.Case{Tool: librechat.Tool{}, FS: place, NoTimes: []string{"one.json"},
	Grows: func(name string) bool { return strings.HasPrefix(path.Ext(name), ".json") }}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func FuzzRead(f *testing.F) {
	tooltest.FuzzTool(f, librechat.Tool{}, place, "flat.json", "one.json", "tree.json")
}

// What is damaged of a file costs no more than itself.
func TestDamage(t *testing.T) {
	fsys := fstest.MapFS{"talk.json": {Data: []byte(`{"conversationId":"c","title":"t","messages":[` +
		`{"messageId":"m1","parentMessageId":"0","isCreatedByUser":true,"text":"one","createdAt":"2024-01-01T00:00:01Z"},` +
		`{"messageId":"m2","parentMessageId":"m1","isCreatedByUser":false,"text":"two","createdAt":"2024-01-01T00:00:02Z","content":[{"ty` +
		"\x00\x00" +
		`{"messageId":"m3","parentMessageId":"m2","isCreatedByUser":true,"text":"three","createdAt":"2024-01-01T00:00:03Z"},` +
		`{"messageId":"m4","parentMessageId":"m3","isCreatedByUser":false,"text":"four","createdAt":"2024-01-01T00:00:04Z"}]}`)}}
	got := tooltest.ScriptLines(tooltest.ReadEntries(t, librechat.Tool{}, fsys))
	var said []string
	for _, line := range got {
		if !strings.HasPrefix(line, "bad ") {
			said = append(said, line)
		}
	}
	want := []string{"c: t", "user | one", "assistant | two", "user | three", "assistant | four", "end"}
	if d := cmp.Diff(want, said); d != "" || len(said) == len(got) {
		t.Errorf("%s\n%s", d, strings.Join(got, "\n"))
	}
}
