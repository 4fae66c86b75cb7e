// Package cursor reads the conversations of Cursor: from its database, and from the transcripts that its agent writes
// beside it.
//
// Words it adds: composer (what Cursor calls a conversation), bubble (a piece of one: a prompt, a piece of an answer,
// or a call with its result), transcript (a file of the agent with what was said and called, and nothing else).
//
// Invariants: of the database only the table of conversations is read, never that with settings and credentials;
// bubbles are in the order of their composer; a transcript of a conversation that the database has is not read; the
// last bubble of an answer is held back while it may still grow.
//
// It may not know the store, the network or the file system.
package cursor

import (
	"bytes"
	"context"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/editors"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "cursor"
	metaKey = "cursor"
)

// databaseFile is what the editor calls its database.
const databaseFile = "state.vscdb"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: the database, and the projects of the agent.
func (Tool) Homes(m transcript.Machine) (out []string) {
	for _, user := range editors.UserFolders(m) {
		if path.Base(path.Dir(user)) == "Cursor" {
			out = append(out, path.Join(user, "globalStorage", databaseFile))
		}
	}
	return append(out, path.Join(filepath.ToSlash(m.Home), agentProjects))
}

// agentProjects is where the agent keeps what belongs to projects, within a person's home.
const agentProjects = ".cursor/projects"

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return path.Base(name) == databaseFile
	}
	return strings.HasSuffix(name, ".jsonl") && isTranscript(head)
}

var format = sessionlog.Format{
	Sniff: func(_ string, head []byte) bool { return isTranscript(head) },
	Named: func(name string) bool {
		return path.Ext(name) == ".jsonl" && (strings.Contains(name, "agent-transcripts/") || !strings.Contains(name, "/"))
	},
	Identify: func(name string, _ []byte) string { return strings.TrimSuffix(path.Base(name), ".jsonl") },
	Talks:    readTranscript,
}

// findDatabase returns the database of a place: the file, or one in a folder of an editor; "" for none.
func findDatabase(p transcript.Place) (string, error) {
	if p.Path == "" {
		return "", nil // it was uploaded: databases are read where they are
	}
	info, err := fs.Stat(p.FS, p.Name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		if path.Base(p.Name) == databaseFile {
			return p.Name, nil
		}
		return "", nil
	}
	for _, sub := range []string{databaseFile, "globalStorage/" + databaseFile, "User/globalStorage/" + databaseFile} {
		name := path.Join(p.Name, sub)
		if info, err := fs.Stat(p.FS, name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", nil
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		name, err := findDatabase(p)
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		var here map[string]bool
		if name != "" {
			all, err := databaseSessions(ctx, p, name)
			if err != nil {
				yield(transcript.Session{}, err)
				return
			}
			here = map[string]bool{}
			for _, s := range all {
				here[s.ID] = true
				if !yield(s, nil) {
					return
				}
			}
			if name == p.Name {
				return
			}
		} else if home, ok := strings.CutSuffix(filepath.ToSlash(p.Path), "/"+agentProjects); ok {
			here = composersOf(ctx, home)
		}
		for s, err := range format.Sessions(ctx, p) {
			if err == nil && here[s.ID] {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	if path.Base(s.Name) != databaseFile {
		return format.Read(ctx, p, s)
	}
	return func(yield func(transcript.Entry, error) bool) {
		c, err := readComposer(ctx, p, s)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		sessionlog.YieldTalks(ctx, []*sessionlog.Talk{c.talk(p.IsLive(s))}, yield)
	}
}
