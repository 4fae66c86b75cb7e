package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/intake"
	"github.com/scrollback-ai/scrollback/store"
)

// Backlog is a conversation that messages are added to outside any turn.
type Backlog struct {
	Room intake.Room // for what is added

	e  *Engine
	sh resolved
}

// Backlog prepares to add messages to a conversation of the caller's.
func (v *View) Backlog(ctx context.Context, c scrollback.Conversation) (*Backlog, error) {
	if err := v.door.may(scrollback.AccessWrite); err != nil {
		return nil, err
	}
	sh, err := v.e.resolve(ctx, c, Overrides{})
	if err != nil {
		return nil, err
	}
	sh.policy.Summarizes = false // a long file folds hundreds of times; nobody asked for as many calls
	return &Backlog{Room: sh.room(), e: v.e, sh: sh}, nil
}

// Compact folds what has become too much, without asking a model; head follows.
func (b *Backlog) Compact(ctx context.Context, head *store.Head) error {
	_, err := b.e.fit(ctx, head, b.sh, 0, func(scrollback.Receipt) {})
	return err
}

// Fits says why a conversation could not be asked here as it is: its model, its policy
// or its limit.
func (v *View) Fits(c scrollback.Conversation) error {
	_, err := v.e.choose(c, Overrides{}, scrollback.Learned{})
	return err
}

// DefaultPolicy is the policy that a conversation of a project gets when it names none.
func (v *View) DefaultPolicy(project string) string { return v.e.policyOf(project) }
