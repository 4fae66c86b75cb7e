// Package driver is the contract between the store and a database.
//
// A method is one moment of the product and one transaction: Begin, Finish,
// Commit; never a row verb. Rows are the root's own types. A driver keeps them,
// allocates seqs inside its write transactions, and holds the invariants that
// only a transaction can hold: one open turn a conversation, nothing written by
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

// Driver is what a database offers: an interface for each part of the store, and Close.
// All of them work on the same rows, and all are set.
type Driver struct {
	Log    Log
	Read   Reader
	Turns  Turns
	Views  Views
	Refs   Refs
	Index  Index
	Book   Book
	Audit  Audit
	Hashes Hashes
	Move   Move
	Keys   Keys
	Feed   Feed

	// Ready writes something durable, however often the same small thing, and reads it back.
	// A database that may only be read is read.
	Ready func(ctx context.Context) error

	Projects Projects

	Origins Origins

	Limits Limits

	Claims Claims

	// Clock is the database's time, by which leases are given and end where several servers
	// share it; nil where the process's own clock is the only one.
	Clock func() time.Time

	// Close ends the database; every later call is unavailable.
	Close func() error
}

// Time is that of the database's clock.
func (d *Driver) Time() time.Time {
	if d.Clock == nil {
		return time.Now()
	}
	return d.Clock()
}

// Projects keeps what is stored of projects. Conversations name a project whether it is
// stored or not, and nothing here reads or changes them.
type Projects interface {
	// Get is what is stored of a project; without a row, a project with only its name. It
	// does not count conversations.
	Get(ctx context.Context, name string) (scrollback.Project, error)

	// Put lets edit change what is stored of a project, or begin with only its name, and
	// stores the result with a grown Version. An error of edit changes nothing and is
	// returned as it is. Name, CreatedAt and Version are not edit's to change.
	Put(ctx context.Context, name string, now int64, edit func(*scrollback.Project) error) (scrollback.Project, error)

	// Delete removes what is stored of a project, if judge allows it; not_found if nothing
	// is. An error of judge changes nothing and is returned as it is.
	Delete(ctx context.Context, name string, judge func(scrollback.Project) error) error
}

// Entitle moves a conversation from one state of its title to another, in one transaction:
// Usage enters the books, and if the conversation's TitleBy is From it becomes To. A Title
// that is not empty then becomes the conversation's, with a grown Version; without one its
// Version stays. A conversation in the trash or in another state keeps its title and state.
type Entitle struct {
	Conversation scrollback.ConversationID
	Now          int64
	From, To     scrollback.TitleState
	Title        string
	Usage        []scrollback.UsageRecord
}
