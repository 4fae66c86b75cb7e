package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/claims"
)

// How the follower keeps time.
const (
	settle    = 200 * time.Millisecond // before the first look: most commands are over by then
	retryIn   = time.Second            // after a failure, and twice as long after each further one
	retryMost = time.Minute
	elsewhere = 5 * time.Second // until another server's work is looked at again
	closeTime = time.Second
	patience  = 10                // failures in a row, a few minutes, until artifacts that cannot be read are left out
	backlog   = 16 * mostMessages // from there on, it leaves half of the time to others
)

// behind is what is not indexed, as far as is known.
type behind struct {
	messages int
	bytes    int64
}

// enough reports whether that makes a batch.
func (b behind) enough() bool { return b.messages >= batchMessages || b.bytes >= batchBytes }

// follower keeps an index behind the log: a goroutine while there is something to do, and
// none otherwise.
type follower struct {
	mu      sync.Mutex
	seen    behind
	written bool // by this process, since it began
	purged  bool
	lags    bool // a look found a batch behind

	life    context.Context //nolint:containedctx // from Follow to Close
	stop    context.CancelFunc
	closed  bool
	timer   *time.Timer // until it fires, nothing is done
	waiting bool        // for timer
	wanted  bool        // somebody has poked
	running bool
	failed  int           // times in a row
	again   time.Duration // the last wait after a failure
	done    sync.WaitGroup
}

// Follow keeps the index behind the log until Close.
func (x *Index) Follow() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop != nil {
		return
	}
	x.life, x.stop = context.WithCancel(context.Background())
	x.wait(settle)
}

// wait lets nothing be done for a while, and then looks. The lock is held.
func (x *Index) wait(d time.Duration) {
	x.waiting = true
	x.timer = time.AfterFunc(d, func() {
		x.mu.Lock()
		x.waiting = false
		x.mu.Unlock()
		x.poke()
	})
}

// Wrote says that messages with so many bytes of text are about to be stored, or have been.
func (x *Index) Wrote(messages int, bytes int64) {
	x.mu.Lock()
	x.written = true
	x.seen.messages += messages
	x.seen.bytes += bytes
	enough := x.seen.enough()
	x.mu.Unlock()
	if enough {
		x.poke()
	}
}

// Purged says that messages are gone.
func (x *Index) Purged() {
	x.tail.forget()
	x.mu.Lock()
	x.purged = true
	x.mu.Unlock()
	x.poke()
}

// poke has the index looked after, now or when a wait is over.
func (x *Index) poke() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop == nil || x.closed || x.waiting {
		return
	}
	if x.wanted = true; !x.running {
		x.running = true
		x.done.Go(x.follow)
	}
}

// Close ends Follow. In a bounded time it indexes a batch, if a whole one waits that this
// process has written or come across, and forgets what this process has purged.
func (x *Index) Close() {
	x.mu.Lock()
	if x.stop == nil || x.closed {
		x.mu.Unlock()
		return
	}
	x.closed = true
	behind := x.written || x.lags
	purged := x.purged
	x.stop()
	x.timer.Stop()
	x.mu.Unlock()
	x.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	for range 2 { // what is left, the next process does; starting over is a step of its own
		if !behind {
			break
		}
		behind, _, _ = x.catchUp(ctx, how{workers: 1})
	}
	if purged {
		_ = x.TendAll(ctx)
	}
}

// follow indexes what is behind, until nobody wants more or it fails.
func (x *Index) follow() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.wanted && !x.waiting && !x.closed {
		x.wanted = false
		lenient := x.failed > patience
		x.mu.Unlock()
		err := x.work(x.life, lenient)
		x.mu.Lock()
		switch {
		case err == nil:
			x.failed = 0
			x.again = 0
		case x.closed:
		case errors.Is(err, errElsewhere): // and may have looked before what is new here
			x.wait(elsewhere)
		case scrollback.CodeOf(err) == scrollback.Refused: // it may only be read
			x.waiting = true
		default:
			x.failed += 1
			x.again = min(max(2*x.again, retryIn), retryMost)
			x.wait(x.again)
		}
	}
	x.running = false
}

// errElsewhere says that another server keeps the index.
var errElsewhere = errors.New("another server keeps the index")

// claim takes the work, where servers take turns.
func (x *Index) claim(ctx context.Context) (*claims.Claim, error) {
	if x.claims == nil {
		return nil, nil
	}
	c, err := x.claims.Take(ctx, "", "index")
	if c == nil && err == nil {
		err = errElsewhere
	}
	return c, err
}

// work indexes whole batches and tends the index, until there is no more to do.
func (x *Index) work(ctx context.Context, lenient bool) error {
	claim, err := x.claim(ctx)
	if err != nil {
		return err
	}
	defer claim.Release()
	for {
		began := time.Now()
		x.mu.Lock()
		before := x.seen
		x.mu.Unlock()
		more, left, err := x.catchUp(ctx, how{lenient: lenient, workers: 1})
		if err != nil {
			return err
		}
		x.mu.Lock() // what was written meanwhile may be in what is left, or not: better twice than never
		x.seen = behind{left.messages + x.seen.messages - before.messages, left.bytes + x.seen.bytes - before.bytes}
		x.mu.Unlock()
		// A step each time: while a long log is indexed, its segments do not pile up.
		if tending, err := x.Maintain(ctx); err != nil || !more && !tending {
			return err
		}
		if err := x.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// rest leaves time to others, if there is so much to do that it takes long.
func (x *Index) rest(ctx context.Context, worked time.Duration) error {
	s, err := x.ReadState(ctx)
	if err != nil || s.Newest-s.Watermark < backlog {
		return err
	}
	select {
	case <-time.After(worked):
	case <-ctx.Done():
	}
	return ctx.Err()
}
