package cursor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cursor"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

const talk = "b0000000-0000-4000-8000-000000000001"

func put(key, value string) string {
	return fmt.Sprintf("INSERT INTO cursorDiskKV VALUES ('%s', CAST('%s' AS BLOB))", key, strings.ReplaceAll(value, "'", "''"))
}

func composer(id string, newest int, status string, bubbles ...string) string {
	var headers []string
	for _, b := range bubbles {
		headers = append(headers, `{"bubbleId":"`+b+`","type":1}`)
	}
	return put("composerData:"+id, fmt.Sprintf(`{"_v":10,"composerId":"%s","name":"Pilots","createdAt":1772445600000,`+
		`"lastUpdatedAt":%d,"status":"%s","modelConfig":{"modelName":"gpt-5"},"fullConversationHeadersOnly":[%s]}`, id,
		1772445600000+newest, status, strings.Join(headers, ",")))
}

// history is a conversation by descriptions of the format: no editor was run.
func history() []string {
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	bubble := func(id, value string) string { return put("bubbleId:"+talk+":"+id, value) }
	return []string{
		"CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		bubble("u1", `{"_v":3,"type":1,"bubbleId":"u1","text":"Who steers?","createdAt":"2026-03-02T10:00:00.000Z",`+
			`"workspaceUris":["file:///home/me/harbour"],"images":[{"data":"`+png+`"},{"uuid":"gone"}]}`),
		composer(talk, 1, "generating", "u1"),
		bubble("a1", `{"_v":3,"type":2,"bubbleId":"a1","text":"","thinking":{"text":"Hm."},"createdAt":"2026-03-02T10:00:01.000Z"}`),
		composer(talk, 2, "generating", "u1", "a1"),
		bubble("a2", `{"_v":3,"type":2,"bubbleId":"a2","text":"I look.","createdAt":"2026-03-02T10:00:02.000Z"}`),
		bubble("a3", `{"_v":3,"type":2,"bubbleId":"a3","toolFormerData":{"toolCallId":"t1","name":"read_file",`+
			`"rawArgs":"{\"path\":\"a.go\"}","status":"loading"}}`),
		composer(talk, 3, "generating", "u1", "a1", "a2", "a3"),
		bubble("a4", `{"_v":3,"type":2,"bubbleId":"a4","toolFormerData":{"toolCallId":"t2","name":"run","params":"{}",`+
			`"result":"{\"output\":\"no\"}","status":"error"}}`),
		composer(talk, 4, "generating", "u1", "a1", "a2", "a3", "a4"),
		bubble("a3", `{"_v":3,"type":2,"bubbleId":"a3","toolFormerData":{"toolCallId":"t1","name":"read_file",`+
			`"rawArgs":"{\"path\":\"a.go\"}","result":"package a","status":"completed"}}`),
		bubble("a5", `{"_v":3,"type":2,"bubbleId":"a5","text":"The pilot.","tokenCount":{"inputTokens":110,"outputTokens":5}}`),
		composer(talk, 5, "completed", "u1", "a1", "a2", "a3", "a4", "a5", "lost"),
		put("composerData:older", `{"composerId":"older","createdAt":1700000000000,"conversation":[`+
			`{"bubbleId":"o1","type":1,"text":"And before?"},{"bubbleId":"o2","type":2,"text":"The bosun."}]}`),
	}
}

func place(t *testing.T, statements ...string) transcript.Place {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "User", "globalStorage"), 0o700); err != nil {
		t.Fatal(err)
	}
	foreigntest.RunStatements(t, filepath.Join(folder, "User", "globalStorage", "state.vscdb"), statements...)
	return transcript.Place{FS: os.DirFS(folder), Name: ".", Path: folder}
}

func TestDatabase(t *testing.T) {
	want := []string{
		"older: And before?", "user | And before?", "assistant | The bosun.", "end",
		talk + ": Pilots", "user | Who steers? | image image/png .", "assistant | thinks Hm.", "assistant | I look.",
		`assistant | calls t1 read_file {"path":"a.go"}`, "tool | result of t1 read_file: package a",
		"assistant | calls t2 run {}", `tool | error of t2 run: {"output":"no"}`, "assistant | The pilot.",
		"end[bubble that is gone:1 image without bytes:1]",
	}
	p := place(t, history()...)
	for _, name := range []string{".", "User", "User/globalStorage", "User/globalStorage/state.vscdb"} {
		p.Name = name
		entries := foreigntest.ReadSessions(t, cursor.Tool{}, p, false)
		if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if c, o := entries[4].Conversation, entries[4].Origin; o.Folder != "/home/me/harbour" || c.Model != "gpt-5" ||
			c.CreatedAt != 1772445600000 || c.UpdatedAt != 1772445600005 {
			t.Errorf("%+v of %+v", c, o)
		}
		if u := entries[12].Message.Usage; u == nil || u.InputTokens != 110 || u.OutputTokens != 5 {
			t.Errorf("%+v", u)
		}
	}
}

func TestGrowth(t *testing.T) {
	all := history()
	foreigntest.RunHistory(t, cursor.Tool{}, "state.vscdb", all[:len(all)-1]) // of one conversation
}

func TestSuite(t *testing.T) {
	p := place(t, history()...)
	tooltest.Run(t, tooltest.Case{Tool: cursor.Tool{}, FS: p.FS, Disk: true, Mutants: 60, NoTimes: []string{"older"},
		Grows: func(string) bool { return false }})
}

// Transcripts have what was said and called, and no more.
func TestTranscripts(t *testing.T) {
	files := os.DirFS("testdata/projects")
	want := []string{talk + ": Who steers?", "user | Who steers?",
		`assistant | The pilot. | calls line-2#1 Read {"path":"a.go"}`, "end"}
	if d := cmp.Diff(want, tooltest.ScriptLines(tooltest.ReadEntries(t, cursor.Tool{}, files))); d != "" {
		t.Error(d)
	}
	tooltest.Run(t, tooltest.Case{Tool: cursor.Tool{}, FS: files, Mutants: 700, NoTimes: []string{talk}})
}

// A conversation that the database has is not read from its transcript.
func TestDatabaseBeforeTranscripts(t *testing.T) {
	home := t.TempDir()
	projects := filepath.Join(home, ".cursor", "projects")
	if err := os.CopyFS(projects, os.DirFS("testdata/projects")); err != nil {
		t.Fatal(err)
	}
	p := transcript.Place{FS: os.DirFS(projects), Name: ".", Path: projects}
	if n := len(foreigntest.ReadSessions(t, cursor.Tool{}, p, false)); n != 4 {
		t.Errorf("%d entries without a database", n)
	}
	storage := filepath.Join(home, ".config", "Cursor", "User", "globalStorage")
	if err := os.MkdirAll(storage, 0o700); err != nil {
		t.Fatal(err)
	}
	foreigntest.RunStatements(t, filepath.Join(storage, "state.vscdb"), history()...)
	if n := len(foreigntest.ReadSessions(t, cursor.Tool{}, p, false)); n != 0 {
		t.Errorf("%d entries beside the database", n)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	var got error
	for _, err := range (cursor.Tool{}).Sessions(t.Context(), place(t, "CREATE TABLE ItemTable (key TEXT)")) {
		got = err
	}
	if !errors.Is(got, foreign.ErrUnknown) {
		t.Errorf("%v", got)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "darwin", Home: "/Users/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/Users/u/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
		"/Users/u/.cursor/projects"}, cursor.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
