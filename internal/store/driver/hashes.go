package driver

import (
	"github.com/scrollback-ai/scrollback"
)

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
