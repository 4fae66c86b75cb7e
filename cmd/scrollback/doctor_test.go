package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
)

// inside runs the program in this process and answers its exit code and output.
func inside(t *testing.T, data string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = runProgram(context.Background(), append([]string{"--data", data}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// checkup returns what doctor --json prints.
func checkup(t *testing.T, data string, flags ...string) (int, doctor.Checkup) {
	t.Helper()
	code, out, errs := inside(t, data, append([]string{"doctor", "--json"}, flags...)...)
	var c doctor.Checkup
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("doctor: exit %d: %v\n%s%s", code, err, out, errs)
	}
	return code, c
}

// aFolder returns a data folder with something of everything: messages, folds, a
// roll-up, an artifact, a second conversation.
func aFolder(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	do := func(args ...string) {
		if code, _, errs := inside(t, data, args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
	}
	do("run", strings.Repeat("The tide table of 1962 lies under the third bollard. ", 2000), "--limit", "4000")
	for i := range 10 {
		do("run", "--conversation", "latest", fmt.Sprintf("Note %d: berth %d is free at noon.", i, i*7))
		do("clear", "latest")
	}
	do("run", "--conversation", "latest", "Which berth is free?")
	do("run", "Another conversation")
	sb, err := local.Open(t.Context(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = sb.Store.Audit.RebuildIndex(t.Context(), func(int64, int64) {}) // it is too little for the index
	if err := errors.Join(err, sb.Close()); err != nil {
		t.Fatal(err)
	}
	do("run", "Behind the index")
	return data
}

// raw runs statements on the database behind the program's back.
func raw(t *testing.T, data string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "scrollback.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{`DROP TRIGGER IF EXISTS messages_append_only`}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// objectFiles returns the files of the object store.
func objectFiles(t *testing.T, data string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(data, "objects", "artifacts", "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d objects, %v", len(names), err)
	}
	return names
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	longest   = `(SELECT conversation_id FROM messages GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)`
	folded    = `(SELECT branch FROM messages WHERE conversation_id = ` + longest + ` LIMIT 1)`
	aLeaf     = `(SELECT id FROM segments WHERE level = 0 LIMIT 1)`
	aRollup   = `(SELECT id FROM segments WHERE level > 0 LIMIT 1)`
	newestRow = `(SELECT max(n) FROM messages)`
)

// damages are ways to harm a folder, and what the doctor calls each: the first
// kind must be among the problems, or "note kind" among the notes. It stays where
// there is nothing to repair it from.
var damages = []struct {
	name, kind string
	stays      bool
	sql        []string
	files      func(t *testing.T, data string)
}{
	{name: "a hole", kind: "seq", stays: true, sql: []string{`DELETE FROM messages WHERE seq = 3 AND branch = ` + folded}},
	{name: "the last message lost", kind: "head", sql: []string{`DELETE FROM messages WHERE n = ` + newestRow}},
	{name: "a sum", kind: "sum", stays: true,
		sql: []string{`UPDATE messages SET sum_tokens = sum_tokens + 1 WHERE seq = 2`}},
	{name: "a weight", kind: "sum", stays: true,
		sql: []string{`UPDATE messages SET own_bytes = own_bytes + 1 WHERE seq = 2`}},
	{name: "the sum of a branch", kind: "sum", sql: []string{`UPDATE branches SET sum_bytes = 1`}},
	{name: "a folded message edited", kind: "hash", stays: true,
		sql: []string{`UPDATE messages SET parts = replace(parts, 'noon', 'night') WHERE seq = 3`}},
	{name: "a live message edited", kind: "hash", stays: true,
		sql: []string{`UPDATE messages SET parts = replace(parts, 'Behind', 'Beyond') WHERE n = ` + newestRow + ` - 1`}},
	{name: "who said a live message", kind: "hash", stays: true,
		sql: []string{`UPDATE messages SET name = 'eve' WHERE n = ` + newestRow}},
	{name: "the hash of a message", kind: "hash", stays: true,
		sql: []string{`UPDATE messages SET hash = zeroblob(16) WHERE n = ` + newestRow}},
	{name: "hashes of an older program's messages", kind: "note hash", sql: []string{`UPDATE messages SET hash = x''`}},
	{name: "hashes of no branch", kind: "orphan",
		sql: []string{`INSERT INTO message_hashes VALUES ('gone', 'gone', 1, 2, zeroblob(32))`}},
	{name: "vectors of no message", kind: "orphan",
		sql: []string{`INSERT INTO vectors VALUES (999, 999, 1, 'user', 0, x'', 1, x'00')`}},
	{name: "a folded message's time", kind: "file", stays: true,
		sql: []string{`UPDATE messages SET created_at = created_at + 86400000 WHERE seq = 3`}},
	{name: "a segment's file hash", kind: "file", stays: true,
		sql: []string{`UPDATE segments SET sha256 = 'ab' WHERE id = ` + aLeaf}},
	{name: "a segment's size", kind: "file", stays: true,
		sql: []string{`UPDATE segments SET bytes = bytes + 1 WHERE id = ` + aRollup}},
	{name: "a segment's renderer", kind: "file", stays: true,
		sql: []string{`UPDATE segments SET renderer = 99 WHERE id = ` + aLeaf}},
	{name: "a segment's span", kind: "hash", stays: true,
		sql: []string{`UPDATE segments SET last_seq = last_seq + 1000000000 WHERE id = ` +
			aLeaf}},
	{name: "a roll-up's hash", kind: "rollup", stays: true,
		sql: []string{`UPDATE segments SET hash = 'ab' WHERE id = ` + aRollup}},
	{name: "a child lost", kind: "rollup", stays: true,
		sql: []string{`DELETE FROM segments WHERE id = (SELECT json_extract(children, '$[0]') FROM segments WHERE level > 0 LIMIT 1)`}},
	{name: "a shown segment lost", kind: "view",
		sql: []string{`DELETE FROM segments WHERE level = (SELECT max(level) FROM segments)`}},
	{name: "a view past the end", kind: "view",
		sql: []string{`UPDATE branches SET view = json_set(view, '$.boundary', 1000)`}},
	{name: "a branch's head", kind: "head", sql: []string{`UPDATE branches SET head_seq = head_seq + 1`}},
	{name: "a conversation's count", kind: "head", sql: []string{`UPDATE conversations SET messages = messages + 1`}},
	{name: "a conversation's branch", kind: "head", sql: []string{`UPDATE conversations SET branch = 'gone'`}},
	{name: "a parent that is missing", kind: "path",
		sql: []string{`UPDATE branches SET parent_branch = 'gone', at_seq = 1`}},
	{name: "a path that comes back", kind: "path", sql: []string{`UPDATE branches SET parent_branch = id`}},
	{name: "a branch without a parent that leaves one", kind: "path", sql: []string{`UPDATE branches SET at_seq = 1`}},
	{name: "a branch lost", kind: "orphan", sql: []string{`DELETE FROM branches WHERE id = ` + folded}},
	{name: "a conversation lost", kind: "orphan", sql: []string{`DELETE FROM conversations WHERE id = ` + longest}},
	{name: "a message of another conversation", kind: "orphan", stays: true,
		sql: []string{`UPDATE messages SET conversation_id = 'other' WHERE seq = 1`}},
	{name: "messages before the first", kind: "orphan", stays: true,
		sql: []string{`INSERT INTO messages SELECT 999, 'x', conversation_id, branch, 0, turn_id, role, name, parts, model, usage, tokens,
		own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images, status, created_at, meta, hash FROM messages WHERE n = 1`}},
	{name: "an artifact's row lost", kind: "artifact", sql: []string{`DELETE FROM artifacts`, `DELETE FROM mentions`}},
	{name: "a mention of nothing", kind: "orphan", sql: []string{`DELETE FROM artifacts`}},
	{name: "segments of the index lost", kind: "index", sql: []string{`DELETE FROM index_segments`}},
	{name: "words of the index lost", kind: "index", sql: []string{`DELETE FROM index_blocks`}},
	{name: "words of the index written over", kind: "index",
		sql: []string{`UPDATE index_blocks SET data = zeroblob(length(data))`}},
	{name: "marks of the index lost", kind: "index", sql: []string{`DELETE FROM index_marks`}},
	{name: "marks of the index written over", kind: "index", sql: []string{`UPDATE index_marks SET data = x'ff' || data`}},
	{name: "an index that is ahead", kind: "index", sql: []string{`UPDATE index_state SET watermark = ` + newestRow}},
	{name: "a column", kind: "damage", stays: true, sql: []string{`UPDATE messages SET parts = '{' WHERE seq = 2`}},
	{name: "a number that is none", kind: "damage", stays: true,
		sql: []string{`UPDATE messages SET tokens = 'many' WHERE seq = 2`}},
	{name: "a conversation's settings", kind: "damage", sql: []string{`UPDATE conversations SET settings = '['`}},
	{name: "other columns of a conversation", kind: "damage",
		sql: []string{`UPDATE conversations SET meta = '{', roots = '7', environment = '['`}},
	{name: "a branch's view", kind: "damage", sql: []string{`UPDATE branches SET view = '{'`}},
	{name: "a branch and its conversation lost", kind: "orphan",
		sql: []string{`DELETE FROM conversations WHERE id = ` + longest,
			`DELETE FROM branches WHERE id = ` + folded}},
	{name: "all conversations and branches lost", kind: "orphan",
		sql: []string{`DELETE FROM conversations`, `DELETE FROM branches`}},
	{name: "all turns lost", kind: "orphan", sql: []string{`DELETE FROM turns`}},
	{name: "turns of no branch", kind: "orphan", sql: []string{`UPDATE turns SET branch = 'gone'`}},
	{name: "receipts of nothing", kind: "orphan", sql: []string{`UPDATE receipts SET conversation_id = 'gone'`}},
	{name: "a mention by nobody", kind: "orphan",
		sql: []string{`INSERT INTO mentions SELECT 'gone', id, name, created_at FROM artifacts`}},
	{name: "a version of nobody's file", kind: "orphan",
		sql: []string{`INSERT INTO message_sources VALUES ('gone', 'a.md', 1, 'x', 'b', 1)`}},
	{name: "where nobody's conversation comes from", kind: "orphan",
		sql: []string{`INSERT INTO origins VALUES ('gone', 'a-tool', 'x', '', '', '', '', '', '', 0, 1, 0)`}},
	{name: "a shown summary lost", kind: "view",
		sql: []string{`UPDATE branches SET view = json_set(view, '$.summary', ` +
			`json('{"segment":"gone","first_seq":1,"last_seq":2,"tokens":3}')) WHERE id = ` + folded}},
	{name: "sums of usage", kind: "usage", sql: []string{`UPDATE usage_days SET output_tokens = output_tokens + 1`}},
	{name: "sums of usage that overflowed", kind: "usage",
		sql: []string{`UPDATE usage_days SET input_tokens = 1.8e19, total_tokens = 1.8e19, cost = 9e999`}},
	{name: "sums of usage that are no numbers", kind: "usage",
		sql: []string{`UPDATE usage_days SET input_tokens = 'many', calls = -1`}},
	{name: "sums of usage lost", kind: "usage", sql: []string{`DELETE FROM usage_days`}},
	{name: "records of usage that cannot be", kind: "usage",
		sql: []string{`UPDATE usage_records SET input_tokens = 9223372036854775807, output_tokens = -5, cost = 9e999 WHERE n < 9`}},
	{name: "what is known of a model", kind: "damage",
		sql: []string{`INSERT INTO models_learned VALUES ('a/x', 1.5, '{')`}},
	{name: "everything at once", kind: "head", sql: everywhere},
	{name: "pages written over", kind: "damage", stays: true, files: func(t *testing.T, data string) {
		name := filepath.Join(data, "scrollback.db")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		copy(b[len(b)*6/10&^511:], bytes.Repeat([]byte("harm"), 4096))
		write(t, name, b)
	}},
	{name: "bytes lost", kind: "artifact", stays: true,
		files: func(t *testing.T, data string) { os.Remove(objectFiles(t, data)[0]) }},
	{name: "all bytes lost", kind: "artifact", stays: true, files: func(t *testing.T,
		data string) {
		os.RemoveAll(filepath.Join(data, "objects"))
	}},
	{name: "bytes changed", kind: "artifact", stays: true, files: func(t *testing.T,
		data string) {
		write(t, objectFiles(t, data)[0], []byte("other"))
	}},
	{name: "an artifact's size", kind: "artifact", stays: true, sql: []string{`UPDATE artifacts SET size = 1`}},
	{name: "nobody's bytes", kind: "note object", files: func(t *testing.T, data string) {
		name := filepath.Join(data, "objects", "artifacts", "e3", fmt.Sprintf("%x", sha256.Sum256(nil)))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, name, nil)
		long := time.Unix(1, 0) // what was put a moment ago stays
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "nobody's artifact", kind: "note artifact", sql: []string{`DELETE FROM mentions`}},
	{name: "a lease that ended", kind: "note lease", sql: []string{`UPDATE turns SET state = 'open', lease_until = 1`}},
}

// Each damage is named; a sound folder is sound.
func TestDoctor(t *testing.T) {
	t.Parallel()
	sound := aFolder(t)
	code, c := checkup(t, sound)
	if code != 0 || !c.OK || len(c.Problems)+len(c.Notes) > 0 {
		t.Fatalf("a sound folder: exit %d, %+v", code, c)
	}
	if c.Checked.Conversations != 3 || c.Checked.Messages < 24 || c.Checked.Segments < 11 || c.Checked.Artifacts != 1 ||
		c.Checked.Objects != 1 {
		t.Errorf("checked %+v", c.Checked)
	}
	for i, d := range damages {
		if i%testlength.Choose(6, 1, 1) != 0 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			data := harmed(t, sound, d.sql...)
			if d.files != nil {
				d.files(t, data)
			}
			if strings.HasPrefix(d.name, "sums of usage") { // before anything is repaired too
				if code, out, errs := inside(t, data, "usage", "--json"); code != 0 || !json.Valid([]byte(out)) {
					t.Errorf("usage: exit %d: %s%s", code, out, errs)
				}
			}
			code, c := checkup(t, data)
			found := c.Problems
			kind := d.kind
			wantExit := 1
			if note, ok := strings.CutPrefix(d.kind, "note "); ok {
				found = c.Notes
				kind = note
				wantExit = 0
				if d.name == "nobody's artifact" { // its message mentions it still, and may not read it
					wantExit = 1
				}
			}
			if code != wantExit || c.OK != (wantExit == 0) {
				t.Errorf("exit %d, want %d", code, wantExit)
			}
			if !slices.ContainsFunc(found, func(p doctor.Problem) bool {
				return p.Kind == kind && p.Where != "" && p.Detail != ""
			}) {
				t.Errorf("no %s among the problems %+v and the notes %+v", d.kind, c.Problems, c.Notes)
			}
			for _, p := range slices.Concat(c.Problems, c.Notes) {
				t.Logf("%s | %s | %s", p.Kind, p.Where, p.Detail)
			}
			repair(t, data, c, !d.stays)
		})
	}
}

// harmed returns a copy of a folder with a damage.
func harmed(t *testing.T, sound string, statements ...string) string {
	t.Helper()
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(sound)); err != nil {
		t.Fatal(err)
	}
	if statements != nil {
		raw(t, data, statements...)
	}
	return data
}

// repair repairs a folder that a check found damaged. Where it can all be repaired
// nothing is left of it, and every conversation can be gone on with.
func repair(t *testing.T, data string, was doctor.Checkup, all bool) {
	t.Helper()
	messages := rows(t, data, "messages")
	code, c := checkup(t, data, "--repair")
	if all != (code == 0) || all != c.OK {
		t.Errorf("repaired: exit %d, %+v", code, c.Problems)
	}
	if again, left := checkup(t, data); again != code || !slices.Equal(left.Problems, unrepaired(c.Problems)) ||
		!slices.Equal(left.Notes, unrepaired(c.Notes)) {
		t.Errorf("a second check: exit %d, %+v", again, left)
	}
	if got := rows(t, data, "messages"); got != messages {
		t.Error("the repair touched messages")
	}
	if all && c.Copy == "" {
		t.Error("repaired without a copy")
	}
	if c.Copy != "" {
		sameInCopy(t, data, c.Copy, was)
	}
	if !all {
		return
	}
	for _, p := range slices.Concat(c.Problems, c.Notes) {
		if !p.Repaired {
			t.Errorf("left: %+v", p)
		}
	}
	goOn(t, data)
}

// goOn opens every conversation, or one where tests are short, and goes on with it.
func goOn(t *testing.T, data string) {
	t.Helper()
	var list struct{ Conversations []scrollback.Conversation }
	_, out, errs := inside(t, data, "list", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Conversations) == 0 {
		t.Fatalf("list: %v: %s%s", err, out, errs)
	}
	all := len(list.Conversations)
	for _, c := range list.Conversations[:testlength.Choose(1, all, all)] {
		for _, args := range [][]string{{"show", string(c.ID)}, {"context", string(c.ID)},
			{"run", "--conversation", string(c.ID), "And the tide table?"}} {
			if code, _, errs := inside(t, data, args...); code != 0 {
				t.Errorf("%v: exit %d: %s", args, code, errs)
			}
		}
	}
	if code, out, errs := inside(t, data, "usage", "--json"); code != 0 || !strings.Contains(out, `"calls":`) {
		t.Errorf("usage: exit %d: %s%s", code, out, errs)
	}
	if code, out, errs := inside(t, data, "search", "bollard"); code != 0 || !strings.Contains(out, "bollard") {
		t.Errorf("search: exit %d: %s%s", code, out, errs)
	}
	if code, c := checkup(t, data); code != 0 {
		t.Errorf("after going on: %+v", c.Problems)
	}
}

// sameInCopy wants the copy to be the damaged database: readable by its owner alone,
// and with the same problems.
func sameInCopy(t *testing.T, data, name string, was doctor.Checkup) {
	t.Helper()
	for path, mode := range map[string]fs.FileMode{name: 0o600, filepath.Dir(name): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the copy: %v, %v", info, err)
		}
	}
	there := t.TempDir()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(there, "scrollback.db"), b)
	objects := filepath.Join(data, "objects")
	if _, err := os.Stat(objects); err == nil {
		if err := os.CopyFS(filepath.Join(there, "objects"), os.DirFS(objects)); err != nil {
			t.Fatal(err)
		}
	}
	if _, c := checkup(t, there); !slices.Equal(c.Problems, was.Problems) {
		t.Errorf("in the copy: %+v\nthere were %+v", c.Problems, was.Problems)
	}
}

// unrepaired returns the problems that are left.
func unrepaired(ps []doctor.Problem) []doctor.Problem {
	return slices.DeleteFunc(slices.Clone(ps), func(p doctor.Problem) bool { return p.Repaired })
}

// rows returns a hash of all rows of a table, as SQLite prints them.
func rows(t *testing.T, data, table string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "scrollback.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Query(`SELECT * FROM ` + table + ` ORDER BY 1`)
	if err != nil {
		return err.Error() // of a file that is damaged: the same before and after
	}
	defer all.Close()
	names, err := all.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	sum := sha256.New()
	for all.Next() {
		if err := all.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(sum, values...)
	}
	return fmt.Sprintf("%x %v", sum.Sum(nil), all.Err())
}

// contents returns every file of a folder with its times and bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[name] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if !d.IsDir() {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out[name] += fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The doctor leaves no trace, finds nothing where nothing is, and reads beside a
// server that writes.
func TestDoctorOnlyReads(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := aFolder(t)
	before := contents(t, data)
	for range 2 {
		if code, _ := checkup(t, data); code != 0 {
			t.Fatalf("exit %d", code)
		}
	}
	after := contents(t, data)
	for name := range after {
		if before[name] != after[name] {
			t.Errorf("%s was touched", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d files became %d", len(before), len(after))
	}

	nowhere := filepath.Join(t.TempDir(), "nowhere")
	if code, _, errs := inside(t, nowhere, "doctor"); code != 3 || !strings.Contains(errs, "no database at "+nowhere) {
		t.Errorf("where nothing is: exit %d: %s", code, errs)
	}
	for _, args := range [][]string{{"list"}, {"search", "words"}, {"show", "latest"}, {"context", "latest"},
		{"export", "latest"},
		{"trash", "latest"}} {
		inside(t, nowhere, args...)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("reading made a folder")
	}

	s := serve(t, data, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		id := s.conversation()
		for i := range 30 {
			s.chat(id, fmt.Sprintf("while it is checked, note %d", i))
		}
	}()
	for checks := 0; ; checks++ {
		if code, c := checkup(t, data); code != 0 {
			t.Errorf("beside a server: exit %d, %+v", code, c)
		}
		select {
		case <-done:
			t.Logf("%d checks", checks+1)
			return
		default:
		}
	}
}

// A file of another program, of a newer one, or damaged from its first byte, is
// said to be so.
func TestDoctorRefuses(t *testing.T) {
	t.Parallel()
	data := aFolder(t)
	raw(t, data, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	if code, _, errs := inside(t, data, "doctor"); code != 1 || !strings.Contains(errs, "newer scrollback") {
		t.Errorf("a newer one: exit %d: %s", code, errs)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "scrollback.db"), bytes.Repeat([]byte("no database"), 1000))
	if code, _, errs := inside(t, other, "doctor"); code != 1 || !strings.Contains(errs, "not a SQLite database") {
		t.Errorf("no database: exit %d: %s", code, errs)
	}
	if code, _, errs := inside(t, other, "doctor", "--repair"); code != 1 ||
		!strings.Contains(errs, "not a SQLite database") {
		t.Errorf("--repair: exit %d: %s", code, errs)
	}
}
