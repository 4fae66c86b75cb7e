package exchange

import (
	"context"

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

// Digest returns what everything comes to that a side holds. Only what has changed since it was asked before is read;
// see [Side.Summaries].
func (s Side) Digest(ctx context.Context) (Digest, error) {
	all, err := s.Summaries(ctx)
	if err != nil {
		return Digest{}, err
	}
	head := merge.Head{Count: len(all)}
	out := Digest{Conversations: make([]ConversationDigest, 0, len(all))}
	for _, of := range all {
		head.Conversations = head.Conversations.Add(of.Element())
		out.Conversations = append(out.Conversations, ConversationDigest{ID: of.ID, Digest: of.Digest})
	}
	projects, err := s.readProjects(ctx)
	for i := range projects {
		for _, h := range projects[i].Elements() {
			head.Rest = head.Rest.Add(h)
		}
	}
	out.Digest = head.Digest()
	return out, err
}
