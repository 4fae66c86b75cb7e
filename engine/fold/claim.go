package fold

import (
	"context"
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/claims"
)

// errElsewhere says that another server asks a model to fold the same conversation.
var errElsewhere = errors.New("another server compacts this conversation")

// lookAgain is how long a fold that is waited for waits for another server's.
const lookAgain = 200 * time.Millisecond

// work is what folds are called among the work of a conversation.
const work = "fold"

// claiming keeps a model from being asked for the same summary by several servers. Only folds
// that ask one claim: others cost nothing that is worth a transaction.
type claiming struct {
	f     *Folder
	of    scrollback.ConversationID
	hurry <-chan struct{}
	held  *claims.Claim
}

// begin reports whether a model may be asked. If the database cannot say, it may: the
// commit will be judged by the view that it replaces.
func (c *claiming) begin(ctx context.Context) bool {
	select {
	case <-c.hurry:
		return true // none will be asked
	default:
	}
	var err error
	if c.held, err = c.f.store.Claims.Take(ctx, c.of, work); err != nil {
		if ctx.Err() == nil {
			c.f.o.Log.Warn("whether another server compacts could not be found out", "conversation", c.of, "error", err)
		}
		return true
	}
	return c.held != nil
}

// end gives the work back once its fold is stored.
func (c *claiming) end() { c.held.Release() }
