package turnstile_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/turnstile"
)

// One at a time holds a lock, and keys do not wait for each other.
func TestOneAtATime(t *testing.T) {
	var s turnstile.Locks[string]
	ctx := context.Background()
	_, unlock, err := s.Lock(ctx, "other", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, unlock, err := s.Lock(ctx, "a", nil)
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), inside.Add(1)))
			inside.Add(-1)
			unlock()
		})
	}
	all.Wait()
	if most.Load() != 1 || s.CountUsers("a") != 0 || s.CountUsers("other") != 1 {
		t.Errorf("%d were inside at once; %d and %d users remain", most.Load(), s.CountUsers("a"), s.CountUsers("other"))
	}
}

// A waiter that runs out of patience hurries the holder, and those who come between.
func TestHurry(t *testing.T) {
	var s turnstile.Locks[int]
	ctx := context.Background()
	slow, unlock, err := s.Lock(ctx, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		slow, unlock, err := s.Lock(ctx, 1, &turnstile.Patience{})
		if err == nil {
			err = slow.Err()
			unlock()
		}
		got <- err
	}()
	<-slow.Done()
	unlock()
	if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the slow part of one without patience ends with %v", err)
	}
	slow, unlock, err = s.Lock(ctx, 1, nil)
	if err != nil || slow.Err() != nil {
		t.Errorf("nobody waits, and the slow part is over: %v %v", err, slow.Err())
	}
	unlock()
}

// Who gives up hurries nobody.
func TestGivingUp(t *testing.T) {
	var s turnstile.Locks[int]
	slow, unlock, err := s.Lock(context.Background(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, _, err := s.Lock(ctx, 1, &turnstile.Patience{Left: time.Hour}); !errors.Is(err, why) {
		t.Errorf("it gave up with %v", err)
	}
	if slow.Err() != nil || s.CountUsers(1) != 1 {
		t.Errorf("the slow part is over (%v), or %d users remain", slow.Err(), s.CountUsers(1))
	}
}

// Patience is used up by all slow parts together.
func TestPatience(t *testing.T) {
	var s turnstile.Locks[int]
	p := &turnstile.Patience{Left: 5 * time.Millisecond}
	for range 3 {
		slow, unlock, err := s.Lock(context.Background(), 1, p)
		if err != nil {
			t.Fatal(err)
		}
		<-slow.Done()
		unlock()
	}
	if p.Left > 0 {
		t.Errorf("%v are left", p.Left)
	}
}
