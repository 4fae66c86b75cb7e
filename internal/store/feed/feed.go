// Package feed tells those who listen what is done to conversations, by this process and
// by others that have the same database open.
//
// Words it adds: follower (one who listens, and where it stands), ring (the newest changes
// in memory).
//
// Invariants: a follower gets each change that it may see once and in order, or is told that
// some are gone (reset); of a conversation that a caller may not see it is told nothing,
// but that it is gone when it leaves what they see; one goroutine reads the database for
// all followers, and none while there are none; a slow follower costs no memory, because it
// is a number and reads what it has missed from the database.
//
// It may not know HTTP, SQL or callers: whose changes are told is a function it is given.
package feed

import (
	"context"
	"iter"
	"sort"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

const (
	pollEvery = 400 * time.Millisecond // for what other processes have done
	pageMax   = 256                    // changes read at once
	ringMax   = 2048                   // changes in memory, for all followers together
)

// FromNow follows from the newest change on.
const FromNow = -1

// Feed is what is done to the conversations of one database. It is safe for concurrent use.
type Feed struct {
	d *driver.Driver

	mu        sync.Mutex
	followers int
	stop      context.CancelFunc // of the goroutine that reads
	from      int64              // the ring holds what came after this change
	ring      []driver.Change
	more      chan struct{} // closed when the ring has grown, or reading has failed
	err       error         // why nobody reads any more
}

// New makes a feed.
func New(d *driver.Driver) *Feed { return &Feed{d: d} }

// Follow yields what is done after change number after to the conversations of the
// projects that are seen, until ctx ends or the database fails. It begins with where it
// stands: a ChangeNone, or a ChangeReset if not everything since then is kept; and it ends
// what concerned nobody here with a ChangeNone too.
func (f *Feed) Follow(ctx context.Context, after int64,
	sees func(project string) bool) iter.Seq2[scrollback.Change, error] {
	return func(yield func(scrollback.Change, error) bool) {
		if err := f.addFollower(ctx); err != nil {
			yield(scrollback.Change{}, err)
			return
		}
		defer f.removeFollower()
		at := f.newestNumber()
		lost := false
		err := error(nil)
		if after != FromNow {
			at, lost, err = f.findStart(ctx, after)
		}
		if err == nil && !lost && !yield(scrollback.Change{N: at}, nil) {
			return
		}
		for err == nil {
			if lost {
				if !yield(scrollback.Change{N: at, Type: scrollback.ChangeReset}, nil) {
					return
				}
			}
			var batch []driver.Change
			if batch, lost, err = f.waitNext(ctx, at); lost {
				at, lost, err = f.findStart(ctx, at)
				continue
			}
			if len(batch) > 0 && err == nil {
				if !yieldVisible(batch, sees, yield) {
					return
				}
				at = batch[len(batch)-1].N
			}
		}
		yield(scrollback.Change{}, err)
	}
}

// newestNumber is the newest change in the ring. Only the first follower has read the database for it,
// because that takes far more stack than a stream keeps.
func (f *Feed) newestNumber() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.ring); n > 0 {
		return f.ring[n-1].N
	}
	return f.from
}

// findStart returns where somebody follows from who has everything up to a change. If what came after
// it is not kept, that is the newest change.
func (f *Feed) findStart(ctx context.Context, after int64) (at int64, lost bool, err error) {
	oldest, newest, err := f.d.Log.ReadChangeSpan(ctx)
	switch {
	case err != nil:
		return 0, false, err
	case after > newest || after < oldest-1: // of another database, or too long ago
		return newest, true, nil
	}
	return after, false, nil
}

// waitNext waits for changes after one. lost says that some of them are not kept any more.
func (f *Feed) waitNext(ctx context.Context, at int64) (batch []driver.Change, lost bool, err error) {
	f.mu.Lock()
	from := f.from
	ring := f.ring
	more := f.more
	failed := f.err
	f.mu.Unlock()
	if at < from {
		if batch, err = f.d.Log.ListChanges(ctx, at, pageMax); err == nil {
			// What was removed meanwhile was so before the changes were read, or is among them.
			lost = len(batch) == 0 || batch[0].N != at+1
		}
		return batch, lost, err
	}
	i := sort.Search(len(ring), func(i int) bool { return ring[i].N > at })
	if batch = ring[i:]; len(batch) > 0 || failed != nil {
		return batch, false, failed
	}
	select {
	case <-more:
		return nil, false, nil
	case <-ctx.Done():
		return nil, false, scrollback.Wrap(scrollback.Canceled, "feed.Follow", ctx.Err())
	}
}

// addFollower counts a follower, and begins to read for the first.
func (f *Feed) addFollower(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		_, newest, err := f.d.Log.ReadChangeSpan(ctx)
		if err != nil {
			return err
		}
		reading, stop := context.WithCancel(context.WithoutCancel(ctx))
		f.stop = stop
		f.from = newest
		f.ring = nil
		f.more = make(chan struct{})
		f.err = nil
		go f.readChanges(reading)
	}
	f.followers++
	return nil
}

// removeFollower counts a follower out; after the last, nobody reads.
func (f *Feed) removeFollower() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers--; f.followers == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
		f.ring = nil
	}
}

// readChanges keeps the ring up to date until ctx ends.
func (f *Feed) readChanges(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if !f.loadChanges(ctx) {
			return
		}
		select {
		case <-f.d.Log.Committed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// loadChanges reads what is new into the ring. It reports whether to go on.
func (f *Feed) loadChanges(ctx context.Context) bool {
	for {
		page, err := f.d.Log.ListChanges(ctx, f.newestNumber(), pageMax)
		if ctx.Err() != nil {
			return false
		}
		if len(page) == 0 && err == nil {
			return true
		}
		f.mu.Lock()
		if ctx.Err() != nil { // another may read by now
			f.mu.Unlock()
			return false
		}
		if f.err = err; err == nil {
			f.appendChanges(page)
		} else {
			f.stop() // the next caller tries again
			f.stop = nil
		}
		close(f.more)
		f.more = make(chan struct{})
		f.mu.Unlock()
		if err != nil {
			return false
		}
	}
}

// appendChanges puts changes into the ring, whose oldest half goes when it is full: followers may
// still hold the old one.
func (f *Feed) appendChanges(page []driver.Change) {
	if over := len(f.ring) + len(page) - ringMax; over > 0 {
		cut := min(max(over, ringMax/2), len(f.ring))
		f.from = f.ring[cut-1].N
		f.ring = append(make([]driver.Change, 0, ringMax), f.ring[cut:]...)
	}
	f.ring = append(f.ring, page...)
	for _, c := range page {
		if c.Kinds&driver.KindPurged != 0 {
			f.forgetConversation(c.Conversation)
		}
	}
}

// forgetConversation lets the ring know no more of a conversation that was purged than the database.
func (f *Feed) forgetConversation(id scrollback.ConversationID) {
	f.ring = append(make([]driver.Change, 0, max(len(f.ring), ringMax)), f.ring...)
	for i := range f.ring {
		if f.ring[i].Conversation == id {
			f.ring[i].Now = nil
		}
	}
}
