// Package bundle is the portable file of a conversation: a writer, a reader, and a
// checker of what a file says.
//
// A bundle is a tar, compressed with zstd and followed by a seal. It holds a
// whole conversation (every branch, segment, receipt and artifact) and, of those it
// inherits from, what is on its path. docs/guides/bundles.md has the format, so that
// other programs can read it.
//
// Words it adds: entry (one file in the tar), record (one line of an entry),
// seal (a hash of the whole file at its end), visit (what a reader hands records
// to), inherited (of a conversation: only the part on another's path).
//
// Invariants: the same records give the same bytes; nothing is read that the seal
// does not cover; every loop is bounded by [Limits]; a name in a tar is
// compared with what is expected at that place, and never leads anywhere. An
// error in a file is invalid, with a reason that a person can read.
//
// It may not know the store, the engine, the network or the file system.
package bundle

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Format names what a bundle is, and Version the newest that this program reads. One without what people say
// about kept sentences is written as version 1, which older programs read.
const (
	Format  = "scrollback-bundle"
	Version = 2

	plainVersion = 1
)

// Header opens a bundle. Conversation is the one that was exported; the others in
// the file are those it inherits from.
type Header struct {
	Format       string                    `json:"format"`
	Version      int                       `json:"version"`
	Conversation scrollback.ConversationID `json:"conversation"`
}

// Conversation is what a bundle says about a conversation itself. An Inherited one has
// only its id and ancestors. Ancestors are all the conversations before it in the
// file, nearest first: it inherits from each of them. Roots, limits and how far look-ups
// reach never travel. Draft is the newest turn if it was writing, or had been cut off, and
// what it had written was no message yet: the hash of the log does not cover it.
type Conversation struct {
	scrollback.Conversation
	Ancestors   []scrollback.ConversationID `json:"ancestors"`
	Environment *scrollback.Environment     `json:"environment,omitempty"`
	Inherited   bool                        `json:"inherited,omitempty"`
	Draft       *scrollback.Turn            `json:"draft,omitempty"`
}

// InterruptedDraft returns what of a turn stands in a bundle as its draft: interrupted, whatever it is where
// it comes from. Texts that are very long are cut. It is nil if nothing was written.
func InterruptedDraft(t scrollback.Turn) *scrollback.Turn {
	if t.Draft.IsEmpty() {
		return nil
	}
	d := t.Draft
	d.Content = clipDraft(d.Content)
	d.Reasoning = clipDraft(d.Reasoning)
	size := 0
	for _, c := range d.ToolCalls {
		size += len(c.Arguments)
	}
	if size > maxDraft {
		d.ToolCalls = nil
	}
	return &scrollback.Turn{ID: t.ID, Conversation: t.Conversation, Branch: t.Branch, Seq: t.Seq, LastSeq: t.LastSeq,
		State: scrollback.TurnInterrupted, Draft: d, StartedAt: t.StartedAt}
}

// maxDraft bounds each field of a draft, in bytes: a conversation's own fields must fit
// beside it.
const maxDraft = 256 << 10

// clipDraft returns the beginning of a text that is not too long for a draft.
func clipDraft(s string) string {
	if len(s) <= maxDraft {
		return s
	}
	return strings.ToValidUTF8(s[:maxDraft], "")
}

// Branch is a branch with its view. That of an inherited conversation ends where
// the path leaves it, and has no view.
type Branch struct {
	scrollback.Branch
	View scrollback.View `json:"view"`
}

// KeptChange is what a person says about a sentence that is kept of a message, as a bundle holds it. Who
// that was does not travel.
type KeptChange struct {
	scrollback.Kept
	Branch scrollback.BranchID `json:"branch"`
	Change string              `json:"change"`
}

// NewKeptChange returns a row of a person as a bundle holds it.
func NewKeptChange(k scrollback.Kept) KeptChange {
	row := KeptChange{Kept: k, Branch: k.Branch, Change: k.Change}
	row.Kept.SaidBy = ""
	row.Kept.Branch = ""
	row.Kept.Change = ""
	return row
}

// Restore returns the row as the rest of the program knows it.
func (k KeptChange) Restore() scrollback.Kept {
	row := k.Kept
	row.Branch = k.Branch
	row.Change = k.Change
	row.SaidBy = ""
	return row
}

// Restore returns the branch as the rest of the program knows it.
func (b Branch) Restore() scrollback.Branch {
	b.Branch.View = b.View
	return b.Branch
}

// Manifest closes a bundle: all entries before it, in order, and the counts
// of each conversation.
type Manifest struct {
	Entries       []EntrySum `json:"entries"`
	Conversations []Count    `json:"conversations"`
}

// EntrySum is the size and the SHA-256, in hex, of an entry.
type EntrySum struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Count is the size of a conversation. Log is the hash of its messages in the
// order of the file: the SHA-256 of the hashes of each
// ([scrollback.HashMessages]), one per line.
type Count struct {
	ID       scrollback.ConversationID `json:"id"`
	Branches int64                     `json:"branches"`
	Segments int64                     `json:"segments"`
	Messages int64                     `json:"messages"`
	Log      string                    `json:"log"`
}

// recordKind is what an entry, or a record in one, is. Within a conversation they come in
// this order.
type recordKind int

const (
	kindConversation recordKind = iota
	kindSegment
	kindBranch
	kindMention
	kindFile
	kindMessage
	kindFold
	kindKept
)

// folders are the names of entries that hold records of a kind.
var folders = map[recordKind]string{kindSegment: "segments", kindBranch: "branches", kindMention: "artifacts",
	kindMessage: "messages", kindFold: "receipts", kindKept: "kept"}

// Names of entries; the rest is made by name.
const (
	headerName       = "bundle.json"
	manifestName     = "manifest.json"
	artifactFolder   = "artifacts/"
	conversationPath = "conversations/"
)

// decodeRecord reads a record; anything after it is damage.
func decodeRecord(data []byte, into any, what string) error {
	if err := json.Unmarshal(data, into); err != nil {
		return newDamageError("%s cannot be read", what)
	}
	return nil
}
