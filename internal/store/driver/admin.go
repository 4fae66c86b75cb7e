package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Admin checks what is kept, and repairs it. It serves no request. It keeps a hash of each message as it
// was stored, made in the transaction that stores it; those of messages that an older program stored
// are made afterwards, by FillHashes.
type Admin interface {
	// WalkRows walks all rows in one snapshot of the database, page by page, and hands each
	// to the walk. It continues past damage and reports it as a flaw. An error of the
	// walk ends it and is returned as it is; other errors mean that the database could
	// not be read at all. Nothing is written.
	WalkRows(ctx context.Context, w AuditWalk) error

	// CopyDatabase writes one snapshot of the whole database to a new file at path, readable
	// by its owner alone, while others read and write. A path that exists is conflict;
	// one that is not in a file is refused. After an error nothing is at path.
	CopyDatabase(ctx context.Context, path string) error

	// Repair repairs one thing; see [Repair].
	Repair(ctx context.Context, m Repair) error

	// VerifyHashes compares the messages on the path of a branch, those with From <= seq <= To, with
	// their hashes. What cannot even be read as a message is compared like any other. The
	// query's Wanted is not used.
	VerifyHashes(ctx context.Context, q MessageQuery) (HashComparison, error)

	// FillHashes makes the hashes of some messages that have none, at most about limit of them, in one
	// transaction, and goes on where the call before it ended, in whichever process that was.
	// Done says that the end is reached; then nothing is written. A message is hashed as it is
	// now. Calls at the same time do no harm, but one of them does nothing.
	FillHashes(ctx context.Context, limit int) (FillResult, error)

	// FillKept stores what find finds in some messages that were stored before anything was kept of
	// them, at most about limit of them, in one transaction, and goes on where the call before it ended, in
	// whichever process that was. Done says that the end is reached; with a limit of 0 nothing else
	// is done. find is pure; it gets a message with the one before it on its branch, if that has one.
	// What is known stays as it is. Calls at the same time do no harm.
	FillKept(ctx context.Context, limit int, find KeptFinder) (FillResult, error)

	// RefillHashes lets FillHashes begin again, for messages that were stored behind its back.
	RefillHashes(ctx context.Context) error
}

// Repair repairs one thing, in one transaction: the first of the fields up to Lease
// that is set says which. It is judged inside the transaction, by the rows as they are
// then: what is sound stays as it is, without an error. What the rows leave open is
// conflict, a thing that does not exist is not_found, and then nothing is written. No
// repair changes or removes a message or a segment.
type Repair struct {
	// Heads makes a conversation's branches end where their messages do, and its own
	// count, current branch and newest turn agree with them. A current branch that is
	// missing is replaced by the one written last.
	Heads scrollback.ConversationID

	// View is what a branch shows from then on.
	View *ViewRepair

	// Recover brings back a row that is lost although what depends on it is there.
	Recover *LostRow

	// Sweep removes rows that belong to nothing.
	Sweep []StrayRow

	// Learned names a model: what is stored about it and cannot be read is removed.
	Learned string

	// Usage brings records of calls within their bounds, and where [Account.CompareSums]
	// finds sums of their day wrong, writes those that it has instead.
	Usage *UsageRepair

	// Lease closes an open turn as [Turns.TakeOver] does it. One whose lease has not ended is
	// conflict; one whose branch is missing keeps its draft, unless it is the conversation's newest.
	Lease scrollback.TurnID

	Now     int64
	Salvage func(expired scrollback.Turn) []Entry // of Lease
}

// ViewRepair replaces what a branch shows if its ViewVersion is still IfViewVersion,
// else it is conflict; whether the old view can be read does not matter.
type ViewRepair struct {
	Branch        scrollback.BranchID
	IfViewVersion int64
	View          scrollback.View
}

// UsageRepair names the usage of a model on one day, since 1970 (UTC).
type UsageRepair struct {
	Day   int64
	Model string
}

// LostRow names a row to bring back: a branch, else a conversation.
//
// A branch begins after the message that its first one follows: none for seq 1, else the
// only one of that seq whose sum agrees, in this conversation or one that it inherits
// from. An existing row that says otherwise is corrected. A branch that comes back shows
// everything.
//
// A conversation comes back as As, with what follows from its branches. In an existing
// row, only columns that cannot be read are emptied.
type LostRow struct {
	Branch       scrollback.BranchID
	Conversation scrollback.ConversationID
	As           scrollback.Conversation
}

// StrayRow is a row that may belong to nothing: a turn with its steps, a receipt by its
// number, the hashes of a branch's messages, the mention of Artifact by Conversation, the source of that name in it,
// the origins of it if Origins is set, the rows of its thread if Thread is, what is kept of a message under an id,
// the vectors of the branch with a number whose messages are missing, or with no conversation an artifact that
// none mentions.
type StrayRow struct {
	Turn         scrollback.TurnID
	Source       string
	Origins      bool
	Thread       bool
	Kept         scrollback.KeptID
	Vectors      int64
	Receipt      int64
	Hashes       scrollback.BranchID
	Conversation scrollback.ConversationID
	Artifact     scrollback.ArtifactID
}

// AuditWalk receives the rows of an audit, in this order: Total once; then each
// conversation by id, after it each of its branches by id, after that the branch's own
// messages by seq; then each segment, artifact and open turn by id.
// Flaws come at any time.
type AuditWalk struct {
	Total        func(messages int64) error
	Conversation func(scrollback.Conversation) error
	Branch       func(scrollback.Branch) error
	Message      func(scrollback.Message) error
	Unhashed     func(messages int64) error // that have no hash yet; often of a branch, and nil for nobody
	Segment      func(scrollback.Segment) error
	Artifact     func(a scrollback.Artifact, mentions int64) error // by how many conversations
	Turn         func(scrollback.Turn) error
	Flaw         func(Flaw) error
}

// Flaw is something wrong that only the database itself can see. Where names the row, as
// in "message <id>". Repair may mend it; nil says that nothing does.
type Flaw struct {
	Kind   string // one of the constants below
	Where  string
	Detail string
	Whole  bool // it is of the file, not of a row: nothing should be written to it
	Repair *Repair
}

// The kinds of flaw.
const (
	FlawDamage = "damage" // bytes of the file, or of one row, that cannot be read
	FlawOrphan = "orphan" // a row that belongs to nothing
	FlawHash   = "hash"   // a message that is not as it was stored, by its hash
	FlawIndex  = "index"  // rows of the search index that cannot be right; making it again repairs them
	FlawUsage  = "usage"  // an impossible record of a call, or sums that its records do not add up to
)
