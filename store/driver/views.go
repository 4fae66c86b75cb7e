package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Views keeps what branches show: segments, and the folds that put them there.
type Views interface {
	// Commit changes what a branch shows; see [Commit].
	Commit(ctx context.Context, c Commit) error

	// Unfold undoes a fold of a branch; see [Unfold].
	Unfold(ctx context.Context, u Unfold) (scrollback.Receipt, error)

	// Segments are those with the given ids, in that order; not_found names the
	// first that is missing.
	Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error)

	// Receipts lists the compactions of a conversation, newest first; Undone says which
	// of them were undone.
	Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error)
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

// Unfold puts back the view from before the newest fold of the branch that is not
// yet undone, and returns its receipt. If there is none, View is what the branch
// shows from then on, if its ViewVersion is still IfViewVersion (else conflict),
// and the receipt is empty; with no View either it is not_found.
type Unfold struct {
	Branch        scrollback.BranchID
	Now           int64
	IfViewVersion int64
	View          *scrollback.View
}
