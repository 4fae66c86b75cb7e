package claudecode_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write what is read into testdata/*.txt")

// fixtures returns the folders in testdata, a trap or several each.
func fixtures(t *testing.T) []string {
	t.Helper()
	list, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list {
		if d.IsDir() && d.Name() != "fuzz" {
			names = append(names, d.Name())
		}
	}
	if len(names) < 8 {
		t.Fatalf("testdata has only %v", names)
	}
	return names
}

// What each fixture says, in testdata/NAME.txt.
func TestFixtures(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, claudecode.Tool{}, os.DirFS("testdata/"+name))),
				"\n") + "\n"
			file := "testdata/" + name + ".txt"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSuite(t *testing.T) {
	mutants := testlength.Choose(300, 1500, 1500)
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			tooltest.Run(t, tooltest.Case{Tool: claudecode.Tool{}, FS: os.DirFS("testdata/" + name), Mutants: mutants,
				Grows: func(name string) bool { return filepath.Ext(name) == ".jsonl" }})
		})
	}
}

// golden returns a folder of files that a real program wrote, beside the repository.
func golden(t *testing.T, name string) fs.FS {
	t.Helper()
	folder := filepath.Join("../../../shared/agents", name)
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("%s is not there: files that the real program wrote", folder)
	}
	return os.DirFS(folder)
}

// counted returns how many of each kind there are among entries.
func counted(entries []transcript.Entry) map[string]int {
	n := map[string]int{}
	for _, e := range entries {
		switch {
		case e.Conversation != nil:
			n["conversations"]++
			if e.Agent != nil && e.Agent.CallID != "" {
				n["agents"]++
			}
		case e.Bad != nil:
			n["bad"]++
		case e.Rewind != nil:
			n["rewinds"]++
		case e.End != nil:
			n["left"] += len(e.End.Left)
		default:
			n[string(e.Message.Role)]++
			n["calls"] += len(e.Message.Parts.Calls())
			n["results"] += len(e.Message.Parts.Results())
			if e.Message.Usage != nil {
				n["usage"]++
			}
			if strings.Contains(string(e.Message.Meta), `"compaction":true`) {
				n["compactions"]++
			}
			for _, r := range e.Message.Parts.Results() {
				if r.Name == "" {
					n["unnamed"]++
				}
				n["longest"] = max(n["longest"], len(r.Text))
			}
		}
	}
	return n
}

// What the real programs wrote, counted by hand.
func TestRealFiles(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"claude-code-2.1.197": {"conversations": 3, "agents": 1, "rewinds": 2, "user": 16, "assistant": 17, "tool": 6,
			"calls": 6, "results": 6, "usage": 17, "compactions": 1, "longest": 108894, "left": 12},
		"claude-code-1.0.100": {"conversations": 2, "agents": 1, "user": 3, "assistant": 5, "tool": 2, "calls": 2,
			"results": 2, "usage": 5,
			"longest": 73, "left": 1},
	} {
		t.Run(name, func(t *testing.T) {
			files := golden(t, name)
			if d := cmp.Diff(want, counted(tooltest.ReadEntries(t, claudecode.Tool{}, files))); d != "" {
				t.Error(d)
			}
			tooltest.Run(t, tooltest.Case{Tool: claudecode.Tool{}, FS: files, Mutants: 100,
				Grows: func(name string) bool { return filepath.Ext(name) == ".jsonl" }})
		})
	}
}

func TestHomes(t *testing.T) {
	for _, c := range []struct{ home, variable, want string }{
		{"/home/u", "", "/home/u/.claude/projects /home/u/.config/claude/projects"},
		{"/home/u", "/srv/claude/", "/srv/claude/projects"},
		{`C:\Users\u`, "", `C:\Users\u\.claude\projects C:\Users\u\.config\claude\projects`},
		{"", "", ""},
	} {
		got := claudecode.Tool{}.Homes(transcript.Machine{Home: c.home, Getenv: func(name string) string {
			return map[string]string{"CLAUDE_CONFIG_DIR": c.variable}[name]
		}})
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestSniff(t *testing.T) {
	node := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"x"},"uuid":"u","sessionId":"s"}`
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"a.jsonl", node + "\n", true},
		{"a.jsonl", node[:70], true},
		{"a.jsonl", `{"type":"mode","mode":"normal","sessionId":"s"}` + "\n" + node, true},
		{"a.jsonl", `{"type":"summary","summary":"S","leafUuid":"u"}` + "\n", true},
		{"file", node, true}, // one that was piped in
		{"history.jsonl", node, false},
		{"a.jsonl", `{"display":"x","project":"/p","timestamp":1}` + "\n", false},
		{"a.jsonl", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}` + "\n", false},
		{"a.jsonl", `{"role":"user","content":"x"}` + "\n", false},
		{"a.jsonl", `{"sessionId":"s","projectHash":"h"}` + "\n", false},
		{"a.jsonl", "", false},
		{"a.jsonl", "hello\nworld", false},
	} {
		if got := (claudecode.Tool{}).Sniff(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %.60s: %v", c.name, c.head, got)
		}
	}
}

// The same sessions are found from wherever a person points.
func TestPlaces(t *testing.T) {
	files := folder(t, "agents")
	const session = "00000007-0000-4000-8000-000000000000"
	for _, c := range []struct{ below, name, want string }{
		{"", ".", session + " 00000008-0000-4000-8000-000000000000/agent-lone"},
		{"-home-u-harbour/", ".", session + " 00000008-0000-4000-8000-000000000000/agent-lone"},
		{"projects/-home-u-harbour/", ".", session + " 00000008-0000-4000-8000-000000000000/agent-lone"},
		{"", session + ".jsonl", session},
		{"", "agent-flat1.jsonl", session + "/agent-flat1"},
		{"", "history.jsonl", ""},
		{"", session, ""},
		{"too/far/down/", ".", ""},
	} {
		var got []string
		p := transcript.Place{FS: under(files, c.below), Name: c.name}
		for s, err := range (claudecode.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			got = append(got, s.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for _, err := range (claudecode.Tool{}).Sessions(t.Context(), transcript.Place{FS: files, Name: "gone.jsonl"}) {
		if err == nil {
			t.Error("a file that is not there has a session")
		}
	}
}

// A stamp changes with any file of a session, and with nothing else.
func TestStamps(t *testing.T) {
	files := folder(t, "agents")
	stamp := func() string {
		for s := range (claudecode.Tool{}).Sessions(t.Context(), transcript.Place{FS: files, Name: "."}) {
			if !strings.Contains(s.ID, "/") {
				return fmt.Sprint(s.Stamp, s.Bytes)
			}
		}
		return ""
	}
	was := stamp()
	for name, part := range map[string]bool{
		"00000007-0000-4000-8000-000000000000.jsonl":                          true,
		"00000007-0000-4000-8000-000000000000/subagents/agent-a1.jsonl":       true,
		"00000007-0000-4000-8000-000000000000/subagents/agent-a1.meta.json":   true,
		"00000007-0000-4000-8000-000000000000/subagents/deep/agent-new.jsonl": true,
		"00000007-0000-4000-8000-000000000000/tool-results/new.txt":           true,
		"agent-flat1.jsonl": true,
		"agent-lone.jsonl":  false,
		"history.jsonl":     false,
	} {
		undo := grow(files, name)
		if changed := stamp() != was; changed != part {
			t.Errorf("%s grew: the stamp has changed: %v", name, changed)
		}
		undo()
	}
	if stamp() != was {
		t.Error("the stamp is not what it was")
	}
}
