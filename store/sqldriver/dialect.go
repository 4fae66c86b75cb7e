package sqldriver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlaudit"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Dialect is what one kind of database does its own way.
type Dialect struct {
	// Classify gives an error of the database its code; see [Classify] for others.
	Classify func(error) scrollback.Code
	// Probe reads a number that means nothing; SetProbe is the statement that sets it.
	Probe    string
	SetProbe func(n int64) string
	// Full reports whether an error is about a disk without room.
	Full func(error) bool
	// Taken reports whether an error is about a key that already exists.
	Taken func(error) bool
	// InsertNumbered inserts a row and returns the number that it was given.
	InsertNumbered func(ctx context.Context, tx *sqlrow.Session, query string, args ...any) (int64, error)

	// InsertTerms indexes message $1 by scope $2 and terms $3; RemoveTerms removes
	// what search finds the messages by whose numbers are in the JSON list $1.
	InsertTerms, RemoveTerms string
	// Numbered is a condition on a row of messages: its number is in that list.
	Numbered string

	// SearchIDs finds at most $2 message numbers by the match expression $1, best
	// first. SearchLiving does the same for the projects in the JSON list $3 unless that
	// is empty, for conversations that are not in the trash unless $4, and for times from
	// $5 and before $6. SearchNewest and SearchNewestLiving look only among the newest
	// matches.
	SearchIDs, SearchLiving, SearchNewest, SearchNewestLiving string
	// Holding counts the messages of $1, up to $2; Documents is how many there are.
	Holding, Documents string
	// Expression writes a match, limited to scope terms, as $1 of the above.
	Expression func(m driver.Match, scopes [][]string) string

	// Audit is for checking everything.
	Audit sqlaudit.Dialect
}
