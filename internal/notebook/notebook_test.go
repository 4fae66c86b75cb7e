package notebook

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

func say(role scrollback.Role, text string) transcript.Entry {
	return transcript.Entry{Message: scrollback.Message{Role: role, Parts: scrollback.Say(text)}}
}

func user(text string) transcript.Cell {
	return transcript.Cell{Role: scrollback.RoleUser, Text: text}
}

func system(text string) transcript.Cell {
	return transcript.Cell{Role: scrollback.RoleSystem, Markup: true, Text: text}
}

// shape returns a path in short.
func shape(cells []transcript.Cell) (out []string) {
	for e := range Messages(cells) {
		out = append(out, string(e.Message.Role[0])+":"+e.Message.Parts.Text())
	}
	return out
}

func TestPath(t *testing.T) {
	result := func(id string) transcript.Entry {
		return transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleTool,
			Parts: scrollback.Parts{scrollback.ToolResult{CallID: id, Name: "f", Text: "r" + id}}}}
	}
	asked := user("one")
	asked.Interaction = []transcript.Entry{say(scrollback.RoleAssistant, "call"), result("1"), result("2"),
		say(scrollback.RoleAssistant, " "),
		say(scrollback.RoleAssistant, "done")}
	cells := []transcript.Cell{system("be brief"), user("  "), system("be kind"), asked, system("from now on be long"),
		user("two"), user("")}
	want := []string{"u:one", "a:call", "t:", "a:done", "s:from now on be long", "u:two"}
	if got := shape(cells); !slices.Equal(got, want) {
		t.Errorf("the path is %q, want %q", got, want)
	}
	for e := range Messages(cells) {
		if n := len(e.Message.Parts.Results()); e.Message.Role == scrollback.RoleTool && n != 2 {
			t.Errorf("%d results in one message", n)
		}
	}
	tie := transcript.Tie{Instructions: "the file's own", AgentOf: "another"}
	if got := Instructions(tie, cells); got != "the file's own\n\nbe brief\n\nbe kind\n\n"+SubAgent {
		t.Errorf("the instructions are %q", got)
	}
}

func TestChoose(t *testing.T) {
	cells := []transcript.Cell{system("s"), user("one"), user("two"), user("")}
	for which, want := range map[string][]int{"2": {1}, "last": {2}, "all": {1, 2}} {
		if got, err := Choose(cells, which); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", which, got, err)
		}
	}
	for which, code := range map[string]scrollback.Code{"1": scrollback.Invalid, "4": scrollback.Invalid,
		"0": scrollback.NotFound,
		"5": scrollback.NotFound, "-1": scrollback.NotFound, "two": scrollback.Invalid, "": scrollback.Invalid} {
		if got, err := Choose(cells, which); scrollback.CodeOf(err) != code {
			t.Errorf("%q: %v, %v, want %s", which, got, err, code)
		}
	}
	if _, err := Choose(cells[:1], "last"); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("a notebook without prompts: %v", err)
	}
}

// A cell is found again where it went, and not once it says something else.
func TestMark(t *testing.T) {
	named := func(id, text string) transcript.Cell {
		return transcript.Cell{ID: id, Role: scrollback.RoleUser, Text: text}
	}
	m := MarkOf([]transcript.Cell{named("a", "x"), named("b", "y")}, 1)
	for name, c := range map[string]struct {
		cells []transcript.Cell
		at    int
		ok    bool
	}{
		"the same":             {[]transcript.Cell{named("a", "x"), named("b", "y")}, 1, true},
		"moved":                {[]transcript.Cell{named("b", "y"), named("a", "x")}, 0, true},
		"one before it is new": {[]transcript.Cell{named("c", "y"), named("a", "x"), named("b", "y")}, 2, true},
		"its text has changed": {[]transcript.Cell{named("a", "x"), named("b", "z")}, 1, false},
		"it is gone":           {[]transcript.Cell{named("a", "x")}, 0, false},
		"its id has changed":   {[]transcript.Cell{named("a", "x"), named("n", "y")}, 1, true},
		"two that it may be":   {[]transcript.Cell{named("n", "y"), named("o", "y")}, 0, false},
		"it is not a prompt today": {[]transcript.Cell{{ID: "b", Role: scrollback.RoleUser, Markup: true, Text: "y"}}, 0,
			false},
	} {
		if at, ok := m.FindIn(c.cells); ok != c.ok || ok && at != c.at {
			t.Errorf("%s: %d, %v", name, at, ok)
		}
	}
}

func TestNames(t *testing.T) {
	const id = "884a221b-c040-4a7c-97d2-5636304cc9b0"
	a := TiedConversations(transcript.Tie{ID: "agent/../1"})
	b := TiedConversations(transcript.Tie{ID: "agent/../2"})
	if len(a) != 1 || len(a[0]) != 36 || slices.Equal(a, b) ||
		!slices.Equal(a, TiedConversations(transcript.Tie{ID: "agent/../1"})) {
		t.Errorf("%v, %v", a, b)
	}
	if got := TiedConversations(transcript.Tie{ID: strings.ToUpper(id), Conversation: id}); !slices.Equal(got,
		[]scrollback.ConversationID{id}) {
		t.Errorf("one id written twice: %v", got)
	}
}

func TestNarrow(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	sub := filepath.Join(base, "ws", "a b")
	other := filepath.Join(base, "wsx")
	for _, dir := range []string{sub, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, filepath.Join(ws, "out")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		asked, roots []string
		beyond       int
	}{
		"nothing in particular": {nil, []string{ws}, 0},
		"none":                  {[]string{}, []string{}, 0},
		"everything":            {[]string{"/"}, []string{ws}, 1},
		"a folder above":        {[]string{"file://" + base}, []string{ws}, 1},
		"its own folder":        {[]string{"."}, []string{ws}, 0},
		"one inside":            {[]string{"file://" + strings.ReplaceAll(sub, " ", "%20") + "/"}, []string{sub}, 0},
		"one inside another":    {[]string{sub, "/", "a b", "."}, []string{ws}, 1},
		"one that begins alike": {[]string{other}, []string{}, 1},
		"a link that leads out": {[]string{"out"}, []string{}, 1},
		"dots that lead out":    {[]string{"../wsx"}, []string{}, 1},
		"what is not there":     {[]string{"none"}, []string{}, 1},
		"another machine's":     {[]string{"file://host/x", "vscode-remote://ssh/x", "", "a\x00b"}, []string{}, 4},
	} {
		roots, beyond := Narrow([]string{ws}, c.asked, ws)
		if !slices.Equal(roots, c.roots) || len(beyond) != c.beyond {
			t.Errorf("%s: %v, %v", name, roots, beyond)
		}
	}
	if roots, _ := Narrow(nil, []string{"/"}, ws); len(roots) != 0 {
		t.Errorf("without a grant: %v", roots)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("broken.ipynb", "{\n \"cells\": [\n  {,}\n")
	write("plain.txt", "{}")
	write("big.mtm", "")
	if err := os.Truncate(at("big.mtm"), 5<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder.ipynb"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("loop.mtm"), at("loop.mtm")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		code scrollback.Code
		says string
	}{
		"none.ipynb":   {scrollback.NotFound, "none.ipynb"},
		"broken.ipynb": {scrollback.Invalid, "3"},
		"plain.txt":    {scrollback.Invalid, ".ipynb or .mtm"},
		"big.mtm":      {scrollback.Invalid, "at most"},
		"folder.ipynb": {scrollback.Invalid, "folder"},
		"loop.mtm":     {scrollback.Invalid, ""},
	} {
		_, err := Open(at(name))
		if scrollback.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// made returns a notebook with cells, opened again.
func made(t *testing.T, name string, cells ...transcript.Cell) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := New(path, "T")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if _, err := f.Notebook.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.writeFile("test"); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	f.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	return f
}

// What somebody writes to the file while a cell runs stays; if that is the cell itself, the
// run goes beside it.
func TestChangedMeanwhile(t *testing.T) {
	for _, ext := range []string{".ipynb", ".mtm"} {
		f := made(t, "a"+ext, user("one"), user("two"))
		r, err := f.Begin(0, f.Tie())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteMessages([]transcript.Entry{say(scrollback.RoleUser, "one"),
			say(scrollback.RoleAssistant, "first")}); err != nil {
			t.Fatal(err)
		}
		other, err := Open(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Append("three"); err != nil {
			t.Fatal(err)
		}
		said := []transcript.Entry{say(scrollback.RoleUser, "one"), say(scrollback.RoleAssistant, "second")}
		if err := r.WriteMessages(said); err != nil || f.Beside != "" {
			t.Fatalf("%v, beside %q", err, f.Beside)
		}
		now, err := Open(f.Path)
		if err != nil || len(now.Cells()) != 3 || now.Rows()[0].Answer != "second" {
			t.Fatalf("the file has %+v (%v)", now.Rows(), err)
		}
		text, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(text), `"one"`, `"another"`, 1)
		if err := os.WriteFile(f.Path, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		path := f.Path
		for _, last := range []string{"third", "fourth"} {
			if err := r.WriteMessages([]transcript.Entry{say(scrollback.RoleUser, "one"),
				say(scrollback.RoleAssistant, last)}); err != nil {
				t.Fatal(err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != edited {
			t.Errorf("what somebody else wrote was replaced (%v)", err)
		}
		if want := strings.TrimSuffix(path, ext) + "-run-20260102-030405" + ext; f.Beside != want {
			t.Errorf("it went to %q, want %q", f.Beside, want)
		}
		if beside, err := Open(f.Beside); err != nil || beside.Rows()[0].Answer != "fourth" {
			t.Errorf("beside it: %v", err)
		}
	}
}

// A link stays a link: what it leads to is replaced.
func TestLinkedNotebook(t *testing.T) {
	f := made(t, "a.ipynb", user("one"))
	link := filepath.Join(t.TempDir(), "link.ipynb")
	if err := os.Symlink(f.Path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.Path, 0o640); err != nil {
		t.Fatal(err)
	}
	linked, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := linked.Append("two"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v (%v)", info.Mode(), err)
	}
	if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	if now, err := Open(f.Path); err != nil || len(now.Cells()) != 2 {
		t.Errorf("the file was not written (%v)", err)
	}
}

func TestReadOnly(t *testing.T) {
	f := made(t, "a.mtm", user("one"))
	if err := os.Chmod(f.Path, 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Begin(0, f.Tie()); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("a file that is read-only: %v", err)
	}
	if err := os.Chmod(f.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(f.Path); err != nil {
		t.Fatal(err)
	}
	f.disk = full{}
	if _, err := f.Begin(0, f.Tie()); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("a folder that takes no files: %v", err)
	}
}

// full is a folder that takes no new files.
type full struct{ osDisk }

func (full) Create(string, string) (temporary, error) { return nil, errors.New("no room") }

// A run marks what stands below it, keeps that, and clears its own mark.
func TestStale(t *testing.T) {
	f := made(t, "a.ipynb", user("one"), user("two"), user("never run"), user("four"))
	keep := func(cell int, answer string) *Run {
		t.Helper()
		r, err := f.Begin(cell, f.Tie())
		if err == nil {
			err = r.WriteMessages([]transcript.Entry{say(scrollback.RoleUser, f.Cells()[cell].Text),
				say(scrollback.RoleAssistant, answer)})
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, cell := range []int{0, 1, 3} {
		keep(cell, "a")
	}
	if r := keep(0, "b"); r.StaleCount() != 2 {
		t.Errorf("%d cells were marked", r.StaleCount())
	}
	keep(1, "c")
	now, err := Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Row{{Answer: "b"}, {Answer: "c"}, {}, {Answer: "a", Stale: true}} {
		if got := now.Rows()[i]; got.Answer != want.Answer || got.Stale != want.Stale {
			t.Errorf("cell %d: %+v", i+1, got)
		}
	}
}
