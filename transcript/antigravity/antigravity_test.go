package antigravity_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/antigravity"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// fixtures are by descriptions: the program was not run.
var fixtures = tooltest.Case{Tool: antigravity.Tool{}, FS: os.DirFS("testdata/brain"), Mutants: 500}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) {
	entries := tooltest.ReadEntries(t, antigravity.Tool{}, fixtures.FS)
	want := []string{
		"b0000000-0000-4000-8000-000000000001: List the files",
		"user | List the files",
		`assistant | thinks First list. | I look. | calls 2#0 list_dir {"DirectoryPath":"/home/me/harbour"} | ` +
			`calls 2#1 run_command {"CommandLine":"cat quay"}`,
		"tool | result of 2#0 list_dir: a.txt",
		"tool | error of 2#1 run_command: no such file",
		"assistant | calls 5#call view_file {}",
		"tool | result of 5#call view_file: seven",
		"assistant | One file.",
		"user | Thanks",
		"end[conversation_history:1]",
		"b0000000-0000-4000-8000-000000000002: Who steers?",
		"user | Who steers?",
		"assistant | The pilot.",
		"end",
	}
	if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
		t.Error(d)
	}
	for _, e := range entries {
		for _, r := range e.Message.Parts.Results() {
			if failed := r.Name == "run_command"; r.IsError != failed || e.Message.Role != scrollback.RoleTool {
				t.Errorf("%+v", r)
			}
		}
	}
}

// One file that is named has the id that it has among the others.
func TestNamedFile(t *testing.T) {
	const id = "b0000000-0000-4000-8000-000000000001"
	p := transcript.Place{FS: os.DirFS("testdata/brain/" + id + "/.system_generated/logs"), Name: "transcript.jsonl",
		Path: "/home/u/.gemini/antigravity/brain/" + id + "/.system_generated/logs"}
	n := 0
	for s, err := range (antigravity.Tool{}).Sessions(t.Context(), p) {
		if n++; err != nil || s.ID != id {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/.gemini/antigravity/brain", "/home/u/.gemini/antigravity-cli/brain",
		"/home/u/.gemini/antigravity-ide/brain"}, antigravity.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
