// Package keyring makes keys, and finds out whose a secret is.
//
// Words it adds: secret (what a caller sends; only its hash is stored), cookie (the secret
// of a sign-in, which a browser keeps in place of the key).
//
// Invariants: a secret is random and returned once, when it is made. Its SHA-256 is what
// is stored. A slow hash protects passwords, which people choose and others can guess;
// nobody guesses 256 random bits, and a fast hash lets every request be checked.
//
// It may not know HTTP, SQL or conversations.
package keyring

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Bounds of what is stored.
const (
	MaxKeys     = 10_000              // keys; those that have ended make room
	MostSignIns = 100                 // of one key; the oldest make room
	SignInTime  = 30 * 24 * time.Hour // or less, if the key expires before
	UseEvery    = time.Minute         // how exactly the last use of a key is known

	mostProjects = 100
	mostRunes    = 100 // of a name
)

// SecretPrefix begins every key, so that people and scanners know one when they see it.
const SecretPrefix = "sbk_"

// secretBytes are the random bytes of a secret.
const secretBytes = 32

// Ring is the keys in a database. It is safe for concurrent use.
type Ring struct {
	d     driver.Access
	now   func() time.Time
	newID func() string
}

// New makes a ring over the keys in a database.
func New(d driver.Access, now func() time.Time, newID func() string) *Ring {
	return &Ring{d, now, newID}
}

// Now returns the ring's clock in Unix ms.
func (r *Ring) Now() int64 { return r.now().UnixMilli() }

// Add makes a key and returns it with its secret. Of k only the name, the role, the
// projects, the time at which it expires and the mode of the door are read. A name that another key has is a
// conflict, unless that key has ended.
func (r *Ring) Add(ctx context.Context, k scrollback.Key) (scrollback.Key, string, error) {
	now := r.Now()
	k = scrollback.Key{ID: scrollback.KeyID(r.newID()), Name: strings.TrimSpace(k.Name), Role: k.Role,
		Projects:  listDistinct(k.Projects),
		CreatedAt: now, ExpiresAt: k.ExpiresAt, Door: k.Door}
	if err := checkKey(k, now); err != nil {
		return scrollback.Key{}, "", err
	}
	secret := SecretPrefix + newSecret()
	if err := r.d.AddKey(ctx, driver.NewKey{Key: k, Hash: hashSecret(secret), Now: now, Most: MaxKeys}); err != nil {
		return scrollback.Key{}, "", err
	}
	return k, secret, nil
}

// checkKey says what is wrong with a new key.
func checkKey(k scrollback.Key, now int64) error {
	const op = "keyring.Add"
	switch {
	case !isName(k.Name):
		return scrollback.ParamErrorf(op, "name", i18n.KeyNameInvalid, mostRunes)
	case k.Role < scrollback.AccessRead || k.Role > scrollback.AccessAdmin:
		return scrollback.ParamErrorf(op, "role", i18n.RoleIsOneOf)
	case len(k.Projects) > mostProjects:
		return scrollback.ParamErrorf(op, "project", i18n.KeyHasTooManyProjects, mostProjects)
	case slices.ContainsFunc(k.Projects, func(p string) bool { return !isName(p) }):
		return scrollback.ParamErrorf(op, "project", i18n.KeyProjectNameInvalid, mostRunes)
	case k.ExpiresAt != 0 && k.ExpiresAt <= now:
		return scrollback.ParamErrorf(op, "expires", i18n.KeyExpiresInPast)
	}
	return scrollback.CheckDoorMode(op, "door", k.Door)
}

// isName reports whether a text can be a name.
func isName(s string) bool {
	return strings.TrimSpace(s) != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= mostRunes &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

// listDistinct returns the projects that are named, in their order.
func listDistinct(projects []string) []string {
	out := []string{}
	for _, p := range projects {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// List returns all keys, oldest first, those that have ended too. Neither the list nor
// one of projects is nil.
func (r *Ring) List(ctx context.Context) ([]scrollback.Key, error) {
	all, err := r.d.ListKeys(ctx)
	all = append([]scrollback.Key{}, all...)
	for i := range all {
		all[i].Projects = listDistinct(all[i].Projects)
	}
	return all, err
}

// CountUsable returns how many keys there are that have not ended.
func (r *Ring) CountUsable(ctx context.Context) (n int, err error) {
	all, err := r.d.ListKeys(ctx)
	for _, k := range all {
		if !k.HasEnded(r.Now()) {
			n++
		}
	}
	return n, err
}

// FindNamed returns the key with this id, or else the one with this name that has not ended;
// not_found if there is none.
func (r *Ring) FindNamed(ctx context.Context, name string) (scrollback.Key, error) {
	all, err := r.List(ctx)
	if err != nil {
		return scrollback.Key{}, err
	}
	now := r.Now()
	for _, is := range []func(scrollback.Key) bool{
		func(k scrollback.Key) bool { return string(k.ID) == name },
		func(k scrollback.Key) bool { return k.Name == name && !k.HasEnded(now) },
	} {
		if at := slices.IndexFunc(all, is); at >= 0 {
			return all[at], nil
		}
	}
	return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, "keyring.FindNamed",
		i18n.NoUsableKeyNamed, name)
}

// Revoke ends a key, named as in Named. A key that is revoked already stays as it is.
func (r *Ring) Revoke(ctx context.Context, name string) (scrollback.Key, error) {
	k, err := r.FindNamed(ctx, name)
	if err != nil {
		return k, err
	}
	k, err = r.d.RevokeKey(ctx, k.ID, r.Now())
	k.Projects = listDistinct(k.Projects)
	return k, err
}

// Find returns the key with a secret, also one that has ended; not_found if there is none.
func (r *Ring) Find(ctx context.Context, secret string) (scrollback.Key, error) {
	if !strings.HasPrefix(secret, SecretPrefix) ||
		len(secret) != len(SecretPrefix)+base64.RawURLEncoding.EncodedLen(secretBytes) {
		return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, "keyring.Find", i18n.NoSuchKey)
	}
	return r.d.FindKey(ctx, hashSecret(secret))
}

// NoteUse notes that a key was used now, to the minute.
func (r *Ring) NoteUse(ctx context.Context, id scrollback.KeyID) error {
	return r.d.UseKey(ctx, id, r.Now(), UseEvery.Milliseconds())
}

// SignIn returns a cookie for a key, and when it expires, in Unix ms.
func (r *Ring) SignIn(ctx context.Context, k scrollback.Key) (cookie string, ends int64, err error) {
	now := r.Now()
	cookie = newSecret()
	ends = now + SignInTime.Milliseconds()
	if k.ExpiresAt > 0 {
		ends = min(ends, k.ExpiresAt)
	}
	err = r.d.SignIn(ctx, driver.NewSignIn{Hash: hashSecret(cookie), Key: k.ID, Now: now, Ends: ends, Most: MostSignIns})
	if err != nil {
		return "", 0, err
	}
	return cookie, ends, nil
}

// FindSignIn returns the key of a cookie, also one that has ended, and when the cookie
// expires; not_found if it has expired or there is none.
func (r *Ring) FindSignIn(ctx context.Context, cookie string) (scrollback.Key, int64, error) {
	if len(cookie) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return scrollback.Key{}, 0, scrollback.Errorf(scrollback.NotFound, "keyring.FindSignIn", i18n.NotSignedIn)
	}
	return r.d.FindSignIn(ctx, hashSecret(cookie), r.Now())
}

// SignOut ends the sign-in of a cookie, if there is one.
func (r *Ring) SignOut(ctx context.Context, cookie string) error {
	return r.d.SignOut(ctx, hashSecret(cookie))
}

func hashSecret(secret string) driver.SecretHash { return sha256.Sum256([]byte(secret)) }

// newSecret returns a new secret.
func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // which never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
