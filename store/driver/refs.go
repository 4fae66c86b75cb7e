package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Refs keeps what conversations mention.
type Refs interface {
	// PutArtifact records an artifact whose bytes are already stored; one that is
	// known stays as it is. With a conversation it also notes the mention, which
	// makes the artifact resolvable through that conversation.
	PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error

	// List lists what conversations mention, newest first, then by ref
	// descending: their segments and artifacts.
	List(ctx context.Context, q RefQuery) ([]scrollback.RefEntry, error)

	// Sources are the newest versions of sources that messages refer to, by name: of each
	// the one in the first of the conversations that has any. Those that none has are left
	// out.
	Sources(ctx context.Context, in []scrollback.ConversationID, names []string) ([]Source, error)
}

// Source is the newest version of something that messages of a conversation refer to, such
// as a file, and the message that has its content. Name is a [scrollback.Reference]'s Source.
type Source struct {
	Name    string
	Version int
	SHA256  string
	Branch  scrollback.BranchID
	Seq     int64
}

// RefQuery pages through refs. If Ref is set, only that one is looked for; no
// Conversations then means any of them, and otherwise none.
type RefQuery struct {
	Conversations []scrollback.ConversationID
	Projects      []string // of a Ref: only conversations of these mention it; nil: all
	Kind          string
	Ref           scrollback.Ref
	Before        *ListKey
	Limit         int
}
