package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Reader reads the log. None of its methods ever writes anything.
type Reader interface {
	// Head is a conversation and its current branch; not_found if unknown.
	Head(ctx context.Context, id scrollback.ConversationID) (Head, error)

	// Branch is one branch with its view; not_found if unknown.
	Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error)

	// Branches lists the branches of a conversation by id.
	Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error)

	// Conversations lists by the newest change first, then by id; with a prefix by
	// id ascending.
	Conversations(ctx context.Context, q ListQuery) ([]scrollback.Conversation, error)

	// Projects lists the projects that a conversation out of the trash names or that are
	// stored, by name: with the number of those conversations but for sub-agents, Title,
	// Version and times.
	Projects(ctx context.Context) ([]scrollback.Project, error)

	// Messages reads the path of a branch, whichever branches its messages are of:
	// those with From <= seq <= To, ascending. All of them are read into memory.
	Messages(ctx context.Context, q MessageQuery) ([]scrollback.Message, error)

	// Shape counts the path of a branch in bins: message s is in bin (s-1)*Bins/Head, and a
	// bin that has no message is left out. No message beyond Head is counted.
	Shape(ctx context.Context, q ShapeQuery) ([]scrollback.ShapeBin, error)
}

// Head is a conversation with its current branch.
type Head struct {
	scrollback.Conversation
	Branch scrollback.Branch
}

// ListQuery pages through conversations. Before is the last one of the page
// before, by (UpdatedAt, ID). Title matches as a case-insensitive substring. AgentOf lists
// the sub-agents of some conversations, no others; nil leaves sub-agents out of the list of
// what is not in the trash.
type ListQuery struct {
	Prefix   string   // of ids, in the trash or not; then only Projects and Limit count
	Projects []string // only of these; nil: all
	Title    string
	Trash    bool // only those in the trash, else only those not
	Pinned   bool // only those whose settings pin them
	AgentOf  []scrollback.ConversationID
	Before   *ListKey
	Limit    int
}

// ListKey is a place in a list that is ordered by time, then id.
type ListKey struct {
	At int64
	ID string
}

// MessageQuery reads a run of the path of a branch. Wanted, unless nil, is called once for
// each of its messages, in any order, with the parts as JSON, which it must not keep; those
// for which it returns false are left out.
type MessageQuery struct {
	Branch   scrollback.BranchID
	From, To int64
	Wanted   func(parts []byte) bool
}

// ShapeQuery cuts the path of a branch up to Head, which is at least 1, into Bins.
type ShapeQuery struct {
	Branch scrollback.BranchID
	Head   int64
	Bins   int64
}
