// Package claims lets one server at a time do a piece of background work, of a conversation
// or of the whole database.
//
// Words it adds: claim (of one doer on one piece of work, kept alive until it is released).
//
// Invariants: a claim that is not released ends with its lease, so that the work of a server
// that died goes on elsewhere; a claim guards nothing: what is stored is judged by the
// transaction that stores it.
//
// It may not know what the work is.
package claims

import (
	"context"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// releaseTime is how long giving work back may take.
const releaseTime = 5 * time.Second

// Registry gives out claims.
type Registry struct {
	of    driver.Turns
	now   func() int64
	newID func() string
	lease time.Duration
}

// New makes a registry by a clock in Unix ms. A lease is how long others wait for a doer of whom
// nothing is heard.
func New(of driver.Turns, now func() int64, newID func() string, lease time.Duration) *Registry {
	return &Registry{of: of, now: now, newID: newID, lease: lease}
}

// Claim is one doer's on one piece of work.
type Claim struct {
	registry *Registry
	as       driver.Claim
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// ClaimWork takes a piece of work; nil without an error if somebody else has it. Conversation is
// empty for work on the whole database. The claim is renewed until it is released.
func (d *Registry) ClaimWork(ctx context.Context, conversation scrollback.ConversationID, work string) (*Claim, error) {
	c := &Claim{registry: d, as: driver.Claim{Conversation: conversation, Work: work, Owner: d.newID()}}
	if got, err := c.renewLease(ctx); err != nil || !got {
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.done.Go(func() { c.keepRenewing(alive) })
	return c, nil
}

func (c *Claim) renewLease(ctx context.Context) (bool, error) {
	as := c.as
	as.Now = c.registry.now()
	as.Until = as.Now + c.registry.lease.Milliseconds()
	return c.registry.of.ClaimWork(ctx, as)
}

// keepRenewing renews until ctx ends, or somebody else has taken the work over.
func (c *Claim) keepRenewing(ctx context.Context) {
	tick := time.NewTicker(c.registry.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if got, err := c.renewLease(ctx); err == nil && !got {
			return
		}
	}
}

// Release gives the work back; of nil, nothing. If the database cannot be told, the lease
// ends by itself.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	c.stop()
	c.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	_ = c.registry.of.ReleaseWork(ctx, c.as)
}
