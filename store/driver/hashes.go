package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Hashes keeps a hash of each message as it was stored, made in the transaction that stores
// it. Those of messages that an older program stored are made afterwards, by Fill.
type Hashes interface {
	// Verify compares the messages on the path of a branch, those with From <= seq <= To, with
	// their hashes. What cannot even be read as a message is compared like any other. The
	// query's Wanted is not used.
	Verify(ctx context.Context, q MessageQuery) (Verified, error)

	// Fill makes the hashes of some messages that have none, at most about limit of them, in one
	// transaction, and goes on where the call before it ended, in whichever process that was.
	// Done says that the end is reached; then nothing is written. A message is hashed as it is
	// now. Calls at the same time do no harm, but one of them does nothing.
	Fill(ctx context.Context, limit int) (Filled, error)

	// Refill lets Fill begin again, for messages that were stored behind its back.
	Refill(ctx context.Context) error
}

// Verified is what comparing messages with their hashes has found: those that differ,
// ascending by seq, and how many have no hash yet.
type Verified struct {
	Damaged []Damaged
	Without int64
}

// Damaged is a message whose row is not as it was stored.
type Damaged struct {
	ID     scrollback.MessageID
	Branch scrollback.BranchID // that holds it
	Seq    int64
}

// Filled is one step of making hashes.
type Filled struct {
	Made int64
	Done bool
}
