package request

import (
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// recentCache is what was found out about the conversations that somebody writes to at the
// moment. It is safe for concurrent use.
type recentCache[T any] struct {
	mu    sync.Mutex
	of    map[scrollback.ConversationID]recent[T]
	total int64 // of what they weigh
	most  int64 // that it may be
}

// recent is what was found out about one of them, and what it weighs.
type recent[T any] struct {
	is     T
	weighs int64
}

// get returns what is known of a conversation; the zero value for nothing.
func (r *recentCache[T]) get(id scrollback.ConversationID) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id].is
}

// take is get, for what nobody else may have until it is put back.
func (r *recentCache[T]) take(id scrollback.ConversationID) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.of[id]
	r.total -= out.weighs
	delete(r.of, id)
	return out.is
}

// put keeps what is known of a conversation, and drops others where there is no room for it.
func (r *recentCache[T]) put(id scrollback.ConversationID, v T, weighs int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[scrollback.ConversationID]recent[T]{}
	}
	r.total += weighs - r.of[id].weighs
	r.of[id] = recent[T]{v, weighs}
	for other, what := range r.of {
		if r.total > r.most && other != id {
			delete(r.of, other)
			r.total -= what.weighs
		}
	}
}
