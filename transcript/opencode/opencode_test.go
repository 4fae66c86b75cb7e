package opencode_test

import (
	"encoding/json"
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
	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// tables are those of the tool that matter here, with some that must not be read.
var tables = []string{
	"CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT, " +
		"share_url TEXT, revert TEXT, agent TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER)",
	"CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
	"CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
	"CREATE INDEX part_session_idx ON part (session_id)",
	"CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT)",
	"CREATE TABLE event_sequence (aggregate_id TEXT PRIMARY KEY, seq INTEGER)",
	"CREATE TABLE credential (id TEXT, value TEXT)", "CREATE TABLE account (id TEXT, access_token TEXT)",
	"INSERT INTO credential VALUES ('c', 'very-secret-1')", "INSERT INTO account VALUES ('a', 'very-secret-2')",
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ses(id, parent, title string, at int) string {
	up := "NULL"
	if parent != "" {
		up = quoted(parent)
	}
	return fmt.Sprintf("INSERT INTO session VALUES (%s, 'p1', %s, 'calm-fox', '/work/app', %s, '1.18.33', 'https://share', NULL, 'build', "+
		`'{"id":"m-1","providerID":"acme"}', %d, %d, NULL)`, quoted(id), up, quoted(title), at, at)
}

// put writes a message or a part as the tool does: the row, and an event.
func put(table, session, id, of string, at int, data string) string {
	row := fmt.Sprintf("INSERT INTO part VALUES (%s, %s, %s, %d, %d, %s)", quoted(id), quoted(of), quoted(session), at, at,
		quoted(data))
	kind := "message.part.updated.1"
	event := `{"part":` + with(data, id, of) + `}`
	if table == "message" {
		row = fmt.Sprintf("INSERT INTO message VALUES (%s, %s, %d, %d, %s)", quoted(id), quoted(session), at, at,
			quoted(data))
		kind = "message.updated.1"
		event = `{"info":` + with(data, id, "") + `}`
	}
	row += " ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = time_updated + 1"
	return "BEGIN; " + row + "; " + logged(session, kind, event) + "; COMMIT"
}

func logged(session, kind, data string) string {
	s := quoted(session)
	return "INSERT INTO event_sequence VALUES (" + s + ", 0) ON CONFLICT (aggregate_id) DO UPDATE SET seq = seq + 1; " +
		"INSERT INTO event SELECT " + s + "||seq, " + s + ", seq, " + quoted(kind) + ", " + quoted(data) +
		" FROM event_sequence WHERE aggregate_id = " + s
}

func with(data, id, of string) string {
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		panic(err)
	}
	if fields["id"] = id; of != "" {
		fields["messageID"] = of
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func gone(session string, ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, "DELETE FROM part WHERE message_id = "+quoted(id), "DELETE FROM message WHERE id = "+quoted(id),
			logged(session, "message.removed.1", `{"messageID":"`+id+`"}`))
	}
	return "BEGIN; " + strings.Join(all, "; ") + "; COMMIT"
}

func user(at int) string {
	return fmt.Sprintf(`{"role":"user","time":{"created":%d},"summary":{"diffs":[]}}`, at)
}

func assistant(at int, more string) string {
	return fmt.Sprintf(`{"role":"assistant","modelID":"m-1","providerID":"acme","path":{"cwd":"/work/app"},"time":{"created":%d%s`, at, more)
}

const done = `,"completed":9},"finish":"stop","tokens":{"input":5,"output":7,"reasoning":2,"cache":{"read":30,"write":4}},"cost":0.5}`

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func asked(session string, n, at int, words string) []string {
	id := fmt.Sprintf("msg_%s_%02d", session, n)
	return []string{put("message", session, id, "", at, user(at)), put("part", session, "prt_"+id, id, at, text(words))}
}

func answered(session string, n, at int, words string) []string {
	id := fmt.Sprintf("msg_%s_%02d", session, n)
	return []string{
		put("message", session, id, "", at, assistant(at, "}}")),
		put("part", session, "prt_"+id+"a", id, at, `{"type":"step-start"}`),
		put("part", session, "prt_"+id+"b", id, at, text(words[:len(words)/2])),
		put("part", session, "prt_"+id+"b", id, at, text(words)),
		put("message", session, id, "", at, assistant(at, done)),
	}
}

// history returns a session with a command, a sub-agent, and two times that it went back.
func history() []string {
	out := append(slices.Clone(tables), ses("ses_a", "", "First", 1000))
	out = append(out, asked("ses_a", 1, 1000, "list files")...)
	id := "msg_ses_a_02"
	call := func(state string) string {
		return `{"type":"tool","tool":"bash","callID":"call_1","state":` + state + `}`
	}
	out = append(out,
		put("message", "ses_a", id, "", 1001, assistant(1001, "}}")),
		put("part", "ses_a", "prt_2a", id, 1001, `{"type":"reasoning","text":"hm"}`),
		put("part", "ses_a", "prt_2b", id, 1001, call(`{"status":"running","input":{"command":"ls x"}}`)),
		put("part", "ses_a", "prt_2b", id, 1001, call(`{"status":"completed","input":{"command":"ls x"},"output":"no x",`+
			`"metadata":{"exit":2},"time":{"start":1002,"end":1005}}`)),
		put("message", "ses_a", id, "", 1001, assistant(1001, done)),
	)
	out = append(out, answered("ses_a", 3, 1010, "there is none")...)
	out = append(out, asked("ses_a", 4, 1020, "ask another")...)
	task := func(state string) string {
		return `{"type":"tool","tool":"task","callID":"call_2","state":` + state + `}`
	}
	id = "msg_ses_a_05"
	out = append(out, put("message", "ses_a", id, "", 1021, assistant(1021, "}}")),
		put("part", "ses_a", "prt_5", id, 1021,
			task(`{"status":"running","input":{"prompt":"look"},"metadata":{"sessionId":"ses_0sub"}}`)),
		ses("ses_0sub", "ses_a", "look (@general)", 1022))
	out = append(out, asked("ses_0sub", 1, 1022, "look")...)
	out = append(out, answered("ses_0sub", 2, 1023, "seen it")...)
	out = append(out, put("part", "ses_a", "prt_5", id, 1021,
		task(`{"status":"completed","input":{"prompt":"look"},"output":"seen it",`+
			`"metadata":{"sessionId":"ses_0sub"}}`)), put("message", "ses_a", id, "", 1021, assistant(1021, done)))
	out = append(out, answered("ses_a", 6, 1030, "it was seen")...)
	out = append(out, asked("ses_a", 7, 1040, "wrong way")...)
	out = append(out, answered("ses_a", 8, 1041, "gone wrong")...)
	back := func(id string) string {
		return `UPDATE session SET revert = '{"messageID":"` + id + `"}', time_updated = time_updated + 1 WHERE id = 'ses_a'`
	}
	forward := "UPDATE session SET revert = NULL, time_updated = time_updated + 1 WHERE id = 'ses_a'"
	out = append(out, back("msg_ses_a_07"), gone("ses_a", "msg_ses_a_07", "msg_ses_a_08"), forward)
	out = append(out, asked("ses_a", 11, 1050, "right way")...)
	out = append(out, answered("ses_a", 12, 1051, "gone right")...)
	all := []string{"msg_ses_a_04", "msg_ses_a_05", "msg_ses_a_06", "msg_ses_a_11", "msg_ses_a_12"}
	out = append(out, back(all[0]), gone("ses_a", all...), forward)
	return append(out, asked("ses_a", 13, 1060, "never mind")...)
}

func place(t *testing.T, name string, statements ...string) transcript.Place {
	t.Helper()
	folder := t.TempDir()
	if len(statements) > 0 {
		foreigntest.RunStatements(t, filepath.Join(folder, "opencode.db"), statements...)
	}
	return transcript.Place{FS: os.DirFS(folder), Name: name, Path: folder}
}

func TestHistory(t *testing.T) {
	for _, name := range []string{".", "opencode.db"} {
		entries := foreigntest.ReadSessions(t, opencode.Tool{}, place(t, name, history()...), false)
		want := []string{
			"ses_a: First", "user | list files", `assistant | thinks hm | calls call_1 bash {"command":"ls x"}`,
			"tool | error of call_1 bash: no x",
			"assistant | there is none", "user | ask another", `assistant | calls call_2 task {"prompt":"look"}`,
			"tool | result of call_2 task: seen it", "assistant | it was seen", "user | wrong way", "assistant | gone wrong",
			"back to 8",
			"user | right way", "assistant | gone right", "back to 4", "user | never mind", "end[step-start:4]",
			"ses_0sub: look (@general)", "user | look", "assistant | seen it", "end[step-start:1]",
		}
		if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		first := entries[0]
		if first.Origin.Folder != "/work/app" || first.Origin.ID != "ses_a" || first.Conversation.Model != "m-1" {
			t.Errorf("%+v %+v", first.Origin, first.Conversation)
		}
		use := scrollback.Usage{InputTokens: 39, CachedTokens: 30, CacheWriteTokens: 4, OutputTokens: 9, ReasoningTokens: 2,
			TotalTokens: 48,
			Cost:        0.5, Currency: "USD"}
		if d := cmp.Diff(&use, entries[2].Message.Usage); d != "" {
			t.Error(d)
		}
		if a := entries[17].Agent; a == nil || *a != (transcript.AgentOf{Source: "ses_a", CallID: "call_2"}) {
			t.Errorf("the sub-agent: %+v", a)
		}
		raw, err := json.Marshal(entries)
		if err != nil || strings.Contains(string(raw), "very-secret") || strings.Contains(string(raw), "https://share") {
			t.Errorf("secrets were read (%v)", err)
		}
	}
}

func TestGrowth(t *testing.T) {
	foreigntest.RunHistory(t, opencode.Tool{}, "opencode.db", history())
}

func TestGrowthWithoutAnEventLog(t *testing.T) {
	var old []string
	for _, s := range history()[:20] { // before it went back
		if strings.Contains(s, "TABLE event") {
			continue
		}
		s, _, _ = strings.Cut(s, "; INSERT INTO event_sequence")
		old = append(old, strings.TrimPrefix(s, "BEGIN; "))
	}
	foreigntest.RunHistory(t, opencode.Tool{}, "opencode.db", old)
}

func TestARevertThatNothingFollows(t *testing.T) {
	statements := append(history()[:len(tables)+1], asked("ses_a", 1, 1000, "one")...)
	statements = append(statements, answered("ses_a", 2, 1001, "two of it")...)
	statements = append(statements, asked("ses_a", 3, 1002, "three")...)
	statements = append(statements, answered("ses_a", 4, 1003, "four more")...)
	statements = append(statements, `UPDATE session SET revert = '{"messageID":"msg_ses_a_03"}'`)
	got := tooltest.ScriptLines(foreigntest.ReadSessions(t, opencode.Tool{}, place(t, ".", statements...), false))
	want := []string{
		"ses_a: First", "user | one", "assistant | two of it", "user | three", "assistant | four more", "back to 2",
		"end[step-start:2]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHowAnswersEnd(t *testing.T) {
	s := append(slices.Clone(tables), ses("ses_a", "", "Ends", 1))
	add := func(n int, message string, parts ...string) {
		id := fmt.Sprintf("msg_%02d", n)
		s = append(s, put("message", "ses_a", id, "", n, message))
		for i, p := range parts {
			s = append(s, put("part", "ses_a", fmt.Sprintf("prt_%02d_%d", n, i), id, n, p))
		}
	}
	png := `{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw==","filename":"dot.png","synthetic":true}`
	add(1, user(1), `{"type":"text","text":"Called the Read tool","synthetic":true}`, png, text("\"see this\""))
	add(2, assistant(2, `},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`), text("half an"))
	add(3, user(3), text("again"))
	add(4, assistant(4, `},"error":{"name":"APIError","data":{"message":"no","statusCode":400}}}`))
	add(5, assistant(5, "}}")) // killed
	add(6, user(6), `{"type":"compaction","auto":true}`)
	add(7, strings.Replace(assistant(7, done), `"role"`, `"mode":"compaction","summary":true,"role"`, 1),
		text("what was said"))
	add(8, user(8), text("big"), `{"type":"file","mime":"text/plain","url":"file:///etc/passwd","filename":"passwd"}`)
	tool := func(output, path string) string {
		return `{"type":"tool","tool":"read","callID":"c` + output + `","state":{"status":"completed","input":{},"output":"` +
			output +
			`","metadata":{"truncated":true,"exit":null,"outputPath":"` + path + `"},"attachments":[` + png + `]}}`
	}
	add(9, assistant(9, `,"completed":9},"finish":"length"}`), tool("cut", "/home/u/tool-output/tool_Abc9"),
		tool("kept", "/x/tool-output/../../key"))
	add(10, user(10), text("last"))
	add(11, assistant(11, "}}"), text("half of it"),
		`{"type":"tool","tool":"bash","callID":"r","state":{"status":"running","input":{"a":1}}}`)
	p := place(t, ".", s...)
	if err := os.Mkdir(filepath.Join(p.Path, "tool-output"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"tool-output/tool_Abc9": "the whole of it", "key": "secret"} {
		if err := os.WriteFile(filepath.Join(p.Path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries := foreigntest.ReadSessions(t, opencode.Tool{}, p, false)
	want := []string{
		"ses_a: Ends", `user | image image/png dot.png | "see this"`, "assistant (interrupted) | half an", "user | again",
		"assistant | what was said", "user | big", "assistant | calls ccut read {} | calls ckept read {}",
		"tool | result of ccut read: the whole of it | image image/png dot.png | result of ckept read: kept | image image/png dot.png",
		"user | last", `assistant (interrupted) | half of it | calls r bash {"a":1}`,
		"end[compaction:1 empty message:1 error without an answer:1 expanded file:1 file reference:1]",
	}
	if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
		t.Error(d)
	}
	for i, want := range map[int]string{4: `{"opencode":{"compaction":true}}`, 6: `{"opencode":{"finish":"length"}}`} {
		if got := string(entries[i].Message.Meta); got != want {
			t.Errorf("message %d: %s, want %s", i, got, want)
		}
	}
	if string(entries[1].Bytes[0]) != "\x89PNG" || string(entries[7].Bytes[1]) != "\x89PNG" {
		t.Error("the bytes of an image")
	}
	live := tooltest.ScriptLines(foreigntest.ReadSessions(t, opencode.Tool{}, p, true))
	if got := live[len(live)-2:]; got[0] != "user | last" || !strings.HasPrefix(got[1], "end held") {
		t.Errorf("while it is live: %q", got)
	}
}

func TestForks(t *testing.T) {
	s := append(slices.Clone(tables), ses("ses_a", "", "Golden", 1000), ses("ses_b", "", "Golden (fork #1)", 2000))
	s = append(s, asked("ses_a", 1, 1000, "one")...)
	s = append(s, asked("ses_b", 1, 1000, "one")...)
	entries := foreigntest.ReadSessions(t, opencode.Tool{}, place(t, ".", s...), false)
	var metas []string
	for _, e := range entries {
		if e.Conversation != nil {
			metas = append(metas, string(e.Conversation.Meta))
		}
	}
	if len(metas) != 2 || strings.Contains(metas[0], "fork_of") || !strings.Contains(metas[1], `"fork_of":"ses_a"`) {
		t.Error(metas)
	}
}

// older is a session in the files of a version before the database.
var older = fstest.MapFS{
	"storage/session/p1/ses_o.json":    {Data: []byte(`{"id":"ses_o","directory":"/old","title":"Old","time":{"created":5,"updated":9}}`)},
	"storage/session/p1/ses_s.json":    {Data: []byte(`{"id":"ses_s","parentID":"ses_o","title":"Sub","time":{"created":6}}`)},
	"storage/session/p1/ses_a.json":    {Data: []byte(`{"id":"ses_a","directory":"/old","title":"In files","time":{"created":4}}`)},
	"storage/message/ses_o/msg_2.json": {Data: []byte(assistant(6, done))},
	"storage/message/ses_o/msg_1.json": {Data: []byte(user(5))},
	"storage/message/ses_s/msg_3.json": {Data: []byte(user(7))},
	"storage/message/ses_a/msg_9.json": {Data: []byte(user(4))},
	"storage/part/msg_1/prt_1.json":    {Data: []byte(text("old question"))},
	"storage/part/msg_2/prt_2.json": {Data: []byte(`{"type":"tool","tool":"task","callID":"c1","state":{"status":"completed",` +
		`"output":"said","metadata":{"sessionId":"ses_s"}}}`)},
	"storage/part/msg_3/prt_3.json": {Data: []byte(text("sub question"))},
	"storage/part/msg_9/prt_9.json": {Data: []byte(text("from files"))},
}

func TestOlderFiles(t *testing.T) {
	s := append(slices.Clone(tables), ses("ses_a", "", "In the database", 1))
	p := place(t, ".", append(s, asked("ses_a", 1, 1, "from the database")...)...)
	if err := os.CopyFS(p.Path, older); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ses_o: Old", "user | old question", "assistant | calls c1 task {}", "tool | result of c1 task: said", "end",
		"ses_s: Sub", "user | sub question", "end",
	}
	got := tooltest.ScriptLines(foreigntest.ReadSessions(t, opencode.Tool{}, p, false))
	if d := cmp.Diff(append([]string{"ses_a: In the database", "user | from the database", "end"}, want...),
		got); d != "" {
		t.Error(d)
	}
	files := tooltest.ScriptLines(tooltest.ReadEntries(t, opencode.Tool{}, older))
	if d := cmp.Diff(append([]string{"ses_a: In files", "user | from files", "end"}, want...), files); d != "" {
		t.Error(d)
	}
	p.Name = "storage"
	if got := len(foreigntest.ReadSessions(t, opencode.Tool{}, p, false)); got != len(want)+3 {
		t.Errorf("the storage folder: %d entries", got)
	}
}

func TestSuite(t *testing.T) {
	t.Run("Files", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{Tool: opencode.Tool{}, FS: older, Mutants: 700,
			Grows: func(string) bool { return false }})
	})
	export := fstest.MapFS{"export.json": {Data: []byte(`{"info":{"id":"ses_x","title":"Out","time":{"created":1}},"messages":[` +
		`{"info":` + with(user(5), "msg_1", "") + `,"parts":[` + with(text("question"), "prt_1", "msg_1") + `]},` +
		`{"info":` + with(assistant(6, done), "msg_2", "") + `,"parts":[` + with(text("answer"), "prt_2", "msg_2") + `]}]}`)}}
	t.Run("Export", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{Tool: opencode.Tool{}, FS: export, Mutants: 700,
			Grows: func(string) bool { return false }})
	})
	p := place(t, ".", history()...)
	t.Run("Database", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{Tool: opencode.Tool{}, FS: p.FS, Disk: true, Mutants: 120})
	})
}

func TestWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		statements []string
		want       error
		words      string
	}{
		"newer": {[]string{"CREATE TABLE session (id TEXT, title TEXT, made INTEGER)"}, foreign.ErrUnknown,
			"opencode 1.2 to 1.18"},
		"others": {[]string{"CREATE TABLE notes (x TEXT)"}, foreign.ErrUnknown, "it has no table session"},
	} {
		var got error
		for _, err := range (opencode.Tool{}).Sessions(t.Context(), place(t, ".", c.statements...)) {
			got = err
		}
		if !errors.Is(got, c.want) || !strings.Contains(got.Error(), c.words) {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := append(slices.Clone(tables), ses("ses_n", "", "Next", 1),
		"CREATE TABLE session_message (id TEXT, session_id TEXT)",
		"INSERT INTO session_message VALUES ('m', 'ses_n')")
	bad := 0
	for s, err := range (opencode.Tool{}).Sessions(t.Context(), place(t, ".", s...)) {
		if err != nil || !strings.Contains(s.Bad, "session_message") {
			t.Errorf("%+v %v", s, err)
		}
		bad++
	}
	if bad != 1 {
		t.Errorf("%d sessions", bad)
	}
	s = append(slices.Clone(tables), ses("ses_a", "ses_b", "A", 1), ses("ses_b", "ses_a", "B", 2))
	s = append(s, "INSERT INTO message VALUES ('msg_0', 'ses_a', 0, 0, 'not JSON')")
	s = append(s, put("message", "ses_a", "msg_00", "", 0, `{"role":"robot"}`))
	s = append(s, append(asked("ses_a", 1, 1, "round"), asked("ses_b", 1, 1, "about")...)...)
	entries := foreigntest.ReadSessions(t, opencode.Tool{}, place(t, ".", s...), false)
	got := tooltest.ScriptLines(entries)
	if len(got) != 8 || !strings.HasPrefix(got[1], "bad 0: message msg_0: invalid") || !strings.Contains(got[2], "robot") {
		t.Errorf("%q", got)
	}
}

func TestHomesAndSniff(t *testing.T) {
	vars := map[string]string{"XDG_DATA_HOME": "/data", "OPENCODE_DB": "/else/mine.db"}
	got := opencode.Tool{}.Homes(transcript.Machine{System: "windows", Home: "/home/u",
		Getenv: func(k string) string { return vars[k] }})
	if d := cmp.Diff([]string{"/data/opencode", "/else/mine.db"}, got); d != "" {
		t.Error(d)
	}
	got = opencode.Tool{}.Homes(transcript.Machine{Home: "/home/u", Getenv: func(string) string { return "" }})
	if d := cmp.Diff([]string{"/home/u/.local/share/opencode"}, got); d != "" {
		t.Error(d)
	}
	const sqlite = "SQLite format 3\x00"
	for name, head := range map[string]string{"opencode.db": sqlite, "opencode-beta.db": sqlite,
		"a.json": "\uFEFF{\n \"info\": {\"id\": \"ses_1"} {
		if !(opencode.Tool{}).Sniff(name, []byte(head)) {
			t.Errorf("%s is not known", name)
		}
	}
	for name, head := range map[string]string{"crush.db": sqlite, "opencode.db": "text", "a.json": `{"info":{"id":"x"}}`} {
		if (opencode.Tool{}).Sniff(name, []byte(head)) {
			t.Errorf("%s is taken for the tool's", name)
		}
	}
}

// golden is where files are that the real program wrote; none of them is a part of this
// repository.
const golden = "../../../shared/agents/opencode-1.18.33"

func TestGolden(t *testing.T) {
	if _, err := os.Stat(golden); err != nil {
		t.Skip("the files of the real program are not here")
	}
	at, err := filepath.Abs(golden)
	if err != nil {
		t.Fatal(err)
	}
	type counts struct{ User, Assistant, Tool, Images, Back int }
	read := func(name string) (map[string]counts, []transcript.Entry) {
		out := map[string]counts{}
		entries := foreigntest.ReadSessions(t, opencode.Tool{}, transcript.Place{FS: os.DirFS(at), Name: name, Path: at},
			false)
		titles := map[string]string{}
		for _, e := range entries {
			if e.Conversation != nil {
				titles[e.Source] = e.Conversation.Title
			}
			c := out[titles[e.Source]]
			switch e.Message.Role {
			case scrollback.RoleUser:
				c.User++
			case scrollback.RoleAssistant:
				c.Assistant++
			case scrollback.RoleTool:
				c.Tool++
			}
			if c.Images += len(e.Bytes); e.Rewind != nil {
				c.Back++
			}
			out[titles[e.Source]] = c
		}
		return out, entries
	}
	want := map[string]counts{
		"Stub title 标题": {8, 11, 5, 2, 0}, "sub task (@general subagent)": {1, 1, 0, 0, 0},
		"Golden 金 (fork #1)": {6, 8, 2, 0, 0},
		"Golden 金":           {6, 9, 2, 0, 1}, // went back before its last two
	}
	before, _ := read("opencode.db")
	if d := cmp.Diff(want, before); d != "" {
		t.Error(d)
	}
	want["Golden 金"] = counts{7, 10, 2, 0, 1} // they were deleted, and two others came
	grown, entries := read("opencode-grown.db")
	if d := cmp.Diff(want, grown); d != "" {
		t.Error(d)
	}
	whole := 0
	for _, e := range entries {
		for _, r := range e.Message.Parts.Results() {
			whole = max(whole, len(r.Text))
		}
	}
	if whole != 108894 {
		t.Errorf("the longest output has %d bytes", whole)
	}
	said := func(entries []transcript.Entry) (out []string) {
		for i, line := range tooltest.ScriptLines(entries) {
			if len(entries[i].Message.Parts) > 0 {
				out = append(out, fmt.Sprint(entries[i].Message.ID, entries[i].Message.CreatedAt, line))
			}
		}
		return out
	}
	_, exported := read("export-ses.json")
	if d := cmp.Diff(said(entries)[:24], said(exported)); d != "" {
		t.Errorf("the export says another thing: %s", d)
	}
}

// What is damaged of an export costs no more than itself: a torn message keeps its whole parts,
// and those behind it are read.
func TestDamagedExport(t *testing.T) {
	message := func(n int, role, said string) string {
		id := fmt.Sprint("msg_", n)
		return `{"info":` + with(role, id, "") + `,"parts":[` + with(text(said), fmt.Sprint("prt_", n), id) + `]}`
	}
	torn := strings.TrimSuffix(message(2, assistant(6, done), "answer"), "]}") + `,{"id":"prt_9","type":"te`
	fsys := fstest.MapFS{"export.json": {Data: []byte(`{"info":{"id":"ses_x","title":"Out","time":{"created":1}},"messages":[` +
		message(1, user(5), "question") + "," + torn + "\x00\x00" + message(3, user(7), "another") + `]}`)}}
	got := tooltest.ScriptLines(tooltest.ReadEntries(t, opencode.Tool{}, fsys))
	var said []string
	for _, line := range got {
		if !strings.HasPrefix(line, "bad ") {
			said = append(said, line)
		}
	}
	want := []string{"ses_x: Out", "user | question", "assistant | answer", "user | another", "end"}
	if d := cmp.Diff(want, said); d != "" || len(said) == len(got) {
		t.Errorf("%s\n%s", d, strings.Join(got, "\n"))
	}
}
