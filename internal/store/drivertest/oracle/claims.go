package oracle

import (
	"context"
	"maps"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// claimKey is a piece of work.
type claimKey struct {
	conversation scrollback.ConversationID
	work         string
}

// ClaimWork implements [driver.Turns].
func (db turns) ClaimWork(ctx context.Context, c driver.Claim) (bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.checkUsable(ctx, "oracle.ClaimWork"); err != nil {
		return false, err
	}
	key := claimKey{c.Conversation, c.Work}
	if was, held := db.claims[key]; held && was.Owner != c.Owner && driver.IsClaimed(was.Until, c.Now) {
		return false, nil
	}
	maps.DeleteFunc(db.claims, func(_ claimKey, old driver.Claim) bool { return old.Until <= c.Now })
	db.claims[key] = c
	return true, nil
}

// ReleaseWork implements [driver.Turns].
func (db turns) ReleaseWork(ctx context.Context, c driver.Claim) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.checkUsable(ctx, "oracle.ReleaseWork"); err != nil {
		return err
	}
	if key := (claimKey{c.Conversation, c.Work}); db.claims[key].Owner == c.Owner {
		delete(db.claims, key)
	}
	return nil
}
