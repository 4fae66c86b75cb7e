// Package opencode reads the conversations of opencode, and of tools that grew out of it (Kilo, MiMo Code): from
// their databases, from the files of older versions, and from what "opencode export" writes.
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

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the name of opencode.
const Name = "opencode"

// known says which versions the tables are known of.
const known = "opencode 1.2 to 1.18"

// Tool is opencode, or one that grew out of it. The zero value is opencode.
type Tool struct{ as *offspring }

// offspring is a tool that keeps what opencode keeps, under its own name.
type offspring struct {
	name     string
	folder   string // of its data
	database func() *regexp.Regexp
	variable string // that names a database
}

var (
	opencode = &offspring{Name, "opencode", lazyregexp.New(`^opencode(-[A-Za-z0-9._-]+)?\.db$`), "OPENCODE_DB"}
	kilo     = &offspring{"kilo", "kilo", lazyregexp.New(`^kilo(-[A-Za-z0-9._-]+)?\.db$`), "KILO_DB"}
	mimo     = &offspring{"mimo-code", "mimocode", lazyregexp.New(`^mimocode(-[A-Za-z0-9._-]+)?\.db$`), "MIMOCODE_DB"}
)

// Kilo returns the tool that reads the conversations of Kilo on the command line.
func Kilo() Tool { return Tool{kilo} }

// MiMoCode returns the tool that reads the conversations of MiMo Code.
func MiMoCode() Tool { return Tool{mimo} }

// kind returns which tool it is.
func (t Tool) kind() *offspring {
	if t.as == nil {
		return opencode
	}
	return t.as
}

// Name implements [transcript.Tool].
func (t Tool) Name() string { return t.kind().name }

// Homes implements [transcript.Tool].
func (t Tool) Homes(m transcript.Machine) []string {
	kind := t.kind()
	share := m.Getenv("XDG_DATA_HOME")
	if share == "" {
		share = filepath.Join(m.Home, ".local", "share")
	}
	folder := filepath.Join(share, kind.folder)
	out := []string{folder}
	if db := m.Getenv(kind.variable); db != "" && db != ":memory:" {
		if !filepath.IsAbs(db) {
			db = filepath.Join(folder, db)
		}
		if filepath.Dir(db) != folder || !kind.database().MatchString(filepath.Base(db)) {
			out = append(out, db)
		}
	}
	return out
}

// Sniff implements [transcript.Tool]. One export is as the other, so that only opencode knows them.
func (t Tool) Sniff(name string, head []byte) bool {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return t.kind().database().MatchString(path.Base(name))
	}
	return t.kind() == opencode && exported().Match(head)
}

// exported is how an exported conversation begins, and exportID which one it is.
var (
	exported = lazyregexp.New(`^(\x{FEFF})?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_`)
	exportID = lazyregexp.New(`^(?:\x{FEFF})?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"(ses_[A-Za-z0-9]+)"`)
)

// Sessions implements [transcript.Tool]: those of the databases, then those of older files
// that no database has, then exports.
func (t Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		f, err := t.kind().findFiles(p)
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
func (t Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		var all []*storedSession
		var err error
		switch {
		case t.kind().isDatabase(p, s.Name):
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
		w := &entryWriter{yield: yield, live: p.IsLive(s), key: strings.ReplaceAll(t.Name(), "-", "_"),
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
