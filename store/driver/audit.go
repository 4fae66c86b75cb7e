package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Audit is for checking what is kept. It is apart from Find, whose methods serve
// requests: it reads everything there is.
type Audit interface {
	// Audit walks all rows in one picture of the database, page by page, and hands
	// each to the walk. It goes on past what is damaged and reports it as a flaw. An
	// error of the walk ends it and is returned as it is; other errors mean that the
	// database could not be read at all. Nothing is written.
	Audit(ctx context.Context, w AuditWalk) error
}

// AuditWalk takes the rows of an audit, in this order: Total once; then each
// conversation by id, behind it each of its branches by id, behind that the
// branch's own messages by seq; then each segment, artifact and open turn by id.
// Flaws come at any time.
type AuditWalk struct {
	Total        func(messages int64) error
	Conversation func(scrollback.Conversation) error
	Branch       func(scrollback.Branch) error
	Message      func(m scrollback.Message, indexed bool) error // indexed: search has terms of it
	Segment      func(scrollback.Segment) error
	Artifact     func(a scrollback.Artifact, mentions int64) error // by how many conversations
	Turn         func(scrollback.Turn) error
	Flaw         func(Flaw) error
}

// Flaw is what only the database itself can see is wrong. Where names the row, as
// "message <id>".
type Flaw struct {
	Kind   string // one of the constants below
	Where  string
	Detail string
}

// The kinds of flaw.
const (
	FlawDamage = "damage" // bytes of the file, or of one row, that cannot be read
	FlawOrphan = "orphan" // a row that belongs to nothing
	FlawIndex  = "index"  // an entry of the search index without its message
)
