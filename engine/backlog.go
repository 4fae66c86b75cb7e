package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/intake"
	"github.com/scrollback-ai/scrollback/store"
)

// Bulk reads and writes whole histories for a caller; it exists for package transfer.
type Bulk struct{ v *View }

// Bulk is for whole histories on their way in or out.
func (v *View) Bulk() Bulk { return Bulk{v} }

// Head is a conversation with its current branch: where to read or write next.
func (b Bulk) Head(ctx context.Context, id scrollback.ConversationID, need scrollback.Access) (store.Head, error) {
	return b.v.door.head(ctx, id, need)
}

// DefaultPolicy is the policy that a conversation of a project gets when it names none.
func (b Bulk) DefaultPolicy(project string) string { return b.v.e.policyOf(project) }

// Backlog is a conversation that messages are added to outside any turn.
type Backlog struct {
	Room intake.Room // for what is added

	e  *Engine
	sh resolved
}

// Backlog prepares to add messages to a conversation of the caller's.
func (b Bulk) Backlog(ctx context.Context, c scrollback.Conversation) (*Backlog, error) {
	if err := b.v.door.may(scrollback.AccessWrite); err != nil {
		return nil, err
	}
	sh, err := b.v.e.resolve(ctx, c, Overrides{})
	if err != nil {
		return nil, err
	}
	sh.policy.Summarizes = false // a long file folds hundreds of times; nobody asked for that many calls
	return &Backlog{Room: sh.room(), e: b.v.e, sh: sh}, nil
}

// Compact folds what no longer fits, without asking a model, and updates head.
func (b *Backlog) Compact(ctx context.Context, head *store.Head) error {
	_, err := b.e.fit(ctx, head, b.sh, 0, func(scrollback.Receipt) {})
	return err
}

// Fits returns an error if the conversation cannot be continued here as it is, because
// of its model, policy or limit.
func (v *View) Fits(c scrollback.Conversation) error {
	_, err := v.e.choose(c, Overrides{}, scrollback.Learned{})
	return err
}
