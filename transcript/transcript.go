// Package transcript reads and writes conversations as other tools' files.
//
// Words it adds: entry (a message of a file on its way in or out, with the bytes
// of its attachments), source (what a file calls its conversation).
//
// A reader tolerates what it does not know: a bad line is a [Bad], never the end
// of the file. It accepts at most [MaxLine] bytes per line. Foreign ids are data and
// never become paths.
//
// It may not know the store or the network.
package transcript

import (
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
)

// MaxLine bounds one line of a file, in bytes.
const MaxLine = 64 << 20

// IsEnd reports whether an error is the end of a file. One that wraps [io.EOF] is not: it is that of
// what the file comes through, which has ended before the file.
func IsEnd(err error) bool { return err == io.EOF } //nolint:errorlint // see above

// Importer reads one format.
type Importer interface {
	// Name is the format's name on the command line and over HTTP.
	Name() string

	// Sniff reports whether a file that begins with head is of this format.
	Sniff(head []byte) bool

	// Read yields the entries of r in order. An error ends it; a bad line is an
	// entry with Bad set.
	Read(r io.Reader) iter.Seq2[Entry, error]
}

// Exporter writes one format.
type Exporter interface {
	Name() string

	// Write writes one conversation. The bytes of an entry's attachments are in
	// its Bytes.
	Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[Entry, error]) error
}

// Entry is one message of a file. Source is the id the file gives its
// conversation, or empty. Conversation is set on the entry that describes one
// and has no message. An entry with Rewind has none either: what follows comes
// after the first *Rewind messages of the source's current path, and what came
// after those becomes an earlier branch. One with Without has none either: requests leave out
// those messages of the source's current path, counted from 1 and ascending, and no others of
// it so far. Turns are those after the message that failed, or
// ended at a bound; only exports have them. With Gap the message need not follow the one before
// it: the file has lost what was said between them, and does not know when the message was said
// if that has no time.
type Entry struct {
	Line         int // its line in the file, from 1; 0 if it has no lines
	Source       string
	Conversation *scrollback.Conversation
	Message      scrollback.Message
	Rewind       *int
	Without      *[]int
	Bytes        map[int][]byte // by index of the part they belong to
	Turns        []scrollback.TurnEntry
	Origin       *scrollback.Origin // with Conversation: its ID, Root, Folder and GitBranch, and nothing else
	Agent        *AgentOf           // with Conversation: it is a sub-agent's
	Copy         bool               // with Conversation: the tool made it of a session of another tool
	End          *End               // nothing more of the conversation follows
	Bad          *Bad
	Gap          bool
	Clipped      bool // of a result only the beginning is there: the tool keeps the rest elsewhere, and it is gone
	// in Unix ms: when the first message with a time was said, of one before it that has none; set by who reads the
	// entries
	Near int64
}

// AgentOf is where a sub-agent was started: by a call in another conversation of the same
// tool, which comes before it.
type AgentOf struct {
	Source string // what the tool calls that conversation
	CallID string // may be empty
}

// End is how a conversation of a file ends.
type End struct {
	Held bool           // something was held back, because it is not complete yet
	Left map[string]int // what is not talk and was left out, by kind: reminder, snapshot, mode, …
}

// Bad is a line that could not be read. Lines count from 1; line 0 is a file, or a session in
// one, that could not be read at all. Source is the file, where several were read.
type Bad struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Source string `json:"source,omitempty"`
}
