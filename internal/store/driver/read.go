package driver

import (
	"github.com/scrollback-ai/scrollback"
)

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
