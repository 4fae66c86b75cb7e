package store

import "github.com/scrollback-ai/scrollback/store/driver"

// Words that the store shares with its drivers.
type (
	// Head is a conversation with its current branch.
	Head = driver.Head

	// Begun is what beginning a turn did.
	Begun = driver.Begun

	// Finished is the head after a write, and the messages that it appended.
	Finished = driver.Finished

	// Commit is a fold to be stored: new segments, and what the branch then shows.
	Commit = driver.Commit

	// Purged is what a purge removed, and what it left.
	Purged = driver.Purged

	// Adopt is a batch of a history that was made elsewhere.
	Adopt = driver.Adopt

	// AuditWalk receives the rows of an audit.
	AuditWalk = driver.AuditWalk

	// Flaw is something wrong that only the database itself can see.
	Flaw = driver.Flaw

	// Mend repairs one thing.
	Mend = driver.Mend

	// MendView replaces what a branch shows.
	MendView = driver.MendView

	// MendUsage names the usage of a model on one day.
	MendUsage = driver.MendUsage

	// Recover names a row to bring back.
	Recover = driver.Recover

	// Stray is a row that may belong to nothing.
	Stray = driver.Stray
)

// The kinds of flaw.
const (
	FlawDamage = driver.FlawDamage
	FlawOrphan = driver.FlawOrphan
	FlawIndex  = driver.FlawIndex
	FlawUsage  = driver.FlawUsage
)
