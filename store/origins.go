package store

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Put stores where a conversation comes from, in the place of what it had of the same tool
// and id; so does what another conversation, instead, had of them, unless that is empty.
// It is not_found if there is no such conversation, and invalid without a tool and an id.
func (p Origins) Put(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	if o.Tool == "" || o.ID == "" || o.Conversation == "" {
		return scrollback.Errorf(scrollback.Invalid, "store.Origins.Put", "an origin needs a tool, an id and a conversation")
	}
	o.ImportedAt = cmp.Or(o.ImportedAt, p.s.Now())
	return p.s.d.Origins.Put(ctx, o, instead)
}

// List returns a page of origins by tool, id and conversation, ascending; none for an empty,
// but not nil, list of projects or conversations.
func (p Origins) List(ctx context.Context, q OriginQuery) ([]scrollback.Origin, error) {
	if q.Projects != nil && len(q.Projects) == 0 || q.Conversations != nil && len(q.Conversations) == 0 {
		return nil, nil
	}
	return p.s.d.Origins.List(ctx, q)
}

// Purged reports whether a conversation of one of some projects, or any if they are nil, was
// purged that came from this tool under this id, and has not been brought again.
func (p Origins) Purged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	return p.s.d.Origins.Purged(ctx, tool, id, projects)
}
