package index

import (
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// Bounds of messages that are kept until they are cut.
const (
	recentMessages = 8192
	recentBytes    = 8 << 20 // of parts
)

// recent are messages that this process has stored in bulk and has not cut yet, so that they need not be read back.
// What is too much is forgotten, oldest first, and read.
type recent struct {
	mu    sync.Mutex
	all   map[scrollback.MessageID]scrollback.Message
	order []scrollback.MessageID // in which they were stored, with those that were taken
	bytes int64
}

// NoteStored says that messages are stored, as they are from then on.
func (x *Index) NoteStored(ms []scrollback.Message) { x.recent.add(ms) }

func (r *recent) add(ms []scrollback.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[scrollback.MessageID]scrollback.Message{}
	}
	for _, m := range ms {
		r.all[m.ID] = m
		r.order = append(r.order, m.ID)
		r.bytes += m.Weight.Bytes
	}
	for len(r.order) > recentMessages || r.bytes > recentBytes {
		r.remove(r.order[0])
		r.order = r.order[1:]
	}
}

// remove forgets a message. The lock is held.
func (r *recent) remove(id scrollback.MessageID) {
	r.bytes -= r.all[id].Weight.Bytes
	delete(r.all, id)
}

// take returns a message and forgets it.
func (r *recent) take(id scrollback.MessageID) (scrollback.Message, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, known := r.all[id]
	if !known {
		return m, false
	}
	r.remove(id)
	if len(r.all) == 0 {
		r.order = nil
	}
	return m, true
}

// drop forgets all.
func (r *recent) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
	r.order = nil
	r.bytes = 0
}
