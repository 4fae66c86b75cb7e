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

// Keys keeps the keys of people and programs who are not the operator, and the browsers
// that signed in with one.
type Keys interface {
	// Add stores a key. A key with the same name that has not ended is a conflict; Most
	// keys that have not ended are refused.
	Add(ctx context.Context, k NewKey) error

	// List returns all keys, oldest first, those that have ended too.
	List(ctx context.Context) ([]scrollback.Key, error)

	// Revoke ends a key and its sign-ins; one that is revoked already stays as it is.
	// not_found if there is no such key.
	Revoke(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error)

	// Find returns the key with this secret, also if it has ended; else not_found.
	Find(ctx context.Context, hash SecretHash) (scrollback.Key, error)

	// Use notes when a key was used, unless that was noted less than every ms ago.
	Use(ctx context.Context, id scrollback.KeyID, now, every int64) error

	// SignIn stores a sign-in, and drops those that have expired. not_found if there is no
	// such key.
	SignIn(ctx context.Context, s NewSignIn) error

	// SignedIn returns the key of a sign-in, also if the key has ended, and when the
	// sign-in expires; not_found if there is none or if it has expired.
	SignedIn(ctx context.Context, hash SecretHash, now int64) (scrollback.Key, int64, error)

	// SignOut ends a sign-in; one that does not exist is no error.
	SignOut(ctx context.Context, hash SecretHash) error
}
