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
		f, err := findFiles(p)
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
		var all []*storedSession
		var err error
		switch {
		case isDatabase(p, s.Name):
			all, err = readDatabase(ctx, p, s)
		case strings.Contains("/"+s.Name, "/session/"):
			all, err = readFiles(ctx, p.FS, s.Name)
		default:
			all, err = readExport(p.FS, s.Name)
		}
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		w := &entryWriter{yield: yield, live: p.IsLive(s),
			side: func(name string) (string, bool) { return fullText(p.FS, s.Name, name) }}
		w.writeAll(all)
	}
}

// sortBy sorts by a number and then by an id.
func sortBy[T any](list []T, key func(T) (int64, string)) {
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
