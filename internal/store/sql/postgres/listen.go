package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// channelName returns the channel of the servers that share a schema; the server of the database
// keeps those of its databases apart. A name may have 63 bytes.
func channelName(schema string) string {
	if schema == "public" {
		return "scrollback"
	}
	sum := sha256.Sum256([]byte(schema))
	return "scrollback_" + hex.EncodeToString(sum[:8])
}

// Between attempts to listen again; doubled up to the longest.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 15 * time.Second
	// checkAfterQuiet is after how long without a notification the connection is tried.
	checkAfterQuiet = 30 * time.Second
)

// listener learns that another server wrote, on a connection of its own. It only saves time:
// those who wait for changes poll for them as well, because notifications are lost while
// it connects again, when a pooler is between, and on databases that have none.
type listener struct {
	config  *pgx.ConnConfig
	channel string
	signal  func() // must not block
	log     *slog.Logger
	cancel  context.CancelFunc
	done    chan struct{}
}

// startListening begins to listen; signal is called for every notification and each time that
// some may have been missed.
func (c *connection) startListening(signal func()) *listener {
	ctx, cancel := context.WithCancel(context.Background())
	l := &listener{config: c.config.Copy(), channel: c.channel, signal: signal, log: c.log, cancel: cancel,
		done: make(chan struct{})}
	go l.listenUntilClosed(ctx)
	return l
}

// Close ends it.
func (l *listener) Close() {
	l.cancel()
	<-l.done
}

func (l *listener) listenUntilClosed(ctx context.Context) {
	defer close(l.done)
	for wait, told := firstRetry, false; ctx.Err() == nil; wait = min(2*wait, longestRetry) {
		heard, err := l.listenOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case !heard && sqlStateOf(err) != "" && !isConnectionLost(err) && !isRetryable(err):
			l.log.Info("the database sends no notifications; what other servers write is noticed by polling",
				"error", explainFailure("postgres.Listen", l.config, err))
			return
		case heard:
			wait = firstRetry
			told = false
		}
		if !told {
			told = true
			l.log.Warn("the connection for notifications was lost; polling goes on", "error",
				explainFailure("postgres.Listen", l.config, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait/2 + rand.N(wait)): //nolint:gosec // servers should not come back all at once
		}
	}
}

// listenOnce listens until its connection is lost; heard says that it came as far as listening.
func (l *listener) listenOnce(ctx context.Context) (heard bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return false, err
	}
	defer func() {
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn.Close(short) //nolint:errcheck // it may be lost
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel}.Sanitize()); err != nil {
		return false, err
	}
	l.signal()
	for {
		if err := l.awaitNotification(ctx, conn); err != nil {
			return true, err
		}
	}
}

// awaitNotification waits for a notification, and tries the connection when there is none for long.
func (l *listener) awaitNotification(ctx context.Context, conn *pgx.Conn) error {
	quiet, cancel := context.WithTimeout(ctx, checkAfterQuiet)
	_, err := conn.WaitForNotification(quiet)
	cancel()
	switch {
	case err == nil:
		l.signal()
		return nil
	case ctx.Err() != nil || !pgconn.Timeout(err):
		return err
	}
	alive, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return conn.Ping(alive)
}
