package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Words that origins share with the drivers.
type (
	// WorkedQuery finds conversations by where was worked on them.
	WorkedQuery = driver.WorkedQuery

	// Worked is a branch of such a conversation.
	Worked = driver.Worked
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

// Of are where conversations come from, as far as readers may know it: not where a tool keeps
// them on the machine that brought them. Of several copies one counts that has messages of its
// own.
func (p Origins) Of(ctx context.Context, ids []scrollback.ConversationID) (map[scrollback.ConversationID]scrollback.Origin, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := p.s.d.Origins.List(ctx, driver.OriginQuery{Conversations: ids, Trash: true, Limit: copiesMost * len(ids)})
	out, shared := map[scrollback.ConversationID]scrollback.Origin{}, map[scrollback.ConversationID]bool{}
	for _, o := range all {
		if _, known := out[o.Conversation]; !known || shared[o.Conversation] && !o.Shared {
			shared[o.Conversation] = o.Shared
			out[o.Conversation] = scrollback.Origin{Tool: o.Tool, ID: o.ID, Conversation: o.Conversation, Folder: o.Folder, GitBranch: o.GitBranch,
				ImportedAt: o.ImportedAt}
		}
	}
	return out, err
}

// copiesMost is how many copies of a conversation are looked at.
const copiesMost = 50

// Worked are the branches of what was worked on in some folders; see [WorkedQuery].
func (p Origins) Worked(ctx context.Context, q WorkedQuery) ([]Worked, error) {
	if q.Projects != nil && len(q.Projects) == 0 {
		return nil, nil
	}
	return p.s.d.Index.Worked(ctx, q)
}
