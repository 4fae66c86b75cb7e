package driver

import (
	"github.com/scrollback-ai/scrollback"
)

// ChangesKept is how many changes are kept at least; older ones are removed as new ones
// come.
const ChangesKept = 1 << 15

// ChangeKinds are the kinds of what one transaction did to a conversation.
type ChangeKinds int64

// KindUndone goes with KindFolded, and KindPurged with KindTrashed.
const (
	KindEdited  ChangeKinds = 1 << iota // its own fields, or it is new
	KindGrown                           // messages from FirstSeq to LastSeq were appended
	KindTurned                          // Turn is in another state
	KindFolded                          // a compaction was stored, or tried
	KindUndone                          // the compaction was taken back
	KindTrashed                         // it was put in the trash, or taken out
	KindPurged                          // for good
	KindSilent                          // something that other stores may get; nobody is told of it
)

// Change is what one transaction did to one conversation. Drivers write it in that
// transaction, once for each new version of a conversation that people can see, and before it
// once for a turn that is closed for an owner who is gone; a [Repair] need not be told. It
// holds nothing that anybody said.
//
// A transaction that writes something of a conversation that stores exchange, and tells no such change of it, ends with
// one of [KindSilent] instead; so does one about a project. So [Log.ReadChanged] misses nothing.
type Change struct {
	N            int64 // its number, from 1; set by the driver
	Conversation scrollback.ConversationID
	Project      string // after the change
	From         string // the project before, if that is another one
	Kinds        ChangeKinds
	Turn         scrollback.TurnID // of what was appended, or is in another state
	State        scrollback.TurnState
	FirstSeq     int64 // of what was appended or folded
	LastSeq      int64
	Ref          scrollback.Ref // of the last segment folded

	// Now is the conversation when the change is read; nil if it is gone. Its project may
	// be another one by then.
	Now *scrollback.ChangedHead
}

// NoteEntries notes entries that were appended, of which the last has a seq.
func (c *Change) NoteEntries(entries int, last int64) {
	if entries == 0 {
		return
	}
	if c.Kinds&KindGrown == 0 {
		c.FirstSeq = last - int64(entries) + 1
	}
	c.Kinds = c.Kinds | KindGrown
	c.LastSeq = last
}

// NoteFold notes a compaction.
func (c *Change) NoteFold(r scrollback.Receipt) {
	c.Kinds = c.Kinds | KindFolded
	c.FirstSeq = r.FirstSeq
	c.LastSeq = r.LastSeq
	if n := len(r.Refs); n > 0 {
		c.Ref = r.Refs[n-1]
	}
}

// NewClosedChange is the change of a turn that was closed for its owner, and what was salvaged of
// it up to a seq.
func NewClosedChange(t scrollback.Turn, project string, salvaged int, last int64) Change {
	c := Change{Conversation: t.Conversation, Project: project, Kinds: KindTurned, Turn: t.ID, State: t.State}
	c.NoteEntries(salvaged, last)
	return c
}
