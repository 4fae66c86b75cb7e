// Package turnstile lets one at a time do something slow to a thing, and lets those who
// wait say that they wait no longer.
//
// Words it adds: patience (how long somebody waits for the slow part, over all their
// work), slow part (what may be left out: here, asking a model).
//
// Invariants: one holder for a key at a time; the context for the slow part ends as soon
// as the patience of its holder, or of anybody behind, is used up.
package turnstile

import (
	"context"
	"sync"
	"time"
)

// Patience is how long somebody waits for slow parts, all of them together. Nil waits as
// long as they take. It is used by one goroutine at a time.
type Patience struct{ Left time.Duration }

// newContext returns a context that ends with the patience, to be stopped when the waiting
// is over.
func (p *Patience) newContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if p == nil {
		return context.WithCancel(ctx)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.Left)
	return ctx, func() {
		cancel()
		p.Left -= time.Since(began)
	}
}

// Locks are a lock for each key. The zero value is ready.
type Locks[K comparable] struct {
	mu sync.Mutex
	of map[K]*keyLock
}

type keyLock struct {
	held    chan struct{} // full while somebody holds it
	users   int           // who hold it or wait
	hurried int           // who wait for no slow part any longer
	hurry   context.CancelFunc
}

// Lock waits for the lock of a key until ctx ends, and returns the cause of that. When
// the patience is used up, the holder of the lock is hurried. The context that it returns
// is for the slow part.
func (s *Locks[K]) Lock(ctx context.Context, key K, p *Patience) (slow context.Context, unlock func(), err error) {
	waiting, stop := p.newContext(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[K]*keyLock{}
	}
	l := s.of[key]
	if l == nil {
		l = &keyLock{held: make(chan struct{}, 1), hurry: func() {}}
		s.of[key] = l
	}
	l.users++
	leave := func() {
		stop()
		if l.users--; l.users == 0 {
			delete(s.of, key)
		}
	}
	if err := s.takeLock(ctx, waiting, l); err != nil {
		leave()
		return nil, nil, err
	}
	slow, l.hurry = context.WithCancel(waiting)
	if l.hurried > 0 {
		l.hurry()
	}
	return slow, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.hurry()
		<-l.held
		leave()
	}, nil
}

// takeLock takes a lock. It is called with mu held, and lets go of it while it waits.
func (s *Locks[K]) takeLock(ctx, waiting context.Context, l *keyLock) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case l.held <- struct{}{}:
		return nil
	case <-waiting.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	l.hurried++
	l.hurry()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.hurried--
	}()
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CountUsers returns how many hold the lock of a key or wait for it.
func (s *Locks[K]) CountUsers(key K) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.of[key]; l != nil {
		return l.users
	}
	return 0
}
