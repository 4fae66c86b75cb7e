package openwebui_test

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

var place = os.DirFS("testdata/place")

func TestSuite(t *testing.T) {
	tooltest.Run(t, tooltest.Case{Tool: openwebui.Tool{}, FS: place, Grows: func(name string) bool {
		return strings.HasPrefix(path.Ext(name), ".json")
	}})
}

// What the fixtures say, line by line.
func TestScript(t *testing.T) {
	const golden = "testdata/script.golden"
	got := strings.Join(tooltest.Script(tooltest.Entries(t, openwebui.Tool{}, place)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the fixtures say\n%s\nwant\n%s", got, want)
	}
}

// Whatever the bytes are, each conversation is described once, and ends.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"chat-export-1767000000000.json"} {
		b, err := os.ReadFile("testdata/place/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, fault := range tooltest.Faults(openwebui.Tool{}, "conversations.json", b) {
			t.Error(fault)
		}
	})
}
