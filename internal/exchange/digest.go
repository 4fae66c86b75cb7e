package exchange

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Digest is what everything that travels comes to: equal of two stores that hold the same. Conversations are sorted by
// id; those that were purged are among them. All digests are SHA-256, in hex.
type Digest struct {
	Digest        merge.Hash           `json:"digest"`
	Conversations []ConversationDigest `json:"conversations"`
}

// ConversationDigest is that of one conversation, or of the stone that is left of it.
type ConversationDigest struct {
	ID     scrollback.ConversationID `json:"id"`
	Digest merge.Hash                `json:"digest"`
}

// Digest reads everything that a side holds.
func (s Side) Digest(ctx context.Context) (Digest, error) {
	tallies := map[scrollback.ConversationID]merge.Tally{}
	add := func(id scrollback.ConversationID) (*heldConversation, error) {
		if _, done := tallies[id]; done {
			return nil, nil
		}
		c, err := s.readConversation(ctx, id)
		if err == nil && c != nil {
			tallies[id] = c.tally()
		}
		return c, err
	}
	all, err := s.Store.Move.ListAll(ctx)
	if err != nil {
		return Digest{}, err
	}
	for _, c := range all {
		if _, err := add(c.ID); err != nil {
			return Digest{}, err
		}
	}
	stones, err := s.Store.Move.ListStones(ctx)
	if err != nil {
		return Digest{}, err
	}
	for _, one := range stones {
		if _, err := add(one.ID); err != nil {
			return Digest{}, err
		}
		h := newStone(one).Element()
		tallies[one.ID] = tallies[one.ID].Replace(nil, &h)
	}
	head := merge.Head{Count: len(tallies)}
	out := Digest{Conversations: []ConversationDigest{}}
	for id, t := range tallies {
		of := merge.Summary{ID: id, Digest: t.Digest(id)}
		head.Conversations = head.Conversations.Add(of.Element())
		out.Conversations = append(out.Conversations, ConversationDigest{ID: id, Digest: of.Digest})
	}
	slices.SortFunc(out.Conversations, func(a, b ConversationDigest) int { return cmp.Compare(a.ID, b.ID) })
	projects, err := s.readProjects(ctx)
	for i := range projects {
		for _, h := range projects[i].Elements() {
			head.Rest = head.Rest.Add(h)
		}
	}
	out.Digest = head.Digest()
	return out, err
}
