package transfer

import (
	"context"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Bounds of full copies that are written after compactions.
const (
	laterTime = 10 * time.Minute // for one
	maxLater  = 1024             // conversations that wait for theirs
)

// copyQueue writes full copies after compactions, one at a time. Compactions that come before the
// copy of their conversation is begun share it: it holds all that they put away.
type copyQueue struct {
	Copies
	mu      sync.Mutex
	waiting map[scrollback.ConversationID]*reservedCopy
	writing chan struct{} // full while one is written
}

// reservedCopy is a copy that is not begun yet.
type reservedCopy struct {
	Copy
	taken bool // somebody writes it, or waits to
}

// OnCompact returns what [engine.Options] need to copy conversations after their
// compactions.
func OnCompact(t *Transfer) func(id scrollback.ConversationID) (key string, write func(context.Context,
	*engine.View) error) {
	w := &copyQueue{Copies: t.Copies(), waiting: map[scrollback.ConversationID]*reservedCopy{},
		writing: make(chan struct{}, 1)}
	return w.reserveKey
}

// reserveKey returns the key of a conversation's next full copy, and what writes it once the
// compaction is stored.
func (w *copyQueue) reserveKey(id scrollback.ConversationID) (string, func(context.Context, *engine.View) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.waiting[id]
	if r == nil {
		if len(w.waiting) >= maxLater {
			w.dropStale()
		}
		now := w.of.store.Now()
		r = &reservedCopy{Copy: Copy{Key: archive.CopyKey(now, w.of.store.NewID()), CreatedAt: now}}
		w.waiting[id] = r
	}
	return r.Key, func(ctx context.Context, v *engine.View) error { return w.writeReserved(ctx, v, id, r) }
}

// dropStale leaves out reservations of compactions that may have come to nothing. Those whose
// compactions are still being stored are written all the same, each by itself.
func (w *copyQueue) dropStale() {
	for id, r := range w.waiting {
		if !r.taken {
			delete(w.waiting, id)
		}
	}
}

// writeReserved writes a copy that was reserved, unless somebody else does.
func (w *copyQueue) writeReserved(ctx context.Context, v *engine.View, id scrollback.ConversationID,
	r *reservedCopy) error {
	w.mu.Lock()
	mine := !r.taken
	r.taken = true
	full := len(w.waiting) > maxLater
	w.mu.Unlock()
	if !mine {
		return nil
	}
	begin := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting[id] == r { // who compacts from now on needs another
			delete(w.waiting, id)
		}
	}
	if full {
		begin()
		return scrollback.Errorf(scrollback.Unavailable, "transfer.OnCompact", i18n.TooManyCopiesWait,
			maxLater)
	}
	select {
	case w.writing <- struct{}{}:
		defer func() { <-w.writing }()
	case <-ctx.Done():
		begin()
		return scrollback.Wrap(scrollback.Canceled, "transfer.OnCompact", ctx.Err())
	}
	begin()
	ctx, cancel := context.WithTimeout(ctx, laterTime)
	defer cancel()
	_, err := w.writeAs(ctx, v, id, r.Copy)
	return err
}
