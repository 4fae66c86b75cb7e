package goose_test

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

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/goose"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var tables = []string{
	"CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT DEFAULT 'user', working_dir TEXT, " +
		"created_at TIMESTAMP, updated_at TIMESTAMP, provider_name TEXT, model_config_json TEXT, parent_session_id TEXT, thread_id TEXT)",
	"CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, " +
		"created_timestamp INTEGER, metadata_json TEXT)",
	"CREATE TABLE schema_version (version INTEGER PRIMARY KEY)",
}

// second is when all begins; the tool's newer versions write milliseconds.
const second = 1764000000

func ses(id, parent, made string) string {
	up := "NULL"
	kind := "user"
	if parent != "" {
		up = "'" + parent + "'"
		kind = "sub_agent"
	}
	return fmt.Sprintf("INSERT INTO sessions VALUES ('%s', 'Name of %s', 'd', '%s', '/work/app', '%s', '%s', 'acme', "+
		`'{"model_name":"m-1","context_limit":1}', %s, NULL)`, id, id, kind, made, made, up)
}

const made = "2026-01-02 03:04:05"

func put(session, role string, at int64, flags string, contents ...string) string {
	return fmt.Sprintf("INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) "+
		"VALUES ('msg_'||random(), '%s', '%s', '[%s]', %d, '%s')", session, role, strings.Join(contents, ", "), at, flags)
}

// Who sees a message.
const (
	all      = `{"userVisible":true,"agentVisible":true}`
	original = `{"userVisible":true,"agentVisible":false}`
	forModel = `{"userVisible":false,"agentVisible":true}`
	nobody   = `{"userVisible":false,"agentVisible":false}`
)

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func request(id, name, arguments string) string {
	const form = `{"type":"toolRequest","id":%q,"toolCall":{"status":"success","value":{"name":%q,"arguments":%s}}}`
	return fmt.Sprintf(form, id, name, arguments)
}

func response(id, value string) string {
	return fmt.Sprintf(`{"type":"toolResponse","id":%q,"toolResult":{"status":"success","value":%s}}`, id, value)
}

const goesOn = "Your context was compacted. The previous message contains a summary of what came before."

// first returns a session up to its compaction; flags say who sees its messages, and what its last.
func first(flags, last string) []string {
	return []string{
		put("20260102_1", "user", second, flags, text("list")),
		put("20260102_1", "assistant", second, flags, `{"type":"thinking","thinking":"hm","signature":"x"}`, text("I look"),
			request("c1", "shell", `{"command": "ls"}`)),
		put("20260102_1", "user", (second+1)*1000, flags, response("c1",
			`{"content":[{"type":"text","text":"a b","annotations":{"audience":["assistant"]}},`+
				`{"type":"text","text":"A B","annotations":{"audience":["user"]}},`+
				`{"type":"image","data":"iVBORw==","mimeType":"image/png"}],"isError":false}`)),
		put("20260102_1", "assistant", (second+2)*1000, flags, text("two")),
		put("20260102_1", "user", (second+3)*1000, last, text("and now")),
	}
}

func history() []string {
	out := append(slices.Clone(tables), ses("20260102_1", "", made))
	out = append(out, first(all, all)...)
	insert := append([]string{"BEGIN", "DELETE FROM messages WHERE session_id = '20260102_1'"}, first(original, nobody)...)
	insert = append(insert, put("20260102_1", "user", (second+4)*1000, forModel, text("they looked at a and b")),
		put("20260102_1", "assistant", (second+4)*1000, forModel, text(goesOn)),
		put("20260102_1", "user", (second+4)*1000, all, text("and now")), "COMMIT")
	out = append(out, strings.Join(insert, "; "), put("20260102_1", "assistant", (second+5)*1000, all, text("it is done")))
	hide := "UPDATE messages SET metadata_json = '" + nobody + "' WHERE metadata_json = '" + forModel + "'"
	out = append(out, hide, "UPDATE sessions SET updated_at = '2026-01-02 03:05:00'",
		put("20260102_1", "user", (second+6)*1000, forModel, text("what tools said, in short")),
		ses("20260102_2", "20260102_1", made), put("20260102_2", "user", (second+6)*1000, all, text("look")),
		put("20260102_2", "assistant", (second+6)*1000, all, text("seen")))
	return append(out, put("20260102_1", "assistant", (second+7)*1000, all,
		`{"type":"toolRequest","id":"c2","toolCall":{"status":"error","error":"no such tool"}}`,
		`{"type":"systemNotification","msg":"x"}`),
		put("20260102_1", "user", (second+8)*1000, all,
			`{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"no such tool"}}`))
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

// plain returns a script without what tells sessions of two machines apart.
func plain(entries []transcript.Entry) []string {
	out := tooltest.ScriptLines(entries)
	for i, e := range entries {
		if e.Conversation != nil {
			id, _, _ := strings.Cut(e.Source, "-")
			out[i] = id + strings.TrimPrefix(out[i], e.Source)
		}
	}
	return out
}

func TestHistory(t *testing.T) {
	want := []string{
		"20260102_1: Name of 20260102_1", "user | list", `assistant | thinks hm | I look | calls c1 shell {"command":"ls"}`,
		"tool | result of c1 shell: a b⏎A B | image image/png .", "assistant | two", "user | and now",
		"user | they looked at a and b",
		"assistant | it is done", "assistant | calls c2 unknown {}", "tool | error of c2 unknown: no such tool",
		"end[call that was not understood:1 continuation:1 copy for the model:2 result for the screen:1 systemNotification:1]",
		"20260102_2: Name of 20260102_2", "user | look", "assistant | seen", "end",
	}
	want[3] = "tool | result of c1 shell: a b | image image/png ."
	p := place(t, "data/sessions/sessions.db", history()...)
	for _, name := range []string{".", "data", "data/sessions", "data/sessions/sessions.db"} {
		p.Name = name
		entries := foreigntest.ReadSessions(t, goose.Tool{}, p, false)
		if d := cmp.Diff(want, plain(entries)); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
		if c := entries[0]; c.Origin.Folder != "/work/app" || c.Conversation.Model != "m-1" ||
			c.Conversation.CreatedAt != 1767323045000 {
			t.Errorf("%+v %+v", c.Origin, c.Conversation)
		}
		if a := entries[11].Agent; a == nil || a.Source != entries[0].Source {
			t.Errorf("the sub-agent: %+v", a)
		}
		if string(entries[6].Message.Meta) != `{"goose":{"compaction":true}}` || entries[1].Message.CreatedAt != second*1000 {
			t.Errorf("%s %d", entries[6].Message.Meta, entries[1].Message.CreatedAt)
		}
		if string(entries[3].Bytes[1]) != "\x89PNG" || entries[3].Message.Role != scrollback.RoleTool {
			t.Errorf("%+v", entries[3])
		}
	}
}

func TestGrowth(t *testing.T) { foreigntest.RunHistory(t, goose.Tool{}, "sessions.db", history()) }

func TestSameIdsOfTwoMachines(t *testing.T) {
	var ids []string
	for _, at := range []string{made, "2026-01-02 09:00:00", made} {
		s := append(slices.Clone(tables), ses("20260102_1", "", at), put("20260102_1", "user", second, all, text("x")))
		p := place(t, "sessions.db", s...)
		ids = append(ids, foreigntest.ReadSessions(t, goose.Tool{}, p, false)[0].Source)
	}
	if ids[0] == ids[1] || ids[0] != ids[2] || !strings.HasPrefix(ids[0], "20260102_1-") {
		t.Error(ids)
	}
}

func TestEqualMessages(t *testing.T) {
	s := append(slices.Clone(tables), ses("20260102_1", "", made))
	for range 3 {
		s = append(s, put("20260102_1", "user", second, all, text("yes")))
	}
	seen := map[scrollback.MessageID]bool{}
	for _, e := range foreigntest.ReadSessions(t, goose.Tool{}, place(t, "sessions.db", s...), false) {
		if e.Message.ID != "" {
			seen[e.Message.ID] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d messages of 3", len(seen))
	}
}

func TestOrder(t *testing.T) {
	s := append(slices.Clone(tables), ses("20260102_1", "", made),
		put("20260102_1", "user", (second+2)*1000, all, text("third")),
		put("20260102_1", "user", second+1, all, text("second")),
		put("20260102_1", "user", second*1000+1, all, text("first")))
	got := plain(foreigntest.ReadSessions(t, goose.Tool{}, place(t, "sessions.db", s...), false))
	if d := cmp.Diff([]string{"20260102_1: Name of 20260102_1", "user | first", "user | second", "user | third", "end"},
		got); d != "" {
		t.Error(d)
	}
}

// jsonl is a session of a version before the database.
var jsonl = strings.ReplaceAll(`{"working_dir":"/old","description":"Old talk","message_count":3,"total_tokens":9}
{"id":null,"role":"user","created":1750000000,"content":[{"type":"text","text":"old question"}]}
{"role":"assistant","created":1750000001,"content":[{"type":"toolRequest","id":"c1","toolCall":{OK{"name":"shell","arguments":{"a":1}}}}]}

not JSON
{"role":"user","created":1750000002,"content":[{"type":"toolResponse","id":"c1","toolResult":{OK[{"type":"text","text":"ok"}]}}]}
{"role":"assistant","created":1750000003,"content":[{"type":"text","text":"old answer"}]}
`, "OK", `"status":"success","value":`)

func TestOlderFiles(t *testing.T) {
	p := place(t, "sessions.db", append(slices.Clone(tables), ses("20250615_120000", "", made),
		put("20250615_120000", "user", second, all, text("in the database")))...)
	for name, text := range map[string]string{"20250615_120000.jsonl": jsonl, "20250616_120000.jsonl": jsonl,
		"notes.jsonl": "{}\n"} {
		if err := os.WriteFile(filepath.Join(p.Path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"20250615_120000: Name of 20250615_120000", "user | in the database", "end", "20250616_120000: Old talk", "",
		"user | old question", `assistant | calls c1 shell {"a":1}`, "tool | result of c1 shell: ok",
		"assistant | old answer", "end",
	}
	got := plain(foreigntest.ReadSessions(t, goose.Tool{}, p, false))
	if strings.HasPrefix(got[4], "bad 5: malformed JSON") {
		got[4] = ""
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	torn := filepath.Join(p.Path, "20250616_120000.jsonl")
	if err := os.WriteFile(torn, []byte(jsonl[:len(jsonl)-30]), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Name = "20250616_120000.jsonl"
	live := plain(foreigntest.ReadSessions(t, goose.Tool{}, p, true))
	rest := plain(foreigntest.ReadSessions(t, goose.Tool{}, p, false))
	if live[len(live)-1] != "end held" || !strings.HasPrefix(rest[2], "bad 7") || rest[len(rest)-1] != "end" {
		t.Errorf("%q\n%q", live, rest)
	}
}

func TestThreads(t *testing.T) {
	s := append(slices.Clone(tables), ses("20260102_1", "", made), ses("20260102_2", "", made),
		"UPDATE sessions SET thread_id = 'th'",
		"CREATE TABLE thread_messages (id INTEGER PRIMARY KEY, thread_id TEXT, session_id TEXT, message_id TEXT, role TEXT, "+
			"content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)")
	for i, words := range []string{"in a thread", "and more"} {
		s = append(s,
			fmt.Sprintf("INSERT INTO thread_messages VALUES (%d, 'th', '20260102_1', NULL, 'user', '[%s]', %d, '{}')",
				i, text(words), second))
	}
	got := plain(foreigntest.ReadSessions(t, goose.Tool{}, place(t, "sessions.db", s...), false))
	if d := cmp.Diff([]string{"20260102_1: Name of 20260102_1", "user | in a thread", "user | and more", "end"},
		got); d != "" {
		t.Error(d)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	var got error
	for _, err := range (goose.Tool{}).Sessions(t.Context(), place(t, "sessions.db", "CREATE TABLE sessions (id TEXT)")) {
		got = err
	}
	if !errors.Is(got, foreign.ErrUnknown) || !strings.Contains(got.Error(), "schema 1 to 17") {
		t.Errorf("%v", got)
	}
	s := append(slices.Clone(tables), ses("a", "b", made), ses("b", "a", made), put("a", "user", -5, "torn", text("x")),
		put("b", "robot", 1, all, text("y")), put("b", "user", 1, all, "7", `{"type":"text","text":7}`),
		"UPDATE messages SET content_json = 'torn' WHERE role = 'robot'",
		put("b", "user", 9e17, all, `{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":"odd"}}`))
	want := []string{"a: Name of a", "user | x", "end", "b: Name of b", `bad 0: message 2: the role "robot"`,
		"tool | result of c unknown: ",
		"end[empty message:1 result of an unknown shape:1 unknown :1 unknown text:1]"}
	script := plain(foreigntest.ReadSessions(t, goose.Tool{}, place(t, "sessions.db", s...), false))
	slices.Sort(script)
	slices.Sort(want)
	if d := cmp.Diff(want, script); d != "" {
		t.Error(d)
	}
}

func TestSuite(t *testing.T) {
	t.Run("Files", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{Tool: goose.Tool{}, FS: fstest.MapFS{"20250615_120000.jsonl": {Data: []byte(jsonl)}},
			Mutants: 1000})
	})
	t.Run("Database", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{Tool: goose.Tool{}, FS: place(t, "sessions.db", history()...).FS, Disk: true,
			Mutants: 120})
	})
}

func TestHomesAndSniff(t *testing.T) {
	vars := map[string]string{}
	m := transcript.Machine{Home: "/home/u", Getenv: func(k string) string { return vars[k] }}
	for system, want := range map[string][]string{
		"linux":   {"/home/u/.local/share/goose/sessions"},
		"darwin":  {"/home/u/.local/share/goose/sessions", "/home/u/Library/Application Support/Block/goose/sessions"},
		"windows": {"/home/u/AppData/Roaming/Block/goose/data/sessions"},
	} {
		m.System = system
		if d := cmp.Diff(want, goose.Tool{}.Homes(m)); d != "" {
			t.Error(d)
		}
	}
	vars["GOOSE_PATH_ROOT"] = "/root"
	if d := cmp.Diff([]string{"/root/data/sessions"}, goose.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
	for name, head := range map[string]string{"sessions.db": "SQLite format 3\x00", "20250615_120000.jsonl": jsonl[:90]} {
		if !(goose.Tool{}).Sniff(name, []byte(head)) {
			t.Errorf("%s is not known", name)
		}
	}
	for name, head := range map[string]string{"other.db": "SQLite format 3\x00", "a.jsonl": `{"role":"user"}`,
		"sessions.db": "text"} {
		if (goose.Tool{}).Sniff(name, []byte(head)) {
			t.Errorf("%s is taken for the tool's", name)
		}
	}
}
