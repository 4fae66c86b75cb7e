// Package meet lets two stores meet directly: each gets what it lacks of the other, over HTTP, or over the pipes of an
// ssh that speaks HTTP.
//
// Words it adds: peer (one of two stores that meet, here or elsewhere), batch (records that are handed over at once),
// mark (the line behind which the talk over a pipe begins), lost (what a record that could not be carried keeps from
// being written).
//
// Invariants: a batch is written before the next one is asked for, so that a meeting may end anywhere and the next one
// goes on from there; a record that cannot be carried is named, and holds up nothing but what goes on from it; a key
// goes to the host it is for and to no other.
//
// It knows records and bytes. It may not know a database, an engine, or what decides whether a record is written.
package meet

import (
	"context"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Peer is one of two stores that meet; it may be elsewhere. It is asked one question at a time.
type Peer interface {
	merge.Side
	// Put takes records that arrived, and says what came of them. The same records may come twice.
	Put(ctx context.Context, set merge.Set, on merge.Terms) (merge.Outcome, error)
	// LacksArtifacts returns those of some artifacts whose bytes are not there.
	LacksArtifacts(ctx context.Context, ids []scrollback.ArtifactID) ([]scrollback.ArtifactID, error)
	// OpenArtifact opens the bytes of an artifact, and returns how many they are.
	OpenArtifact(ctx context.Context, id scrollback.ArtifactID) (io.ReadCloser, int64, error)
	// PutArtifact stores the bytes of an artifact, which have to be those of its id.
	PutArtifact(ctx context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error
}

// Limited is a [Peer] that does not show, or take, everything. What it refuses is then not offered to it.
type Limited interface {
	// Access returns what the one that asks may. It is asked after Head.
	Access(ctx context.Context) (merge.Access, error)
}

// Options say how two stores meet.
type Options struct {
	Pull bool // only from them; both directions where neither is set
	Push bool // only to them

	// Projects, unless it is nil, leaves out conversations by the project in which they are here, or there if they are
	// not here. What others of them go on from comes along.
	Projects func(project string) bool

	Terms    merge.Terms
	Progress func(Progress) // after each batch
}

// Progress is how far a meeting has come.
type Progress struct {
	Pushing bool          // to them, which comes second
	Done    int           // conversations of Total in this direction
	Total   int           // that differ
	Outcome merge.Outcome // of this direction so far
}

// Result is what a meeting came to. Pulled is what was taken here, and Pushed what was taken there.
type Result struct {
	Pulled    merge.Outcome `json:"pulled"`
	Pushed    merge.Outcome `json:"pushed"`
	ReadOnly  bool          `json:"read_only,omitempty"` // nothing is taken there from this key
	Uncarried []Uncarried   `json:"uncarried,omitempty"`
}

// Uncarried is a record, or the bytes of an artifact, that did not get to the other side by itself either.
type Uncarried struct {
	Conversation scrollback.ConversationID `json:"conversation,omitempty"`
	Record       string                    `json:"record"` // its kind and id
	Pushing      bool                      `json:"pushing,omitempty"`
	Err          error                     `json:"-"`
}

// Meet lets two stores meet. If it fails, or is stopped, both hold what was carried until then.
func Meet(ctx context.Context, ours, theirs Peer, o Options) (Result, error) {
	var out Result
	here, err := ours.Head(ctx)
	if err != nil {
		return out, err
	}
	there, err := theirs.Head(ctx)
	if err != nil || here == there {
		return out, err
	}
	var may merge.Access
	if l, ok := theirs.(Limited); ok {
		if may, err = l.Access(ctx); err != nil {
			return out, err
		}
	}
	both := o.Pull == o.Push
	if both || o.Pull {
		c := newCarrying(ctx, o, &out, begun{theirs, there}, begun{ours, here})
		if err := c.run(); err != nil {
			return out, err
		}
		if !both {
			return out, nil
		}
		if here, err = ours.Head(ctx); err != nil || here == there {
			return out, err
		}
	}
	c := newCarrying(ctx, o, &out, begun{ours, here}, begun{theirs, there})
	c.pushing = true
	c.out = &out.Pushed
	c.may = may
	if out.ReadOnly = may.ReadOnly; out.ReadOnly {
		return out, nil
	}
	err = c.run()
	if isReadOnly(err) {
		out.ReadOnly = true
		return out, nil
	}
	return out, err
}

// begun is a peer whose head is known.
type begun struct {
	Peer
	head merge.Head
}

// Head implements [merge.Side].
func (b begun) Head(context.Context) (merge.Head, error) { return b.head, nil }

// Inventories implements [merge.Bulk].
func (b begun) Inventories(ctx context.Context, ids []scrollback.ConversationID) ([]merge.Inventory, error) {
	return merge.Inventories(ctx, b.Peer, ids)
}

// Lists implements [merge.Bulk].
func (b begun) Lists(ctx context.Context, of []merge.Listing) ([]merge.Listed, error) {
	return merge.Lists(ctx, b.Peer, of)
}
