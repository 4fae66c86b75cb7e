package lmstudio_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/lmstudio"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are by a sample and descriptions: the program was not run. Its messages have no times.
var fixtures = tooltest.Case{Tool: lmstudio.Tool{}, FS: os.DirFS("testdata/conversations"), Mutants: 700,
	NoTimes: []string{"1772445600000", "1772445700000"}}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/.lmstudio/conversations", "/home/u/.cache/lm-studio/conversations"},
		lmstudio.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
