package jan_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/jan"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// fixtures are by a sample: the program was not run.
var fixtures = tooltest.Case{Tool: jan.Tool{}, FS: os.DirFS("testdata/threads"), Mutants: 500}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) {
	entries := tooltest.ReadEntries(t, jan.Tool{}, fixtures.FS)
	want := []string{"t1: Pilot", "user | Who steers?", "assistant | The pilot.", "end"}
	if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
		t.Error(d)
	}
	if c := entries[0].Conversation; c.Model != "m-1" || c.CreatedAt != 1772445600000 || c.UpdatedAt != 1772445602000 {
		t.Errorf("%+v", c)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/.local/share/Jan/data/threads", "/home/u/jan/threads"}, jan.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
