package memdriver

import (
	"context"
	"maps"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// claimKey is a piece of work.
type claimKey struct {
	conversation scrollback.ConversationID
	work         string
}

// claims implements [driver.Claims].
type claims struct {
	mu     *sync.RWMutex
	usable func(ctx context.Context, op string) error // under the lock
	held   map[claimKey]driver.Claim
}

// newClaims makes the claims of an empty database that has the lock mu; usable says why a
// call may not continue.
func newClaims(mu *sync.RWMutex, usable func(ctx context.Context, op string) error) driver.Claims {
	return &claims{mu: mu, usable: usable, held: map[claimKey]driver.Claim{}}
}

// Claim implements [driver.Claims].
func (db *claims) Claim(ctx context.Context, c driver.Claim) (bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(ctx, "memdriver.Claim"); err != nil {
		return false, err
	}
	key := claimKey{c.Conversation, c.Work}
	if was, held := db.held[key]; held && was.Owner != c.Owner && driver.Claimed(was.Until, c.Now) {
		return false, nil
	}
	maps.DeleteFunc(db.held, func(_ claimKey, old driver.Claim) bool { return old.Until <= c.Now })
	db.held[key] = c
	return true, nil
}

// Release implements [driver.Claims].
func (db *claims) Release(ctx context.Context, c driver.Claim) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(ctx, "memdriver.Release"); err != nil {
		return err
	}
	if key := (claimKey{c.Conversation, c.Work}); db.held[key].Owner == c.Owner {
		delete(db.held, key)
	}
	return nil
}
