package driver

import (
	"github.com/scrollback-ai/scrollback"
)

// StoredDigest is what a conversation that was not purged, or the stone of one that was, comes to: a text of which a
// driver knows no more. It is empty if it is not known, or if something of the conversation was written since.
type StoredDigest struct {
	ID     scrollback.ConversationID
	Digest string
}

// Digests are those of a store, by id, as they stood behind change number At or later.
type Digests struct {
	At  int64
	All []StoredDigest
}

// Changed is what was written since a mark, of what stores exchange.
type Changed struct {
	Everything    bool                        // nobody knows: the mark is too old, or another store's
	Conversations []scrollback.ConversationID // also those that are gone by now; by id
	Stones        bool                        // one of these was purged
	Projects      bool                        // what is stored of projects
}

// SilentOther is what a change of [KindSilent] is about that is neither a conversation, by its id, nor a project, by
// the name of its clocks.
const SilentOther = "other:"
