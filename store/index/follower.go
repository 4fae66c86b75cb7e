package index

import (
	"context"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// How the follower keeps time.
const (
	settle    = 200 * time.Millisecond // before the first look: most commands are over by then
	retryIn   = time.Second            // after a failure, and twice as long after each further one
	retryMost = time.Minute
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

// follower is the goroutine that keeps an index behind the log.
type follower struct {
	wake chan struct{}

	mu      sync.Mutex
	seen    behind
	written bool // by this process, since it began
	purged  bool
	stop    context.CancelFunc
	done    chan struct{}
}

func (f *follower) init() { f.wake = make(chan struct{}, 1) }

// Follow keeps the index behind the log until Close.
func (x *Index) Follow() {
	ctx, stop := context.WithCancel(context.Background())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop != nil {
		stop()
		return
	}
	x.stop, x.done = stop, make(chan struct{})
	go x.follow(ctx, x.done)
}

// Wrote says that messages with so many bytes of text are about to be stored, or have been.
func (x *Index) Wrote(messages int, bytes int64) {
	x.mu.Lock()
	x.written = true
	x.seen.messages, x.seen.bytes = x.seen.messages+messages, x.seen.bytes+bytes
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

func (x *Index) poke() {
	select {
	case x.wake <- struct{}{}:
	default: // it has not looked yet
	}
}

// Close ends Follow. In a bounded time it indexes a batch, if a whole one waits that this
// process has written, and forgets what this process has purged.
func (x *Index) Close() {
	x.mu.Lock()
	stop, done, written, purged := x.stop, x.done, x.written, x.purged
	x.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	<-done
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if written { // what is left, the next process does
		_, _, _ = x.catchUp(ctx, how{workers: 1})
	}
	if purged {
		_ = x.TendAll(ctx)
	}
}

// follow indexes what is behind whenever there is enough of it, until ctx ends.
func (x *Index) follow(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	wait := time.NewTimer(settle)
	defer wait.Stop()
	again, failed := time.Duration(0), 0
	for first := true; ; first = false {
		wake := x.wake
		if first || failed > 0 {
			wake = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-wait.C:
		}
		switch err := x.work(ctx, failed > patience); {
		case err == nil:
			failed, again = 0, 0
		case scrollback.CodeOf(err) == scrollback.Refused: // it may only be read
			return
		default:
			failed, again = failed+1, min(max(2*again, retryIn), retryMost)
			wait.Reset(again)
		}
	}
}

// work indexes whole batches and tends the index until there is no more to do.
func (x *Index) work(ctx context.Context, lenient bool) error {
	for {
		began := time.Now()
		more, left, err := x.catchUp(ctx, how{lenient: lenient, workers: 1})
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.seen = left
		x.mu.Unlock()
		if !more {
			if more, err = x.Tend(ctx); err != nil || !more {
				return err
			}
		}
		if err := x.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// rest leaves time to others, if there is so much to do that it takes long.
func (x *Index) rest(ctx context.Context, worked time.Duration) error {
	s, err := x.State(ctx)
	if err != nil || s.Newest-s.Watermark < backlog {
		return err
	}
	select {
	case <-time.After(worked):
	case <-ctx.Done():
	}
	return ctx.Err()
}
