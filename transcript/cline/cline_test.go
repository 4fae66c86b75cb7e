package cline_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cline"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

func TestTool(t *testing.T) {
	for _, name := range []string{"editor", "roo", "cli"} {
		t.Run(name, func(t *testing.T) {
			tooltest.Run(t, tooltest.Case{Tool: cline.Tool{}, FS: os.DirFS(path.Join("testdata", name)), Mutants: 700})
		})
	}
}

// kept are files of which none in a folder of settings may be opened.
type kept struct {
	fs.FS
	t *testing.T
}

func (k kept) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "settings.json") || strings.HasSuffix(name, "providers.json") {
		k.t.Errorf("%s was opened", name)
	}
	return k.FS.Open(name)
}

func entries(t *testing.T, name string) []transcript.Entry {
	t.Helper()
	return tooltest.ReadEntries(t, cline.Tool{}, kept{os.DirFS(path.Join("testdata", name)), t})
}

func scripted(t *testing.T, name string) []string {
	t.Helper()
	return tooltest.ScriptLines(entries(t, name))
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is said in each place, line by line.
func TestScripts(t *testing.T) {
	same(t, scripted(t, "editor"), []string{
		`1760000000000: Why does the cart lose items?`,
		`user | Why does the cart lose items?`,
		`assistant | I will read it. | calls spoken-2-0 read_file {"path":"main.go"}`,
		`tool | result of spoken-2-0 read_file: package main`,
		`assistant | calls spoken-4-0 write_to_file {"content":"package main // <path>x</path>","path":"main.go"}`,
		`tool | result of spoken-4-0 write_to_file: The user denied this operation and provided the following feedback:`,
		`user | Keep the map`,
		`assistant | calls spoken-6-0 ask_followup_question {"question":"Which map?"}`,
		`tool | result of spoken-6-0 ask_followup_question: `,
		`user | The one of prices`,
		`assistant (interrupted) | Then I`,
		`user | Go on`,
		`assistant | calls spoken-10-0 attempt_completion {"result":"Done."}`,
		`end[reminder:6]`,
		`1760000100000: Draw a cart`,
		`user | Draw a cart | image image/png .`,
		`assistant | thinks A browser may help. | I look. | calls call_1 browser_action {"action": "launch", "url":` +
			` "http://localhost"} | calls call_2 execute_command {"command": "ls"}`,
		`tool | result of call_2 execute_command: Command executed.⏎Output:⏎main.go | result of call_1 browser_action:` +
			` The page is shown. | image image/png .`,
		`assistant | It is drawn.`,
		`user | Thanks`,
		`end[reasoning without text:1 reminder:2]`,
		"1760000200000: Read both",
		"user | Read both",
		`assistant | Both. | calls toolu_a read_file {"path": "a"} | calls toolu_b read_file {"path": "b"}`,
		"tool | result of toolu_a read_file: A | result of toolu_b read_file: B",
		"assistant | A and B.",
		"end[reminder:4]",
	})
	same(t, scripted(t, "roo"), []string{
		`0199-parent: Plan the shop`,
		`user | Plan the shop`,
		`assistant | calls toolu_1 new_task {"mode": "code", "message": "Write the shop"}`,
		`tool | result of toolu_1 new_task: The shop is written.`,
		`assistant | thinks It went well.`,
		`assistant | Planned.`,
		`user | Summary: a shop was planned.`,
		`end[marker:1 reminder:2]`,
		`0200-child: Write the shop`,
		`user | Write the shop`,
		`assistant | thinks Short is good. | calls c1 write_to_file {"path": "a.go", "content": "package a"}`,
		`tool | result of c1 write_to_file: written`,
		`assistant | Written.`,
		`end[reminder:1]`,
	})
	same(t, scripted(t, "cli"), []string{
		`1760000000000_ab1cd: Count the files`,
		`user | Count the files`,
		`assistant | calls t1 run_commands {"commands": ["ls", "pwd"]} | calls t2 spawn_agent {"task": "count"}`,
		`tool | result of t1 run_commands: ls⏎a⏎b⏎⏎pwd⏎/home/u/cli | result of t2 spawn_agent: agent x9 found 2`,
		`assistant | There are two.`,
		`user | Remove them`,
		`assistant | calls t3 run_commands {"commands":["rm a b"]}`,
		`tool | error of t3 run_commands: refused`,
		`assistant (failed) | 401 Unauthorized`,
		`end[display:1 system prompt:1]`,
		`1760000000000_ab1cd/agent_x9: count`,
		`user | count`,
		`assistant | 2`,
		`end`,
	})
}

// found returns the first entry whose message says something.
func found(t *testing.T, all []transcript.Entry, words string) transcript.Entry {
	t.Helper()
	for _, e := range all {
		if len(e.Message.Parts) > 0 && strings.Contains(tooltest.ScriptLines([]transcript.Entry{e})[0], words) {
			return e
		}
	}
	t.Fatalf("nobody says %q", words)
	return transcript.Entry{}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		place         string
		index         int
		folder, model string
		meta          string
		parent, call  string
		created       int64
	}{
		{"editor", 0, "/home/u/shop", "claude-sonnet-4", `{"cline":{"cwd":"/home/u/shop","kind":"task"}}`, "", "",
			1760000001000},
		{"editor", 1, "/home/u/shop", "", `{"cline":{"cwd":"/home/u/shop","kind":"task"}}`, "", "", 1760000100000},
		{"roo", 0, "/home/u/roo", "",
			`{"cline":{"cwd":"/home/u/roo","kind":"task","mode":"orchestrator","status":"delegated"}}`, "", "", 1760000000000},
		{"roo", 1, "/home/u/roo", "",
			`{"cline":{"cwd":"/home/u/roo","kind":"task","parent_task":"0199-parent"}}`, "0199-parent", "toolu_1",
			1760000000002},
		{"cli", 0, "/home/u/cli", "gpt-5",
			`{"cline":{"cwd":"/home/u/cli","kind":"session","provider":"openai","status":"completed"}}`, "", "", 1760000000000},
		{"cli", 1, "/home/u/cli", "", `{"cline":{"cwd":"/home/u/cli","kind":"agent"}}`, "1760000000000_ab1cd", "t2",
			1760000000001},
	} {
		var heads []transcript.Entry
		for _, e := range entries(t, c.place) {
			if e.Conversation != nil {
				heads = append(heads, e)
			}
		}
		e := heads[c.index]
		if e.Origin.Folder != c.folder || e.Conversation.Model != c.model || string(e.Conversation.Meta) != c.meta ||
			e.Conversation.CreatedAt != c.created {
			t.Errorf("%s %d: %+v of %+v", c.place, c.index, e.Conversation, e.Origin)
		}
		var of transcript.AgentOf
		if e.Agent != nil {
			of = *e.Agent
		}
		if of != (transcript.AgentOf{Source: c.parent, CallID: c.call}) {
			t.Errorf("%s %d is an agent of %+v", c.place, c.index, of)
		}
	}
}

func TestDetails(t *testing.T) {
	editor := entries(t, "editor")
	cli := entries(t, "cli")
	old := found(t, editor, "I will read it")
	if old.Message.CreatedAt != 1760000001000 || old.Message.Usage == nil || *old.Message.Usage != (scrollback.Usage{
		InputTokens: 110, CachedTokens: 100, OutputTokens: 5, TotalTokens: 115, Cost: 0.01, Currency: "USD",
	}) {
		t.Errorf("the page's times and counts are not those of %+v, %+v", old.Message, old.Message.Usage)
	}
	both := found(t, editor, "Both.").Message
	if both.CreatedAt != 1760000200010 || both.Usage == nil || both.Usage.CacheWriteTokens != 40 ||
		both.Usage.Cost != 0.04 {
		t.Errorf("the page's times and counts are not those of %+v, %+v", both, both.Usage)
	}
	look := found(t, editor, "I look")
	if look.Message.Model != "gpt-5" || look.Message.CreatedAt != 1760000101000 || look.Message.Usage.InputTokens != 50 {
		t.Errorf("%+v, %+v", look.Message, look.Message.Usage)
	}
	for _, said := range []string{"Draw a cart", "The page is shown"} {
		if e := found(t, editor, said); len(e.Bytes) != 1 {
			t.Errorf("%s has %d attachments", said, len(e.Bytes))
		}
	}
	count := found(t, cli, "spawn_agent")
	if u := count.Message.Usage; count.Message.ID != "m2" || u == nil || u.InputTokens != 120 || u.CachedTokens != 20 {
		t.Errorf("%+v, %+v", count.Message, u)
	}
	if e := found(t, cli, "401"); string(e.Message.Meta) != `{"cline":{"error":true}}` {
		t.Errorf("%s", e.Message.Meta)
	}
	if e := found(t, entries(t, "roo"), "Summary"); string(e.Message.Meta) != `{"cline":{"compaction":true}}` {
		t.Errorf("%s", e.Message.Meta)
	}
}

// A task that is live waits for the times of its page; at rest it does without.
func TestWaits(t *testing.T) {
	const at = 1760000000000
	files := fstest.MapFS{
		"api_conversation_history.json": {Data: []byte(`[{"role":"user","content":"one"},{"role":"assistant","content":"two"},` +
			`{"role":"user","content":"three"}]`)},
		"ui_messages.json": {Data: []byte(`[{"ts":1760000000001,"say":"api_req_started","text":"{}"},`)},
	}
	for live, want := range map[bool][]string{
		true:  {"shop: one", "user | one", "assistant | two", "end held"},
		false: {"shop: one", "user | one", "assistant | two", "user | three", "end"},
	} {
		p := transcript.Place{FS: files, Name: ".", Path: `C:\tasks\shop`, Now: at}
		var got []transcript.Entry
		for s, err := range (cline.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Changed = at; !live {
				s.Changed = 0
			}
			for e, err := range (cline.Tool{}).Read(t.Context(), p, s) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
		}
		same(t, tooltest.ScriptLines(got), want)
	}
}

func TestHomes(t *testing.T) {
	settings := "// mine\n{\n  \"roo-cline.customStoragePath\" : \"/data/roo\", // far\n}"
	for system, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"linux": {nil, []string{
			"/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev", "/home/u/.cline/data", "/data/roo",
			"/home/u/.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline",
		}},
		"darwin": {map[string]string{"CLINE_DIR": "/x"}, []string{
			"/home/u/Library/Application Support/Cursor/User/globalStorage/rooveterinaryinc.roo-cline", "/x/data",
			"/home/u/.cline/data",
		}},
		"windows": {map[string]string{"APPDATA": `C:\Users\u\AppData\Roaming`, "CLINE_DATA_DIR": "/y",
			"CLINE_SESSION_DATA_DIR": "/z"}, []string{
			`C:\Users\u\AppData\Roaming/VSCodium/User/globalStorage/saoudrizwan.claude-dev`, "/y", "/z",
		}},
	} {
		m := transcript.Machine{System: system, Home: "/home/u", Getenv: func(name string) string { return c.env[name] }}
		m.FS = fstest.MapFS{"home/u/.config/Code/User/settings.json": {Data: []byte(settings)}}
		homes := cline.Tool{}.Homes(m)
		for _, want := range c.want {
			if !slices.Contains(homes, want) {
				t.Errorf("%s: %s is not among %q", system, want, homes)
			}
		}
	}
}

func TestSniff(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"api_conversation_history.json": {"[", true},
		"1_a.messages.json":             {`{"version":1,"sessionId":"1_a","messages":[{"role":`, true},
		"other.messages.json":           {`{"title":"x"}`, false},
		"messages.json":                 {`{"sessionId":"x"}`, false},
		"ui_messages.json":              {"[", false},
	} {
		if got := (cline.Tool{}).Sniff("a/"+name, []byte(c.head)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A file by itself is read as well as the folder around it; circles of tasks end.
func TestPlaces(t *testing.T) {
	circle := fstest.MapFS{}
	child := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{"childIds":["` + id + `","../escape","missing","..","a/b",7]}`)}
	}
	for id, next := range map[string]string{"a": "b", "b": "a", "c": "c"} {
		circle["tasks/"+id+
			"/api_conversation_history.json"] = &fstest.MapFile{Data: []byte(`[{"role":"user","content":"hello"}]`)}
		circle["tasks/"+id+"/history_item.json"] = child(next)
	}
	for name, c := range map[string]struct {
		files fs.FS
		name  string
		want  []string
	}{
		"a file":     {os.DirFS("testdata/roo/tasks/0200-child"), "api_conversation_history.json", []string{"0200-child"}},
		"a folder":   {os.DirFS("testdata/roo/tasks"), "0200-child", []string{"0200-child"}},
		"tasks":      {os.DirFS("testdata/roo/tasks"), ".", []string{"0199-parent"}},
		"above data": {fstest.MapFS{"data/tasks/1/api_conversation_history.json": {Data: []byte("[]")}}, ".", []string{"1"}},
		"a run":      {os.DirFS("testdata/cli/sessions/1760000000000_ab1cd"), ".", []string{"1760000000000_ab1cd"}},
		"a circle":   {circle, ".", []string{"a", "c"}},
		"nothing":    {fstest.MapFS{"x.json": {Data: []byte("{}")}}, ".", nil},
		"no file":    {fstest.MapFS{"x.json": {Data: []byte("{}")}}, "x.json", nil},
	} {
		p := transcript.Place{FS: c.files, Name: c.name}
		var got []string
		for s, err := range (cline.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.ID)
			for _, err := range (cline.Tool{}).Read(t.Context(), p, s) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s has %q, want %q", name, got, c.want)
		}
	}
}
