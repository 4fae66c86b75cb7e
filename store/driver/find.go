package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Finder is the full-text search that Index takes the place of.
type Finder interface {
	// Search finds messages by their terms; see [SearchQuery].
	Search(ctx context.Context, q SearchQuery) (SearchResult, error)
}

// Match is what a search looks for. A message matches if it has every phrase of
// Must and, when Any is not empty, a term of Any or at least one Must. A term
// that ends in '*' matches every term with that beginning.
type Match struct {
	Any  []string
	Must [][]string
}

// SearchQuery finds messages. Conversations, Project, Role and the time of the
// message, From <= CreatedAt < To, narrow; empty means all. Messages of trashed
// conversations are found only if Conversations names them: a fork can still read what it
// inherited.
type SearchQuery struct {
	Match
	Conversations []scrollback.ConversationID
	Projects      []string // only of these; nil: all
	Role          scrollback.Role
	From, To      int64 // To 0 is open
	Words         int   // how many terms of Any were asked for, the rest being guesses; 0: all
	Limit         int
}

// SearchResult is the best candidates, in no particular order, with what it takes to
// rank them alike on every database: how many messages there are and how many hold each
// term of Any (counted up to [HoldingMax]). Truncated says that more messages matched
// than Limit: those that hold every word of Any, except words that no message holds, are
// kept first, and which of the others are kept is up to the database.
type SearchResult struct {
	Found     []scrollback.Message
	Documents int64
	Holding   []int64 // parallel to Any
	Truncated bool
}

// HoldingMax bounds how many messages with one term are counted.
const HoldingMax = 20000
