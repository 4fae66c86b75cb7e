// Package driver is the contract between the store and a database.
//
// A method is one moment of the product and one transaction: Begin, Finish,
// Commit; never a row verb. Rows are the root's own types. A driver keeps them,
// allocates seqs inside its write transactions, and holds the invariants that
// only a transaction can hold: one open turn a conversation, nothing written by
// an owner who lost the lease, compare-and-set on a branch's view. Product rules
// (validation, ids, the clock, limits) are the store's; where one must be judged
// inside a transaction it arrives as a pure function.
//
// Words it adds: entry (a message on its way in, with the terms it is found by),
// head (a conversation with its current branch).
//
// Errors are *scrollback.Error with these codes: not_found, conflict, refused
// (not our database), unavailable (busy, full, gone), internal.
//
// It may not know HTTP, models, budgets or any one database.
package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Driver is what a database offers: its interfaces and an end.
type Driver interface {
	Log
	Find
	Book
	Audit
	Move
	Close() error
}

// Log keeps conversations, turns, messages and segments. All times are Unix ms.
type Log interface {
	// Create inserts a conversation with its first branch, the current one from
	// then on. An id that exists answers the stored conversation and false, whatever
	// the other fields say; one that was purged is conflict. A branch with a Parent
	// forks: that branch must hold AtSeq as one of its own messages, and the
	// conversation that is forked (c.Parent, or else the one that branch is of) must
	// not be in the trash, and own or inherit it; else it is not_found. HeadSeq and
	// Sum of a branch follow from AtSeq, whatever they were.
	Create(ctx context.Context, c scrollback.Conversation, b scrollback.Branch) (scrollback.Conversation, bool, error)

	// Patch lets edit change a conversation's own fields and stores the result
	// with a grown Version. It is not_found for an unknown id; an error of edit
	// changes nothing and is returned as it is.
	Patch(ctx context.Context, id scrollback.ConversationID, now int64, edit func(*scrollback.Conversation) error) (scrollback.Conversation, error)

	// Begin opens a turn; see [Begin].
	Begin(ctx context.Context, b Begin) (Begun, error)

	// Save keeps the draft of an open turn and renews its lease. It reports
	// whether somebody asked for the turn to stop. An owner who is not the
	// turn's, or a turn that is not open, is conflict.
	Save(ctx context.Context, s Save) (stop bool, err error)

	// Finish appends what a step produced and moves the turn on; see [Finish].
	Finish(ctx context.Context, f Finish) (Finished, error)

	// Append adds entries outside any turn; see [Append].
	Append(ctx context.Context, a Append) (Finished, error)

	// Stop asks whoever owns the turn to stop it. A turn that has ended stays as
	// it is; an unknown one is not_found.
	Stop(ctx context.Context, id scrollback.TurnID) error

	// Commit changes what a branch shows; see [Commit].
	Commit(ctx context.Context, c Commit) error

	// Rewind moves the head to an earlier message, or to another branch; see [Rewind].
	Rewind(ctx context.Context, r Rewind) (Head, error)

	// Unfold takes back a fold of a branch; see [Unfold].
	Unfold(ctx context.Context, u Unfold) (scrollback.Receipt, error)

	// Purge removes a conversation for good, a bounded step at a time; see [Purge].
	Purge(ctx context.Context, p Purge) (Purged, error)

	// PutArtifact records an artifact whose bytes are already kept; one that is
	// known stays as it is. With a conversation it also notes the mention, which
	// makes the artifact resolvable through that conversation.
	PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error
}

// Find reads. No method of it writes anything, whatever it meets.
type Find interface {
	// Head is a conversation and its current branch; not_found if unknown.
	Head(ctx context.Context, id scrollback.ConversationID) (Head, error)

	// Branch is one branch with its view; not_found if unknown.
	Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error)

	// Branches lists the branches of a conversation by id.
	Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error)

	// Turn is a turn as stored; not_found if unknown.
	Turn(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error)

	// LastTurn is the newest turn of a conversation; not_found if it had none.
	LastTurn(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error)

	// Conversations lists by the newest change first, then by id; with a prefix by
	// id ascending.
	Conversations(ctx context.Context, q ListQuery) ([]scrollback.Conversation, error)

	// Projects lists the projects that a conversation names, by name.
	Projects(ctx context.Context) ([]scrollback.Project, error)

	// Messages reads the path of a branch, whichever branches its messages are of:
	// those with From <= seq <= To, ascending. What it reads, it brings into memory.
	Messages(ctx context.Context, q MessageQuery) ([]scrollback.Message, error)

	// Segments are those with the given ids, in that order; not_found names the
	// first that is missing.
	Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error)

	// Refs lists what conversations mention, newest first, then by ref
	// descending: their segments and artifacts.
	Refs(ctx context.Context, q RefQuery) ([]scrollback.RefEntry, error)

	// Receipts lists the compactions of a conversation, newest first; Undone says which
	// of them were undone.
	Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error)

	// Search finds messages by their terms; see [SearchQuery].
	Search(ctx context.Context, q SearchQuery) (SearchResult, error)
}

// Entry is a message on its way into the log. An id that some message has is
// conflict, and nothing is written. Seq, Branch, ConversationID and Sum are set by
// the driver. Terms are what full-text search finds it by, in
// order and separated by spaces; each is lower-case letters and digits only.
type Entry struct {
	scrollback.Message
	Terms    string
	Mentions []scrollback.Artifact
}

// Head is a conversation with its current branch.
type Head struct {
	scrollback.Conversation
	Branch scrollback.Branch
}

// Begin opens a turn, in one transaction:
//
//  1. With an idempotency key seen since KeysSince: the same hash answers that
//     turn and Replayed, another hash is conflict.
//  2. A trashed conversation is not_found. An open turn whose lease has not ended
//     is conflict; one whose lease has is closed as interrupted, and what Salvage
//     makes of it is appended.
//  3. Admit judges the newest turn (nil if there was none, or the one just
//     closed); its error ends everything unwritten.
//  4. Edit may change the conversation's own fields; what the log decides (ID,
//     Branch, Messages, Version, Parent, the times) stays as it is. On a replay, a
//     conflict or a refusal it is not called.
//  5. Entries are appended and Turn is stored open. Turn.Seq becomes the head,
//     Turn.Branch the current branch.
type Begin struct {
	Turn      scrollback.Turn
	Now       int64
	KeysSince int64
	Entries   []Entry
	Admit     func(last *scrollback.Turn) error
	Edit      func(*scrollback.Conversation)
	Salvage   func(expired scrollback.Turn) []Entry
}

// Append adds Entries to the conversation's current branch, in one transaction.
// They carry their own times. A trashed conversation is not_found, an open turn
// whose lease has not ended is conflict, and so is a head other than IfHead, the
// head seq that the caller saw, or a current branch other than IfBranch; negative
// and empty mean any. An open turn whose lease has
// ended is settled first, as [Begin] does it.
type Append struct {
	Conversation scrollback.ConversationID
	Now          int64
	IfHead       int64
	IfBranch     scrollback.BranchID
	Entries      []Entry
	Salvage      func(expired scrollback.Turn) []Entry
}

// Reply is what Turn.Reply becomes once a turn's entries are appended, by Finish
// or salvaged: the last message of the assistant among them, else what it was.
func Reply(was scrollback.MessageID, entries []Entry) scrollback.MessageID {
	for _, e := range entries {
		if e.Role == scrollback.RoleAssistant {
			was = e.ID
		}
	}
	return was
}

// Begun is what Begin did. Entries are the messages it appended for the caller,
// numbered; Previous is the newest turn before this one, or nil.
type Begun struct {
	Head     Head
	Turn     scrollback.Turn
	Messages []scrollback.Message
	Previous *scrollback.Turn
	Replayed bool
}

// Save renews a turn.
type Save struct {
	Turn       scrollback.TurnID
	Owner      string
	Draft      scrollback.Draft
	LeaseUntil int64
}

// Finish appends Entries for an open turn that Owner holds (else conflict, and
// nothing is written), adds Usage to the books and stores the turn's new state.
// While State stays open the turn keeps its lease and its draft is emptied; any
// other state frees the conversation.
type Finish struct {
	Turn         scrollback.TurnID
	Owner        string
	Now          int64
	LeaseUntil   int64
	Entries      []Entry
	Usage        []scrollback.UsageRecord
	Learn        Learn // of a model's tokens; nil learns nothing
	State        scrollback.TurnState
	OpenCalls    []scrollback.ToolCall
	FinishReason string
	Failure      *scrollback.Failure
	Window       *scrollback.WindowMark
}

// Finished is the head after a write and the messages it appended, numbered.
type Finished struct {
	Head     Head
	Messages []scrollback.Message
}

// Commit folds: it stores new segments and gives the branch a new view, if the
// branch's ViewVersion is still IfViewVersion (else conflict, and nothing is
// written). The receipt is kept with the view it replaced. A Commit without
// segments only keeps the receipt, the usage and what the view remembers of
// attempts ([scrollback.View.Remember]).
type Commit struct {
	Conversation  scrollback.ConversationID
	Branch        scrollback.BranchID
	IfViewVersion int64
	View          scrollback.View
	Segments      []scrollback.Segment
	Receipt       scrollback.Receipt
	Usage         []scrollback.UsageRecord
	Now           int64
}

// Rewind makes message AtSeq of branch To.Parent the newest one of the
// conversation, in one transaction; without a parent, AtSeq is 0 and nothing is
// before the first message.
//
//  1. A trashed conversation is not_found; so is a parent that does not hold AtSeq
//     as one of its own messages, or is of a conversation whose messages this one
//     does not inherit. An open turn is conflict, unless its lease has ended: then
//     it is settled first, as [Begin] does it.
//  2. Where the parent is the conversation's own and ends with AtSeq, it becomes the
//     current branch. So does a branch that stands there already and has no message
//     of its own. Otherwise To is stored, and becomes it; its HeadSeq and Sum follow
//     from AtSeq.
//  3. The newest turn of the conversation becomes the one that ended with the new
//     head, or none.
//  4. Edit may change the conversation's own fields.
type Rewind struct {
	Conversation scrollback.ConversationID
	Now          int64
	To           scrollback.Branch // whole, with its view
	Edit         func(*scrollback.Conversation)
	Salvage      func(expired scrollback.Turn) []Entry
}

// Unfold puts back the view from before the newest fold of the branch that is not
// yet undone, and answers its receipt. When there is none, View is what the branch
// shows from then on, if its ViewVersion is still IfViewVersion (else conflict),
// and the receipt is empty; with no View either it is not_found.
type Unfold struct {
	Branch        scrollback.BranchID
	Now           int64
	IfViewVersion int64
	View          *scrollback.View
}

// Purge removes what belongs to a conversation and nobody else: messages that no
// other conversation's path holds, their search terms, segments that cover any of
// them, mentions of artifacts that no message left mentions, turns and receipts.
// An open turn whose lease has not ended is conflict, and so is, with TrashedBy, a
// conversation that has not been in the trash since then: somebody took it out
// meanwhile. From the first step on no other method knows the conversation. Each
// step removes at most Limit messages; the same call again goes on, and one for
// what is gone already is Done.
type Purge struct {
	Conversation scrollback.ConversationID
	Now          int64
	TrashedBy    int64 // 0: whether in the trash or not
	Limit        int
}

// Purged is one step of a purge. Kept counts the messages that stay because others
// inherit them. Loose are artifacts that nothing mentions any more: their rows are
// gone. Next is an ancestor that was purged before and may be able to give up more
// now that this conversation is gone.
type Purged struct {
	Done    bool
	Removed int64
	Kept    int64
	Loose   []scrollback.ArtifactID
	Next    scrollback.ConversationID
}

// Spares says whether a purge leaves a conversation that was put in the trash at a
// time, or is not there (0).
func (p Purge) Spares(deletedAt int64) bool {
	return p.TrashedBy != 0 && (deletedAt == 0 || deletedAt > p.TrashedBy)
}

// Kept says how far each branch of a conversation is needed, by the seq of the last
// message that somebody inherits: outside are the branches of other conversations
// that continue one of them. A branch that is not named is not needed.
func Kept(own, outside []scrollback.Branch) map[scrollback.BranchID]int64 {
	by := map[scrollback.BranchID]*scrollback.Branch{}
	for i := range own {
		by[own[i].ID] = &own[i]
	}
	kept := map[scrollback.BranchID]int64{}
	for _, o := range outside {
		for b, seq := by[o.Parent], o.AtSeq; b != nil && seq > kept[b.ID]; {
			kept[b.ID] = seq
			b, seq = by[b.Parent], b.AtSeq
		}
	}
	return kept
}

// ListQuery pages through conversations. Before is the last one of the page
// before, by (UpdatedAt, ID). Title matches as a case-insensitive substring.
type ListQuery struct {
	Prefix  string // of ids, in the trash or not; then nothing else but Limit counts
	Project string // empty: all
	Title   string
	Trash   bool // only those in the trash, else only those not
	Before  *ListKey
	Limit   int
}

// ListKey is a place in a list that is ordered by time, then id.
type ListKey struct {
	At int64
	ID string
}

// MessageQuery reads a run of the path of a branch.
type MessageQuery struct {
	Branch   scrollback.BranchID
	From, To int64
}

// RefQuery pages through refs. Ref, when set, looks for that one only; then no
// Conversations means any, otherwise none.
type RefQuery struct {
	Conversations []scrollback.ConversationID
	Kind          string
	Ref           scrollback.Ref
	Before        *ListKey
	Limit         int
}

// Match is what a search looks for. A message matches if it has every phrase of
// Must and, when Any is not empty, a term of Any or at least one Must. A term
// that ends in '*' matches every term with that beginning.
type Match struct {
	Any  []string
	Must [][]string
}

// SearchQuery finds messages. Conversations, Project, Role and the time of the
// message, From <= CreatedAt < To, narrow; empty means all. Messages of trashed conversations are found only where Conversations
// names them: a fork goes on reading what it inherited.
type SearchQuery struct {
	Match
	Conversations []scrollback.ConversationID
	Project       string
	Role          scrollback.Role
	From, To      int64 // To 0 is open
	Words         int   // how many terms of Any were asked for, the rest being guesses; 0: all
	Limit         int
}

// SearchResult is the best candidates, in no promised order, with what ranking
// them alike on every database takes: how many messages there are and how many
// hold each term of Any (counted up to [HoldingMax]). Truncated says that more
// messages matched than Limit: those that hold every word of Any, save words that
// no message holds, are kept first, and which of the others are is the database's
// choice.
type SearchResult struct {
	Found     []scrollback.Message
	Documents int64
	Holding   []int64 // parallel to Any
	Truncated bool
}

// HoldingMax bounds how far the holders of one term are counted.
const HoldingMax = 20000

// LeaseMax is how far ahead a lease may end, in ms. One that ends further ahead was
// written by a clock that has been set back since, and holds nothing.
const LeaseMax = 60_000

// Holds says whether a turn keeps others from writing to its conversation.
func Holds(t scrollback.Turn, now int64) bool {
	return t.State == scrollback.TurnOpen && t.LeaseUntil > now && t.LeaseUntil-now <= LeaseMax
}
