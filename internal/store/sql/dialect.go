package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Dialect is what one kind of database does its own way.
type Dialect struct {
	Statements

	// Classify gives an error of the database its code; see [ClassifyError] for others.
	Classify func(error) scrollback.Code
	// SetProbe is the statement that sets the number which Probe reads.
	SetProbe func(n int64) string
	// Moving is where a database that was closed is being moved to, by an error of somebody who
	// wanted to change it; empty for any other error.
	Moving func(error) string
	// Full reports whether an error is about a disk without room.
	Full func(error) bool
	// Taken reports whether an error is about a key that already exists.
	Taken func(error) bool
	// Damaged reports whether an error is about bytes that cannot be read.
	Damaged func(error) bool
	// BranchNumber allots the number of a new branch, which never comes twice.
	BranchNumber func(ctx context.Context, tx Tx) (int64, error)
	// AddsUsage says that StoreUsageDay adds to the sums that are there.
	AddsUsage bool
}

// Statements are those that databases say in their own ways: because they have other functions,
// because rows are numbered when they are written or later, or because what a transaction has read
// must not change before it ends. The columns of rows are those of the tables here, in their order.
type Statements struct {
	// Probe reads a number that means nothing.
	Probe string
	// Tried changes nothing, and a database that is being moved refuses it; empty where it
	// refuses SetProbe.
	Tried string
	// Check returns a row of text for each damage to the file, or "ok".
	Check string

	// What a transaction judges by. HoldConversation ($1 id), HoldBranch ($1 id) and HoldTurn
	// ($1 id) read a row; the others are empty where one transaction writes at a time.
	HoldConversation, HoldBranch, HoldTurn string
	// Where a row costs an exchange with a server, ReadHead reads the current branch and the newest turn of
	// conversation $1, which is held. HoldConversationOfTurn holds the conversation of turn $1, and
	// ReadHeadOfTurn then holds the turn, and reads it and the current branch of the conversation. What is not
	// there is NULL. They are empty where rows are known.
	ReadHead, HoldConversationOfTurn, ReadHeadOfTurn string
	HoldModel                                        string // $1 model
	HoldTexts                                        string // $1 conversation: the texts that its steps name
	HoldArtifact                                     string // $1 id
	HoldNewestMessage                                string
	HoldIndexState, HoldVectorState                  string
	// HoldName holds a name ($1), for what a row that is not there yet cannot be held for.
	HoldName string

	// InsertMessage inserts a message with its hash, and with the next number where messages are
	// numbered as they are written. It changes no row where the id is taken.
	InsertMessage string
	// KeepNumbers remembers what must be known of the numbers of the messages of branch $1
	// that are deleted next, from seq $2 on.
	KeepNumbers string

	// The path of branch $1 from seq $2 to $3, in any order: whole messages, those whose seqs are
	// in the JSON list $4, their seqs and parts as bytes, and messages with their hashes.
	MessagesOnPath, MessagesOnPathListed, PartsOnPath, StoredOnPath string
	// The newest $4 rows that rules keep of the messages there, the newest first: whole rows, and which they are
	// (conversation, id, branch and seq). All rows between the seqs are looked at, whatever $4 is.
	RuledOnPath, RuledPlacesOnPath string
	// ShapeOfPath counts the path of branch $1 from seq $2 to the head $3 in $4 bins: the first
	// seq of each, how many messages, when the first was stored, their bytes, and how many
	// are of the user and of the assistant.
	ShapeOfPath string

	InsertReceipt, InsertUsage string

	// UsageDays reads the sums of the days from $1 to $2, UsageDaysOfModel those of day $1 and
	// model $2, AllUsageDays all: by day, model, project and currency.
	UsageDays, UsageDaysOfModel, AllUsageDays string
	// StoreUsageDay stores sums in the place of those that are there, or adds to them.
	StoreUsageDay string

	// InsertText ($1 hash, $2 text) and InsertArtifact insert what may be there, and stays as long
	// as the transaction does.
	InsertText, InsertArtifact string
	// StoreStep ($1 turn, $2 step, $3 conversation, $4 account) stores what a step sent, in
	// place of what is there.
	StoreStep string
	// StoreFactor stores the factor $2 of model $1; where another transaction does that
	// now, it may do nothing.
	StoreFactor string
	// InsertChange inserts a change, with the next number where changes are numbered as they are
	// written.
	InsertChange string
	// PendingChanges reads of which conversations changes are not numbered yet; empty where they are numbered as they
	// are written.
	PendingChanges string
	// HoldTally reads how much actor $1 has begun from $2 to $3, which nobody else changes before
	// the transaction ends; PruneTallies removes at most $2 that have ended at $1.
	HoldTally, PruneTallies string

	// CallsListed reads which of the imported calls in the JSON list $1 there are.
	CallsListed string

	// NewestMessage reads the number of the newest message.
	NewestMessage string
	// MessagesBehind reads at most $2 messages with a number above $1, ascending, and behind
	// their columns that number and the number of their branch.
	MessagesBehind string

	// NumbersBehind reads id, seq and number of the same messages, and the number of their branch.
	NumbersBehind string
	// SeqsBehind reads the seqs of the branch with number $1 from $2 to $3 whose messages have
	// a number of at most $4.
	SeqsBehind string
	// MessagesAtPlaces reads the messages at the places in the JSON list $1, and behind their columns
	// the place.
	MessagesAtPlaces string
	// VectorsAtPlaces reads the vectors at the places in the JSON list $1: branch, seq, scale and data.
	VectorsAtPlaces string
	// LinesNumbered reads the lines whose numbers are in the JSON list $1, and of their conversations
	// the project and when they were put in the trash.
	LinesNumbered string
	// ForksBelow reads the branches whose numbers are in the JSON list $1, those that were forked
	// from them and, where these are in the trash, from these: the parent of each, its id,
	// where it leaves, its conversation, and of that the project and whether it is in the trash.
	ForksBelow string
	// LinesWorkedOn reads the lines of the conversations in the JSON list $1 and of their
	// sub-agents, but for those in the trash: with the project, whether it is a sub-agent, whether
	// it is the current branch, and when its newest message was stored. BranchesWorkedOn reads
	// the numbers of all their branches, some of them twice, in texts with commas.
	LinesWorkedOn, BranchesWorkedOn string
	// WorkedParts are parts of index_worked with their bits as one text, which may be empty; it is empty itself in a
	// database that keeps none, and reads BranchesWorkedOn.
	WorkedParts string
	// ListedIDs are the ids of listed as one JSON list, which may be empty.
	ListedIDs string
	// LastBlocks reads in each segment of the index the block that term $1 is in, if it is there:
	// the last one that begins with it or before.
	LastBlocks string
	// ThreadAtomsByKey, ThreadAtomsByCall and ThreadAtomsByQuote read in each thread of the JSON list $1, for each hash
	// of the list $2, the newest $3 atoms that have it; the others do so in the scope $1.
	ThreadAtomsByKey, ThreadAtomsByCall, ThreadAtomsByQuote                      string
	ThreadAtomsByKeyInScope, ThreadAtomsByCallInScope, ThreadAtomsByQuoteInScope string
	// ThreadRequestsRolled reads in the scope $1, for each hash of the list $2, the newest $3 turns whose atoms
	// roll to it.
	ThreadRequestsRolled string
	// MarksListed reads the marks of segment $1 of the index that begin at those in the
	// JSON list $2.
	MarksListed string
}
