package driver

import (
	"github.com/scrollback-ai/scrollback"
)

// HashComparison is what comparing messages with their hashes has found: those that differ,
// ascending by seq, and how many have no hash yet.
type HashComparison struct {
	Damaged []DamagedMessage
	Without int64
}

// DamagedMessage is a message whose row is not as it was stored.
type DamagedMessage struct {
	ID     scrollback.MessageID
	Branch scrollback.BranchID // that holds it
	Seq    int64
}

// FillResult is one step of making something of older messages.
type FillResult struct {
	Made int64
	Done bool
}
