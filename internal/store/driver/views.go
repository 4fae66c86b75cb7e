package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Views keeps what branches show: segments, and the folds that put them there.
type Views interface {
	// CommitFold changes what a branch shows; see [FoldCommit].
	CommitFold(ctx context.Context, c FoldCommit) error

	// UndoFold undoes a fold of a branch; see [FoldUndo].
	UndoFold(ctx context.Context, u FoldUndo) (scrollback.Receipt, error)

	// RedoFold does a fold again that was undone; see [FoldRedo].
	RedoFold(ctx context.Context, r FoldRedo) (scrollback.Receipt, error)

	// ListFolds lists the folds of a branch that brought segments; see [FoldQuery].
	ListFolds(ctx context.Context, q FoldQuery) ([]Fold, error)

	// ReadSegments returns the segments with the given ids, in that order; not_found names the
	// first that is missing.
	ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error)

	// ListReceipts lists the compactions of a conversation, newest first; Undone says which
	// of them were undone.
	ListReceipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error)

	// ListStoredReceipts lists the receipts that CommitFold has stored for a conversation, oldest first,
	// after the first skip.
	ListStoredReceipts(ctx context.Context, id scrollback.ConversationID, skip,
		limit int) ([]scrollback.StoredReceipt, error)
}

// FoldCommit folds: it stores new segments and gives the branch a new view, if the
// branch's ViewVersion is still IfViewVersion (else conflict, and nothing is
// written). The receipt is kept with the view it replaced. A segment that is known is not stored
// again ([IsSameSegment]); another one with its id is conflict. A FoldCommit without
// segments only keeps the receipt, the usage and what the view remembers of
// attempts ([scrollback.View.WithFailuresOf]).
type FoldCommit struct {
	Conversation  scrollback.ConversationID
	Branch        scrollback.BranchID
	IfViewVersion int64
	View          scrollback.View
	Segments      []scrollback.Segment
	Receipt       scrollback.Receipt
	Kept          []scrollback.Kept // rows that are stored with it, whole; those that are known stay as they are
	Usage         []scrollback.UsageRecord
	Now           int64
}

// FoldUndo puts back the view from before the newest fold of the branch that is not
// yet undone, and returns its receipt. What the branch leaves out stays as it is. If there is none, View is what the
// branch shows from then on, if its ViewVersion is still IfViewVersion (else conflict),
// and the receipt is empty; with no View either it is not_found.
type FoldUndo struct {
	Branch        scrollback.BranchID
	Now           int64
	IfViewVersion int64
	View          *scrollback.View
}

// FoldQuery finds the newest Limit folds of a branch, the newest first: those that are not
// undone, or those that were undone and whose view then is known.
type FoldQuery struct {
	Branch scrollback.BranchID
	Undone bool
	Limit  int
}

// Fold is a fold as it is kept. Before is the view that it replaced, and After the one that
// its undoing replaced.
type Fold struct {
	Number   int64 // among all folds, for [FoldRedo]
	UndoneAt int64 // Unix ms; 0 if it is not undone
	Receipt  scrollback.Receipt
	Before   scrollback.View
	After    scrollback.View
}

// FoldRedo puts back the view that the undoing of a fold replaced, and returns its receipt, if
// the branch's ViewVersion is still IfViewVersion and the fold is still undone (else conflict,
// and nothing is written). What the branch leaves out stays as it is.
type FoldRedo struct {
	Branch        scrollback.BranchID
	Number        int64
	Now           int64
	IfViewVersion int64
}

// IsSameSegment reports whether two segments with one id are the same: they cover the same messages, say the same and
// have the same file.
func IsSameSegment(a, b scrollback.Segment) bool {
	return a.Conversation == b.Conversation && a.Branch == b.Branch && a.FirstSeq == b.FirstSeq &&
		a.LastSeq == b.LastSeq && a.Hash == b.Hash && a.Summary == b.Summary && a.Placeholder == b.Placeholder &&
		a.SHA256 == b.SHA256
}
