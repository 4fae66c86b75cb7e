package crush_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/crush"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var tables = []string{
	"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, prompt_tokens INTEGER DEFAULT 0, " +
		"updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT)",
	"CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', " +
		"model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, " +
		"is_summary_message INTEGER DEFAULT 0)",
}

// second is the one that a whole turn shares.
const second = 1795327562

func ses(id, parent, title string) string {
	up := "NULL"
	if parent != "" {
		up = "'" + parent + "'"
	}
	return fmt.Sprintf("INSERT INTO sessions VALUES ('%s', %s, '%s', 1150, %d, %d, NULL)", id, up, title, second, second)
}

// put writes a row, or writes it again in the same second.
func put(session, id, role string, parts ...string) string {
	model := ""
	if role == "assistant" {
		model = "m-1"
	}
	return fmt.Sprintf("INSERT INTO messages VALUES ('%s', '%s', '%s', '[%s]', '%s', %d, %d, NULL, 'acme', 0) "+
		"ON CONFLICT (id) DO UPDATE SET parts = excluded.parts", id, session, role, strings.Join(parts, ","), model, second,
		second)
}

func part(kind, data string) string { return `{"type":"` + kind + `","data":` + data + `}` }
func text(s string) string          { return part("text", fmt.Sprintf(`{"text":%q}`, s)) }
func finish(reason string) string   { return part("finish", `{"reason":"`+reason+`","time":0}`) }

func call(id, name, input string) string {
	return part("tool_call", fmt.Sprintf(`{"id":%q,"name":%q,"input":%q,"finished":true}`, id, name, input))
}

func result(id, name, content string) string {
	data := `{"tool_call_id":%q,"name":%q,"content":%q,"data":"","is_error":false,"metadata":"{}"}`
	return part("tool_result", fmt.Sprintf(data, id, name, content))
}

func history() []string {
	png := part("tool_result",
		`{"tool_call_id":"c3","name":"view","content":"Loaded","data":"iVBORw==","mime_type":"image/png"}`)
	return append(slices.Clone(tables), ses("s1", "", "Fruit"),
		put("s1", "z1", "user", text("list"), finish("stop")),
		put("s1", "a1", "assistant"),
		put("s1", "a1", "assistant", part("reasoning", `{"thinking":"hm","signature":"x"}`)),
		put("s1", "a1", "assistant", part("reasoning", `{"thinking":"hm"}`), text("I look"),
			call("c1", "bash", `{"command":"ls x"}`)),
		put("s1", "a1", "assistant", part("reasoning", `{"thinking":"hm"}`), text("I look"),
			call("c1", "bash", `{"command":"ls x"}`),
			call("c3", "view", "{}"), finish("tool_use")),
		put("s1", "t1", "tool", result("c1", "bash", "\nls: no x\n\nExit code 2\n\n<cwd>/work/app</cwd>"), finish("stop")),
		put("s1", "t3", "tool", png, finish("stop")),
		put("s1", "a2", "assistant", text("there")),
		put("s1", "a2", "assistant", text("there is none"), finish("end_turn")),
		put("s1", "u2", "user", text("ask"), part("binary", `{"Path":"dot.png","MIMEType":"image/png","Data":"iVBORw=="}`),
			finish("stop")),
		put("s1", "a3", "assistant", call("c2", "agent", `{"prompt":"look"}`)),
		ses("title-s1", "s1", "Generate a title"), put("title-s1", "tt", "user", text("make a title"), finish("stop")),
		put("s1", "a3", "assistant", call("c2", "agent", `{"prompt":"look"}`), finish("tool_use")),
		ses("a3$$c2", "s1", "Look"), put("a3$$c2", "b1", "user", text("look"), finish("stop")),
		put("a3$$c2", "b2", "assistant", text("seen")), put("a3$$c2", "b2", "assistant", text("seen it"), finish("end_turn")),
		put("s1", "t2", "tool", result("c2", "agent", "seen it"), finish("stop")),
		put("s1", "a4", "assistant", text("it was seen"), finish("end_turn")),
		put("s1", "u3", "user", text("fail"), finish("stop")),
		put("s1", "a5", "assistant", part("finish", `{"reason":"error","message":"Bad Request","details":"no"}`)),
		put("s1", "u4", "user", text("slow"), finish("stop")),
		put("s1", "a6", "assistant", text("one, tw"), finish("canceled")),
		put("s1", "m1", "assistant", text("what was said"), finish("end_turn")),
		"UPDATE messages SET is_summary_message = 1, provider = 'openai-compat' WHERE id = 'm1'",
		"UPDATE sessions SET summary_message_id = 'm1' WHERE id = 's1'",
		put("s1", "u5", "user", text("go on"), finish("stop")),
		put("s1", "a7", "assistant", text("half of"), call("c9", "bash", `{"comm`)),
	)
}

func place(t *testing.T, at string, statements ...string) transcript.Place {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(at)), 0o700); err != nil {
		t.Fatal(err)
	}
	foreigntest.RunStatements(t, filepath.Join(folder, at), statements...)
	return transcript.Place{FS: os.DirFS(folder), Name: ".", Path: folder}
}

func TestHistory(t *testing.T) {
	want := []string{
		"s1: Fruit", "user | list", `assistant | thinks hm | I look | calls c1 bash {"command":"ls x"} | calls c3 view {}`,
		"tool | error of c1 bash: ⏎ls: no x⏎⏎Exit code 2", "tool | result of c3 view: Loaded | image image/png .",
		"assistant | there is none", "user | ask | image image/png dot.png", `assistant | calls c2 agent {"prompt":"look"}`,
		"tool | result of c2 agent: seen it", "assistant | it was seen", "user | fail", "user | slow",
		"assistant (interrupted) | one, tw",
		"assistant | what was said", "user | go on", `assistant (interrupted) | half of | calls c9 bash {"input":"{\"comm"}`,
		"end[error without an answer:1]", "a3$$c2: Look", "user | look", "assistant | seen it", "end",
	}
	p := place(t, ".crush/crush.db", history()...)
	for _, name := range []string{".", ".crush", ".crush/crush.db"} {
		p.Name = name
		entries := foreigntest.ReadSessions(t, crush.Tool{}, p, false)
		if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if o, c := entries[0].Origin, entries[0].Conversation; o.Folder != p.Path || c.Model != "m-1" ||
			c.CreatedAt != second*1000 {
			t.Errorf("%+v %+v", o, c)
		}
		if a := entries[17].Agent; a == nil || *a != (transcript.AgentOf{Source: "s1", CallID: "c2"}) {
			t.Errorf("the sub-agent: %+v", a)
		}
		if m := entries[13].Message; string(m.Meta) != `{"crush":{"compaction":true}}` || m.CreatedAt != second*1000 {
			t.Errorf("the summary: %+v", m)
		}
		if strings.Contains(string(entries[0].Conversation.Meta), "openai-compat") {
			t.Errorf("%s", entries[0].Conversation.Meta)
		}
	}
	live := tooltest.ScriptLines(foreigntest.ReadSessions(t, crush.Tool{}, p, true))
	if got := live[14:16]; got[0] != "user | go on" || !strings.HasPrefix(got[1], "end held") {
		t.Errorf("while it is live: %q", got)
	}
}

func TestGrowth(t *testing.T) { foreigntest.RunHistory(t, crush.Tool{}, "crush.db", history()) }

func TestFolders(t *testing.T) {
	p := place(t, "elsewhere/crush.db", history()...)
	p.Name = "elsewhere"
	folder := func() string { return foreigntest.ReadSessions(t, crush.Tool{}, p, false)[0].Origin.Folder }
	if got := folder(); got != "/work/app" {
		t.Errorf("by what a command says: %q", got)
	}
	noted := fmt.Sprintf(`{"projects":[{"path":"/work/noted","data_dir":%q},{"path":"/x"}]}`,
		filepath.Join(p.Path, "elsewhere"))
	if err := os.WriteFile(filepath.Join(p.Path, "elsewhere", "projects.json"), []byte(noted), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := folder(); got != "/work/noted" {
		t.Errorf("by what the tool noted: %q", got)
	}
	list := `{"projects":[{"path":"/b","data_dir":"/b/.crush"},{"path":"/c","data_dir":"/d"}]}`
	m := transcript.Machine{System: "linux", Home: "/home/u", Folders: []string{"/a", "/b"}, FS: fstest.MapFS{
		"home/u/.local/share/crush/projects.json": {Data: []byte(list)},
		"data/projects.json":                      {Data: []byte(`not JSON`)},
	}}
	vars := map[string]string{}
	m.Getenv = func(k string) string { return vars[k] }
	if d := cmp.Diff([]string{"/b/.crush", "/d", "/a/.crush"}, crush.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
	vars["CRUSH_GLOBAL_DATA"] = "/data"
	if d := cmp.Diff([]string{"/a/.crush", "/b/.crush"}, crush.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
	if !(crush.Tool{}).Sniff("crush.db", []byte("SQLite format 3\x00")) ||
		(crush.Tool{}).Sniff("crush.db", []byte("other")) {
		t.Error("a database is not known by how it begins")
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	var got error
	for _, err := range (crush.Tool{}).Sessions(t.Context(), place(t, "crush.db", "CREATE TABLE sessions (id TEXT)")) {
		got = err
	}
	if !errors.Is(got, foreign.ErrUnknown) || !strings.Contains(got.Error(), "crush 0.62 to 0.90") {
		t.Errorf("%v", got)
	}
	s := append(slices.Clone(tables), ses("s1", "s2", "One"), ses("s2", "s1", "Two"), put("s1", "a", "user", text("x")),
		put("s2", "b", "wizard"), "UPDATE messages SET parts = 'torn' WHERE id = 'b'", put("s2", "c", "wizard", text("y")),
		put("s2", "d", "user", part("text", "7"), "{}"),
		put("s2", "e", "tool", part("tool_result", `{"content":"lost","data":"%%%"}`)))
	want := []string{"s1: One", "user | x", "end", "s2: Two", "", "tool | result of e#0 unknown: lost",
		"end[attachment that is not base64:1 empty message:1 message of role wizard:1 part:1 unknown text:1]"}
	script := tooltest.ScriptLines(foreigntest.ReadSessions(t, crush.Tool{}, place(t, "crush.db", s...), false))
	if strings.HasPrefix(script[4], "bad 0: message b: invalid character") {
		script[4] = ""
	}
	if d := cmp.Diff(want, script); d != "" {
		t.Error(d)
	}
}

func TestSuite(t *testing.T) {
	p := place(t, "crush.db", history()...)
	tooltest.Run(t, tooltest.Case{Tool: crush.Tool{}, FS: p.FS, Disk: true, Mutants: 120})
}

// golden is where files are that the real program wrote; none of them is a part of this
// repository.
const golden = "../../../shared/agents/crush-0.62.0"

func TestGolden(t *testing.T) {
	at, err := filepath.Abs(golden)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(golden); err != nil {
		t.Skip("the files of the real program are not here")
	}
	entries := foreigntest.ReadSessions(t, crush.Tool{}, transcript.Place{FS: os.DirFS(at), Name: ".", Path: at}, false)
	roles := map[string]int{}
	images := 0
	longest := 0
	for _, e := range entries {
		if e.Message.Role != "" {
			roles[e.Source[:4]+" "+string(e.Message.Role)+" "+string(e.Message.Status)]++
		}
		for _, r := range e.Message.Parts.Results() {
			longest = max(longest, len(r.Text))
		}
		images += len(e.Bytes)
	}
	want := map[string]int{ // of 30 and 2 rows: one has nothing but an error
		"49be user complete": 9, "49be assistant complete": 13, "49be assistant interrupted": 1, "49be tool complete": 6,
		"84cc user complete": 1, "84cc assistant complete": 1,
	}
	if d := cmp.Diff(want, roles); d != "" || images != 1 || longest != 30_034 /* the tool itself cut it */ {
		t.Errorf("%d images, %d bytes: %s", images, longest, d)
	}
	if entries[0].Origin.Folder != "/home/u/project" || entries[1].Message.CreatedAt != 1795327562000 {
		t.Errorf("%+v %+v", entries[0].Origin, entries[1].Message)
	}
	var failed []string
	for _, e := range entries {
		for _, r := range e.Message.Parts.Results() {
			if r.IsError {
				failed = append(failed, r.CallID)
			}
		}
	}
	if d := cmp.Diff([]string{"call_000000593a350264"}, failed); d != "" {
		t.Error(d)
	}
	if last := entries[len(entries)-1]; entries[0].Message.Role != "" || last.End == nil || last.End.Held {
		t.Errorf("%+v", last)
	}
}
