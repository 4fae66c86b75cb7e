package pi_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/pi"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// clawHistory returns the rows that OpenClaw 2026.9.6 wrote, one statement each, and one more that is packed.
func clawHistory(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/openclaw.sql")
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll([]byte(`{"type":"message","id":"packed","parentId":"6d07858e-679f-47a5-921c-1b59c5fff7f9",`+
		`"timestamp":"2026-11-30T10:10:00.000Z","message":{"role":"user","content":"packed away"}}`), nil)
	return append(strings.Split(strings.TrimSpace(string(raw)), "\n"), fmt.Sprintf("INSERT INTO transcript_events "+
		"(session_id, seq, created_at, event_zstd) VALUES ('0c1cd096-6c8b-4b43-993f-c920ace6be2f', 8, 1796033400000, X'%x')",
		packed))
}

// place returns a folder with the database of an agent.
func place(t *testing.T, statements ...string) transcript.Place {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "main", "agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	foreigntest.RunStatements(t, filepath.Join(folder, "main", "agent", "openclaw-agent.sqlite"), statements...)
	return transcript.Place{FS: os.DirFS(folder), Name: ".", Path: folder}
}

func TestDatabase(t *testing.T) {
	p := place(t, clawHistory(t)...)
	want := []string{
		"0c1cd096-6c8b-4b43-993f-c920ace6be2f: list the files",
		"user | list the files",
		"assistant | Answer 2 of the stub.",
		"user | and again",
		"assistant | Answer 3 of the stub.",
		"user | packed away",
		"end[custom:1 thinking_level_change:1]",
	}
	for _, name := range []string{".", "main", "main/agent", "main/agent/openclaw-agent.sqlite"} {
		p.Name = name
		entries := foreigntest.ReadSessions(t, pi.OpenClaw(), p, false)
		if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if o, c := entries[0].Origin, entries[0].Conversation; o.Folder != "/home/me/harbour" || c.Model != "stub-1" ||
			string(c.Meta) != `{"openclaw":{"provider":"s"}}` {
			t.Errorf("%+v %+v", o, c)
		}
		if u := entries[2].Message.Usage; u == nil || u.InputTokens != 110 || u.CachedTokens != 100 || u.OutputTokens != 5 {
			t.Errorf("%+v", u)
		}
	}
}

// The current path is the one that the tool says it is at.
func TestDatabaseLeaf(t *testing.T) {
	s := append(clawHistory(t), "INSERT INTO session_transcript_index_state VALUES ('0c1cd096-6c8b-4b43-993f-c920ace6be2f', "+
		"8, '6eac4eda-9e62-44fe-b9bc-45627f5c71f3', 1)")
	got := tooltest.ScriptLines(foreigntest.ReadSessions(t, pi.OpenClaw(), place(t, s...), false))
	if got[len(got)-2] != "back to 2" {
		t.Errorf("%q", got)
	}
}

func TestDatabaseGrowth(t *testing.T) {
	foreigntest.RunHistory(t, pi.OpenClaw(), "openclaw-agent.sqlite", clawHistory(t))
}

// Older versions kept files; what the database has as well is read from there.
func TestDatabaseAndFiles(t *testing.T) {
	p := place(t, clawHistory(t)...)
	folder := filepath.Join(p.Path, "main", "sessions")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"0c1cd096-6c8b-4b43-993f-c920ace6be2f", "older"} {
		text := `{"type":"session","version":3,"id":"` + id + `","cwd":"/w"}` + "\n" +
			`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"from a file"}}` + "\n"
		if err := os.WriteFile(filepath.Join(folder, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := tooltest.ScriptLines(foreigntest.ReadSessions(t, pi.OpenClaw(), p, false))
	if n := strings.Count(strings.Join(got, "\n"), "user | from a file"); n != 1 {
		t.Errorf("%d conversations are from files: %q", n, got)
	}
}

func TestDatabaseOfOtherVersion(t *testing.T) {
	var got error
	for _, err := range pi.OpenClaw().Sessions(t.Context(), place(t, "CREATE TABLE x (y)")) {
		got = err
	}
	if !errors.Is(got, foreign.ErrUnknown) || !strings.Contains(got.Error(), "OpenClaw 2026.9") {
		t.Errorf("%v", got)
	}
}

func TestDatabaseSuite(t *testing.T) {
	p := place(t, clawHistory(t)...)
	tooltest.Run(t, tooltest.Case{Tool: pi.OpenClaw(), FS: p.FS, Disk: true, Mutants: 60})
}
