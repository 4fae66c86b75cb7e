package codex_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write what is read to the golden files")

// fixtures are the folders of testdata. Files that others go on from are whole before those
// begin: their beginnings are not read alone.
var fixtures = map[string]func(name string) bool{
	"talk": nil, "old": nil, "bare": nil, "torn": nil, "orphan": nil, "agents": nil, "ours": nil,
	"revert": func(name string) bool { return strings.Contains(name, "-0017-7000-") },
	"fork": func(name string) bool {
		return strings.Contains(name, "T10-05-00") || strings.Contains(name, "T10-06-00")
	},
	"oldfork": func(name string) bool { return strings.Contains(name, "T10-08-00") },
}

func TestTool(t *testing.T) {
	for name, grows := range fixtures {
		t.Run(name, func(t *testing.T) {
			mutants := testlength.Choose(200, 1000, 1000)
			tooltest.Run(t, tooltest.Case{Tool: codex.Tool{}, FS: os.DirFS("testdata/" + name), Grows: grows, Mutants: mutants})
		})
	}
}

// script returns what a fixture says, with what only an origin, a model or a meta holds.
func script(entries []transcript.Entry) string {
	var b strings.Builder
	for i, line := range tooltest.ScriptLines(entries) {
		e := entries[i]
		b.WriteString(line)
		switch {
		case e.Conversation != nil:
			b.WriteString("\n\tmodel " + e.Conversation.Model + ", folder " + e.Origin.Folder + ", git branch " +
				e.Origin.GitBranch +
				", root " + e.Origin.Root + ", meta " + string(e.Conversation.Meta))
			if e.Agent != nil {
				b.WriteString("\n\tof " + e.Agent.Source + ", call " + e.Agent.CallID)
			}
		case len(e.Message.Parts) > 0:
			m := e.Message
			b.WriteString("\n\t" + string(m.ID) + " " + stamp(m.CreatedAt) + " " + m.Model + " " + string(m.Meta))
			if m.Usage != nil {
				b.WriteString(" " + usage(*m.Usage))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestFixtures(t *testing.T) {
	for name := range fixtures {
		got := script(tooltest.ReadEntries(t, codex.Tool{}, os.DirFS("testdata/"+name)))
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// copied returns a fixture in memory.
func copied(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("testdata/" + name)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		out[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A packed rollout says the same as a plain one; of both, the plain one is read.
func TestPacked(t *testing.T) {
	files := copied(t, "talk")
	want := script(tooltest.ReadEntries(t, codex.Tool{}, files))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		if strings.HasSuffix(name, ".jsonl") && strings.HasPrefix(name, "sessions/") {
			files[name+".zst"] = &fstest.MapFile{Data: enc.EncodeAll(f.Data, nil), Mode: 0o644}
			delete(files, name)
			if got := script(tooltest.ReadEntries(t, codex.Tool{}, files)); got != want {
				t.Errorf("packed (-want +got):\n%s", cmp.Diff(want, got))
			}
			files[name+".zst"].Data = files[name+".zst"].Data[:200]
			if got := script(tooltest.ReadEntries(t, codex.Tool{}, files)); !strings.Contains(got, "bad ") {
				t.Errorf("a damaged one says nothing of it:\n%s", got)
			}
			files[name] = f
			if got := script(tooltest.ReadEntries(t, codex.Tool{}, files)); got != want {
				t.Errorf("plain beside packed (-want +got):\n%s", cmp.Diff(want, got))
			}
		}
	}
}

// A thread is the same one wherever its file is.
func TestArchived(t *testing.T) {
	files := copied(t, "agents")
	want := tooltest.ReadEntries(t, codex.Tool{}, files)
	for name, f := range copied(t, "agents") {
		delete(files, name)
		files["archived_sessions/"+path.Base(name)] = f
	}
	if diff := cmp.Diff(script(want), script(tooltest.ReadEntries(t, codex.Tool{}, files))); diff != "" {
		t.Error(diff)
	}
	flat := fstest.MapFS{}
	for name, f := range files {
		flat[path.Base(name)] = f
	}
	if diff := cmp.Diff(script(want), script(tooltest.ReadEntries(t, codex.Tool{}, flat))); diff != "" {
		t.Errorf("in a folder of its own: %s", diff)
	}
}

// guarded fails where a file is opened that holds no conversation.
type guarded struct {
	fs.FS
	t *testing.T
}

func (g guarded) Open(name string) (fs.File, error) {
	base := path.Base(name)
	if strings.Contains(base, ".") && !strings.HasPrefix(base, "rollout-") && base != "session_index.jsonl" &&
		base != "external_agent_session_imports.json" && base != "." {
		g.t.Errorf("%s was opened", name)
	}
	return g.FS.Open(name)
}

func TestNoOtherFileIsOpened(t *testing.T) {
	p := transcript.Place{FS: guarded{os.DirFS("testdata/talk"), t}, Name: ".", Now: 1 << 50}
	n := 0
	for s, err := range (codex.Tool{}).Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range (codex.Tool{}).Read(t.Context(), p, s) {
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Message.Parts) > 0 {
				n++
			}
		}
	}
	if n == 0 {
		t.Error("nothing was read")
	}
}

// A named rollout is read alone, with the base it goes on from.
func TestSingle(t *testing.T) {
	read := func(folder, name string) []transcript.Entry {
		p := transcript.Place{FS: os.DirFS(folder), Name: name, Now: 1 << 50}
		var out []transcript.Entry
		for s, err := range (codex.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range (codex.Tool{}).Read(t.Context(), p, s) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, e)
			}
		}
		return out
	}
	const second = "rollout-2026-03-01T10-02-00-019ca000-0010-7000-8000-0000000000aa_019ca000-0100-7000-8000-0000000000cc.jsonl"
	got := tooltest.ScriptLines(read("testdata/revert/sessions/2026/03/01", second))
	want := []string{"019ca000-0010-7000-8000-0000000000aa:", "user | First", "assistant | One", "user | Second again",
		"assistant | Two again", "user | Third, taken back", "assistant | Three", "end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const parent = "rollout-2026-03-01T10-09-00-019ca000-0040-7000-8000-0000000000aa.jsonl"
	for _, e := range read("testdata/agents/sessions/2026/03/01", parent) {
		if e.Source != "019ca000-0040-7000-8000-0000000000aa" {
			t.Errorf("the file of a parent says something of %s", e.Source)
		}
	}
}

// The lines that a fork shares or copies read as its origin's do: an import finds them.
func TestForksShare(t *testing.T) {
	for _, c := range []struct {
		fixture, origin, fork string
		shared                int
	}{
		{"fork", "019ca000-0020-7000-8000-0000000000aa", "019ca000-0023-7000-8000-0000000000aa", 2},
		{"fork", "019ca000-0023-7000-8000-0000000000aa", "019ca000-0025-7000-8000-0000000000aa", 4},
		{"oldfork", "019ca000-0030-7000-8000-0000000000aa", "019ca000-0038-7000-8000-0000000000aa", 4},
	} {
		marks := map[string][]string{}
		roots := map[string]string{}
		for _, e := range tooltest.ReadEntries(t, codex.Tool{}, os.DirFS("testdata/"+c.fixture)) {
			switch {
			case e.Conversation != nil:
				roots[e.Source] = e.Origin.Root
			case e.Rewind != nil:
				marks[e.Source] = marks[e.Source][:*e.Rewind]
			case len(e.Message.Parts) > 0:
				mark, err := transcript.ImportMark(e)
				if err != nil {
					t.Fatal(err)
				}
				marks[e.Source] = append(marks[e.Source], string(e.Message.ID)+" "+transcript.MarkOf(mark))
			}
		}
		a := marks[c.origin]
		b := marks[c.fork]
		same := 0
		for same < len(a) && same < len(b) && a[same] == b[same] {
			same++
		}
		if same != c.shared || len(b) <= same || roots[c.origin] != roots[c.fork] || roots[c.fork] == "" {
			t.Errorf("%s: %s shares %d of %d messages, want %d; roots %q and %q", c.fixture, c.fork, same, len(b), c.shared,
				roots[c.origin], roots[c.fork])
		}
	}
}

func TestHomesAndSniff(t *testing.T) {
	m := transcript.Machine{Home: "/home/eve", Getenv: func(string) string { return "" }}
	if diff := cmp.Diff([]string{"/home/eve/.codex"}, (codex.Tool{}).Homes(m)); diff != "" {
		t.Error(diff)
	}
	m.Getenv = func(key string) string { return map[string]string{"CODEX_HOME": "/srv/codex"}[key] }
	if diff := cmp.Diff([]string{"/srv/codex"}, (codex.Tool{}).Homes(m)); diff != "" {
		t.Error(diff)
	}
	for name := range fixtures {
		for file, f := range copied(t, name) {
			want := strings.HasPrefix(path.Base(file), "rollout-")
			if got := (codex.Tool{}).Sniff(path.Base(file), f.Data[:min(len(f.Data), 4096)]); got != want {
				t.Errorf("%s: %v, want %v", file, got, want)
			}
		}
	}
	for _, head := range []string{"", "{}",
		`{"id":"1","timestamp":"2026-03-01T10:00:00Z"}`, `{"type":"user","payload":{"id":"x","timestamp":"y"}}`} {
		if (codex.Tool{}).Sniff("notes.jsonl", []byte(head)) {
			t.Errorf("%q is taken for a rollout", head)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	for _, p := range []transcript.Place{
		{FS: fstest.MapFS{}, Name: "rollout.jsonl"},
		{FS: fstest.MapFS{"rollout.jsonl/x": {}}, Name: "rollout.jsonl"},
	} {
		failed := false
		for _, err := range (codex.Tool{}).Sessions(t.Context(), p) {
			failed = failed || err != nil
		}
		if !failed {
			t.Errorf("%s: no error", p.Name)
		}
	}
	p := transcript.Place{FS: copied(t, "talk"), Name: "."}
	for e, err := range (codex.Tool{}).Read(t.Context(), p, transcript.Session{ID: "no such", Name: "../../etc/passwd"}) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// locked is a folder with files that may not be read.
type locked struct{ fs.FS }

func (l locked) Open(name string) (fs.File, error) {
	if strings.HasPrefix(path.Base(name), "rollout-") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.FS.Open(name)
}

func TestRightsAreMissing(t *testing.T) {
	p := transcript.Place{FS: locked{os.DirFS("testdata/talk")}, Name: "."}
	n := 0
	for s, err := range (codex.Tool{}).Sessions(t.Context(), p) {
		if n++; err != nil || !strings.Contains(s.Bad, "permission denied") {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// What started a sub-agent stands behind the instructions in some versions.
func TestHeads(t *testing.T) {
	const parent, child = "019ca000-0091-7000-8000-0000000000aa", "019ca000-0092-7000-8000-0000000000aa"
	head := func(id, more string) *fstest.MapFile {
		return &fstest.MapFile{Mode: 0o644,
			Data: []byte(`{"timestamp":"2026-03-01T12:00:00Z","type":"session_meta","payload":{"id":"` + id +
				`","timestamp":"2026-03-01T12:00:00Z","cwd":"/","instructions":"be kind",` + more + "}}\n")}
	}
	files := fstest.MapFS{
		"rollout-2026-03-01T12-00-00-" + parent + ".jsonl": head(parent, `"source":"cli"`),
		"rollout-2026-03-01T12-00-01-" + child + ".jsonl": head(child,
			`"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+parent+`"}}}`),
	}
	var agents []string
	for _, e := range tooltest.ReadEntries(t, codex.Tool{}, files) {
		if e.Agent != nil {
			agents = append(agents, e.Source+" of "+e.Agent.Source)
		}
	}
	if diff := cmp.Diff([]string{child + " of " + parent}, agents); diff != "" {
		t.Error(diff)
	}
}

// A line that is being written waits; once nobody writes, it is bad.
func TestTorn(t *testing.T) {
	files := copied(t, "torn")
	for _, live := range []bool{true, false} {
		p := transcript.Place{FS: files, Name: ".", Now: 1000}
		if !live {
			p.Now = 1 << 50
		}
		var lines []string
		for s := range (codex.Tool{}).Sessions(t.Context(), p) {
			s.Changed = 1000
			for e := range (codex.Tool{}).Read(t.Context(), p, s) {
				lines = append(lines, tooltest.ScriptLines([]transcript.Entry{e})...)
			}
		}
		want := []string{"bad 4", "bad 5"}
		if !live {
			want = append(want, "bad 10")
		}
		var got []string
		for _, line := range lines {
			if strings.HasPrefix(line, "bad ") {
				got = append(got, strings.SplitN(line, ":", 2)[0])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("live %v: %s", live, diff)
		}
		if held := slices.Contains(lines, "end held"); held != live {
			t.Errorf("live %v, held %v: %q", live, held, lines)
		}
	}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05.000") }

func usage(u scrollback.Usage) string {
	return fmt.Sprintf("in %d cached %d out %d reasoning %d total %d", u.InputTokens,
		u.CachedTokens, u.OutputTokens, u.ReasoningTokens, u.TotalTokens)
}

// TraeX keeps what Codex keeps, elsewhere.
func TestTraeX(t *testing.T) {
	for _, path := range []string{"/home/u/.trae/cli", "/home/u/.codex", ""} {
		p := transcript.Place{FS: os.DirFS("testdata/talk"), Name: ".", Path: path, Now: 1 << 50}
		said := map[string]string{}
		for _, tool := range []codex.Tool{{}, codex.TraeX()} {
			var entries []transcript.Entry
			for s, err := range tool.Sessions(t.Context(), p) {
				if err != nil {
					t.Fatal(err)
				}
				for e, err := range tool.Read(t.Context(), p, s) {
					if err != nil {
						t.Fatal(err)
					}
					entries = append(entries, e)
				}
			}
			said[tool.Name()] = script(entries)
		}
		other := map[string]string{"codex": "traex", "traex": "codex"}
		reader := "codex"
		if path == "/home/u/.trae/cli" {
			reader = "traex"
		}
		if want := script(tooltest.ReadEntries(t, codex.Tool{}, p.FS)); said[reader] != want || said[other[reader]] != "" {
			t.Errorf("%q: %q", path, said)
		}
	}
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "/elsewhere" }}
	if got := codex.TraeX().Homes(m); len(got) != 1 || got[0] != "/home/u/.trae/cli" {
		t.Errorf("%q", got)
	}
}
