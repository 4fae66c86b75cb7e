package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Log keeps conversations, their branches and messages, and what comes with them: artifacts and other
// sources that they mention, where imported ones come from, and what has changed. All times are
// Unix ms.
type Log interface {
	// CreateConversation inserts a conversation with its first branch, the current one from
	// then on. An id that exists returns the stored conversation and false, whatever
	// the other fields say; one that was purged is conflict. A branch with a Parent
	// forks: that branch must hold AtSeq as one of its own messages, and the
	// conversation that is forked (c.Parent, or else the one that branch is of) must
	// not be in the trash, and own or inherit it; else it is not_found. HeadSeq and
	// Sum of a branch follow from AtSeq, whatever they were.
	CreateConversation(ctx context.Context, c scrollback.Conversation,
		b scrollback.Branch) (scrollback.Conversation, bool, error)

	// PatchConversation lets edit change a conversation's own fields and stores the result
	// with a grown Version. AgentOf never changes. It is not_found for an unknown id; an error of edit
	// changes nothing and is returned as it is.
	PatchConversation(ctx context.Context, id scrollback.ConversationID, now int64,
		edit func(*scrollback.Conversation) error) (scrollback.Conversation, error)

	// ChangeTitle moves a conversation's title on; see [TitleChange]. It reports whether the
	// conversation was in the state From; not_found if unknown.
	ChangeTitle(ctx context.Context, e TitleChange) (bool, error)

	// AppendEntries adds entries outside any turn; see [Append].
	AppendEntries(ctx context.Context, a Append) (AppendResult, error)

	// RewindHead moves the head to an earlier message, or to another branch; see [Rewind].
	RewindHead(ctx context.Context, r Rewind) (Head, error)

	// PurgeConversation removes a conversation for good, a bounded step at a time; see [Purge].
	PurgeConversation(ctx context.Context, p Purge) (PurgeResult, error)

	// ReadHead returns a conversation and its current branch; not_found if unknown.
	ReadHead(ctx context.Context, id scrollback.ConversationID) (Head, error)

	// FindBranch returns one branch with its view; not_found if unknown.
	FindBranch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error)

	// ListBranches lists the branches of a conversation by id.
	ListBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error)

	// ListConversations lists by the newest change first, then by id; with a prefix by
	// id ascending.
	ListConversations(ctx context.Context, q ListQuery) ([]scrollback.Conversation, error)

	// ReadMessages reads the path of a branch, whichever branches its messages are of:
	// those with From <= seq <= To, ascending. All of them are read into memory.
	ReadMessages(ctx context.Context, q MessageQuery) ([]scrollback.Message, error)

	// ReadShape counts the path of a branch in bins: message s is in bin (s-1)*Bins/Head, and a
	// bin that has no message is left out. No message beyond Head is counted.
	ReadShape(ctx context.Context, q ShapeQuery) ([]scrollback.ShapeBin, error)

	// AdoptHistory brings rows that were made elsewhere; see [Adoption].
	AdoptHistory(ctx context.Context, a Adoption) error

	// FindOwners returns which conversations the messages of some ids belong to. Ids that no message has are left out.
	FindOwners(ctx context.Context, ids []scrollback.MessageID) (map[scrollback.MessageID]scrollback.ConversationID, error)

	// PutArtifact records an artifact whose bytes are already stored; one that is
	// known stays as it is. With a conversation it also notes the mention, which
	// makes the artifact resolvable through that conversation.
	PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error

	// ListRefs lists what conversations mention, newest first, then by ref
	// descending: their segments and artifacts.
	ListRefs(ctx context.Context, q RefQuery) ([]scrollback.RefEntry, error)

	// FindSources returns the newest versions of sources that messages refer to, by name: of each
	// the one in the first of the conversations that has any. Those that none has are left
	// out.
	FindSources(ctx context.Context, in []scrollback.ConversationID, names []string) ([]SourceVersion, error)

	// ReadKept reads what is kept of the messages on a path; see [KeptQuery].
	ReadKept(ctx context.Context, q KeptQuery) ([]scrollback.Kept, error)

	// ChangeKept adds what a person says about a kept sentence; see [KeptChange].
	ChangeKept(ctx context.Context, c KeptChange) error

	// PutOrigin stores an origin, in the place of the one of the same conversation, tool and id,
	// and of the one that conversation instead has of them, unless that is empty. It is
	// not_found if there is no such conversation. One that was purged under that tool and id
	// from the same project is no longer marked so.
	PutOrigin(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error

	// ListOrigins returns origins by tool, id and conversation, ascending; see [OriginQuery].
	ListOrigins(ctx context.Context, q OriginQuery) ([]scrollback.Origin, error)

	// WasOriginPurged reports whether a conversation of one of some projects, or any if they are nil,
	// was purged that had an origin of this tool and id, and has not come back.
	WasOriginPurged(ctx context.Context, tool, id string, projects []string) (bool, error)

	// ReadClocks returns the clocks of an owner by field, ascending. A field that has none is as old as its owner;
	// so is a pin of PinnedSeqs whose message has none.
	ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error)

	// PutClocks stores clocks that were set elsewhere, each in the place of the one that its field has.
	PutClocks(ctx context.Context, all []stamp.Clock) error

	// ReadReadings returns those of a conversation, by branch and seq.
	ReadReadings(ctx context.Context, id scrollback.ConversationID) ([]Reading, error)

	// ReadStone returns the stone of a conversation; not_found if it has none.
	ReadStone(ctx context.Context, id scrollback.ConversationID) (stamp.Stone, error)

	// ListStones lists stones by id, ascending, from behind an id on, at most limit.
	ListStones(ctx context.Context, after scrollback.ConversationID, limit int) ([]stamp.Stone, error)

	// PutStone stores a stone that was made elsewhere, unless the one that is here beats it. It is conflict
	// while people see the conversation: then [Purge] stores it.
	PutStone(ctx context.Context, s stamp.Stone) error

	// Node returns the id of this store, which is made if it has none. It belongs to the place where the
	// store is: a copy gets another when it is opened.
	Node(ctx context.Context) (string, error)

	// PutAliases stores ids that were given up, in their order; what an id is said to stand for last counts. An alias
	// leads to what is shown: where Now was given up itself, to what that stands for; those of an ID that is given
	// up lead on with it; and Now is no alias of its ID any more. One of an ID that is Now says nothing.
	PutAliases(ctx context.Context, all []Alias) error

	// FindAliases returns the aliases of a kind whose ids begin with a prefix, by id, at most limit.
	FindAliases(ctx context.Context, kind AliasKind, prefix string, limit int) ([]Alias, error)

	// ListChanges lists what was done after change number after, oldest first, at most limit.
	// A change is seen only together with all that have smaller numbers, whichever process
	// made them.
	ListChanges(ctx context.Context, after int64, limit int) ([]Change, error)

	// ReadChangeSpan returns the numbers of the oldest and of the newest change that is kept; 0 and 0
	// if there is none.
	ReadChangeSpan(ctx context.Context) (oldest, newest int64, err error)

	// ReadMark returns a mark of what is stored: while it stays the same, nothing that stores exchange was
	// written. A copy of the database has the same marks until one of both goes on, and then others.
	ReadMark(ctx context.Context) (string, error)

	// ReadChanged returns what was written since ReadMark returned a mark, here or in a database of which this one is
	// a copy.
	ReadChanged(ctx context.Context, mark string) (Changed, error)

	// ReadDigests returns the ids of all conversations that were not purged and of all stones, with the digests
	// that StoreDigests stored if nothing of them was written since. An id of which nothing is left may be among
	// them, without a digest.
	ReadDigests(ctx context.Context) (Digests, error)

	// StoreDigests stores digests that were worked out after ReadDigests had returned their At; those without one
	// are forgotten. All says that they are all that ReadDigests had none of. What is known better stays.
	StoreDigests(ctx context.Context, d Digests, all bool) error

	// ListMet returns marks of other stores: what each held then was taken. A repair forgets them.
	ListMet(ctx context.Context) ([]string, error)

	// PutMet stores such a mark, in the place of an older one of that store if there is one. Of many the oldest go.
	PutMet(ctx context.Context, mark, instead string, now int64) error

	// Committed receives after this process has committed something, at the latest when
	// everything that was committed before can be read. It has one receiver; what it does
	// not take is not sent twice.
	Committed() <-chan struct{}
}

// Entry is a message to be stored in the log. An id that some message already has is
// conflict, and nothing is written. Seq, Branch, ConversationID and Sum are set by
// the driver, and where the message is in its sources and in what is kept of it.
type Entry struct {
	scrollback.Message
	Mentions []scrollback.Artifact
	Sources  []SourceVersion   // whose content it has; each replaces one of no higher version
	Kept     []scrollback.Kept // what is kept of it by rule; the driver sets where the message is
}

// Append adds Entries to the conversation's current branch, in one transaction.
// They carry their own times. A trashed conversation is not_found, an open turn
// whose lease has not ended is conflict, and so is a head other than IfHead, the
// head seq that the caller saw, or a current branch other than IfBranch; negative
// and empty mean any. An open turn whose lease has ended is closed first, as [BeginRequest] does
// it.
//
// A branch has one writer. With Elsewhere, one that has no message of its own becomes another's
// ([scrollback.Branch.Elsewhere]), and any other stays as it is. Without, entries for a branch that is
// another's begin the branch of [LeaveBranch] behind it, which becomes the current one.
//
// With Beside, Entries are added to that branch instead, and the conversation stays as it is: its path does not lead to
// them until a turn begins behind them. A branch that is there must be the conversation's own, not the current one, and
// end with the HeadSeq of Beside, else it is conflict; one that is not there is stored first, as [Rewind] does
// it. IfHead and IfBranch are not looked at, Salvage is not called, and nothing that is open keeps it out.
type Append struct {
	Conversation scrollback.ConversationID
	Now          int64
	IfHead       int64
	IfBranch     scrollback.BranchID
	Beside       *scrollback.Branch // whole, with its view
	Entries      []Entry
	Thread       *threading.Rows // written with them; nil for nothing
	Elsewhere    bool            // they are what another wrote, such as a tool's file
	Salvage      func(expired scrollback.Turn) []Entry
}

// AppendResult is the head after a write and the messages it appended, numbered. Where they are not on the current
// branch, the head has theirs.
type AppendResult struct {
	Head     Head
	Messages []scrollback.Message
}

// Rewind makes message AtSeq of branch To.Parent the newest one of the
// conversation, in one transaction; without a parent, AtSeq is 0: back to before the
// first message.
//
//  1. A trashed conversation is not_found; so is a parent that does not hold AtSeq
//     as one of its own messages, or is of a conversation whose messages this one
//     does not inherit. An open turn is conflict, unless its lease has ended: then
//     it is closed first, as [BeginRequest] does it.
//  2. Where the parent is the conversation's own and ends with AtSeq, it becomes the
//     current branch. So does a branch that stands there already and has no message
//     of its own; where To is Named, only the one with its id. Otherwise To is stored, and
//     becomes it; its HeadSeq and Sum follow from AtSeq. A branch that is elsewhere, or has
//     messages, and has the id of a Named one is conflict.
//  3. The newest turn of the conversation becomes the one that ended with the new
//     head, or none. One beside others that is still open there is not meant.
//  4. Edit may change the conversation's own fields.
type Rewind struct {
	Conversation scrollback.ConversationID
	Now          int64
	To           scrollback.Branch // whole, with its view
	Named        bool              // its id means something
	Edit         func(*scrollback.Conversation)
	Salvage      func(expired scrollback.Turn) []Entry
}

// Purge removes what belongs to a conversation and no other: messages that no
// other conversation's path holds, their search terms, segments that cover any of
// them, the sources whose content they have, mentions of artifacts that no message left
// mentions, turns, receipts and the rows of its thread.
// An open turn whose lease has not ended is conflict, also one beside others, and so is, with TrashedBy, a
// conversation that has not been in the trash since then: somebody took it out
// meanwhile. From the first step on, no other method knows the conversation, and it has a stone: Stone, or one that is
// made with Now, unless one that beats it is here. Of a conversation that nobody sees yet no stone is made. Each step
// removes at most Limit messages and rows of the thread; the same call again continues, and one for what is
// already gone is Done.
type Purge struct {
	Conversation scrollback.ConversationID
	Now          int64
	TrashedBy    int64 // 0: whether in the trash or not
	Stone        *stamp.Stone
	Limit        int
}

// PurgeResult is one step of a purge. Kept counts the messages that stay because others
// inherit them. Loose are artifacts that nothing mentions any more: their rows are gone.
// Next is an ancestor that was purged earlier and of which more may be removable now that
// this conversation is gone.
type PurgeResult struct {
	Done    bool
	Removed int64
	Kept    int64
	Loose   []scrollback.ArtifactID
	Next    scrollback.ConversationID
}

// Spares reports whether a purge leaves a conversation that was put in the trash at a
// time, or is not there (0).
func (p Purge) Spares(deletedAt int64) bool {
	return p.TrashedBy != 0 && (deletedAt == 0 || deletedAt > p.TrashedBy)
}

// FindNeededSeqs returns how far each branch of a conversation is needed, by the seq of the last
// message that somebody inherits: outside are the branches of other conversations
// that continue one of them. A branch that is not named is not needed.
func FindNeededSeqs(own, outside []scrollback.Branch) map[scrollback.BranchID]int64 {
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
