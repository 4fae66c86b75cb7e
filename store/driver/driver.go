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

import "context"

// Driver is what a database offers: an interface for each part of the store, and Close.
// All of them work on the same rows, and all are set.
type Driver struct {
	Log   Log
	Read  Reader
	Turns Turns
	Views Views
	Refs  Refs
	Index Index
	Book  Book
	Audit Audit
	Move  Move
	Keys  Keys
	Feed  Feed

	// Ready writes something durable, however often the same small thing, and reads it back.
	// A database that may only be read is read.
	Ready func(ctx context.Context) error

	Projects Projects

	Origins Origins

	Limits Limits

	// Close ends the database; every later call is unavailable.
	Close func() error
}
