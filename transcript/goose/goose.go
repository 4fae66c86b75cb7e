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
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
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
		return path.Base(name) == database && !isClineDatabase(head)
	}
	return path.Ext(name) == ".jsonl" && legacyHead(head)
}

// isClineDatabase reports whether a database of that name is Cline's, by the columns of its tables, which
// stand on its first page.
func isClineDatabase(head []byte) bool {
	return bytes.Contains(head, []byte("messages_path")) || bytes.Contains(head, []byte("is_subagent"))
}

// legacyHead reports whether a file begins as the tool's older ones do.
func legacyHead(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && bytes.Contains(line, []byte(`"working_dir"`)) &&
		(bytes.Contains(line, []byte(`"description"`)) || bytes.Contains(line, []byte(`"message_count"`)))
}

// maxFiles bounds the files of a folder that are looked at.
const maxFiles = 100_000

// findFiles looks at a place: a file, the folder of sessions, or the one that holds it.
func findFiles(p transcript.Place) (db string, files []string, err error) {
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
		if isClineDatabase(readHead(p.FS, at)) {
			return "", nil, nil
		}
		return at, nil, nil
	}
	for _, folder := range []string{at, path.Join(at, "sessions"), path.Join(at, "data", "sessions")} {
		entries, err := fs.ReadDir(p.FS, folder)
		if err != nil {
			continue // only the first has to be there, and it is
		}
		for _, e := range entries[:min(len(entries), maxFiles)] {
			name := path.Join(folder, e.Name())
			switch {
			case e.IsDir():
			case e.Name() == database && p.Path != "" && db == "" && !isClineDatabase(readHead(p.FS, name)):
				db = name
			case path.Ext(name) == ".jsonl" && legacyHead(readHead(p.FS, name)):
				files = append(files, name)
			}
		}
	}
	return db, files, nil
}

// readHead returns how a file begins, or nothing.
func readHead(files fs.FS, name string) []byte {
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

// Sessions implements [transcript.Tool]: those of the database, then those of older files
// that it does not have.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		db, files, err := findFiles(p)
		seen := map[string]bool{}
		if db != "" {
			var all []transcript.Session
			all, err = listSessions(ctx, p, db, seen)
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
