package access

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
)

// Fresh is how long what the store said about a key is believed: of all requests with one
// key, one a second looks it up, and a key that was revoked gets in for so long at most.
const Fresh = time.Second

// maxKnown is how many keys and sign-ins are remembered at a time.
const maxKnown = 4096

// noteTime is how long a note of when a key was used may take.
const noteTime = 5 * time.Second

// credential is what a request brings to be let in with: the secret of a key or a cookie.
type credential struct {
	secret string
	cookie bool
}

// credentialCache remembers for a moment whose secrets are.
type credentialCache struct {
	keys *keyring.Ring
	log  *slog.Logger

	mu    sync.Mutex
	found map[[sha256.Size]byte]*foundKey
	noted map[scrollback.KeyID]int64 // when it was last written that a key was used
}

// foundKey is what the store says about a ticket.
type foundKey struct {
	mu   sync.Mutex // held while it is looked up
	at   time.Time  // zero: never
	key  scrollback.Key
	ends int64
}

func newKnown(keys *keyring.Ring, log *slog.Logger) *credentialCache {
	return &credentialCache{keys: keys, log: log, found: map[[sha256.Size]byte]*foundKey{},
		noted: map[scrollback.KeyID]int64{}}
}

// hashCredential names a ticket in memory, where its secret is not kept either.
func (t credential) hashCredential() [sha256.Size]byte {
	if t.cookie {
		return sha256.Sum256([]byte("cookie " + t.secret))
	}
	return sha256.Sum256([]byte("key " + t.secret))
}

// findKey returns the key behind a ticket, and when the ticket expires; refused if it lets
// nobody in.
func (n *credentialCache) findKey(ctx context.Context, t credential) (scrollback.Key, int64, error) {
	wrong := scrollback.Errorf(scrollback.Refused, "access", i18n.KeyIsWrong)
	if t.cookie {
		wrong = scrollback.Errorf(scrollback.Refused, "access", i18n.SignInHasEnded)
	}
	if n.keys == nil {
		return scrollback.Key{}, 0, asUnknownSender(wrong)
	}
	k, ends, err := n.lookUp(ctx, t)
	now := n.keys.Now()
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound, err == nil && (k.HasEnded(now) || ends > 0 && ends <= now):
		return k, 0, asUnknownSender(wrong)
	case err != nil:
		return k, 0, err
	}
	n.noteUse(k, now)
	return k, ends, nil
}

// lookUp finds a ticket in memory or in the store. Requests with the same one wait for one
// look-up; a ticket that nobody made is not remembered, so that guesses push nothing out.
func (n *credentialCache) lookUp(ctx context.Context, t credential) (scrollback.Key, int64, error) {
	id := t.hashCredential()
	n.mu.Lock()
	f := n.found[id]
	if f == nil {
		if len(n.found) >= maxKnown {
			clear(n.found)
		}
		f = &foundKey{}
		n.found[id] = f
	}
	n.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !f.at.IsZero() && now.Sub(f.at) < Fresh {
		return f.key, f.ends, nil
	}
	var err error
	if t.cookie {
		f.key, f.ends, err = n.keys.FindSignIn(ctx, t.secret)
	} else {
		f.key, err = n.keys.Find(ctx, t.secret)
		f.ends = f.key.ExpiresAt
	}
	f.at = now
	if err != nil {
		f.at = time.Time{}
		n.forgetCredential(t)
	}
	return f.key, f.ends, err
}

// forgetCredential lets a ticket be looked up again.
func (n *credentialCache) forgetCredential(t credential) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.found, t.hashCredential())
}

// noteUse writes that a key was used, beside the request and at most once a minute.
func (n *credentialCache) noteUse(k scrollback.Key, now int64) {
	every := keyring.UseEvery.Milliseconds()
	if now-k.LastUsedAt < every {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at, ok := n.noted[k.ID]; ok && now-at < every {
		return
	}
	if len(n.noted) >= maxKnown {
		clear(n.noted)
	}
	n.noted[k.ID] = now
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), noteTime)
		defer cancel()
		if err := n.keys.NoteUse(ctx, k.ID); err != nil {
			n.log.Debug("the last use of a key was not written", "key", k.ID, "error", err)
		}
	}()
}
