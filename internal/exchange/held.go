// Package exchange reads what a store holds as the records that stores exchange, and writes what a merge decides.
//
// Words it adds: side (a store with the bytes of its artifacts), holding (what a side holds, as a merge asks for it),
// place (the branch and the seq under which a message stands in one store).
//
// Invariants: no row of a message is changed or moved; what is written names messages by the places that they have
// here; a conversation that is new is seen when all of it is there.
//
// It may not know carriers, files or the clock of another store.
package exchange

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Side is a store and where the bytes of its artifacts are.
type Side struct {
	Store   *store.Store
	Archive *archive.Archive
}

// place is where a message stands in one store.
type place struct {
	branch scrollback.BranchID
	seq    int64
}

// heldConversation is a conversation of a side, in memory but for what its messages say.
type heldConversation struct {
	head     scrollback.Conversation
	seen     bool // by people: else only what others inherit is left of it
	branches []scrollback.Branch
	readings []store.Reading
	record   merge.Conversation // its messages behind the ones before them
	messages map[scrollback.MessageID]merge.Message
	places   map[scrollback.MessageID]place
	at       map[place]scrollback.MessageID
}

// readConversation reads a conversation of a side; nil if it is not there.
func (s Side) readConversation(ctx context.Context, id scrollback.ConversationID) (*heldConversation, error) {
	c := &heldConversation{record: merge.Conversation{ID: id}, messages: map[scrollback.MessageID]merge.Message{},
		places: map[scrollback.MessageID]place{}, at: map[place]scrollback.MessageID{}}
	h, err := s.Store.ReadHead(ctx, id)
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return nil, err
	}
	if c.seen = err == nil && h.ID == id; c.seen {
		c.head = h.Conversation
	} else {
		c.head.ID = id
	}
	if c.branches, err = s.Store.Move.ListBranches(ctx, id); err != nil || len(c.branches) == 0 {
		return nil, err
	}
	if c.readings, err = s.Store.Move.ReadReadings(ctx, id); err != nil {
		return nil, err
	}
	if err := s.readMessages(ctx, c); err != nil {
		return nil, err
	}
	if err := s.readDerived(ctx, c); err != nil {
		return nil, err
	}
	if c.seen {
		err = s.readOwn(ctx, c)
	}
	return c, err
}

// born returns the branch that a message was written to.
func (c *heldConversation) born(at place) scrollback.BranchID {
	born := at.branch
	for _, r := range c.readings {
		if r.Branch == at.branch && r.From <= at.seq {
			born = r.Born
		}
	}
	return born
}

// readMessages lists the messages of all branches.
func (s Side) readMessages(ctx context.Context, c *heldConversation) error {
	// Others leave a branch only behind a message of its own, so it begins before them.
	slices.SortStableFunc(c.branches, func(a, b scrollback.Branch) int { return cmp.Compare(a.AtSeq, b.AtSeq) })
	for _, b := range c.branches {
		prev := scrollback.MessageID("")
		if b.AtSeq > 0 {
			var ok bool
			if prev, ok = c.at[place{b.Parent, b.AtSeq}]; !ok {
				m, err := s.Store.ReadMessageAt(ctx, b, b.AtSeq)
				if err != nil {
					return err
				}
				prev = m.ID
			}
		}
		for m, err := range s.Store.WalkMessages(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
			if err != nil {
				return err
			}
			at := place{m.Branch, m.Seq}
			r := merge.Message{ID: m.ID, Born: c.born(at), Seq: m.Seq, Prev: prev, CreatedAt: m.CreatedAt}
			if r.Hash, err = hashContent(m); err != nil {
				return err
			}
			for id := range m.Parts.Artifacts() {
				r.Artifacts = append(r.Artifacts, id)
			}
			prev = m.ID
			c.messages[m.ID] = r
			c.places[m.ID] = at
			c.at[at] = m.ID
			c.record.Messages = append(c.record.Messages, r)
		}
	}
	// A message may follow one of a branch that comes later in the order of the ids.
	slices.SortStableFunc(c.record.Messages, func(a, b merge.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return nil
}

// hashContent returns the hash of what a message says, without its ids and its meta.
func hashContent(m scrollback.Message) (merge.Hash, error) {
	text, err := json.Marshal(struct {
		Role      scrollback.Role
		Name      string
		Parts     scrollback.Parts
		Model     string
		Status    scrollback.Status
		CreatedAt int64
	}{m.Role, m.Name, m.Parts, m.Model, m.Status, m.CreatedAt})
	return sha256.Sum256(text), err
}

// messageAt returns the id of a message on the path of a branch; empty before the first.
func (s Side) messageAt(ctx context.Context, c *heldConversation, id scrollback.BranchID,
	seq int64) (scrollback.MessageID, error) {
	if seq == 0 {
		return "", nil
	}
	if m, ok := c.at[place{id, seq}]; ok {
		return m, nil
	}
	ms, err := s.Store.ReadMessages(ctx, id, seq, seq)
	if err != nil {
		return "", err
	}
	return ms[0].ID, nil
}

// readDerived reads what is derived from the messages: segments, what people said of sentences, and mentions.
func (s Side) readDerived(ctx context.Context, c *heldConversation) error {
	for r, err := range s.Store.Refs.WalkOwn(ctx, c.head.ID, scrollback.RefHistory) {
		if err != nil {
			return err
		}
		_, id, err := r.Ref.Split()
		if err != nil {
			return err
		}
		found, err := s.Store.ReadSegments(ctx, []scrollback.SegmentID{scrollback.SegmentID(id)})
		if err != nil {
			return err
		}
		g := merge.Segment{Segment: found[0]}
		of := &g.Segment
		for to, seq := range map[*scrollback.MessageID]int64{&g.First: of.FirstSeq, &g.Last: of.LastSeq,
			&g.SummaryOf: of.SummaryOf} {
			if *to, err = s.messageAt(ctx, c, of.Branch, seq); err != nil {
				return err
			}
		}
		of.Conversation = ""
		of.Branch = ""
		of.FirstSeq = 0
		of.LastSeq = 0
		of.SummaryOf = 0
		c.record.Segments = append(c.record.Segments, g)
	}
	slices.SortStableFunc(c.record.Segments, func(a, b merge.Segment) int {
		return cmp.Compare(a.Segment.Level, b.Segment.Level)
	})
	for r, err := range s.Store.Refs.WalkOwn(ctx, c.head.ID, scrollback.RefArtifact) {
		if err != nil {
			return err
		}
		c.record.Mentions = append(c.record.Mentions, merge.Mention{Artifact: scrollback.ArtifactID(r.SHA256), Name: r.Hint,
			MediaType: r.MediaType, Size: r.Bytes, CreatedAt: r.CreatedAt})
	}
	newest := map[scrollback.KeptID]merge.Kept{}
	for _, b := range c.branches {
		rows, err := s.Store.Kept.ListOwnChanges(ctx, c.head.ID, b.ID, b.HeadSeq)
		if err != nil {
			return err
		}
		for _, k := range rows {
			// Rows have no author: the row itself stands for it, and is the same everywhere.
			now := merge.Kept{ID: k.ID, Change: k.Change, Message: k.Message, Role: k.Role, Kind: k.Kind, Text: k.Text,
				State: k.State, CreatedAt: k.CreatedAt, Stamp: stamp.Stamp{At: k.CreatedAt, By: k.Change}}
			if was, ok := newest[k.ID]; !ok || cmp.Or(cmp.Compare(now.At, was.At), cmp.Compare(now.By, was.By)) > 0 {
				newest[k.ID] = now
			}
		}
	}
	for _, k := range newest {
		c.record.Kept = append(c.record.Kept, k)
	}
	for _, b := range c.branches {
		if head, ok := c.at[place{b.ID, b.HeadSeq}]; ok && b.View.Boundary > 0 {
			c.record.Views = append(c.record.Views, merge.View{Head: head, View: b.View.WithLeftOut(nil)})
		}
	}
	return nil
}

// holding is what a side holds of some conversations, as a merge asks for it.
type holding struct {
	conversations map[scrollback.ConversationID]*heldConversation
	stones        map[scrollback.ConversationID]merge.Stone
	projects      map[string]*merge.Project
}

// Conversation implements [merge.Held].
func (h *holding) Conversation(id scrollback.ConversationID) *merge.Conversation {
	if c := h.conversations[id]; c != nil {
		return &c.record
	}
	return nil
}

// Message implements [merge.Held].
func (h *holding) Message(id scrollback.MessageID) (merge.Message, scrollback.ConversationID, bool) {
	for of, c := range h.conversations {
		if m, ok := c.messages[id]; ok {
			return m, of, true
		}
	}
	return merge.Message{}, "", false
}

// Source implements [merge.Held].
func (h *holding) Source(of scrollback.ConversationID, key scrollback.MessageID) (merge.Message, bool) {
	c := h.conversations[of]
	if c == nil {
		return merge.Message{}, false
	}
	m, ok := c.messages[key]
	return m, ok
}

// Stone implements [merge.Held].
func (h *holding) Stone(id scrollback.ConversationID) (merge.Stone, bool) {
	s, ok := h.stones[id]
	return s, ok
}

// Project implements [merge.Held].
func (h *holding) Project(name string) *merge.Project { return h.projects[name] }

// Unknown implements [merge.Held].
func (h *holding) Unknown(string) json.RawMessage { return nil }
