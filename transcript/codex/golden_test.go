package codex_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// counts returns what a thread holds, in one line.
func counts(entries []transcript.Entry) []string {
	var out []string
	var roles map[scrollback.Role]int
	calls := 0
	failed := 0
	images := 0
	used := 0
	thoughts := 0
	rewinds := 0
	for _, e := range entries {
		switch {
		case e.Conversation != nil:
			roles = map[scrollback.Role]int{}
			calls = 0
			failed = 0
			images = 0
			used = 0
			thoughts = 0
			rewinds = 0
		case e.Rewind != nil:
			rewinds++
		case e.End != nil:
			out = append(out, fmt.Sprintf("%s: user %d, assistant %d, tool %d; calls %d, errors %d, thoughts %d, "+
				"images %d, with usage %d; rewinds %d; left %v", e.Source[len(e.Source)-4:],
				roles[scrollback.RoleUser], roles[scrollback.RoleAssistant], roles[scrollback.RoleTool],
				calls, failed, thoughts, images, used, rewinds, strings.TrimPrefix(fmt.Sprint(e.End.Left), "map")))
		default:
			roles[e.Message.Role]++
			calls += len(e.Message.Parts.Calls())
			for _, r := range e.Message.Parts.Results() {
				if r.IsError {
					failed++
				}
			}
			for _, p := range e.Message.Parts {
				switch p.(type) {
				case scrollback.Image:
					images++
				case scrollback.Reasoning:
					thoughts++
				}
			}
			if e.Message.Usage != nil {
				used++
			}
		}
	}
	return out
}

// Files that the real program wrote; the counts were made by reading them.
func TestRealFiles(t *testing.T) {
	for version, want := range map[string][]string{
		"0.20.0": {"abb8: user 1, assistant 2, tool 1; calls 1, errors 0, thoughts 1, images 0, with usage 0; rewinds 0; left [state:5]"},
		"0.65.0": {"548b: user 2, assistant 3, tool 1; calls 1, errors 0, thoughts 1, images 0, with usage 3; " +
			"rewinds 0; left [reminder:1 snapshot:1]"},
		"0.169.0": {
			"27bb: user 6, assistant 7, tool 4; calls 4, errors 1, thoughts 1, images 1, with usage 7; " +
				"rewinds 0; left [instructions:1 reminder:2 state:1]",
			"7b7b: user 8, assistant 6, tool 1; calls 1, errors 0, thoughts 1, images 0, with usage 6; " +
				"rewinds 0; left [compaction:1 instructions:1 reminder:2 state:2]",
			"9ca9: user 8, assistant 7, tool 1; calls 1, errors 0, thoughts 1, images 0, with usage 7; rewinds 0; left []",
			"f0c0: user 4, assistant 3, tool 0; calls 0, errors 0, thoughts 0, images 0, with usage 3; " +
				"rewinds 1; left [instructions:1 reminder:1 state:1]",
		},
	} {
		folder := "../../../shared/agents/codex-" + version
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			t.Skip("the files of the real programs are not here")
		}
		entries := tooltest.ReadEntries(t, codex.Tool{}, os.DirFS(folder))
		if diff := cmp.Diff(want, counts(entries)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
	}
}

// Whatever a rollout holds, reading it ends and gives text.
func FuzzRead(f *testing.F) {
	for name := range fixtures {
		err := fs.WalkDir(os.DirFS("testdata/"+name), ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile("testdata/" + name + "/" + file)
			f.Add(data)
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const name = "sessions/2026/03/01/rollout-2026-03-01T10-01-00-019ca000-0001-7000-8000-0000000000aa.jsonl"
		p := transcript.Place{FS: fstest.MapFS{name: {Data: data, Mode: 0o644}}, Name: ".", Now: 1 << 50}
		for s, err := range (codex.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range (codex.Tool{}).Read(t.Context(), p, s) {
				if err != nil {
					t.Fatal(err)
				}
				if !utf8.ValidString(e.Message.Parts.Text()) || e.Bad == nil && e.Source == "" {
					t.Errorf("%+v", e)
				}
			}
		}
	})
}
