package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

const (
	// claimKeptMS is how long a claim that has ended is left where it is, in ms. A server that wants the
	// work again is about to take the row: removing it at once would make two transactions
	// wait for each other's rows.
	claimKeptMS = 10 * 60_000

	// maxPrunedClaims bounds how many of them one claim removes: more than it adds.
	maxPrunedClaims = 8
)

// ClaimWork implements [driver.Turns]. A claim is taken by one statement, so that of two that want it
// one gets it at any isolation; a refused one writes nothing.
func (db turns) ClaimWork(ctx context.Context, c driver.Claim) (got bool, err error) {
	err = db.write(ctx, "sqlstore.ClaimWork", func(ctx context.Context, w *writeTx) error {
		got = false
		err := w.tx.Queue(ctx, `INSERT INTO claims (conversation_id, work, owner, until) VALUES ($1, $2, $3, $4)
			ON CONFLICT (conversation_id, work) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE claims.owner = excluded.owner OR claims.until <= $5 OR claims.until > $6`,
			c.Conversation, c.Work, c.Owner, c.Until, c.Now, c.Now+driver.LeaseMax)
		if err != nil {
			return err
		}
		var owner string
		if err := QueryRow(ctx, w.tx, scanInto(&owner),
			`SELECT owner FROM claims WHERE conversation_id = $1 AND work = $2`, c.Conversation, c.Work); err != nil {
			return err
		}
		if got = owner == c.Owner; !got {
			return nil
		}
		return w.tx.Queue(ctx, `DELETE FROM claims WHERE (conversation_id, work) IN (SELECT conversation_id, work FROM claims
			WHERE until <= $1 ORDER BY until LIMIT $2)`, c.Now-claimKeptMS, maxPrunedClaims)
	})
	return got && err == nil, err
}

// ReleaseWork implements [driver.Turns].
func (db turns) ReleaseWork(ctx context.Context, c driver.Claim) error {
	return db.write(ctx, "sqlstore.ReleaseWork", func(ctx context.Context, w *writeTx) error {
		return w.tx.Queue(ctx, `DELETE FROM claims WHERE conversation_id = $1 AND work = $2 AND owner = $3`, c.Conversation,
			c.Work, c.Owner)
	})
}
