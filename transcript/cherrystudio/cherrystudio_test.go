package cherrystudio_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/cherrystudio"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// fixtures are by a sample and by descriptions: the program was not run.
var fixtures = tooltest.Case{Tool: cherrystudio.Tool{}, FS: os.DirFS("testdata/place"), Mutants: 500}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) {
	entries := tooltest.ReadEntries(t, cherrystudio.Tool{}, fixtures.FS)
	want := []string{
		"t1: The harbour",
		"user | Which files are there? | [quay.pdf]",
		"assistant (interrupted) | There",
		"back to 1",
		`assistant | thinks Look first. | calls c1 list {"path":"."} | One file.`,
		`tool | result of c1 list: {"files":["a.txt"]}`,
		"user | And now?",
		"assistant (failed) | 503 busy",
		"end[block that is not there:1 message of role system:1]",
		"t2: Of an older version",
		"user | Of an older version",
		"assistant | Still here.",
		"end",
	}
	if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
		t.Error(d)
	}
	if c := entries[0].Conversation; c.Model != "m-0" || c.CreatedAt != 1772445600000 || c.UpdatedAt != 1772445661000 {
		t.Errorf("%+v", c)
	}
}
