// Package foreigntest is what the readers of tools with an SQLite database have to pass.
//
// Words it adds: history (the statements that the tool would have run, in their order).
package foreigntest

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // what the tools write with

	"github.com/scrollback-ai/scrollback/transcript"
)

// RunStatements runs statements on a database that is made if it is not there, and that nobody has open
// afterwards.
func RunStatements(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
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

// day is one in ms.
const day = 24 * 60 * 60 * 1000

// ReadSessions reads all sessions of a place, each a moment after its last change if live, or else a
// day. Errors fail the test, and so does a changed file.
func ReadSessions(t *testing.T, tool transcript.Tool, p transcript.Place, live bool) (out []transcript.Entry) {
	t.Helper()
	before := folderContents(t, p.Path)
	for s, err := range tool.Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Bad != "" {
			t.Fatalf("session %s: %s", s.ID, s.Bad)
		}
		if p.Now = s.Changed + 1; !live {
			p.Now = s.Changed + day
		}
		for e, err := range tool.Read(t.Context(), p, s) {
			if err != nil {
				t.Fatalf("session %s: %v", s.ID, err)
			}
			out = append(out, e)
		}
	}
	if after := folderContents(t, p.Path); !maps.Equal(before, after) {
		t.Fatalf("reading changed files: %v, then %v", before, after)
	}
	return out
}

// folderContents returns the files of a folder with their sizes, times and hashes.
func folderContents(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		out[path] = fmt.Sprintf("%v %d %x", info.ModTime(), len(b), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// RunHistory runs a history statement by statement, and reads after each one as long as the tool
// is at work: what that says is the beginning of what the whole history says, on its path or
// on one of its branches, so that an importer that follows never makes a branch of its own.
func RunHistory(t *testing.T, tool transcript.Tool, name string, history []string) {
	t.Helper()
	folder := t.TempDir()
	p := transcript.Place{FS: os.DirFS(folder), Name: name, Path: folder}
	var seen []map[string][][]string
	stamps := map[string]string{}
	for i, s := range history {
		RunStatements(t, filepath.Join(folder, name), s)
		if strings.HasPrefix(s, "CREATE") {
			continue
		}
		seen = append(seen, pathTips(t, ReadSessions(t, tool, p, true)))
		for one, err := range tool.Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			if was, known := stamps[one.Stamp]; known && was != fmt.Sprint(seen[len(seen)-1]) {
				t.Errorf("statement %d changed what is said, and not the stamp: %s", i, s)
			}
			stamps[one.Stamp] = fmt.Sprint(seen[len(seen)-1])
		}
	}
	whole := pathTips(t, ReadSessions(t, tool, p, false))
	for i, tip := range seen {
		for source, paths := range tip {
			for _, path := range paths {
				if !slices.ContainsFunc(whole[source], func(w []string) bool {
					return len(path) <= len(w) && slices.Equal(path, w[:len(path)])
				}) {
					t.Fatalf("after %d statements %s says\n%s\nwhich is not the beginning of\n%s", i, source, strings.Join(path, "\n"),
						strings.Join(slices.Concat(whole[source]...), "\n"))
				}
			}
		}
	}
}

// pathTips returns the paths of each conversation, up to a rewind or the end.
func pathTips(t *testing.T, entries []transcript.Entry) map[string][][]string {
	t.Helper()
	out := map[string][][]string{}
	paths := map[string][]string{}
	for _, e := range entries {
		switch {
		case e.Bad != nil || e.Conversation != nil:
		case e.End != nil:
			out[e.Source] = append(out[e.Source], paths[e.Source])
		case e.Rewind != nil:
			out[e.Source] = append(out[e.Source], slices.Clone(paths[e.Source]))
			paths[e.Source] = slices.Clone(paths[e.Source][:*e.Rewind])
		default:
			raw, err := transcript.ImportMark(e)
			if err != nil {
				t.Fatal(err)
			}
			text := e.Message.Parts.Text()
			mark := fmt.Sprintf("%s %s %s %s", e.Message.ID, e.Message.Role, transcript.MarkOf(raw), text[:min(len(text), 60)])
			paths[e.Source] = append(paths[e.Source], mark)
		}
	}
	return out
}
