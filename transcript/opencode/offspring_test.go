package opencode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// kiloRows returns what Kilo 7.7.9 wrote, a statement each: a session with a command, resumed, and a fork of it.
func kiloRows(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/kilo.sql")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// database returns a folder with a database of a tool.
func database(t *testing.T, name string, statements ...string) transcript.Place {
	t.Helper()
	folder := t.TempDir()
	foreigntest.RunStatements(t, filepath.Join(folder, name), statements...)
	return transcript.Place{FS: os.DirFS(folder), Name: ".", Path: folder}
}

func TestKilo(t *testing.T) {
	p := database(t, "kilo.db", kiloRows(t)...)
	entries := foreigntest.ReadSessions(t, opencode.Kilo(), p, false)
	for _, e := range entries {
		if e.Conversation != nil && (e.Origin.Folder != "/home/me/harbour" ||
			!strings.HasPrefix(string(e.Conversation.Meta), `{"kilo":{`)) {
			t.Errorf("%+v %s", e.Origin, e.Conversation.Meta)
		}
	}
	got := strings.Join(tooltest.ScriptLines(entries), "\n")
	if strings.Count(got, "user | \"list the files\"")+strings.Count(got, "user | list the files") != 2 ||
		strings.Count(got, "Answer 3 of the stub.") != 1 || strings.Count(got, "| calls ") != 2 {
		t.Errorf("%s", got)
	}
	if n := len(foreigntest.ReadSessions(t, opencode.Tool{}, p, false)); n > 0 {
		t.Errorf("opencode takes %d entries of it", n)
	}
}

// MiMo Code copies sessions of other tools when it is first used: those are read where they come from.
func TestMiMoCode(t *testing.T) {
	rows := kiloRows(t)
	p := database(t, "mimocode.db", rows...)
	all := foreigntest.ReadSessions(t, opencode.MiMoCode(), p, false)
	i := slices.IndexFunc(all, func(e transcript.Entry) bool { return e.Conversation != nil })
	copied := database(t, "mimocode.db", append(rows, "CREATE TABLE external_import (session_id TEXT)",
		"INSERT INTO external_import VALUES ('"+all[i].Source+"')")...)
	for _, e := range foreigntest.ReadSessions(t, opencode.MiMoCode(), copied, false) {
		if e.Source == all[i].Source {
			t.Fatalf("a copy is read: %+v", e)
		}
	}
}

func TestOffspringHomes(t *testing.T) {
	vars := map[string]string{"MIMOCODE_DB": "/m/x.db"}
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(k string) string { return vars[k] }}
	if d := cmp.Diff([]string{"/home/u/.local/share/kilo"}, opencode.Kilo().Homes(m)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"/home/u/.local/share/mimocode", "/m/x.db"}, opencode.MiMoCode().Homes(m)); d != "" {
		t.Error(d)
	}
	head := []byte("SQLite format 3\x00")
	if !opencode.Kilo().Sniff("kilo.db", head) || opencode.Kilo().Sniff("opencode.db", head) ||
		!(opencode.Tool{}).Sniff("opencode-next.db", head) || !opencode.MiMoCode().Sniff("mimocode.db", head) {
		t.Error("a database is known by its name")
	}
}
