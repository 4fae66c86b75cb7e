package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Origins keeps where imported conversations come from. They go with their conversation
// when it is purged.
type Origins interface {
	// Put stores an origin, in the place of the one of the same conversation, tool and id.
	// It is not_found if there is no such conversation.
	Put(ctx context.Context, o scrollback.Origin) error

	// List returns origins by tool, id and conversation, ascending; see [OriginQuery].
	List(ctx context.Context, q OriginQuery) ([]scrollback.Origin, error)
}

// OriginQuery pages through origins. Each field that is set narrows it.
type OriginQuery struct {
	Tool, ID      string
	Root          string
	Place         string
	Folder        string // that one, or below it
	Conversations []scrollback.ConversationID
	Projects      []string          // of the conversations; nil for no such bound
	Trash         bool              // with those of conversations in the trash
	After         scrollback.Origin // begin behind its Tool, ID and Conversation
	Limit         int               // 0 means 200, at most 10,000
}
