package postgres

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"
)

const (
	measureEvery     = 30 * time.Second // between measurements
	measurementsKept = 8                // the last few, of which the best counts
	clockTimeout     = 5 * time.Second  // of one
	// measurementSlack is by how much two measurements may contradict each other before the
	// database's clock was set, and the earlier ones are void.
	measurementSlack = 100 * time.Millisecond
	// maxHold is how far the time may be held still so that it never goes back. A clock
	// that was set back by more is followed: a time that stands still ends no lease.
	maxHold = time.Second
)

// measurement is the database's time at an instant of ours, at most off by half of the round
// trip.
type measurement struct {
	at    time.Time // ours, with its monotonic part
	their time.Time
	trip  time.Duration
}

// nowAt returns the database's time by this measurement.
func (m measurement) nowAt() time.Time { return m.their.Add(time.Since(m.at)) }

// clock is the database's time without asking for it each time: the best of the last few
// measurements, advanced by the monotonic clock. Servers whose own clocks differ agree on it.
type clock struct {
	read   func(context.Context) (time.Time, error)
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}

	mu           sync.Mutex
	measurements []measurement
	best         measurement
	last         time.Time // that was returned
}

// readClock asks the database for its time.
func readClock(db *sql.DB) func(context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		var ms int64
		err := db.QueryRowContext(ctx, `SELECT (extract(epoch from clock_timestamp())*1000)::bigint`).Scan(&ms)
		return time.UnixMilli(ms), err
	}
}

// newClock measures a few times, and again every half minute until it is closed. read
// returns the database's time.
func newClock(ctx context.Context, read func(context.Context) (time.Time, error), log *slog.Logger) (*clock, error) {
	c := &clock{read: read, log: log, done: make(chan struct{})}
	for range 3 { // the first may include connecting
		if err := c.measureOnce(ctx); err != nil {
			return nil, err
		}
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go c.measureRegularly(ctx)
	return c, nil
}

// stopMeasuring ends the measurements; the clock goes on by the last.
func (c *clock) stopMeasuring() {
	c.cancel()
	<-c.done
}

func (c *clock) measureRegularly(ctx context.Context) {
	defer close(c.done)
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// Without the database, the time goes on by the monotonic clock.
			if err := c.measureOnce(ctx); err != nil && ctx.Err() == nil {
				c.log.Debug("the database's time was not measured", "error", err)
			}
		}
	}
}

// measureOnce asks once, and takes the middle of the round trip for when the answer was made.
func (c *clock) measureOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	sent := time.Now()
	their, err := c.read(ctx)
	if err != nil {
		return err
	}
	trip := time.Since(sent)
	c.addMeasurement(measurement{at: sent.Add(trip / 2), their: their, trip: trip})
	return nil
}

func (c *clock) addMeasurement(m measurement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.measurements) > 0 {
		off := m.nowAt().Sub(c.best.nowAt())
		if off.Abs() > (m.trip+c.best.trip)/2+measurementSlack {
			c.log.Warn("the database's clock was set", "by", off.Round(time.Millisecond).String())
			c.measurements = nil
		}
	}
	c.measurements = append(c.measurements, m)
	c.measurements = c.measurements[max(0, len(c.measurements)-measurementsKept):]
	c.best = m
	for _, k := range c.measurements {
		if k.trip < c.best.trip {
			c.best = k
		}
	}
}

// Now returns the database's time. It stands still for a moment rather than going back.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.best.nowAt()
	if back := c.last.Sub(now); back > 0 && back <= maxHold {
		return c.last
	}
	c.last = now
	return now
}
