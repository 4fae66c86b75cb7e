package driver

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Turns keeps turns: who holds a conversation, until when, and what came of it. It also says which
// server does a piece of work, and keeps what turns have taught about models.
type Turns interface {
	// Begin opens a turn; see [BeginRequest].
	Begin(ctx context.Context, b BeginRequest) (BeginResult, error)

	// SaveDraft keeps the draft of an open turn and renews its lease. It reports
	// whether somebody asked for the turn to stop. An owner who is not the
	// turn's, or a turn that is not open, is conflict.
	SaveDraft(ctx context.Context, s SavedDraft) (stop bool, err error)

	// FinishStep appends what a step produced and moves the turn on; see [FinishedStep].
	FinishStep(ctx context.Context, f FinishedStep) (AppendResult, error)

	// TakeOver closes an open turn whose lease has ended as interrupted, as Begin would, also one
	// beside others, and returns the turn as it is then. Any other turn is returned as stored; an
	// unknown one is not_found.
	TakeOver(ctx context.Context, t Takeover) (scrollback.Turn, error)

	// Stop asks the owner of the turn to stop it. A turn that has ended stays as
	// it is; an unknown one is not_found.
	Stop(ctx context.Context, id scrollback.TurnID) error

	// Get returns a turn as stored; not_found if unknown.
	Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error)

	// GetLast returns the newest turn of a conversation, by which it goes on: the one that holds it, else
	// the one that ended with its head; not_found if there is none.
	GetLast(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error)

	// ReadMeta returns what is kept about turns beside their messages; those of which nothing is,
	// or that do not exist, are left out. It must not be asked for more than ListMax.
	ReadMeta(ctx context.Context, ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error)

	// ReadSteps returns what the steps of a turn sent to its model, ascending; nothing for a turn
	// that is unknown.
	ReadSteps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error)

	// ReadTexts returns the texts that FinishStep kept for a conversation, by hash. Unknown ones are
	// left out.
	ReadTexts(ctx context.Context, of scrollback.ConversationID, hashes []string) (map[string]string, error)

	// ListUnsuccessful lists the turns that did not end well; see [TurnQuery].
	ListUnsuccessful(ctx context.Context, q TurnQuery) ([]scrollback.Turn, error)

	// ClaimWork takes a piece of work for its owner until Until, if nobody holds it or that owner
	// does, and reports whether it did. Otherwise nothing is written.
	ClaimWork(ctx context.Context, c Claim) (bool, error)

	// ReleaseWork gives back what its owner holds. A claim of somebody else, or none, stays as it
	// is.
	ReleaseWork(ctx context.Context, c Claim) error

	// ReadLearned returns what is known about a model; the zero value for nothing. What is stored
	// and cannot be read counts as nothing: it is learned again.
	ReadLearned(ctx context.Context, model string) (scrollback.Learned, error)

	// UpdateLearned lets edit change what is known about a model, in one transaction, and
	// stores the result unless nothing changed. edit is pure.
	UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error
}

// TurnQuery finds the turns on the path of a branch that are [scrollback.Turn.NeedsEntry]
// and whose LastSeq is in From to To: the newest Limit of them by (LastSeq, ID), ascending.
// Of a branch that the path leaves at a seq, those after which it was left are not on the
// path, unless the message there is theirs.
type TurnQuery struct {
	Branch   scrollback.BranchID
	From, To int64
	Limit    int
}

// BeginRequest opens a turn, in one transaction:
//
//  1. With an idempotency key seen since KeysSince: the same hash returns that
//     turn and Replayed, another hash is conflict.
//  2. A trashed conversation is not_found. An open turn whose lease has not ended
//     is conflict; one whose lease has is closed as interrupted, and what Salvage
//     makes of it is appended. With IfBranch, a head that was another one before that
//     is conflict too.
//  3. Admit judges the newest turn (nil if there was none, or the one just
//     closed); its error ends everything unwritten.
//     Then Tally, if not nil, is counted as by [Access.CountTally].
//  4. Edit may change the conversation's own fields; what the log decides (ID,
//     Branch, Messages, Version, Parent, the times) stays as it is. On a replay, a
//     conflict or a refusal it is not called.
//     With Without, the branch's view leaves out these messages from then on
//     ([scrollback.View]); if that changes it, its version grows.
//  5. If the current branch is another's, Entries begin the branch of [LeaveBranch] behind its head,
//     which becomes the current one ([Append]). They are appended and Turn is stored open. Turn.Seq and Turn.LastSeq become
//     the head, Turn.Branch the current branch.
//
// With At, the turn runs beside others: it holds nothing, and nothing that is open keeps it out. It begins
// where a [Rewind] to At would lead, and the branch there becomes the current one; an At that would
// be refused there is not_found. IfBranch is not looked at, Admit and Salvage are not called, and
// Previous is nil. An open turn that holds the conversation stays its newest turn; without one, that
// is the turn that had ended with the head before the entries, or none.
type BeginRequest struct {
	Turn      scrollback.Turn
	Now       int64
	KeysSince int64
	IfBranch  scrollback.BranchID // the head that the entries were made for; empty for any
	IfHead    int64
	At        *scrollback.Branch // whole, with its view, as in [Rewind]; nil for the head
	Entries   []Entry
	Thread    *threading.Rows // what is stored of the request that the turn answers; nil for nothing
	Admit     func(last *scrollback.Turn) error
	Tally     *Tally
	Edit      func(*scrollback.Conversation)
	Without   *[]int64 // nil changes nothing
	Salvage   func(expired scrollback.Turn) []Entry
}

// BeginResult is what Begin did. Entries are the messages it appended for the caller,
// numbered; Previous is the newest turn before this one, or nil.
type BeginResult struct {
	Head     Head
	Turn     scrollback.Turn
	Messages []scrollback.Message
	Previous *scrollback.Turn
	Replayed bool
	Tallied  int64 // the tally with this turn in it; 0 without one, or on a replay
}

// SavedDraft renews a turn. Meta, unless it is nil, takes the place of the turn's.
type SavedDraft struct {
	Turn       scrollback.TurnID
	Owner      string
	Draft      scrollback.Draft
	Meta       *scrollback.TurnMeta
	LeaseUntil int64
}

// FinishedStep appends Entries for an open turn that Owner holds (else conflict, and
// nothing is written), adds Usage to the books and stores the turn's new state. If there
// are entries, Turn.LastSeq becomes the seq of the last.
// They go to the turn's own branch, wherever the current one is. Where others have gone on
// there behind Turn.LastSeq, they begin the branch of [LeaveBranch], which Turn.Branch becomes, and
// the current branch too if the one before was; not of a turn that ends without an answer ([IsGivenUp]), for
// others have gone on from before it.
// A turn that ends at the head of the current branch becomes the conversation's newest turn, unless
// another one holds it; one that ends elsewhere makes way for the turn that ended with the head.
// Meta, unless it is nil, takes the place of the turn's.
// Sent, unless it is nil, is kept as the account of its step, in place of one that is there;
// and Texts, by hash, for as long as a conversation is there that a step named them in.
// While State stays open the turn keeps its lease and its draft is emptied; any
// other state frees the conversation.
type FinishedStep struct {
	Turn         scrollback.TurnID
	Owner        string
	Now          int64
	LeaseUntil   int64
	Entries      []Entry
	Thread       *threading.Rows // what is stored of the answer; nil for nothing
	Usage        []scrollback.UsageRecord
	Learn        FactorUpdate // of a model's tokens; nil learns nothing
	State        scrollback.TurnState
	OpenCalls    []scrollback.ToolCall
	FinishReason string
	Failure      *scrollback.Failure
	Window       *scrollback.WindowMark
	Meta         *scrollback.TurnMeta
	Sent         *scrollback.SentRequest
	Texts        map[string]string
}

// IsGivenUp reports whether a state is that of a turn that ended without a whole answer.
func IsGivenUp(s scrollback.TurnState) bool {
	return s == scrollback.TurnInterrupted || s == scrollback.TurnFailed
}

// Takeover names a turn that nobody may run any more. What Salvage makes of it is appended as by
// [FinishedStep], but that the current branch stays the current one.
type Takeover struct {
	Turn    scrollback.TurnID
	Now     int64
	Salvage func(expired scrollback.Turn) []Entry
}

// ReplyAfter returns what Turn.Reply becomes once a turn's entries are appended, by FinishStep
// or salvaged: the last message of the assistant among them, else what it was.
func ReplyAfter(was scrollback.MessageID, entries []Entry) scrollback.MessageID {
	for _, e := range entries {
		if e.Role == scrollback.RoleAssistant {
			was = e.ID
		}
	}
	return was
}

// LeaveBranch returns the branch with which a turn goes on that has brought message seq of a branch, where
// others have gone on behind it: it begins with the message first, whose id it has too, and shows
// what the other one shows, or everything if a fold there covers more than up to seq. Parent,
// HeadSeq and Sum follow from AtSeq.
func LeaveBranch(b scrollback.Branch, seq int64, first scrollback.MessageID) scrollback.Branch {
	out := scrollback.Branch{ID: scrollback.BranchID(first), Conversation: b.Conversation, AtSeq: seq, View: b.View}
	if b.View.Boundary > seq {
		out.View = scrollback.View{Language: b.View.Language}
	}
	out.View = out.View.WithLeftOut(slices.DeleteFunc(slices.Clone(b.View.Without),
		func(left int64) bool { return left > seq }))
	return out
}

// LeaseMax is how far ahead a lease may end, in ms. One that ends further ahead was
// written by a clock that has been set back since, and holds nothing.
const LeaseMax = 60_000

// HoldsConversation reports whether a turn keeps others from writing to its conversation.
func HoldsConversation(t scrollback.Turn, now int64) bool {
	return t.State == scrollback.TurnOpen && t.LeaseUntil > now && t.LeaseUntil-now <= LeaseMax
}

// Claim is a piece of work, named within a conversation, or within the whole database where
// Conversation is empty. Owner is one doer, not one server: two in one process differ. Now
// and Until are Unix ms of the store's clock.
type Claim struct {
	Conversation scrollback.ConversationID
	Work         string
	Owner        string
	Now, Until   int64
}

// IsClaimed reports whether a claim that ends at until keeps others away. One that ends more
// than LeaseMax ahead was written by a clock that has been set back since.
func IsClaimed(until, now int64) bool { return until > now && until-now <= LeaseMax }
