package transcript

import (
	"context"
	"io/fs"
	"iter"
)

// Tool is a program that keeps its conversations in files or databases of its own. It is
// read where it keeps them, and never written; its files may grow, change and vanish at
// any time.
type Tool interface {
	// Name is the tool's name on the command line and in origins.
	Name() string

	// Homes lists the folders and files where the tool keeps conversations on a machine, by
	// its variables, its settings and its habits, absolute; whether they are there or not.
	Homes(m Machine) []string

	// Sniff reports whether a file is one that the tool keeps conversations in, by its base
	// name and how it begins.
	Sniff(name string, head []byte) bool

	// Sessions lists what a place has, in the order of when it was begun if that can be
	// told, without reading conversations whole. A place of which the tool knows nothing has
	// none. What cannot be read is a session with Bad set. An error ends it, such as a
	// database of a version that is not known.
	Sessions(ctx context.Context, p Place) iter.Seq2[Session, error]

	// Read yields the entries of a session and of what belongs to it: first one that
	// describes a conversation, with Origin; then its messages; last one with End. An answer
	// that is not complete yet is held back while the session is live, and End says so. A bad
	// line is an entry with Bad set; an error ends it.
	Read(ctx context.Context, p Place, s Session) iter.Seq2[Entry, error]
}

// Machine is where tools may have left files.
type Machine struct {
	System  string              // as runtime.GOOS names it
	Home    string              // the person's home folder
	Getenv  func(string) string // never nil
	Folders []string            // working folders that are known, absolute; some tools keep files there
	// the whole machine, for settings that say where; names are absolute without the first slash. May be nil
	FS fs.FS
}

// Place is a folder or a file where a tool keeps conversations, or one that was named.
// Links that lead out of FS do not work.
type Place struct {
	FS   fs.FS
	Name string // of the file in FS, or "." for all of FS
	Path string // of FS on this machine, absolute; empty for what was uploaded: there are no databases then
	Now  int64  // Unix ms
}

// Session is what is read, and brought, as one: a conversation with its sub-agents, or a
// file with several conversations.
type Session struct {
	ID      string // what the tool calls it; of a file with several its name
	Name    string // of the file in the place that holds it
	Bytes   int64  // of its files, or about
	Stamp   string // changes when the session may have changed
	Changed int64  // Unix ms
	Bad     string // why it cannot be read, or empty
}

// IsLive reports whether somebody may still be writing to a session.
func (p Place) IsLive(s Session) bool { return p.Now-s.Changed < settleTime }

// settleTime is after how long without a change a session is taken as it stands, in ms.
const settleTime = 10 * 60 * 1000
