// Package goose reads the conversations of goose: from its database, and from the files of
// versions before it had one.
//
// Words it adds: row (a message as the database has it), copy (a row that repeats another one
// for the model, after a compaction).
//
// Invariants: a message is known by what it says and when, since compactions delete all rows
// and insert them again under new numbers; a session is known by its id and when it was made,
// since two machines count the same days; rows are in the order of their times, which may be
// seconds or milliseconds.
//
// It may not know the store, the network or the file system.
package goose

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "goose"
	metaKey = "goose"
)

// known says which versions the tables are known of.
const known = "goose 1.10 and later, schema 1 to 17"

// database is what the tool calls its database.
const database = "sessions.db"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	if root := m.Getenv("GOOSE_PATH_ROOT"); root != "" {
		return []string{filepath.Join(root, "data", "sessions")}
	}
	share := cmp.Or(m.Getenv("XDG_DATA_HOME"), filepath.Join(m.Home, ".local", "share"))
	switch m.System {
	case "windows":
		roaming := cmp.Or(m.Getenv("APPDATA"), filepath.Join(m.Home, "AppData", "Roaming"))
		return []string{filepath.Join(roaming, "Block", "goose", "data", "sessions")}
	case "darwin":
		return []string{
			filepath.Join(share, "goose", "sessions"),
			filepath.Join(m.Home, "Library", "Application Support", "Block", "goose", "sessions"),
		}
	}
	return []string{filepath.Join(share, "goose", "sessions")}
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return path.Base(name) == database
	}
	return path.Ext(name) == ".jsonl" && legacyHead(head)
}

// legacyHead reports whether a file begins as the tool's older ones do.
func legacyHead(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && bytes.Contains(line, []byte(`"working_dir"`)) &&
		(bytes.Contains(line, []byte(`"description"`)) || bytes.Contains(line, []byte(`"message_count"`)))
}

// most bounds the files of a folder that are looked at.
const most = 100_000

// find looks at a place: a file, the folder of sessions, or the one that holds it.
func find(p transcript.Place) (db string, files []string, err error) {
	at := path.Clean(p.Name)
	info, err := fs.Stat(p.FS, at)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		if path.Ext(at) == ".jsonl" {
			return "", []string{at}, nil
		}
		if p.Path == "" {
			return "", nil, nil // it was uploaded: databases are read where they are
		}
		return at, nil, nil
	}
	for _, folder := range []string{at, path.Join(at, "sessions"), path.Join(at, "data", "sessions")} {
		entries, err := fs.ReadDir(p.FS, folder)
		if err != nil {
			continue // only the first has to be there, and it is
		}
		for _, e := range entries[:min(len(entries), most)] {
			name := path.Join(folder, e.Name())
			switch {
			case e.IsDir():
			case e.Name() == database && p.Path != "" && db == "":
				db = name
			case path.Ext(name) == ".jsonl" && legacyHead(beginning(p.FS, name)):
				files = append(files, name)
			}
		}
	}
	return db, files, nil
}

// beginning is how a file begins, or nothing.
func beginning(files fs.FS, name string) []byte {
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, 4096)
	n := 0
	for n < len(head) {
		k, err := f.Read(head[n:])
		if n += k; err != nil {
			break
		}
	}
	return head[:n]
}

// need checks that the tables are those that are known.
func need(db *foreign.DB) error {
	if err := db.Need(known, "sessions", "id"); err != nil {
		return err
	}
	return db.Need(known, "messages", "id", "session_id", "role", "content_json", "created_timestamp")
}

// Sessions implements [transcript.Tool]: those of the database, then those of older files
// that it does not have.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		db, files, err := find(p)
		seen := map[string]bool{}
		if db != "" {
			var all []transcript.Session
			all, err = list(ctx, p, db, seen)
			for _, s := range all {
				if !yield(s, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		for _, name := range files {
			id := strings.TrimSuffix(path.Base(name), ".jsonl")
			info, err := fs.Stat(p.FS, name)
			if seen[id] || id == "" || err != nil {
				continue // the database has it, or it has gone just now
			}
			s := transcript.Session{ID: strings.ToValidUTF8(id, "\uFFFD"), Name: name, Bytes: info.Size(),
				Changed: max(info.ModTime().UnixMilli(), 0), Stamp: fmt.Sprintf("%d,%d", info.Size(), info.ModTime().UnixNano())}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// list lists the conversations of a database that are not a sub-agent's, and notes all ids.
func list(ctx context.Context, p transcript.Place, name string, seen map[string]bool) (out []transcript.Session, err error) {
	err = foreign.Read(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		clear(seen)
		f, err := gather(db)
		if err != nil {
			return err
		}
		for id := range f.all {
			seen[id] = true
		}
		for _, root := range f.roots {
			s := transcript.Session{ID: f.all[root].identity(), Name: name}
			sum, rows := sha256.New(), int64(0)
			for _, id := range f.family(root) {
				h := f.all[id]
				fmt.Fprintf(sum, "%s %s;", id, h.stamp)
				rows, s.Bytes, s.Changed = rows+h.rows, s.Bytes+h.bytes, max(s.Changed, h.updated, h.newest)
			}
			if s.Stamp = fmt.Sprintf("%x", sum.Sum(nil)[:16]); rows > 0 {
				out = append(out, s)
			}
		}
		return nil
	})
	return out, err
}

// head is what the database says of a session without its messages.
type head struct {
	id, parent, title, made  string
	folder, provider, model  string
	kind, thread             string
	created, updated, newest int64 // Unix ms
	rows, threadRows, bytes  int64
	stamp                    string
}

// identity is the session's id with what tells it from another machine's.
func (h *head) identity() string {
	if h.made == "" {
		return h.id
	}
	return fmt.Sprintf("%s-%x", h.id, sha256.Sum256([]byte(h.made)))[:len(h.id)+9]
}

// forest is the sessions of a database, with those that other ones started.
type forest struct {
	all   map[string]*head
	below map[string][]string
	roots []string
}

// gather reads the sessions, and how many rows each has. The lengths of rows are summed, and
// their times, since rows are deleted and inserted again.
func gather(db *foreign.DB) (*forest, error) {
	if err := need(db); err != nil {
		return nil, err
	}
	f := &forest{all: map[string]*head{}, below: map[string][]string{}}
	var fields []string
	for _, c := range []string{"name", "description", "session_type", "working_dir", "provider_name", "model_config_json",
		"parent_session_id", "thread_id"} {
		fields = append(fields, db.Or("sessions", c, "NULL"))
	}
	created, updated := "NULL", "NULL"
	if db.Has("sessions", "created_at", "updated_at") {
		created, updated = "created_at", "updated_at"
	}
	var ids []string
	for r, err := range db.Rows("SELECT id, CAST(" + created + " AS TEXT) AS made, CAST(" + updated + " AS TEXT) AS changed, " +
		strings.Join(fields, ", ") + " FROM sessions ORDER BY " + created + ", id") {
		if err != nil {
			return nil, err
		}
		h := &head{id: r.Text("id"), made: r.Text("made"), title: cmp.Or(r.Text("name"), r.Text("description")), kind: r.Text("session_type"),
			folder: r.Text("working_dir"), provider: r.Text("provider_name"), parent: r.Text("parent_session_id"), thread: r.Text("thread_id")}
		if h.id == "" || f.all[h.id] != nil {
			continue
		}
		h.created, h.updated = moment(h.made), moment(r.Text("changed"))
		h.model, h.stamp = modelOf(r.Text("model_config_json")), r.Text("changed")
		ids, f.all[h.id] = append(ids, h.id), h
	}
	if err := f.count(db, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if up := f.all[id].parent; f.all[up] != nil && up != id {
			f.below[up] = append(f.below[up], id)
		} else {
			f.roots = append(f.roots, id)
		}
	}
	seen, ends := map[string]bool{}, len(f.roots)
	for i, id := range slices.Concat(f.roots, ids) {
		if seen[id] {
			continue
		}
		if i >= ends {
			f.roots = append(f.roots, id) // sessions that start each other in a circle
		}
		for _, k := range f.family(id) {
			seen[k] = true
		}
	}
	return f, nil
}

// count notes how many rows each session has, of its own and of its thread.
func (f *forest) count(db *foreign.DB, ids []string) error {
	const sums = "count(*) AS n, max(id) AS high, max(created_timestamp) AS t, sum(octet_length(content_json)) AS b, "
	visible := func(table string) string { return "sum(octet_length(" + field(db, table, "metadata_json") + ")) AS m" }
	for r, err := range db.Rows("SELECT session_id, " + sums + visible("messages") + " FROM messages GROUP BY session_id") {
		if err != nil {
			return err
		}
		if h := f.all[r.Text("session_id")]; h != nil {
			h.rows, h.bytes, h.newest = r.Int("n"), max(r.Int("b"), 0), millis(r.Int("t"))
			h.stamp += fmt.Sprintf(" %d %d %d %d", h.rows, r.Int("high"), h.bytes, r.Int("m"))
		}
	}
	if !db.Has("thread_messages", "id", "thread_id", "role", "content_json", "created_timestamp") {
		return nil
	}
	threads := map[string]foreign.Row{}
	for r, err := range db.Rows("SELECT thread_id, " + sums + visible("thread_messages") + " FROM thread_messages GROUP BY thread_id") {
		if err != nil {
			return err
		}
		threads[r.Text("thread_id")] = r
	}
	for _, id := range ids {
		h := f.all[id]
		r, known := threads[h.thread]
		if !known || h.thread == "" || h.rows > 0 {
			continue // what a session has of its own is what it says
		}
		delete(threads, h.thread) // which is told once
		h.threadRows, h.rows, h.bytes, h.newest = r.Int("n"), r.Int("n"), max(r.Int("b"), 0), millis(r.Int("t"))
		h.stamp += fmt.Sprintf(" thread %d %d %d %d", h.rows, r.Int("high"), h.bytes, r.Int("m"))
	}
	return nil
}

// field is a column if the table has it, or else NULL.
func field(db *foreign.DB, table, column string) string {
	if db.Has(table, column) {
		return column
	}
	return "NULL"
}

// family is a session and all that it started, parents first.
func (f *forest) family(root string) (out []string) {
	seen := map[string]bool{}
	for stack := []string{root}; len(stack) > 0; {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		out = append(out, id)
		for _, child := range slices.Backward(f.below[id]) {
			stack = append(stack, child)
		}
	}
	return out
}

// modelOf is the model that a session's settings name.
func modelOf(config string) string {
	var c struct {
		Model string `json:"model_name"`
	}
	if json.Unmarshal([]byte(config), &c) != nil {
		return ""
	}
	return c.Model
}
