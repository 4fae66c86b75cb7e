package merge

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Side is one of two stores that meet, as the other one asks it: each answer is bounded, and says where to ask next. A
// side answers for one state of itself from the first question to the last.
type Side interface {
	// Head returns the sums of the whole store.
	Head(ctx context.Context) (Head, error)
	// Level returns the nodes below a prefix of the tree of digests: at most 256, ordered, or the conversations
	// themselves where they are few.
	Level(ctx context.Context, below Prefix) (Level, error)
	// Inventory returns what a conversation has, in sums; an empty one if it is not there.
	Inventory(ctx context.Context, id scrollback.ConversationID) (Inventory, error)
	// Ranges returns the sums of parts of a conversation's messages: those of each range that is asked for.
	Ranges(ctx context.Context, id scrollback.ConversationID, of []Range) ([]Range, error)
	// Messages lists the messages of ranges by their keys.
	Messages(ctx context.Context, id scrollback.ConversationID, of []Range) ([]scrollback.MessageID, error)
	// Lacks returns those of some keys that no message of a conversation has.
	Lacks(ctx context.Context, id scrollback.ConversationID, keys []scrollback.MessageID) ([]scrollback.MessageID, error)
	// Rest lists the elements of everything but messages, of some buckets.
	Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]Hash, error)
	// Records returns the records that are wanted, messages with their content.
	Records(ctx context.Context, wanted []Wanted) (Set, error)
	// Projects returns what is stored of projects, and what is carried of records of a newer version.
	Projects(ctx context.Context) (Set, error)
}

// Head is what the digest of a whole store is made of: the sum of its conversations (see [Summary.Element]), how many
// they are, stones included, and the sum of everything else.
type Head struct {
	Conversations Sum `json:"conversations"`
	Count         int `json:"count"`
	Rest          Sum `json:"rest"`
}

// Inventory is what a conversation has, in sums: its messages by the branches they were written to, from 1 to [MaxSeq]
// each, and everything else in buckets, by the first byte of its elements. Stores that hold a message on different
// branches compare more, and come to the same.
type Inventory struct {
	ID     scrollback.ConversationID `json:"id"`
	Tally  Tally                     `json:"tally"`
	Ranges []Range                   `json:"ranges,omitempty"`
	Rest   map[uint8]Sum             `json:"rest,omitempty"`
}

// Range is the messages that were written to a branch, with seq in [From, To]: how many there are, and the sum of their
// elements.
type Range struct {
	Branch scrollback.BranchID `json:"branch"`
	From   int64               `json:"from"`
	To     int64               `json:"to"`
	Count  int64               `json:"count"`
	Sum    Sum                 `json:"sum"`
}

// Wanted is what one side wants of a conversation of the other: messages by their keys, and other records by their
// elements.
type Wanted struct {
	ID       scrollback.ConversationID `json:"id"`
	Messages []scrollback.MessageID    `json:"messages,omitempty"`
	Rest     []Hash                    `json:"rest,omitempty"`
}

// Tally is what the digest of a conversation is made of. A store keeps it in a row and changes it with what it writes.
//
// Of a purged conversation, Rest is the sum of its stone alone. What else remains (segments, mentions, other ids)
// travels with the messages, and is no part of the digest: a store that met the stone before the fork has less of it.
type Tally struct {
	Messages Sum   `json:"messages"`
	Count    int64 `json:"count"` // of messages
	Rest     Sum   `json:"rest"`  // of everything else
}
