package index

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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

// How the follower makes way for turns: it waits for a moment without any, but never longer than yieldTime, and not
// once as much is behind as one batch may have. Then it takes what has come meanwhile together.
const (
	quietTime = 50 * time.Millisecond // since a turn was written
	yieldTime = 2 * time.Second
)

// unindexed is what is not indexed, as far as is known.
type unindexed struct {
	messages int
	bytes    int64
}

// fillsBatch reports whether that makes a batch.
func (b unindexed) fillsBatch() bool { return b.messages >= batchMessages || b.bytes >= batchBytes }

// follower keeps an index behind the log: a goroutine while there is something to do, and
// none otherwise.
type follower struct {
	mu      sync.Mutex
	seen    unindexed
	written bool // by this process, since it began
	purged  bool
	lags    bool // a snapshot found a batch behind

	life    context.Context //nolint:containedctx // from Follow to Close
	stop    context.CancelFunc
	closed  bool
	timer   *time.Timer // until it fires, nothing is done
	waiting bool        // for timer
	wanted  bool        // somebody has woken it
	running bool
	failed  int           // times in a row
	again   time.Duration // the last wait after a failure
	done    sync.WaitGroup

	began time.Time    // when the index was made
	turn  atomic.Int64 // when a turn was last written, in ns since then; 0 if none was
}

// Follow keeps the index behind the log until Close.
func (x *Index) Follow() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop != nil {
		return
	}
	x.life, x.stop = context.WithCancel(context.Background())
	x.delay(settle)
}

// delay lets nothing be done for a while, and then looks. The lock is held.
func (x *Index) delay(d time.Duration) {
	x.waiting = true
	x.timer = time.AfterFunc(d, func() {
		x.mu.Lock()
		x.waiting = false
		x.mu.Unlock()
		x.wake()
	})
}

// NoteWritten says that messages with this many bytes of text are about to be stored, or have been.
func (x *Index) NoteWritten(messages int, bytes int64) {
	x.mu.Lock()
	x.written = true
	x.seen.messages += messages
	x.seen.bytes += bytes
	enough := x.seen.fillsBatch()
	x.mu.Unlock()
	if enough {
		x.wake()
	}
}

// NoteTurn says that a turn of this process is being written, which somebody waits for.
func (x *Index) NoteTurn() { x.turn.Store(max(int64(time.Since(x.began)), 1)) }

// makeWay waits for a moment without turns, within the bounds of that.
func (x *Index) makeWay(ctx context.Context) error {
	until := time.Now().Add(yieldTime)
	for {
		at := x.turn.Load()
		x.mu.Lock()
		enough := x.seen.messages >= mostMessages || x.seen.bytes >= mostBytes
		x.mu.Unlock()
		wait := min(time.Until(until), quietTime-(time.Since(x.began)-time.Duration(at)))
		if at == 0 || enough || wait <= 0 {
			return ctx.Err()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// NotePurged says that messages are gone.
func (x *Index) NotePurged() {
	x.tail.dropAll()
	x.recent.drop()
	x.mu.Lock()
	x.purged = true
	x.mu.Unlock()
	x.wake()
}

// wake has the index maintained, now or when a wait is over.
func (x *Index) wake() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop == nil || x.closed || x.waiting {
		return
	}
	if x.wanted = true; !x.running {
		x.running = true
		x.done.Go(x.indexWaiting)
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
		behind, _, _ = x.catchUp(ctx, batchOptions{workers: 1})
	}
	if purged {
		_ = x.MaintainAll(ctx)
	}
}

// indexWaiting indexes what is behind, until nobody wants more or it fails.
func (x *Index) indexWaiting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.wanted && !x.waiting && !x.closed {
		x.wanted = false
		lenient := x.failed > patience
		x.mu.Unlock()
		err := x.indexBatches(x.life, lenient)
		x.mu.Lock()
		switch {
		case err == nil:
			x.failed = 0
			x.again = 0
		case x.closed:
		case errors.Is(err, errElsewhere): // and may have looked before what is new here
			x.delay(elsewhere)
		case scrollback.CodeOf(err) == scrollback.Refused: // it may only be read
			x.waiting = true
		default:
			x.failed += 1
			x.again = min(max(2*x.again, retryIn), retryMost)
			x.delay(x.again)
		}
	}
	x.running = false
}

// errElsewhere says that another server keeps the index.
var errElsewhere = errors.New("another server keeps the index")

// claimWork takes the work, where servers take turns.
func (x *Index) claimWork(ctx context.Context) (*claims.Claim, error) {
	if x.claims == nil {
		return nil, nil
	}
	c, err := x.claims.ClaimWork(ctx, "", "index")
	if c == nil && err == nil {
		err = errElsewhere
	}
	return c, err
}

// indexBatches indexes whole batches and maintains the index, until there is no more to do.
func (x *Index) indexBatches(ctx context.Context, lenient bool) error {
	claim, err := x.claimWork(ctx)
	if err != nil {
		return err
	}
	defer claim.Release()
	for {
		if err := x.makeWay(ctx); err != nil {
			return err
		}
		began := time.Now()
		x.mu.Lock()
		before := x.seen
		x.mu.Unlock()
		more, left, err := x.catchUp(ctx, batchOptions{lenient: lenient, workers: 1})
		if err != nil {
			return err
		}
		x.mu.Lock() // what was written meanwhile may be in what is left, or not: better twice than never
		x.seen = unindexed{left.messages + x.seen.messages - before.messages, left.bytes + x.seen.bytes - before.bytes}
		x.mu.Unlock()
		// A step each time: while a long log is indexed, its segments do not pile up.
		if tending, err := x.Maintain(ctx); err != nil || !more && !tending {
			return err
		}
		if err := x.pauseAfter(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// pauseAfter leaves time to others, if there is so much to do that it takes long.
func (x *Index) pauseAfter(ctx context.Context, worked time.Duration) error {
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
