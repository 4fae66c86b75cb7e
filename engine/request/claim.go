package request

import (
	"context"
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/claims"
)

// errElsewhere says that another server asks a model to fold the same conversation.
var errElsewhere = errors.New("another server compacts this conversation")

// claimPoll is how long a fold that is waited for waits for another server's.
const claimPoll = 200 * time.Millisecond

// foldWork is what folds are called among the work of a conversation.
const foldWork = "fold"

// foldClaim keeps a model from being asked for the same summary by several servers. Only folds
// that ask one claim: others cost nothing that is worth a transaction.
type foldClaim struct {
	f     *Compactor
	of    scrollback.ConversationID
	hurry <-chan struct{}
	held  *claims.Claim
}

// mayAsk reports whether a model may be asked. If the database cannot say, it may: the
// commit will be judged by the view that it replaces.
func (c *foldClaim) mayAsk(ctx context.Context) bool {
	select {
	case <-c.hurry:
		return true // none will be asked
	default:
	}
	var err error
	if c.held, err = c.f.store.Claims.ClaimWork(ctx, c.of, foldWork); err != nil {
		if ctx.Err() == nil {
			c.f.o.Log.Warn("whether another server compacts could not be found out", "conversation", c.of, "error", err)
		}
		return true
	}
	return c.held != nil
}

// release gives the work back once its fold is stored.
func (c *foldClaim) release() { c.held.Release() }
