// Package opencode reads the conversations of opencode: from its database, from the files of
// older versions, and from what "opencode export" writes.
//
// Words it adds: stored session (a conversation as the tool keeps it, from any of the three),
// part (a piece of a message; a call and its result are one), removed message (one that was
// taken back and deleted, and of which only the database's event log still knows).
//
// Invariants: messages are in the order of their time and id; a sub-agent comes after the
// conversation that started it; what was taken back is an earlier branch; tables of accounts,
// credentials and shares are never read.
//
// It may not know the store, the network or the file system.
package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "opencode"
	metaKey = "opencode"
)

// known says which versions the tables are known of.
const known = "opencode 1.2 to 1.18"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	share := m.Getenv("XDG_DATA_HOME")
	if share == "" {
		share = filepath.Join(m.Home, ".local", "share")
	}
	folder := filepath.Join(share, "opencode")
	out := []string{folder}
	if db := m.Getenv("OPENCODE_DB"); db != "" && db != ":memory:" {
		if !filepath.IsAbs(db) {
			db = filepath.Join(folder, db)
		}
		if filepath.Dir(db) != folder || !databaseName.MatchString(filepath.Base(db)) {
			out = append(out, db)
		}
	}
	return out
}

// databaseName is what the tool calls its databases: one a release channel.
var databaseName = regexp.MustCompile(`^opencode(-[A-Za-z0-9._-]+)?\.db$`)

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return databaseName.MatchString(path.Base(name))
	}
	return exported.Match(head)
}

// exported is how an exported conversation begins, and exportID which one it is.
var (
	exported = regexp.MustCompile(`^(\x{FEFF})?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_`)
	exportID = regexp.MustCompile(`^(?:\x{FEFF})?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"(ses_[A-Za-z0-9]+)"`)
)

// Sessions implements [transcript.Tool]: those of the databases, then those of older files
// that no database has, then exports.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		f, err := find(p)
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		seen := map[string]bool{}
		for _, name := range f.databases {
			all, err := databaseSessions(ctx, p, name)
			if err != nil {
				yield(transcript.Session{}, err)
				return
			}
			for _, s := range all {
				for _, id := range s.with {
					seen[id] = true
				}
				if !yield(s.Session, nil) {
					return
				}
			}
		}
		for s := range f.fileSessions(ctx, p, seen) {
			if !yield(s, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		var all []*stored
		var err error
		switch {
		case isDatabase(p, s.Name):
			all, err = fromDatabase(ctx, p, s)
		case strings.Contains("/"+s.Name, "/session/"):
			all, err = fromFiles(ctx, p.FS, s.Name)
		default:
			all, err = fromExport(p.FS, s.Name)
		}
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		w := &writer{yield: yield, live: p.Live(s), side: func(name string) (string, bool) { return fullText(p.FS, s.Name, name) }}
		w.write(all)
	}
}

// found is what a place has.
type found struct {
	databases []string
	storage   string // where the folders session, message and part are; "" if nowhere
	exports   []string
}

// most bounds the files of a folder that are looked at.
const most = 100_000

// find looks at a place: a file, the tool's folder, its storage, or a folder of exports.
func find(p transcript.Place) (f found, err error) {
	if p.Name != "." && p.Name != "" {
		info, err := fs.Stat(p.FS, p.Name)
		switch {
		case err != nil:
			return f, err
		case !info.IsDir() && isDatabase(p, p.Name):
			f.databases = []string{p.Name}
			return f, nil
		case !info.IsDir():
			if isExport(p.FS, p.Name) {
				f.exports = []string{p.Name}
			}
			return f, nil
		}
	}
	at := path.Clean(p.Name)
	entries, err := fs.ReadDir(p.FS, at)
	if err != nil {
		return f, err
	}
	for _, e := range entries[:min(len(entries), most)] {
		name := path.Join(at, e.Name())
		switch {
		case e.IsDir() && e.Name() == "storage" && isFolder(p.FS, path.Join(name, "session")):
			f.storage = name
		case e.IsDir() && e.Name() == "session" && isFolder(p.FS, path.Join(at, "message")):
			f.storage = at
		case e.IsDir():
		case databaseName.MatchString(e.Name()) && isDatabase(p, name):
			f.databases = append(f.databases, name)
		case path.Ext(e.Name()) == ".json" && isExport(p.FS, name):
			f.exports = append(f.exports, name)
		}
	}
	return f, nil
}

func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}

// isDatabase reports whether a file begins as a database does, or one with the tool's name
// for it is empty or damaged, which reading it will say.
func isDatabase(p transcript.Place, name string) bool {
	if p.Path == "" {
		return false
	}
	return databaseName.MatchString(path.Base(name)) || strings.HasPrefix(string(beginning(p.FS, name, 16)), "SQLite format 3")
}

func isExport(files fs.FS, name string) bool { return exported.Match(beginning(files, name, 256)) }

// beginning is how a file begins, or nothing.
func beginning(files fs.FS, name string, n int) []byte {
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, n)
	have := 0
	for have < n {
		k, err := f.Read(head[have:])
		if have += k; err != nil {
			break
		}
	}
	return head[:have]
}

// sideName is how the tool names the file with a whole output.
var sideName = regexp.MustCompile(`^tool_[A-Za-z0-9]{1,80}$`)

// fullText is the whole of an output, as long as the tool keeps it, from the folder beside
// the session's file. Only the last element of the path that the tool noted counts.
func fullText(files fs.FS, session, noted string) (string, bool) {
	base := path.Base(strings.ReplaceAll(noted, `\`, "/"))
	if !sideName.MatchString(base) {
		return "", false
	}
	folder := path.Dir(session)
	if at := strings.Index("/"+session, "/storage/session/"); at >= 0 {
		folder = path.Clean(session[:max(at-1, 0)])
	}
	name := path.Join(folder, "tool-output", base)
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > transcript.MaxLine {
		return "", false
	}
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), true
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

// ordered sorts by a number and then by an id.
func ordered[T any](list []T, key func(T) (int64, string)) {
	slices.SortStableFunc(list, func(a, b T) int {
		at, ai := key(a)
		bt, bi := key(b)
		if at != bt {
			if at < bt {
				return -1
			}
			return 1
		}
		return strings.Compare(ai, bi)
	})
}
