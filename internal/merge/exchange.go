package merge

import (
	"context"
	"fmt"

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
	// Messages lists the messages of ranges by their keys: none before the one that it goes on from, and those on the path
	// of the newest message first, so that a store which gets them in parts stands at that.
	Messages(ctx context.Context, id scrollback.ConversationID, of []Range) ([]scrollback.MessageID, error)
	// Lacks returns those of some keys that no message of a conversation has.
	Lacks(ctx context.Context, id scrollback.ConversationID, keys []scrollback.MessageID) ([]scrollback.MessageID, error)
	// Rest lists the elements of everything but messages, of some buckets.
	Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]Hash, error)
	// Records returns the records that are wanted, messages with their content: at least one, in the order in which they
	// are named, and as many as an answer should hold. What is left is asked for again.
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
// branches compare more, and come to the same. Project and Parent are those of the conversation here and now; of one
// that was purged (Gone), Project is that of its stone.
type Inventory struct {
	ID      scrollback.ConversationID `json:"id"`
	Project string                    `json:"project,omitempty"`
	Parent  scrollback.ConversationID `json:"parent,omitempty"` // that it is a fork of
	Gone    bool                      `json:"gone,omitempty"`
	Tally   Tally                     `json:"tally"`
	Ranges  []Range                   `json:"ranges,omitempty"`
	Rest    map[uint8]Sum             `json:"rest,omitempty"`
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
// elements. All is everything, where that side has nothing of it.
type Wanted struct {
	ID       scrollback.ConversationID `json:"id"`
	All      bool                      `json:"all,omitempty"`
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

// Bulk is a [Side] that is asked about several conversations at once, because each question takes long. All others are
// asked one by one.
type Bulk interface {
	// Inventories answers like [Side].Inventory, in the order of the ids.
	Inventories(ctx context.Context, ids []scrollback.ConversationID) ([]Inventory, error)
	// Lists answers like [Side].Messages, Lacks and Rest, in the order of what is asked.
	Lists(ctx context.Context, of []Listing) ([]Listed, error)
}

// Listing asks for single records of a conversation: for the messages of ranges by their keys, which of some keys no
// message has, and for the elements of some buckets.
type Listing struct {
	ID      scrollback.ConversationID `json:"id"`
	Ranges  []Range                   `json:"ranges,omitempty"`
	Keys    []scrollback.MessageID    `json:"keys,omitempty"`
	Buckets []uint8                   `json:"buckets,omitempty"`
}

// Listed answers a [Listing].
type Listed struct {
	Messages []scrollback.MessageID `json:"messages,omitempty"`
	Lacks    []scrollback.MessageID `json:"lacks,omitempty"`
	Rest     []Hash                 `json:"rest,omitempty"`
}

// Inventories asks a side for the inventories of conversations.
func Inventories(ctx context.Context, s Side, ids []scrollback.ConversationID) ([]Inventory, error) {
	if b, ok := s.(Bulk); ok {
		out, err := b.Inventories(ctx, ids)
		if err == nil && len(out) != len(ids) {
			err = fmt.Errorf("merge: %d inventories of %d conversations", len(out), len(ids))
		}
		return out, err
	}
	out := make([]Inventory, 0, len(ids))
	for _, id := range ids {
		one, err := s.Inventory(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// Lists asks a side for single records of conversations. What is asked for nothing is not asked.
func Lists(ctx context.Context, s Side, of []Listing) ([]Listed, error) {
	if b, ok := s.(Bulk); ok {
		out, err := b.Lists(ctx, of)
		if err == nil && len(out) != len(of) {
			err = fmt.Errorf("merge: %d answers to %d questions", len(out), len(of))
		}
		return out, err
	}
	out := make([]Listed, 0, len(of))
	for _, l := range of {
		one, err := l.ask(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (l Listing) ask(ctx context.Context, s Side) (out Listed, err error) {
	if len(l.Ranges) > 0 {
		if out.Messages, err = s.Messages(ctx, l.ID, l.Ranges); err != nil {
			return out, err
		}
	}
	if len(l.Keys) > 0 {
		if out.Lacks, err = s.Lacks(ctx, l.ID, l.Keys); err != nil {
			return out, err
		}
	}
	if len(l.Buckets) > 0 {
		out.Rest, err = s.Rest(ctx, l.ID, l.Buckets)
	}
	return out, err
}
