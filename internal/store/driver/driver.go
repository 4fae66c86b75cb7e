// Package driver is the contract between the store and a database.
//
// A method is one moment of the product and one transaction: Begin, FinishStep,
// CommitFold; never a row verb. Rows are the root's own types. A driver keeps them,
// allocates seqs inside its write transactions, and holds the invariants that
// only a transaction can hold: one turn that holds a conversation, nothing written by
// an owner who lost the lease, compare-and-set on a branch's view. Product rules
// (validation, ids, the clock, limits) are the store's; where one must be judged
// inside a transaction it arrives as a pure function.
//
// Words it adds: entry (a message to be stored, with what it mentions), head (a conversation with its current branch).
//
// Errors are *scrollback.Error with these codes: not_found, conflict, refused
// (not our database), unavailable (busy, full, gone), internal.
//
// It may not know HTTP, models, budgets or any one database.
package driver

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Driver is what a database offers: seven interfaces, its clock, and Close.
// All of them work on the same rows, and all are set.
type Driver struct {
	Log    Log
	Turns  Turns
	Views  Views
	Index  Index
	Access Access
	Admin  Admin

	Threads Threads

	// Ready writes something durable, however often the same small thing, and reads it back.
	// A database that may only be read is read.
	Ready func(ctx context.Context) error

	// Clock is the database's time, by which leases are given and end where several servers
	// share it; nil where the process's own clock is the only one.
	Clock func() time.Time

	// Close ends the database; every later call is unavailable.
	Close func() error
}

// Now returns the time of the database's clock.
func (d *Driver) Now() time.Time {
	if d.Clock == nil {
		return time.Now()
	}
	return d.Clock()
}

// TitleChange moves a conversation from one state of its title to another, in one transaction:
// Usage enters the books, and if the conversation's TitleBy is From it becomes To. A Title
// that is not empty then becomes the conversation's, with a grown Version; without one its
// Version stays. A conversation in the trash or in another state keeps its title and state.
type TitleChange struct {
	Conversation scrollback.ConversationID
	Now          int64
	From, To     scrollback.TitleState
	Title        string
	Usage        []scrollback.UsageRecord
}
