package openwebui_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // as the program keeps it

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// The tables as older versions make them, and what newer ones add.
const (
	older = `CREATE TABLE user (id TEXT, email TEXT);
		CREATE TABLE chat (id VARCHAR(255) PRIMARY KEY, user_id VARCHAR(255), title TEXT, chat JSON, created_at BIGINT, updated_at BIGINT,
			share_id VARCHAR(255), archived INTEGER, pinned BOOLEAN, meta JSON, folder_id TEXT);`
	newer = `ALTER TABLE chat ADD COLUMN current_message_id TEXT;
		CREATE TABLE chat_message (id TEXT PRIMARY KEY, chat_id TEXT, user_id TEXT, role TEXT, parent_id TEXT, content JSON, output JSON,
			model_id TEXT, files JSON, sources JSON, embeds JSON, done BOOLEAN, status_history JSON, error JSON, usage JSON,
			created_at BIGINT, updated_at BIGINT);`
)

// data returns a folder of the program's, with a database of these statements.
func data(t *testing.T, statements ...string) string {
	t.Helper()
	folder := t.TempDir()
	change(t, folder, statements...)
	return folder
}

func change(t *testing.T, folder string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(folder, "webui.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// chats returns statements that insert the conversations of the fixture, with those of this id
// changed.
func chats(t *testing.T) (out []string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/place/chat-export-1767000000000.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		ID, Title string
		Chat      json.RawMessage
		CreatedAt int64 `json:"created_at"`
		UpdatedAt int64 `json:"updated_at"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	for _, c := range all {
		if c.ID == "" {
			continue
		}
		var chat bytes.Buffer
		if err := json.Compact(&chat, c.Chat); err != nil {
			t.Fatal(err)
		}
		out = append(out,
			fmt.Sprintf("INSERT INTO chat (id, user_id, title, chat, created_at, updated_at, archived, pinned) "+
				"VALUES (%s, 'u', %s, %s, %d, %d, 0, 1)",
				quote(c.ID), quote(c.Title), quote(chat.String()), c.CreatedAt, c.UpdatedAt))
	}
	return out
}

func at(folder string, now int64) transcript.Place {
	return transcript.Place{FS: os.DirFS(folder), Name: ".", Path: folder, Now: now}
}

// read returns what a place says, and the stamps of its sessions.
func read(t *testing.T, p transcript.Place) (script []string, stamps map[string]string) {
	t.Helper()
	stamps = map[string]string{}
	for s, err := range (openwebui.Tool{}).Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		stamps[s.ID] = s.Stamp
		var entries []transcript.Entry
		for e, err := range (openwebui.Tool{}).Read(t.Context(), p, s) {
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
		script = append(script, tooltest.ScriptLines(entries)...)
	}
	return script, stamps
}

const later = 1867000000000 // long after all of it

// The database says what the export says.
func TestDatabase(t *testing.T) {
	for name, tables := range map[string]string{"older": older, "newer": older + newer} {
		got, _ := read(t, at(data(t, append([]string{tables}, chats(t)...)...), later))
		want := tooltest.ScriptLines(tooltest.ReadEntries(t, openwebui.Tool{}, place))
		if a, b := strings.Join(got, "\n"), strings.Join(want[:len(want)-1], "\n"); a != b {
			t.Errorf("%s: the database says\n%s\nthe export\n%s", name, a, b)
		}
	}
}

func TestDatabaseSuite(t *testing.T) {
	folder := data(t, append([]string{older + newer}, append(chats(t), rows...)...)...)
	tooltest.Run(t, tooltest.Case{Tool: openwebui.Tool{}, FS: os.DirFS(folder), Disk: true})
}

// rows are a conversation as newer versions keep it: its messages are rows, and what its own
// text says of one is older.
var rows = []string{
	`INSERT INTO chat (id, title, chat, created_at, updated_at, current_message_id) VALUES ('n', 'New', '{"history":{"currentId":"1",
		"messages":{"1":{"id":"1","role":"user","content":"as it was","childrenIds":["2"]},
		"9":{"id":"9","role":"user","content":"only here"}}}}', 1767000300, 1767000400, '3')`,
	`INSERT INTO chat_message (id, chat_id, role, parent_id, content, done, created_at, updated_at)
		VALUES ('n-1', 'n', 'user', NULL, '"as it is"', 1, 1767000301, 1)`,
	`INSERT INTO chat_message (id, chat_id, role, parent_id, content, output, model_id, usage, done, created_at, updated_at)
		VALUES ('n-2', 'n', 'assistant', '1', '"text"', '[{"type":"reasoning","content":[{"text":"hm"}]},
		{"type":"message","content":[{"text":"from the output"}]}]', 'm', '{"input_tokens":3,"output_tokens":4}', 1, 1767000302, 1)`,
	`INSERT INTO chat_message (id, chat_id, role, parent_id, content, model_id, done, created_at, updated_at)
		VALUES ('n-3', 'n', 'assistant', '1', '"anoth"', 'm', 0, 1767000303, 1)`,
}

// first is what the conversation says before its newest answer.
const first = "n: New; user | only here; back to 0; user | as it is; assistant | thinks hm | from the output; back to 1; "

func TestRows(t *testing.T) {
	folder := data(t, append([]string{older + newer}, rows...)...)
	before, stamps := read(t, at(folder, later))
	if got := strings.Join(before, "; "); got != first+"assistant (interrupted) | anoth; end" {
		t.Errorf("at rest it says %s", got)
	}
	// While the answer may still be written it is held back.
	live, _ := read(t, at(folder, 1767000401000))
	if got := strings.Join(live, "; "); got != first+"end held" {
		t.Errorf("live it says %s", got)
	}
	change(t, folder, `UPDATE chat_message SET content = '"another"', done = 1, updated_at = 2 WHERE id = 'n-3'`)
	after, changed := read(t, at(folder, 1767000401000))
	if got := strings.Join(after, "; "); got != first+"assistant | another; end" || stamps["n"] == changed["n"] {
		t.Errorf("complete it says %s, with the stamps %s and %s", got, stamps["n"], changed["n"])
	}
}

// A database of another shape, and a file that is not a database, are errors.
func TestUnknownDatabase(t *testing.T) {
	none := t.TempDir()
	if err := os.WriteFile(filepath.Join(none, "webui.db"), bytes.Repeat([]byte("no database "), 1000),
		0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		folder string
		want   error
	}{
		"another shape": {data(t, "CREATE TABLE chat (id TEXT, title TEXT)"), foreign.ErrUnknown},
		"no chats":      {data(t, "CREATE TABLE other (id TEXT)"), foreign.ErrUnknown},
		"no database":   {none, foreign.ErrNot},
	} {
		var last error
		for _, err := range (openwebui.Tool{}).Sessions(t.Context(), at(c.folder, later)) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), c.want.Error()) {
			t.Errorf("%s: %v, want %v", name, last, c.want)
		}
	}
	if got, _ := read(t, transcript.Place{FS: os.DirFS(none), Name: "."}); len(got) > 0 {
		t.Errorf("what was uploaded has a database: %v", got)
	}
}

func TestHomes(t *testing.T) {
	homes := (openwebui.Tool{}).Homes(transcript.Machine{Home: "/home/x", Getenv: func(name string) string {
		return map[string]string{"DATA_DIR": "/srv/data"}[name]
	}})
	if got := strings.Join(homes, " "); got != "/srv/data/webui.db /home/x/.open-webui/webui.db" {
		t.Errorf("its homes are %s", got)
	}
}
