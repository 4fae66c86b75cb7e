package driver

import "github.com/scrollback-ai/scrollback"

// KeptFinder lists what is kept of a message by rule; before is the message before it, or nil. The
// driver sets where the message is.
type KeptFinder func(m, before *scrollback.Message) []scrollback.Kept

// KeptQuery reads the rows of kept sentences on the path of a branch up to seq To: of the rules' rows
// the newest Limit by (Seq, ID), and of the rows of people those of Conversations, the newest Limit by
// (CreatedAt, Change). They come as the rules' by seq and id, then the people's by time and change, ascending.
type KeptQuery struct {
	Branch        scrollback.BranchID
	To            int64
	Conversations []scrollback.ConversationID
	Changes       bool // only the rows of people
	Limit         int
	// Known are rows that were read before. They never change, and those of rules are taken from here rather than
	// read again, if they are still there.
	Known []scrollback.Kept
}

// KeptChange adds the row of a person about a sentence, in one transaction; a trashed conversation is
// not_found, and so is one on whose branches, or on those that it inherits, the row's message is
// not. The conversation's Version grows.
type KeptChange struct {
	Row scrollback.Kept // whole
	Now int64
}
