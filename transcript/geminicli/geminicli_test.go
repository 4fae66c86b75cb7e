package geminicli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
)

// loaded is what a file comes to: the path it ends with, all that was said on the
// way, and its bad lines.
type loaded struct {
	conversation *scrollback.Conversation
	path, all    []transcript.Entry
	bad          []transcript.Bad
}

func load(t interface {
	Helper()
	Fatalf(string, ...any)
}, file string) loaded {
	t.Helper()
	var out loaded
	for e, err := range (geminicli.Format{}).Read(strings.NewReader(file)) {
		switch {
		case err != nil:
			t.Fatalf("read: %v", err)
		case e.Bad != nil:
			out.bad = append(out.bad, *e.Bad)
		case e.Conversation != nil:
			if out.conversation != nil {
				t.Fatalf("two conversations of one session")
			}
			out.conversation = e.Conversation
		case e.Rewind != nil:
			if *e.Rewind < 0 || *e.Rewind > len(out.path) {
				t.Fatalf("it goes back to %d of %d messages", *e.Rewind, len(out.path))
			}
			out.path = out.path[:*e.Rewind:*e.Rewind]
		default:
			out.path = append(out.path, e)
			out.all = append(out.all, e)
		}
	}
	return out
}

// short returns a path in a few words.
func short(path []transcript.Entry) string {
	var out []string
	for _, e := range path {
		s := string(e.Message.Role[0]) + ":" + e.Message.Parts.Text()
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case scrollback.ToolCall:
				s += "→" + p.ID
			case scrollback.ToolResult:
				s += "←" + p.CallID + "=" + p.Text
			case scrollback.Image, scrollback.File:
				s += "[file]"
			case scrollback.Text, scrollback.Reasoning:
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func cases[T any](t *testing.T, name string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/cases", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []T }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

const header = `{"sessionId":"s-1","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z"}` +
	"\n"

// What the tool itself loads of a file is the path, by its records; what is no
// conversation is none here either.
func TestLoadSemantics(t *testing.T) {
	for _, c := range cases[struct {
		ID    string
		Input struct {
			File    string
			Options struct{ MetadataOnly bool }
		}
		Expected *struct {
			SessionID string `json:"sessionId"`
			Summary   string
			Messages  []struct {
				ID      string
				Type    string
				Content json.RawMessage
			}
		}
	}](t, "session_load_semantics.json") {
		t.Run(c.ID, func(t *testing.T) {
			got := load(t, c.Input.File)
			if c.Expected == nil {
				if len(got.path) > 0 || got.conversation != nil {
					t.Fatalf("nothing should be read, and there is %s", short(got.path))
				}
				return
			}
			if c.Input.Options.MetadataOnly {
				return
			}
			var want []string
			for _, m := range c.Expected.Messages {
				want = append(want, m.ID)
			}
			if strings.Contains(c.ID, "UNKNOWN") { // never "clear all"
				want = []string{"a", "b", "e"}
				if len(got.bad) != 1 || got.bad[0].Line != 4 {
					t.Errorf("bad lines %+v", got.bad)
				}
			}
			var ids []string
			for _, e := range got.path {
				if e.Source != c.Expected.SessionID {
					t.Errorf("source %q", e.Source)
				}
				ids = append(ids, string(e.Message.ID))
			}
			if strings.Contains(c.ID, "only session_context") {
				want = nil
				if !strings.Contains(string(got.conversation.Meta), "session_context") {
					t.Errorf("what is no conversation is not kept: %s", got.conversation.Meta)
				}
			}
			if !slices.Equal(ids, want) || got.conversation.Title != c.Expected.Summary {
				t.Errorf("read %v, titled %q; want %v and %q", ids, got.conversation.Title, want, c.Expected.Summary)
			}
			if strings.Contains(c.ID, "malformed") && (len(got.bad) != 1 || got.bad[0].Line != 3) {
				t.Errorf("bad lines %+v", got.bad)
			}
		})
	}
}

// Records become messages as the tool makes turns of them, save that a result which
// stands twice is read once.
func TestRecords(t *testing.T) {
	want := map[string]string{
		"user string + gemini string":                                              "u:Hello | a:Hi there!",
		"slash, ?, session_context, hook_context, blank user messages skipped":     "u:real",
		"tool result as array of parts is used verbatim":                           "a:→c1 | t:←c1=o\nextra",
		"tool call without result: call emitted, NO response turn (dangling call)": "u:q | a:→c1 | u:next",
		"ANTI-CASE modern session also stores the functionResponse as its own user message: NOT filtered, " +
			"so the response appears twice": "a:→c1 | t:←c1=o | a:done",
		"two parallel tool calls, one response turn": "a:→c1→c2 | t:←c1=A←c2=B",
		"image only user message (no text)":          "u:[file]",
	}
	seen := 0
	for _, c := range cases[struct {
		ID    string
		Input []json.RawMessage
	}](t, "session_to_client_history.json") {
		file := header
		for _, raw := range c.Input {
			var line bytes.Buffer
			if err := json.Compact(&line, raw); err != nil {
				t.Fatal(err)
			}
			file += line.String() + "\n"
		}
		if seen++; short(load(t, file).path) != want[c.ID] {
			t.Errorf("%s: %s, want %s", c.ID, short(load(t, file).path), want[c.ID])
		}
	}
	if seen != len(want) {
		t.Errorf("%d cases, %d expected", seen, len(want))
	}
	for _, c := range cases[struct {
		ID       string
		Input    json.RawMessage
		Expected bool
	}](t, "is_resumable_message.json") {
		got := load(t, header+strings.ReplaceAll(strings.ReplaceAll(string(c.Input), "\n", ""), `"thoughts": [     {}    ]`,
			`"thoughts":[{"description":"hm"}]`)+"\n")
		if len(got.bad) > 0 || (len(got.path) == 1) != c.Expected {
			t.Errorf("%s: %d messages, bad %v", c.ID, len(got.path), got.bad)
		}
	}
}

// The lines that the tool appends while a session goes on are read as what it loads
// in the end; what it rewound is not lost.
func TestRecordingScript(t *testing.T) {
	file := `{"sessionId":"abcdef12","projectHash":"x","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z",` +
		`"kind":"main"}` + "\n"
	for _, c := range cases[struct {
		Expected struct {
			Lines []json.RawMessage `json:"appended_lines"`
		}
	}](t, "session_recording_script.json") {
		for _, raw := range c.Expected.Lines {
			var line bytes.Buffer
			if err := json.Compact(&line, raw); err != nil {
				t.Fatal(err)
			}
			file += line.String() + "\n"
		}
	}
	got := load(t, file)
	if want := "u:Read a.txt | a:→c1 | t:←c1=hello | a:The file says hello."; short(got.path) != want || len(got.bad) > 0 {
		t.Errorf("read %s, bad %v; want %s", short(got.path), got.bad, want)
	}
	if all := short(got.all); !strings.Contains(all, "@a.txt expanded...") || !strings.Contains(all, "→c2") {
		t.Errorf("what was rewound is gone: %s", all)
	}
	if got.conversation.Title != "Read a text file" || !strings.Contains(string(got.conversation.Meta), "/srv/extra") {
		t.Errorf("the conversation is %+v", got.conversation)
	}
	if u := got.path[3].Message.Usage; u == nil || u.InputTokens != 150 || u.OutputTokens != 9 {
		t.Errorf("the usage of the last record is %+v", u)
	}
}

func TestSessions(t *testing.T) {
	user := func(id, text string) string {
		return fmt.Sprintf(`{"id":"%s","type":"user","content":"%s"}`+"\n", id, text)
	}
	for _, c := range []struct{ name, file, path, all string }{
		{"compressed", header + user("a", "one") + user("b", "two") + user("c", "three") +
			`{"$set":{"messages":[{"id":"x","type":"user","content":"summary"},{"id":"c2","type":"user","content":"three"}]}}` +
			"\n" +
			user("d", "four"),
			"u:summary | u:three | u:four", "u:one | u:two | u:three | u:summary | u:three | u:four"},
		{"set to its own beginning", header + user("a", "one") + user("b", "two") +
			`{"$set":{"messages":[{"id":"a","type":"user","content":"one"}]}}` + "\n" + user("d", "four"),
			"u:one | u:four", "u:one | u:two | u:four"},
		{"back twice", header + user("a", "one") + user("b", "two") + `{"$rewindTo":"b"}` + "\n" + user("c", "three") +
			`{"$rewindTo":"a"}` +
			"\n" + user("d", "four"),
			"u:four", "u:one | u:two | u:three | u:four"},
		{"back at the end", header + user("a", "one") + user("b", "two") + `{"$rewindTo":"b"}` + "\n", "u:one",
			"u:one | u:two"},
		{"replaced after it was told", header + user("a", "one") + user("b", "two") + `{"$rewindTo":"b"}` + "\n" +
			user("a", "ONE"), "u:ONE",
			"u:one | u:two | u:ONE"},
		{"a header in the middle", header + user("a", "one") + header + user("b", "two"), "u:one | u:two", "u:one | u:two"},
		{"crlf and bom", "\uFEFF" + strings.ReplaceAll(header+"\n"+user("a", "one"), "\n", "\r\n"), "u:one", "u:one"},
		{"one document", `{"sessionId":"x",` + "\n" + `"messages":[` + strings.TrimSpace(user("a", "one")) + ",\n" +
			strings.TrimSpace(user("b", "two")) + "]}", "u:one | u:two", "u:one | u:two"},
		{"checkpoint", `{"history":[{"role":"user","parts":[{"text":"<session_context>x"}]},{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"r","args":{"n":1}},"thoughtSignature":"sig"},{"functionCall":{"name":"r","args":{"n":2}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"r","response":{"n":1}}},{"functionResponse":{"name":"r","response":{"error":"no"}}}]},{"role":"model","parts":[{"text":"done"}]}],"authType":"o"}`,
			`u:q | a:→call_2_1→call_2_2 | t:←call_2_1={"n":1}←call_2_2=no | a:done`,
			`u:q | a:→call_2_1→call_2_2 | t:←call_2_1={"n":1}←call_2_2=no | a:done`},
	} {
		got := load(t, c.file)
		if short(got.path) != c.path || short(got.all) != c.all || len(got.bad) > 0 {
			t.Errorf("%s: %s\nof %s\nbad %v", c.name, short(got.path), short(got.all), got.bad)
		}
		if !(geminicli.Format{}).Sniff([]byte(c.file)[:min(len(c.file), 200)]) {
			t.Errorf("%s: it is not known", c.name)
		}
	}
	torn := load(t, header[:40]+"\n"+user("a", "one")+"{\n"+user("b", "two"))
	if short(torn.path) != "u:one | u:two" || len(torn.bad) != 2 || torn.bad[0].Line != 1 || torn.bad[1].Line != 3 {
		t.Errorf("behind a torn header %s, bad %+v", short(torn.path), torn.bad)
	}
	many := load(t, header+`{"id":"a","type":"gemini","content":"x","toolCalls":[`+strings.Repeat(`{"id":"c"},`, 10_000)+
		`{"id":"c"}]}`+"\n"+
		user("b", "two"))
	if short(many.path) != "u:two" || len(many.bad) != 1 || !strings.Contains(many.bad[0].Reason, "10001 parts or calls") {
		t.Errorf("with too many calls %s, bad %+v", short(many.path), many.bad)
	}
	far := load(t, header[:40]+"\n"+strings.Repeat(" ", transcript.MaxLine+1)+"\n"+user("b", "two"))
	if short(far.path) != "u:two" || len(far.bad) != 2 || far.bad[1].Line != 2 {
		t.Errorf("far behind a torn header %s, bad %+v", short(far.path), far.bad)
	}
	call := load(t,
		`{"history":[{"role":"model","parts":[{"functionCall":{"id":"c","name":"r","args":{}},"thoughtSignature":"c2ln"}]}]}`).
		path[0].Message.Parts.Calls()[0]
	if string(call.Opaque) != `"c2ln"` {
		t.Errorf("the signature became %s", call.Opaque)
	}
	old := load(t, "[\n"+`{"role":"user","parts":[{"text":"q"}]},`+"\n"+`{"role":"model","parts":[{"text":"done"}]}]`+"\n")
	if short(old.path) != "u:q | a:done" || len(old.bad) > 0 {
		t.Errorf("a checkpoint of old versions gave %s, bad %+v", short(old.path), old.bad)
	}
	for _, no := range []string{``, `{"role":"user","content":"x"}`, `{"conversation":{}}`, `[1]`, `text`,
		`{"type":"mode","mode":"normal","sessionId":"of Claude Code"}`,
		`{"parentUuid":null,"sessionId":"of Claude Code","message":{"cut`} {
		if (geminicli.Format{}).Sniff([]byte(no)) {
			t.Errorf("%q is taken for a session", no)
		}
	}
}

// Calls without an id, and the results that follow them, belong together as the tool pairs
// them: by name, in order.
func TestCallsWithoutID(t *testing.T) {
	seen := 0
	for _, c := range cases[struct {
		ID    string
		Input []struct{ Content json.RawMessage }
	}](t, "ensure_stable_tool_ids.json") {
		var turns []string
		for _, in := range c.Input {
			turns = append(turns, string(in.Content))
		}
		checkpoint := `{"history":[` + strings.Join(turns, ",") + `]}`
		session := header
		for i, in := range c.Input {
			var turn struct {
				Role  string
				Parts json.RawMessage
			}
			if err := json.Unmarshal(in.Content, &turn); err != nil {
				t.Fatal(err)
			}
			var parts bytes.Buffer
			if err := json.Compact(&parts, turn.Parts); err != nil {
				t.Fatal(err)
			}
			session += fmt.Sprintf(`{"id":"%d","type":"%s","content":%s}`+"\n", i,
				map[string]string{"user": "user", "model": "gemini"}[turn.Role],
				parts.String())
		}
		for _, file := range []string{checkpoint, session} {
			var open []scrollback.ToolCall
			for _, e := range load(t, file).path {
				open = append(open, e.Message.Parts.Calls()...)
				for i, res := range e.Message.Parts.Results() {
					if seen++; len(open) > 0 && (res.CallID != open[i].ID || res.Name != open[i].Name) || res.CallID == "" {
						t.Errorf("%s: result %d is of %q, calls are %+v", c.ID, i, res.CallID, open)
					}
				}
			}
		}
	}
	if seen != 8 {
		t.Errorf("%d results were seen", seen)
	}
	swapped := load(t, `{"history":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"of g"}}},{"functionResponse":{"name":"f","response":{"output":"of f"}}}]}]}`)
	if want := "a:→call_0_0→call_0_1 | t:←call_0_1=of g←call_0_0=of f"; short(swapped.path) != want {
		t.Errorf("%s, want %s", short(swapped.path), want)
	}
}

func write(t interface {
	Helper()
	Fatalf(string, ...any)
}, c scrollback.Conversation, entries []transcript.Entry) string {
	t.Helper()
	var b bytes.Buffer
	var seq iter.Seq2[transcript.Entry, error] = func(yield func(transcript.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
	if err := (geminicli.Format{}).Write(&b, c, seq); err != nil {
		t.Fatalf("write: %v", err)
	}
	return b.String()
}

// said returns what of entries must come back: all but ids, lines and what a file's own
// fields have become.
func said(entries []transcript.Entry) []transcript.Entry {
	var out []transcript.Entry
	for _, e := range entries {
		m := e.Message
		var meta map[string]json.RawMessage
		if json.Unmarshal(m.Meta, &meta) == nil {
			delete(meta, "gemini_cli")
			if m.Meta = nil; len(meta) > 0 {
				m.Meta, _ = json.Marshal(meta)
			}
		}
		if m.Status == scrollback.StatusComplete {
			m.Status = ""
		}
		if len(e.Bytes) == 0 {
			e.Bytes = nil
		}
		out = append(out, transcript.Entry{Bytes: e.Bytes,
			Message: scrollback.Message{Role: m.Role, Name: m.Name, Parts: m.Parts, Model: m.Model,
				Usage: m.Usage, Status: m.Status, CreatedAt: m.CreatedAt, Meta: m.Meta}})
	}
	return out
}

// What is written is read again: any conversation of ours comes back as it was.
func TestExportAndBack(t *testing.T) {
	texts := rapid.SampledFrom([]string{"hello", "你好", "/help", "", "  ", "<session_context>", "two\nlines", "\u2028 </s>",
		"?"})
	ids := rapid.SampledFrom([]string{"c1", "c2", "c3"})
	rapid.Check(t, func(t *rapid.T) {
		var in []transcript.Entry
		for i := range rapid.IntRange(0, 12).Draw(t, "messages") {
			e := transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("m", i)),
				CreatedAt: 1_767_225_600_000 + int64(i)*1000,
				Role: rapid.SampledFrom([]scrollback.Role{"user", "user", "assistant", "assistant", "tool", "system"}).Draw(t,
					"role"),
				Status: rapid.SampledFrom([]scrollback.Status{"complete", "complete", "complete", "interrupted"}).Draw(t, "status"),
				Model:  rapid.SampledFrom([]string{"", "gemini/gemini-2.5-pro", "deepseek/x", "offline"}).Draw(t, "model")}}
			m := &e.Message
			if rapid.IntRange(0, 5).Draw(t, "extras") == 0 {
				m.Name = "n"
				m.Meta = json.RawMessage(`{"a":1}`)
				m.Usage = &scrollback.Usage{InputTokens: 5, OutputTokens: 7, ReasoningTokens: 2, TotalTokens: 12,
					Cost: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "cost")}
			}
			for k := range rapid.IntRange(1, 3).Draw(t, "parts") {
				opaque := rapid.SampledFrom([]scrollback.Opaque{nil, nil, scrollback.Opaque(`"sig"`)}).Draw(t, "opaque")
				switch rapid.IntRange(0, 6).Draw(t, "part") {
				case 0, 1:
					m.Parts = append(m.Parts, scrollback.Text{Text: texts.Draw(t, "text"), Opaque: opaque})
				case 2:
					m.Parts = append(m.Parts, scrollback.Reasoning{Text: texts.Draw(t, "thought"), Opaque: opaque})
				case 3:
					m.Parts = append(m.Parts, scrollback.ToolCall{ID: ids.Draw(t, "call"), Name: "f",
						Arguments: json.RawMessage(`{"n":1.50}`),
						Opaque:    opaque})
				case 4, 5:
					m.Parts = append(m.Parts, scrollback.ToolResult{CallID: ids.Draw(t, "result"), Name: "f",
						Text:    texts.Draw(t, "output"),
						IsError: rapid.Bool().Draw(t, "error")})
				case 6:
					if e.Bytes == nil {
						e.Bytes = map[int][]byte{}
					}
					e.Bytes[k] = []byte("bytes")
					m.Parts = append(m.Parts, rapid.SampledFrom([]scrollback.Part{scrollback.Image{MediaType: "image/png", Size: 5},
						scrollback.File{MediaType: "text/plain", Size: 5, Name: "n"}}).Draw(t, "file"))
				}
			}
			in = append(in, e)
		}
		file := write(t, scrollback.Conversation{ID: "id", Title: "title"}, in)
		got := load(t, file)
		if d := cmp.Diff(said(in), said(got.path), cmpopts.EquateEmpty()); d != "" || len(got.bad) > 0 {
			t.Fatalf("bad %v, -want +got:\n%s\nin\n%s", got.bad, d, file)
		}
		again := load(t, write(t, scrollback.Conversation{ID: "id", Title: "title", Meta: got.conversation.Meta}, got.path))
		if d := cmp.Diff(said(got.path), said(again.path), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("written and read once more it differs:\n%s", d)
		}
	})
}

// A session that was read is written as it was: each record of its path, and what
// stood among them, with every field.
func TestFileAndBack(t *testing.T) {
	lines := []string{
		`{"id":"i0","type":"info","content":"begin","unknown":{"x":[1,2.50]}}`,
		`{"id":"a","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"q"},{"strange":true}],"displayContent":"q!"}`,
		`{"id":"g","timestamp":"2026-01-01T00:00:01.500Z","type":"gemini","content":"so","thoughts":[{"subject":"S","description":"D",` +
			`"timestamp":"2026-01-01T00:00:01.000Z"}],"tokens":{"input":9,"output":3,"cached":1,"thoughts":2,"tool":4,"total":18},` +
			`"model":"gemini-x","toolCalls":[{"id":"c","name":"f","args":{"z":1.0,"a":"\u00e9\/<é>","n":12345678901234567890,"e":1e3,` +
			`"b":{"y":[],"x":{}}},"result":"plain","status":"success",` +
			`"timestamp":"2026-01-01T00:00:02.000Z","agentId":"z","resultDisplay":{"k":[]}}]}`,
		`{"id":"u","type":"user","content":[{"functionResponse":{"id":"c","name":"f","response":{"output":"plain"}}}]}`,
		`{"id":"w","type":"warning","content":"careful"}`,
		`{"id":"g2","type":"gemini","content":[{"text":"end","thoughtSignature":"s"}],"tokens":null,"thoughts":[]}`,
		`{"id":"z","type":"user","content":"/quit"}`,
	}
	first := load(t, header+strings.Join(lines, "\n")+"\n")
	out := strings.Split(strings.TrimSpace(write(t, scrollback.Conversation{ID: "other", Meta: first.conversation.Meta},
		first.path)), "\n")
	want := slices.DeleteFunc(append([]string{strings.TrimSpace(header)}, lines...), func(line string) bool {
		return strings.HasPrefix(line, `{"id":"u"`) // the tool would send a result that stands twice twice
	})
	if len(out) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(out), len(want), strings.Join(out, "\n"))
	}
	if d := cmp.Diff(parsed(t, want[0]), parsed(t, out[0])); d != "" {
		t.Errorf("the header (-want +got):\n%s", d)
	}
	for i := range want[1:] {
		if want[i+1] != out[i+1] {
			t.Errorf("line %d is\n%s, want\n%s", i+2, out[i+1], want[i+1])
		}
	}
}

func parsed(t *testing.T, line string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFiles(t *testing.T) {
	home := fstest.MapFS{}
	for _, name := range []string{"abc/chats/session-1.jsonl", "abc/chats/p/sub.jsonl", "abc/chats/old.json",
		"abc/checkpoint-a%20b.json",
		"abc/logs.json", "abc/chats/x.txt", "top.jsonl", "abc/other/session.jsonl"} {
		home[geminicli.Folder+"/"+name] = &fstest.MapFile{}
	}
	got, err := geminicli.Files(home)
	want := []string{"abc/chats/old.json", "abc/chats/p/sub.jsonl", "abc/chats/session-1.jsonl",
		"abc/checkpoint-a%20b.json"}
	for i := range want {
		want[i] = geminicli.Folder + "/" + want[i]
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v, %v", got, err)
	}
	if got, err := geminicli.Files(fstest.MapFS{}); err != nil || len(got) > 0 {
		t.Errorf("in an empty home %v, %v", got, err)
	}
}

// Whatever a file holds, it is read to its end, goes back only over what it told,
// and what it says can be written and read again.
func FuzzRead(f *testing.F) {
	for _, c := range []string{"", header, header + `{"id":"a","type":"user","content":"x"}` + "\n" + `{"$rewindTo":"a"}`,
		`{"history":[{"role":"user","parts":[{"text":"x"}]}]}`,
		header + `{"$set":{"messages":[{"id":"a","type":"gemini","content":[{"functionCall":{"name":"f"}}]}]}}`,
		header +
			`{"id":"a","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}],"scrollback":[{"role":"user",` +
			`"parts":"x","data":{"0":"AA=="}}]}`} {
		f.Add(c)
	}
	files, err := filepath.Glob("testdata/cases/session_load*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no cases")
	}
	var all struct {
		Cases []struct{ Input struct{ File string } }
	}
	b, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range all.Cases {
		f.Add(c.Input.File)
	}
	f.Fuzz(func(t *testing.T, file string) {
		if twins(file) {
			return // Go's reader takes either key, and which comes first is lost
		}
		got := load(t, file)
		if len(got.path) == 0 {
			return
		}
		back := load(t, write(t, scrollback.Conversation{ID: "id", Meta: got.conversation.Meta}, got.path))
		if d := cmp.Diff(short(got.path), short(back.path)); d != "" {
			t.Fatalf("written and read again (-was +is):\n%s", d)
		}
	})
}

var keys = regexp.MustCompile(`"([^"\\]*)"\s*:`)

// twins reports whether two keys of a file differ in their case only.
func twins(file string) bool {
	seen := map[string]string{}
	for _, m := range keys.FindAllStringSubmatch(file, -1) {
		folded := strings.ToLower(m[1])
		if was, ok := seen[folded]; ok && was != m[1] {
			return true
		}
		seen[folded] = m[1]
	}
	return false
}

// Signatures of a live conversation are written where the tool has them, so that it sends
// them back; read without what is ours, they stand on the parts they came with.
func TestSignaturesAreWritten(t *testing.T) {
	answer := scrollback.Parts{
		scrollback.Reasoning{Text: "Hm.", Opaque: json.RawMessage(`{"thoughtSignature":"dGg="}`)},
		scrollback.Text{Text: "I look.", Opaque: json.RawMessage(`{"thoughtSignature":"dHh0"}`)},
		scrollback.ToolCall{ID: "fn1", Name: "f", Arguments: json.RawMessage(`{}`),
			Opaque: json.RawMessage(`{"thoughtSignature":"c2ln","id":"fn1"}`)},
		scrollback.Reasoning{Opaque: json.RawMessage(`{"thoughtSignature":"ZW1wdHk","text":true}`)},
	}
	var out bytes.Buffer
	err := (geminicli.Format{}).Write(&out, scrollback.Conversation{ID: "c"},
		func(yield func(transcript.Entry, error) bool) {
			_ = yield(transcript.Entry{Message: scrollback.Message{ID: "1", Role: scrollback.RoleUser,
				Parts: scrollback.Say("q")}}, nil) &&
				yield(transcript.Entry{Message: scrollback.Message{ID: "2", Role: scrollback.RoleAssistant, Model: "gemini/g",
					Parts: answer}}, nil)
		})
	if err != nil {
		t.Fatal(err)
	}
	if path := load(t, out.String()).path; len(path) < 2 || cmp.Diff(path[1].Message.Parts, answer) != "" {
		t.Errorf("read again: %d messages, %s", len(path), out.String())
	}
	var native strings.Builder
	for line := range strings.Lines(out.String()) {
		var rec map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		delete(rec, "scrollback")
		b, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		native.Write(append(b, '\n'))
	}
	want := scrollback.Parts{
		scrollback.Reasoning{Text: "Hm.", Opaque: json.RawMessage(`"dGg="`)},
		scrollback.Text{Text: "I look.", Opaque: json.RawMessage(`"dHh0"`)},
		scrollback.ToolCall{ID: "fn1", Name: "f", Arguments: json.RawMessage(`{}`), Opaque: json.RawMessage(`"c2ln"`)},
		scrollback.Text{Opaque: json.RawMessage(`"ZW1wdHk"`)},
	}
	if path := load(t, native.String()).path; len(path) < 2 || cmp.Diff(path[1].Message.Parts, want) != "" {
		t.Errorf("as the tool reads it: %s\n%s", cmp.Diff(want, path[1].Message.Parts), native.String())
	}
}

// A part that is a signature and nothing else is kept.
func TestSignatureAlone(t *testing.T) {
	got := load(t, header+`{"id":"u","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"q"}]}`+"\n"+
		`{"id":"g","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","model":"gemini-3","content":`+
		`[{"text":"a"},{"thoughtSignature":"c2ln"}]}`+"\n").path
	if len(got) != 2 || len(got[1].Message.Parts) != 2 {
		t.Fatalf("%+v", got)
	}
	if p, ok := got[1].Message.Parts[1].(scrollback.Text); !ok || p.Text != "" || string(p.Opaque) != `"c2ln"` {
		t.Errorf("%+v", got[1].Message.Parts[1])
	}
}

// A history of another program is not taken for a checkpoint.
func TestOtherHistories(t *testing.T) {
	for file, want := range map[string]bool{
		`{"history":[{"role":"user","parts":[{"text":"hi"}]}]}`:                                  true,
		"{\n  \"history\": [\n    {\"role\": \"user\", \"parts\": [{\"text\": \"hi\"}]}\n  ]\n}": true,
		`{"history":[]}`: true,
		`{"history":[{"message":{"role":"user","content":"hi"},"contextItems":[]}]}`:          false,
		`{"conversation_id":"q","history":[{"user":{"content":{"Prompt":{"prompt":"hi"}}}}]}`: false,
		"{\n  \"history\": [\n    {\"role\": \"user\", \"content\": \"hi\"}\n  ]\n}":          false,
	} {
		if got := (geminicli.Format{}).Sniff([]byte(file)); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}
