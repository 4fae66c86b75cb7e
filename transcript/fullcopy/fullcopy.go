// Package fullcopy reads and writes full copies: a conversation whole, as one JSON document. The format is
// called archive.
//
//	{"archive":      {"format": "scrollback", "version": 1, "created_at", "sealed"},
//	 "branches":     [branch …],
//	 "conversation": conversation,
//	 "messages":     [message …],
//	 "receipts":     [receipt …],
//	 "refs":         [ref …],
//	 "seal":         SHA-256 of the bytes before it}
//
// All of it has the shapes of our API. A message has the whole text of its tool results,
// the bytes of its images and files as base64 in "data" (as far as they fit in
// [MaxMessage]), and in "turns" what failed after it; what a turn has written that is no
// message yet is one without a seq. Each message is there once, on a line of its own. They stand in the order of a walk
// through the tree of branches that takes the current branch last at every fork: one whose seq is not higher
// than the one before it begins another branch, after the message of the current path
// with the seq before it.
//
// Words it adds: piece (a run of messages of one branch, in that order).
//
// It may not know the store or the network.
package fullcopy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// The name of the format, and what the head of a file says.
const (
	Name    = "archive"
	format  = "scrollback"
	version = 1
)

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return Name }

// head is what a file begins with.
type head struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	CreatedAt int64  `json:"created_at"`
	Sealed    bool   `json:"sealed,omitempty"` // the file ends with its seal
}

// Sniff implements transcript.Importer.
func (Format) Sniff(begin []byte) bool {
	d := transcript.NewDocument(bytes.NewReader(begin), transcript.MaxLine)
	if name, err := d.Next(); err != nil || name != "archive" {
		return false
	}
	raw, err := d.Value()
	var h head
	return err == nil && json.Unmarshal(raw, &h) == nil && h.Format == format
}

// MaxMessage bounds the bytes of one message of a copy.
const MaxMessage = 256 << 20

// message is a message as a file has it. Its parts come last.
type message struct {
	scrollback.Message
	Seq   int64                  `json:"seq,omitempty"`
	Turns []scrollback.TurnEntry `json:"turns,omitempty"`
	Parts json.RawMessage        `json:"parts,omitempty"`
}

// Read implements transcript.Importer. Branches other than the current one come as
// steps back; compactions are made again from the messages.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		f := &file{d: transcript.NewDocument(r, MaxMessage), yield: yield}
		for {
			name, err := f.d.Next()
			if transcript.IsEnd(err) {
				return
			}
			if err == nil {
				err = f.field(name)
			}
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				if err = f.damaged(err); err != nil && !errors.Is(err, errStopped) {
					yield(transcript.Entry{}, err)
				}
				return
			}
		}
	}
}

var errStopped = errors.New("the reader stopped")

// file is a file while it is read.
type file struct {
	d      *transcript.Document
	yield  func(transcript.Entry, error) bool
	source string
	head   int64 // where the conversation stood
	left   left
	path   []int64 // seqs of what was yielded and is on the current path
	draft  bool    // the newest has no seq

	branches bool // they were read, with what requests leave out
	messages bool // all were read, as far as the list says
}

// early is how the fault of a document begins that is cut off.
const early = "the file ends early"

// missing says of a file that ends early what it does not have.
func (f *file) missing() string {
	n := len(f.path)
	switch {
	case !f.messages && n > 0 && f.head > f.path[n-1]:
		return fmt.Sprintf("the messages after #%d are missing, up to #%d", f.path[n-1], f.head)
	case !f.messages && n == 0:
		return "its messages are missing"
	case !f.branches:
		return "its branches are missing, and with them which messages requests leave out"
	case !f.messages:
		return "messages of other branches may be missing"
	}
	return "all messages are there, and the compactions behind them are missing"
}

// damaged returns what is wrong with the document, or returns the error if it is not the document's.
func (f *file) damaged(err error) error {
	bad, ok := f.d.ExplainFault(err)
	if !ok {
		return err
	}
	if strings.HasPrefix(bad.Reason, early) {
		bad.Reason = early + ": " + f.missing()
	}
	return f.emit(transcript.Entry{Bad: &bad})
}

// finish brings the path back to where the conversation stood, and tells what requests leave out
// there.
func (f *file) finish() error {
	if !f.draft {
		if err := f.back(f.head + 1); err != nil { // other branches may go on from there
			return err
		}
	}
	return f.leaveOut(f.left.current)
}

func (f *file) emit(e transcript.Entry) error {
	if !f.yield(e, nil) {
		return errStopped
	}
	return nil
}

func (f *file) bad(format string, args ...any) error {
	return f.emit(transcript.Entry{Bad: &transcript.Bad{Line: f.d.CurrentLine(), Reason: fmt.Sprintf(format, args...)}})
}

// field takes a field of the document.
func (f *file) field(name string) error {
	switch name {
	case "messages":
		torn := false // the rest of the file is read for whole messages
		for raw, err := range f.d.Items() {
			switch {
			case err != nil:
				torn = true
				err = f.damaged(err)
			case !torn || isMessage(raw):
				err = f.message(raw)
			}
			if err != nil {
				return err
			}
		}
		f.messages = !torn
		if err := f.finish(); err != nil || !torn {
			return err
		}
		return errStopped // nothing is left to be read
	case "branches":
		for raw, err := range f.d.Items() {
			if err != nil {
				return err
			}
			if f.left.branch(raw) != nil {
				if err := f.bad("a branch of the wrong shape"); err != nil {
					return err
				}
			}
		}
		if f.branches = true; f.messages { // a file in another order
			return f.leaveOut(f.left.current)
		}
		return nil
	case "receipts", "refs": // they follow from the messages
		for _, err := range f.d.Items() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	raw, err := f.d.Value()
	if err != nil {
		return err
	}
	switch name {
	case "archive":
		var h head
		if json.Unmarshal(raw, &h) == nil && h.Version > version {
			return fmt.Errorf("the full copy is of version %d, and this program reads up to %d", h.Version, version)
		}
	case "conversation":
		var c scrollback.Conversation
		if json.Unmarshal(raw, &c) != nil {
			return f.bad("the conversation has the wrong shape")
		}
		f.source = string(c.ID)
		f.head = c.Messages
		leaveBehind(&c)
		return f.emit(transcript.Entry{Line: f.d.CurrentLine(), Source: f.source, Conversation: &c})
	}
	return nil
}

// leaveBehind clears what a conversation that is read from a copy does not have of the one that was copied: what the
// store decides about each, and what was so on the machine where it was. TestCarries lists it.
func leaveBehind(c *scrollback.Conversation) {
	c.ID = ""
	c.Version = 0
	c.Branch = ""
	c.Messages = 0
	c.CreatedAt = 0
	c.UpdatedAt = 0
	c.Parent = nil
	c.AgentOf = nil
	c.PinnedSeqs = nil
	c.DeletedAt = 0
	c.Limit = 0
	c.Roots = nil
}

// isMessage tells a message from what else stands behind the damage of a file.
func isMessage(raw json.RawMessage) bool {
	var m struct{ Role string }
	return json.Unmarshal(raw, &m) == nil && m.Role != ""
}

// message takes a message, and goes back to where it belongs first.
func (f *file) message(raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return f.bad("not UTF-8")
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return f.bad("a message of the wrong shape")
	}
	e := transcript.Entry{Line: f.d.CurrentLine(), Source: f.source, Message: m.Message}
	e.Message.ConversationID = "" // where it was stored, and what it weighed there
	e.Message.Branch = ""
	e.Message.TurnID = ""
	e.Message.Tokens = 0
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil {
		return f.bad("%v", err)
	}
	if m.Status != "" && !m.Status.Known() {
		return f.bad("unknown status %q", m.Status)
	}
	if m.CreatedAt < 0 || m.Seq < 0 {
		return f.bad("a time or a seq below 0")
	}
	if len(m.Parts) == 0 {
		m.Parts = json.RawMessage(`[]`)
	}
	err := json.Unmarshal(m.Parts, &e.Message.Parts)
	for i, p := range e.Message.Parts {
		// all of it: the artifact is made again where it is needed
		if r, ok := p.(scrollback.ToolResult); ok && r.Text != "" {
			r.Artifact = ""
			e.Message.Parts[i] = r
		}
	}
	if err == nil {
		e.Bytes, err = transcript.DecodeAttached(m.Parts, e.Message.Parts)
	}
	if err != nil {
		return f.bad("parts: %v", err)
	}
	seq := m.Seq
	if f.draft = seq == 0; f.draft { // it comes after everything before it
		seq = 1
		if n := len(f.path); n > 0 {
			seq = f.path[n-1] + 1
		}
	}
	if err := f.back(seq); err != nil {
		return err
	}
	if err := f.leaveOut(m.Branch); err != nil {
		return err
	}
	f.path = append(f.path, seq)
	if err := f.emit(e); err != nil || !f.left.leaves(m.Branch, m.Seq) {
		return err
	}
	return f.leaveOut(m.Branch)
}

// back goes back to what comes before a seq on the current path.
func (f *file) back(seq int64) error {
	at := sort.Search(len(f.path), func(i int) bool { return f.path[i] >= seq })
	if at == len(f.path) {
		return nil
	}
	f.path = f.path[:at]
	f.left.cut(at)
	return f.emit(transcript.Entry{Source: f.source, Rewind: &at})
}
