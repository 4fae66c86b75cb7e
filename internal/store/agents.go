package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// agentsMost bounds how many sub-agents of a conversation are walked, whatever a database
// holds.
const agentsMost = 10_000

// ListBelow returns the sub-agents of a conversation and theirs, each before its own; with
// trash also those in the trash.
func (p Agents) ListBelow(ctx context.Context, id scrollback.ConversationID,
	trash bool) ([]scrollback.Conversation, error) {
	lists := []bool{false, true}
	if !trash {
		lists = lists[:1]
	}
	var out []scrollback.Conversation
	for of := []scrollback.ConversationID{id}; len(of) > 0 && len(out) < agentsMost; {
		var next []scrollback.ConversationID
		for _, in := range lists {
			page, err := p.s.d.Log.ListConversations(ctx, driver.ListQuery{AgentOf: of, Trash: in, Limit: agentsMost})
			if err != nil {
				return nil, err
			}
			for _, c := range page {
				next = append(next, c.ID)
			}
			out = append(out, page...)
		}
		of = next
	}
	return out, nil
}

// editAgents edits the sub-agents of a conversation, in the trash or not. The edit reports
// whether it changed anything, and may be called twice.
func (p Agents) editAgents(ctx context.Context, id scrollback.ConversationID,
	edit func(*scrollback.Conversation) bool) error {
	all, err := p.ListBelow(ctx, id, true)
	for _, c := range all {
		if err != nil {
			return err
		}
		if !edit(&c) {
			continue
		}
		_, err = p.s.d.Log.PatchConversation(ctx, c.ID, p.s.Now(),
			func(c *scrollback.Conversation) error { edit(c); return nil })
		if scrollback.CodeOf(err) == scrollback.NotFound { // purged meanwhile
			err = nil
		}
	}
	return err
}

// TrashConversation puts a conversation in the trash, from which it can be restored, and its
// sub-agents with it. After an error the same call continues.
func (s *Store) TrashConversation(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	out, err := s.PatchConversation(ctx, id, 0, func(c *scrollback.Conversation) error {
		if c.DeletedAt == 0 {
			c.DeletedAt = s.Now()
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	return out, s.Agents.editAgents(ctx, id, func(c *scrollback.Conversation) bool {
		goes := c.DeletedAt == 0
		if goes {
			c.DeletedAt = out.DeletedAt
		}
		return goes
	})
}

// RestoreConversation takes a conversation out of the trash, and those of its sub-agents that went
// there with it. A sub-agent whose conversation is in the trash is conflict. After an error
// the same call continues.
func (s *Store) RestoreConversation(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation,
	error) {
	was, err := s.ReadHead(ctx, id)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	with, err := s.Agents.IsTrashedWithParent(ctx, was.Conversation)
	if err == nil && with {
		err = scrollback.Errorf(scrollback.Conflict, "store.RestoreConversation",
			i18n.ParentConversationInTrash, was.AgentOf.ID)
	}
	if err != nil {
		return scrollback.Conversation{}, err
	}
	if was.DeletedAt != 0 { // the conversation itself comes last: until then it says when it went
		err = s.Agents.editAgents(ctx, id, func(c *scrollback.Conversation) bool {
			went := c.DeletedAt == was.DeletedAt
			if went {
				c.DeletedAt = 0
			}
			return went
		})
	}
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return s.PatchConversation(ctx, id, 0, func(c *scrollback.Conversation) error { c.DeletedAt = 0; return nil })
}

// IsTrashedWithParent reports whether a conversation is the sub-agent of one that is in the trash:
// it leaves the trash with that one only.
func (p Agents) IsTrashedWithParent(ctx context.Context, c scrollback.Conversation) (bool, error) {
	if c.AgentOf == nil {
		return false, nil
	}
	of, err := p.s.ReadHead(ctx, c.AgentOf.ID)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return false, nil
	}
	return of.DeletedAt != 0, err
}

// ListPurgeOrder returns what goes with a conversation that is to be purged, in the order in which
// to purge it: its sub-agents, and last itself. Like [Store.PurgeConversation] it returns conflict for
// one that is not to be purged, so that no sub-agent goes in vain.
func (p Agents) ListPurgeOrder(ctx context.Context, id scrollback.ConversationID,
	trashedBy int64) ([]scrollback.ConversationID, error) {
	const op = "store.PurgeConversation"
	all, err := p.ListBelow(ctx, id, true)
	if err != nil {
		return nil, err
	}
	out := []scrollback.ConversationID{id}
	if len(all) == 0 {
		return out, nil
	}
	switch h, err := p.s.ReadHead(ctx, id); {
	case scrollback.CodeOf(err) == scrollback.NotFound:
	case err != nil:
		return nil, err
	case driver.Purge{TrashedBy: trashedBy}.Spares(h.DeletedAt):
		return nil, scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationTakenOutOfTrash, id)
	default:
		last, err := p.s.d.Turns.GetLast(ctx, id)
		if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
			return nil, err
		}
		if err == nil && driver.HoldsConversation(last, p.s.Now()) {
			return nil, scrollback.Errorf(scrollback.Conflict, op, i18n.TurnIsOpen, id)
		}
	}
	for _, c := range all {
		out = append(out, c.ID)
	}
	slices.Reverse(out)
	return out, nil
}
