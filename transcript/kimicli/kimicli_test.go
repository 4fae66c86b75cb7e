package kimicli_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/kimicli"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are by descriptions of the format: the program was not run.
var fixtures = tooltest.Case{Tool: kimicli.Tool{}, FS: os.DirFS("testdata/kimi"), Mutants: 700,
	NoTimes: []string{"s-context"}, Grows: func(name string) bool { return name != "kimi.json" }}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func TestDetails(t *testing.T) {
	var used []scrollback.Usage
	for _, e := range tooltest.ReadEntries(t, kimicli.Tool{}, fixtures.FS) {
		if e.Origin != nil && e.Origin.Folder != "/home/me/harbour" {
			t.Errorf("%+v", e.Origin)
		}
		if e.Message.Usage != nil {
			used = append(used, *e.Message.Usage)
		}
	}
	want := []scrollback.Usage{{InputTokens: 110, CachedTokens: 100, OutputTokens: 5, TotalTokens: 115}}
	if d := cmp.Diff(want, used); d != "" {
		t.Error(d)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/.kimi"}, kimicli.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
