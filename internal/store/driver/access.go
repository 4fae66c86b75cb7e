package driver

import (
	"context"
	"crypto/sha256"

	"github.com/scrollback-ai/scrollback"
)

// SecretHash is the SHA-256 of the secret of a key or of a sign-in: all that is stored of
// it.
type SecretHash [sha256.Size]byte

// NewKey is a key to be stored.
type NewKey struct {
	Key  scrollback.Key
	Hash SecretHash
	Now  int64
	Most int // keys that are stored; the oldest of those that have ended make room
}

// NewSignIn is a sign-in to be stored.
type NewSignIn struct {
	Hash SecretHash
	Key  scrollback.KeyID
	Now  int64
	Ends int64 // when it expires, in Unix ms
	Most int   // sign-ins of one key; the oldest make room
}

// Access keeps who may do what, and how much they did: the keys of people and programs who are not the
// operator and the browsers that signed in with one, limits and what counts against them, projects and
// their budgets, and what was used.
type Access interface {
	// AddKey stores a key. A key with the same name that has not ended is a conflict; Most
	// keys that have not ended are refused.
	AddKey(ctx context.Context, k NewKey) error

	// ListKeys returns all keys, oldest first, those that have ended too.
	ListKeys(ctx context.Context) ([]scrollback.Key, error)

	// RevokeKey ends a key and its sign-ins; one that is revoked already stays as it is.
	// not_found if there is no such key.
	RevokeKey(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error)

	// FindKey returns the key with this secret, also if it has ended; else not_found.
	FindKey(ctx context.Context, hash SecretHash) (scrollback.Key, error)

	// UseKey notes when a key was used, unless that was noted less than every ms ago.
	UseKey(ctx context.Context, id scrollback.KeyID, now, every int64) error

	// SignIn stores a sign-in, and drops those that have expired. not_found if there is no
	// such key.
	SignIn(ctx context.Context, s NewSignIn) error

	// FindSignIn returns the key of a sign-in, also if the key has ended, and when the
	// sign-in expires; not_found if there is none or if it has expired.
	FindSignIn(ctx context.Context, hash SecretHash, now int64) (scrollback.Key, int64, error)

	// SignOut ends a sign-in; one that does not exist is no error.
	SignOut(ctx context.Context, hash SecretHash) error

	// CountTally adds one to an actor's tally and returns the tally with it. One that is full
	// stays as it is and is rate_limited; see [Tally.CountOne]. Tallies that
	// have ended are removed.
	CountTally(ctx context.Context, t Tally) (used int64, err error)

	// ReadTally returns how much an actor has begun in the window of a tally; nothing is written.
	ReadTally(ctx context.Context, t Tally) (used int64, err error)

	// ReadKeyLimits returns what was set for a key; the zero value for nothing.
	ReadKeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error)

	// ListKeysMadeBy lists the keys that a key has made, and that those have made, and so on.
	ListKeysMadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error)

	// SetKeyLimits replaces what was set for a key; the zero value removes it.
	SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error

	// ReadProject returns what is stored of a project; without a row, a project with only its name.
	// It does not count conversations.
	ReadProject(ctx context.Context, name string) (scrollback.Project, error)

	// PutProject lets edit change what is stored of a project, or begin with only its name, and
	// stores the result with a grown Version. An error of edit changes nothing and is
	// returned as it is. Name, CreatedAt and Version are not edit's to change.
	PutProject(ctx context.Context, name string, now int64,
		edit func(*scrollback.Project) error) (scrollback.Project, error)

	// DeleteProject removes what is stored of a project, if judge allows it; not_found if nothing
	// is. An error of judge changes nothing and is returned as it is.
	DeleteProject(ctx context.Context, name string, now int64, judge func(scrollback.Project) error) error

	// ListProjects lists the projects that a conversation out of the trash names or that are
	// stored, by name: with the number of those conversations but for sub-agents, Title,
	// Version and times.
	ListProjects(ctx context.Context) ([]scrollback.Project, error)

	// ListUsageDays lists the sums of the days from first to last, both included, in
	// days since 1970 (UTC): by day, then model, project and currency.
	ListUsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error)

	// DivideUsage returns what ListUsageDays does, added up again from the records of calls and divided
	// by what a query asks for besides: in the same order, then by key, conversation and purpose.
	DivideUsage(ctx context.Context, q UsagePartsQuery) ([]scrollback.UsageDay, error)

	// EnterUsage enters calls in the books that belong to no turn, fold or title, in the sums of a project.
	EnterUsage(ctx context.Context, project string, all []scrollback.UsageRecord) error

	// EnterImported enters calls that other tools made, each once: one whose Call is known is left as it is, and so
	// is one that is an own call (see [ImportedCall.IsSameCall]). They are in no sums of days, and never spending.
	EnterImported(ctx context.Context, all []ImportedCall) error

	// DivideImported adds imported calls up as DivideUsage does own ones, and always by tool, which comes last in the
	// order.
	DivideImported(ctx context.Context, q UsagePartsQuery) ([]scrollback.UsageDay, error)

	// SumSpending sums what was used on a day: all tokens, and what was paid in the currency.
	SumSpending(ctx context.Context, q SpendingQuery) (scrollback.Usage, error)
}
