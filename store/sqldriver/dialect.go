package sqldriver

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlaudit"
)

// Dialect is what one kind of database does its own way.
type Dialect struct {
	// Classify gives an error of the database its code; see [Classify] for others.
	Classify func(error) scrollback.Code
	// Probe reads a number that means nothing; SetProbe is the statement that sets it.
	Probe    string
	SetProbe func(n int64) string
	// Tried is a statement that changes nothing, and that a database which is being moved
	// refuses; empty where it refuses SetProbe.
	Tried string
	// Moving is where a database that was closed is being moved to, by an error of whoever
	// wanted to change it; empty for any other error.
	Moving func(error) string
	// Full reports whether an error is about a disk without room.
	Full func(error) bool
	// Taken reports whether an error is about a key that already exists.
	Taken func(error) bool
	// Audit is for checking everything.
	Audit sqlaudit.Dialect
}
