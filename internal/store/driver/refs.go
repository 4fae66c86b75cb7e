package driver

import (
	"github.com/scrollback-ai/scrollback"
)

// SourceVersion is the newest version of something that messages of a conversation refer to, such
// as a file, and the message that has its content. Name is a [scrollback.Reference]'s Source.
type SourceVersion struct {
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
