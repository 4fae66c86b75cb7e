// Package crush reads the conversations of crush, which keeps a database in each project.
//
// Words it adds: row (a message as the database has it: its parts are one JSON list).
//
// Invariants: rows are in the order of their time and then of their insertion, since a whole
// turn shares one second; what a tool returned is without the mark of its folder that the tool
// appends; a row is complete when it says how it ended.
//
// It may not know the store, the network or the file system.
package crush

import (
	"bytes"
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
	Name    = "crush"
	metaKey = "crush"
)

// known says which versions the tables are known of.
const known = "crush 0.62 to 0.90"

// database is what the tool calls its database.
const database = "crush.db"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: the folders of data that the tool has noted, and those
// of the working folders that are known.
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	if m.FS != nil {
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Join(global(m), "projects.json")), "/")
		for _, p := range projects(m.FS, name) {
			out = append(out, filepath.FromSlash(p.DataDir))
		}
	}
	for _, folder := range m.Folders {
		if home := filepath.Join(folder, ".crush"); !slices.Contains(out, home) {
			out = append(out, home)
		}
	}
	return out
}

// global is where the tool keeps what is not a project's.
func global(m transcript.Machine) string {
	for _, v := range []string{"CRUSH_GLOBAL_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"} {
		at := m.Getenv(v)
		switch {
		case at == "", v == "LOCALAPPDATA" && m.System != "windows":
		case v == "CRUSH_GLOBAL_DATA":
			return at
		default:
			return filepath.Join(at, "crush")
		}
	}
	if m.System == "windows" {
		return filepath.Join(m.Home, "AppData", "Local", "crush")
	}
	return filepath.Join(m.Home, ".local", "share", "crush")
}

// project is where the tool was used.
type project struct {
	Path    string `json:"path"`
	DataDir string `json:"data_dir"`
}

// projects are those that the tool has noted; none if the file cannot be read.
func projects(files fs.FS, name string) []project {
	var all struct {
		Projects []project `json:"projects"`
	}
	info, err := fs.Stat(files, name)
	if err != nil || info.Size() > transcript.MaxLine {
		return nil
	}
	raw, err := fs.ReadFile(files, name)
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all.Projects, func(p project) bool { return p.DataDir == "" })
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	return path.Base(name) == database && bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
}

// databases are those of a place: the file, the tool's folder, or a project with one.
func databases(p transcript.Place) ([]string, error) {
	if p.Path == "" {
		return nil, nil // it was uploaded: databases are read where they are
	}
	at := path.Clean(p.Name)
	info, err := fs.Stat(p.FS, at)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{at}, nil
	}
	var out []string
	for _, name := range []string{path.Join(at, database), path.Join(at, ".crush", database)} {
		if info, err := fs.Stat(p.FS, name); err == nil && info.Mode().IsRegular() {
			out = append(out, name)
		}
	}
	return out, nil
}

// need checks that the tables are those that are known.
func need(db *foreign.DB) error {
	if err := db.Need(known, "sessions", "id", "title", "created_at", "updated_at"); err != nil {
		return err
	}
	return db.Need(known, "messages", "id", "session_id", "role", "parts", "created_at")
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		names, err := databases(p)
		for _, name := range names {
			var all []transcript.Session
			if all, err = list(ctx, p, name); err != nil {
				break
			}
			for _, s := range all {
				if !yield(s, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// list lists the conversations of a database that are not a sub-agent's.
func list(ctx context.Context, p transcript.Place, name string) (out []transcript.Session, err error) {
	err = foreign.Read(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		if err := need(db); err != nil {
			return err
		}
		f, err := gather(db)
		if err != nil {
			return err
		}
		for _, root := range f.roots {
			s := transcript.Session{ID: root, Name: name}
			sum := sha256.New()
			rows := int64(0)
			for _, id := range f.family(root) {
				one := f.all[id]
				fmt.Fprintf(sum, "%s %d %d %d %d %d;", id, one.updated, one.rows, one.newest, one.last, one.bytes)
				rows, s.Bytes, s.Changed = rows+one.rows, s.Bytes+one.bytes, max(s.Changed, one.updated, one.newest)
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
	id, parent, title string
	created, updated  int64 // Unix ms
	rows, last, bytes int64
	newest            int64 // Unix ms: when a row was changed last
}

// forest is the sessions of a database, with those that other ones started.
type forest struct {
	all   map[string]*head
	below map[string][]string
	roots []string
}

// gather reads the sessions. The lengths of rows are counted, since rows change in place
// within the second that their times tell.
func gather(db *foreign.DB) (*forest, error) {
	f := &forest{all: map[string]*head{}, below: map[string][]string{}}
	var ids []string
	for r, err := range db.Rows("SELECT id, title, created_at, updated_at, " + db.Or("sessions", "parent_session_id", "NULL") +
		" FROM sessions ORDER BY created_at, rowid") {
		if err != nil {
			return nil, err
		}
		h := &head{id: r.Text("id"), parent: r.Text("parent_session_id"), title: r.Text("title"),
			created: millis(r.Int("created_at")), updated: millis(r.Int("updated_at"))}
		if h.id == "" || f.all[h.id] != nil || h.id == "title-"+h.parent {
			continue // the last asked for a title, and is not talk
		}
		ids, f.all[h.id] = append(ids, h.id), h
	}
	updated := "created_at"
	if db.Has("messages", "updated_at") {
		updated = "updated_at"
	}
	for r, err := range db.Rows("SELECT session_id, count(*) AS n, max(" + updated + ") AS u, max(rowid) AS r, sum(octet_length(parts)) AS b " +
		"FROM messages GROUP BY session_id") {
		if err != nil {
			return nil, err
		}
		if h := f.all[r.Text("session_id")]; h != nil {
			h.rows, h.newest, h.last, h.bytes = r.Int("n"), millis(r.Int("u")), r.Int("r"), max(r.Int("b"), 0)
		}
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

// latest is the end of the year 9999, in Unix ms.
const latest = 253402300799999

// millis is a time of the database in Unix ms. Its schema says milliseconds, but it holds
// seconds.
func millis(n int64) int64 {
	if n > 0 && n < 1e11 {
		n *= 1000
	}
	if n < 0 || n > latest {
		return 0
	}
	return n
}

// object is v as JSON, without HTML escapes; v holds nothing that cannot be encoded.
func object(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}
