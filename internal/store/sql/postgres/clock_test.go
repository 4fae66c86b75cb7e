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

// fakeClock is a database's clock, ahead of ours, that replies after a round trip.
type fakeClock struct {
	ahead, trip time.Duration
	late        float64 // which part of the trip is before it looks at its clock
	err         error
	asked       int
	mu          sync.Mutex
}

// change changes it while it is asked.
func (s *fakeClock) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeClock) countReads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *fakeClock) readTime(context.Context) (time.Time, error) {
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

func startClock(t *testing.T, s *fakeClock) *clock {
	t.Helper()
	c, err := newClock(t.Context(), s.readTime, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func clockError(c *clock, s *fakeClock) time.Duration {
	return c.Now().Sub(time.Now().Add(s.ahead)).Abs()
}

// The servers' own clocks may be an hour apart: the database's counts.
func TestClockFollowsTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeClock{ahead: time.Hour, trip: 10 * time.Millisecond, late: 0.5}
		c := startClock(t, s)
		defer c.stopMeasuring()
		if o := clockError(c, s); o != 0 {
			t.Errorf("it is off by %s", o)
		}
		asked := s.countReads()
		time.Sleep(20 * time.Second)
		if o := clockError(c, s); o != 0 || s.countReads() != asked {
			t.Errorf("later it is off by %s, asked %d times", o, s.countReads()-asked)
		}
	})
}

func TestClockPrefersTheShortestTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeClock{ahead: -time.Hour, trip: 2 * time.Millisecond, late: 1}
		c := startClock(t, s)
		defer c.stopMeasuring()
		s.change(func() { s.trip = 4 * time.Second }) // a slow network: the middle of the trip is wrong by two seconds
		time.Sleep(2 * measureEvery)
		synctest.Wait()
		if o := clockError(c, s); o > time.Millisecond {
			t.Errorf("it is off by %s", o)
		}
		time.Sleep((measurementsKept + 2) * measureEvery) // the good one is too old to be believed
		synctest.Wait()
		if o := clockError(c, s); o != 2*time.Second {
			t.Errorf("it is off by %s", o)
		}
	})
}

func TestClockOfAnotherPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeClock{trip: time.Millisecond, late: 0.5}
		c := startClock(t, s)
		defer c.stopMeasuring()
		for _, step := range []time.Duration{time.Hour, -time.Hour, 3 * time.Second} {
			s.change(func() { s.ahead += step })
			s.change(func() { s.trip = 50 * time.Millisecond })
			time.Sleep(measureEvery + time.Second)
			synctest.Wait()
			if o := clockError(c, s); o != 0 {
				t.Errorf("after a step of %s it is off by %s", step, o)
			}
		}
	})
}

func TestClockNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeClock{trip: 180 * time.Millisecond, late: 1} // it is behind by 90 ms
		c := startClock(t, s)
		defer c.stopMeasuring()
		s.change(func() { s.late = 0 })
		s.change(func() { s.trip = 100 * time.Millisecond }) // and now ahead by 50
		last := c.Now()
		for range 1000 {
			time.Sleep(97 * time.Millisecond)
			now := c.Now()
			if now.Before(last) {
				t.Fatalf("from %s to %s", last, now)
			}
			last = now
			s.change(func() { s.late = 1 - s.late })
		}
	})
}

func TestClockWithoutTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeClock{ahead: time.Minute, trip: time.Millisecond, late: 0.5}
		c := startClock(t, s)
		s.change(func() { s.err = errors.New("the database is down") })
		time.Sleep(time.Hour)
		if o := clockError(c, s); o != 0 {
			t.Errorf("it is off by %s", o)
		}
		c.stopMeasuring()
		asked := s.countReads()
		time.Sleep(time.Hour)
		if s.countReads() != asked {
			t.Error("it asks after it was closed")
		}
		if _, err := newClock(t.Context(), s.readTime, c.log); err == nil {
			t.Error("a clock began without a time")
		}
	})
}

func TestClockOfPostgreSQL(t *testing.T) {
	c := mustConnect(t, postgrestest.NewDatabase(t))
	k, err := newClock(t.Context(), readClock(c.readers), c.log)
	if err != nil {
		t.Fatal(err)
	}
	defer k.stopMeasuring()
	// The server is on this machine: its clock is ours.
	if o := time.Until(k.Now()).Abs(); o > 5*time.Second {
		t.Errorf("it is off by %s", o)
	}
}
