package exchange

import (
	"context"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Elements are what the records of a conversation add to sums: by these, stores know records.
type Elements struct {
	Messages []MessageElement
	Rest     []merge.Hash // of everything else but the stone
	Stone    *merge.Hash  // of one that was purged: the others are what forks keep of it
}

// MessageElement is what a message adds to sums, and its key.
type MessageElement struct {
	Hash merge.Hash
	ID   scrollback.MessageID
}

// Elements lists the elements of a conversation.
func (p *Peer) Elements(ctx context.Context, id scrollback.ConversationID) (Elements, error) {
	var out Elements
	c, err := p.find(ctx, id)
	if err != nil {
		return out, err
	}
	if c != nil {
		for _, m := range c.inOrder() {
			out.Messages = append(out.Messages, MessageElement{m.Element(), m.Key()})
		}
	}
	all, err := p.elements(ctx, id, c)
	for _, e := range all {
		if e.stone != nil {
			out.Stone = &e.hash
			continue
		}
		out.Rest = append(out.Rest, e.hash)
	}
	return out, err
}

// ElementsOf yields the elements of a set that came from another store, each with the conversation that it is of; those
// of projects without one.
func ElementsOf(set merge.Set) iter.Seq2[scrollback.ConversationID, merge.Hash] {
	return func(yield func(scrollback.ConversationID, merge.Hash) bool) {
		for i := range set.Conversations {
			c := set.Conversations[i]
			var all []merge.Hash
			for _, m := range c.Messages {
				all = append(all, m.Element())
			}
			c.Messages = nil
			c.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) { all = append(all, h) })
			for _, h := range all {
				if !yield(c.ID, h) {
					return
				}
			}
		}
		for _, s := range set.Stones {
			if !yield(s.ID, s.Element()) {
				return
			}
		}
		for i := range set.Projects {
			for _, h := range set.Projects[i].Elements() {
				if !yield("", h) {
					return
				}
			}
		}
	}
}

// NextRecords returns as many of the wanted records as one answer holds, and what is left.
func (p *Peer) NextRecords(ctx context.Context, wanted []merge.Wanted) (merge.Set, []merge.Wanted, error) {
	set, err := p.Records(ctx, wanted)
	if err != nil {
		return set, nil, err
	}
	type named struct {
		of   scrollback.ConversationID
		hash merge.Hash
	}
	came := map[named]bool{}
	for id, h := range ElementsOf(set) {
		came[named{id, h}] = true
	}
	messages := map[scrollback.MessageID]bool{}
	for _, c := range set.Conversations {
		for _, m := range c.Messages {
			messages[m.Key()] = true
		}
	}
	var left []merge.Wanted
	moved := false
	for _, w := range wanted {
		rest := merge.Wanted{ID: w.ID}
		for _, id := range w.Messages {
			if !messages[id] {
				rest.Messages = append(rest.Messages, id)
			}
		}
		for _, h := range w.Rest {
			if !came[named{w.ID, h}] {
				rest.Rest = append(rest.Rest, h)
			}
		}
		moved = moved || len(rest.Messages)+len(rest.Rest) < len(w.Messages)+len(w.Rest)
		if len(rest.Messages)+len(rest.Rest) > 0 {
			left = append(left, rest)
		}
	}
	if !moved {
		left = nil // what is left has gone since
	}
	return set, left, nil
}

// List lists the conversations of a project, or all and all stones for an empty one: what others inherit from before
// them.
func (p *Peer) List(ctx context.Context, project string) ([]scrollback.ConversationID, error) {
	all, err := p.Store.Move.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	var ids []scrollback.ConversationID
	for _, c := range all {
		if project == "" || c.Project == project {
			ids = append(ids, c.ID)
		}
	}
	stones, err := p.Store.Move.ListStones(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range stones {
		if project == "" || s.Project == project {
			ids = append(ids, s.ID)
		}
	}
	return p.AncestorsFirst(ctx, ids)
}

// AncestorsFirst puts before each conversation those that it inherits from.
func (p *Peer) AncestorsFirst(ctx context.Context, ids []scrollback.ConversationID) ([]scrollback.ConversationID,
	error) {
	var out []scrollback.ConversationID
	done := map[scrollback.ConversationID]bool{}
	for _, id := range ids {
		h, err := p.Store.ReadHead(ctx, id)
		if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
			return nil, err
		}
		line := []scrollback.ConversationID{id}
		if err == nil && h.ID == id {
			line = append(reversed(h.Ancestors), id)
		}
		for _, one := range line {
			if !done[one] {
				done[one] = true
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// CountStones counts what was purged.
func (p *Peer) CountStones(ctx context.Context) (int, error) {
	stones, err := p.Store.Move.ListStones(ctx)
	return len(stones), err
}

// DropPurged takes out of a set what is not held here any more of conversations that were purged, and returns the
// artifacts that it mentioned and whose bytes are gone.
func (p *Peer) DropPurged(ctx context.Context, set *merge.Set) ([]scrollback.ArtifactID, error) {
	var dropped []scrollback.ArtifactID
	var kept []merge.Conversation
	for _, c := range set.Conversations {
		h := &holding{stones: map[scrollback.ConversationID]merge.Stone{}}
		if err := p.holdStone(ctx, h, c.ID); err != nil {
			return nil, err
		}
		if _, gone := h.stones[c.ID]; !gone {
			kept = append(kept, c)
			continue
		}
		held, err := p.readConversation(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range c.Mentions {
			has, err := p.Archive.HasArtifact(ctx, m.Artifact)
			if err != nil {
				return nil, err
			}
			if !has {
				dropped = append(dropped, m.Artifact)
			}
		}
		if held == nil {
			continue
		}
		remains := merge.Conversation{ID: c.ID, Mentions: slices.DeleteFunc(c.Mentions, func(m merge.Mention) bool {
			return slices.Contains(dropped, m.Artifact)
		})}
		for _, m := range c.Messages {
			if _, here := held.messages[m.ID]; here {
				remains.Messages = append(remains.Messages, m)
			}
		}
		kept = append(kept, remains)
	}
	set.Conversations = slices.Clip(kept)
	return dropped, nil
}
