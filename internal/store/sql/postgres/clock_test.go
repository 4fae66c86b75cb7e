package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// source is a database's clock, ahead of ours, that replies after a round trip.
type source struct {
	ahead, trip time.Duration
	late        float64 // which part of the trip is before it looks at its clock
	err         error
	asked       int
	mu          sync.Mutex
}

// set changes it while it is asked.
func (s *source) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *source) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *source) read(context.Context) (time.Time, error) {
	s.mu.Lock()
	s.asked++
	ahead := s.ahead
	trip := s.trip
	late := s.late
	err := s.err
	s.mu.Unlock()
	time.Sleep(time.Duration(late * float64(trip)))
	now := time.Now().Add(ahead)
	time.Sleep(time.Duration((1 - late) * float64(trip)))
	return now, err
}

func running(t *testing.T, s *source) *clock {
	t.Helper()
	c, err := newClock(t.Context(), s.read, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func off(c *clock, s *source) time.Duration { return c.Now().Sub(time.Now().Add(s.ahead)).Abs() }

// The servers' own clocks may be an hour apart: the database's counts.
func TestClockFollowsTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{ahead: time.Hour, trip: 10 * time.Millisecond, late: 0.5}
		c := running(t, s)
		defer c.close()
		if o := off(c, s); o != 0 {
			t.Errorf("it is off by %s", o)
		}
		asked := s.times()
		time.Sleep(20 * time.Second)
		if o := off(c, s); o != 0 || s.times() != asked {
			t.Errorf("later it is off by %s, asked %d times", o, s.times()-asked)
		}
	})
}

func TestClockPrefersTheShortestTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{ahead: -time.Hour, trip: 2 * time.Millisecond, late: 1}
		c := running(t, s)
		defer c.close()
		s.set(func() { s.trip = 4 * time.Second }) // a slow network: the middle of the trip is wrong by two seconds
		time.Sleep(2 * clockEvery)
		synctest.Wait()
		if o := off(c, s); o > time.Millisecond {
			t.Errorf("it is off by %s", o)
		}
		time.Sleep((clockKept + 2) * clockEvery) // the good one is too old to be believed
		synctest.Wait()
		if o := off(c, s); o != 2*time.Second {
			t.Errorf("it is off by %s", o)
		}
	})
}

func TestClockOfAnotherPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{trip: time.Millisecond, late: 0.5}
		c := running(t, s)
		defer c.close()
		for _, step := range []time.Duration{time.Hour, -time.Hour, 3 * time.Second} {
			s.set(func() { s.ahead += step })
			s.set(func() { s.trip = 50 * time.Millisecond })
			time.Sleep(clockEvery + time.Second)
			synctest.Wait()
			if o := off(c, s); o != 0 {
				t.Errorf("after a step of %s it is off by %s", step, o)
			}
		}
	})
}

func TestClockNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{trip: 180 * time.Millisecond, late: 1} // it is behind by 90 ms
		c := running(t, s)
		defer c.close()
		s.set(func() { s.late = 0 })
		s.set(func() { s.trip = 100 * time.Millisecond }) // and now ahead by 50
		last := c.Now()
		for range 1000 {
			time.Sleep(97 * time.Millisecond)
			now := c.Now()
			if now.Before(last) {
				t.Fatalf("from %s to %s", last, now)
			}
			last = now
			s.set(func() { s.late = 1 - s.late })
		}
	})
}

func TestClockWithoutTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{ahead: time.Minute, trip: time.Millisecond, late: 0.5}
		c := running(t, s)
		s.set(func() { s.err = errors.New("the database is down") })
		time.Sleep(time.Hour)
		if o := off(c, s); o != 0 {
			t.Errorf("it is off by %s", o)
		}
		c.close()
		asked := s.times()
		time.Sleep(time.Hour)
		if s.times() != asked {
			t.Error("it asks after it was closed")
		}
		if _, err := newClock(t.Context(), s.read, c.log); err == nil {
			t.Error("a clock began without a time")
		}
	})
}

func TestClockOfPostgreSQL(t *testing.T) {
	c := connected(t, postgrestest.New(t))
	k, err := newClock(t.Context(), readClock(c.readers), c.log)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	// The server is on this machine: its clock is ours.
	if o := time.Until(k.Now()).Abs(); o > 5*time.Second {
		t.Errorf("it is off by %s", o)
	}
}
