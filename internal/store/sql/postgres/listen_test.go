package postgres

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// startTestListener returns a listener whose signals can be waited for.
func startTestListener(t *testing.T, c *connection) (*listener, <-chan struct{}) {
	t.Helper()
	heard := make(chan struct{}, 1000)
	l := c.startListening(func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	t.Cleanup(l.Close)
	return l, heard
}

func TestListen(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{})
	c := mustConnect(t, cluster.DSN("postgres"))
	other := mustConnect(t, cluster.DSN("postgres"))
	l, heard := startTestListener(t, c)
	<-heard // it listens, and something may have been missed before
	notify := func() {
		if _, err := other.writers.ExecContext(t.Context(), "SELECT pg_notify($1, '')", other.channel); err != nil {
			t.Fatal(err)
		}
	}
	notify()
	<-heard
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
	if _, err := other.writers.ExecContext(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	<-heard // of the new connection
	notify()
	<-heard
	cluster.Kill()
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	<-heard
	l.Close()
	l.Close()
	notify()
	select {
	case <-heard:
		t.Error("a closed listener hears")
	default:
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	if err := execAll(t, dsn, `CREATE SCHEMA "Another"`); err != nil {
		t.Fatal(err)
	}
	a := mustConnect(t, dsn)
	b := mustConnect(t, setParameter(t, dsn, "search_path", `"Another"`))
	if a.channel != "scrollback" || b.channel == a.channel || len(b.channel) > 63 || b.schema != "Another" {
		t.Errorf("channels %q and %q, schema %q", a.channel, b.channel, b.schema)
	}
	_, heard := startTestListener(t, b)
	<-heard
	if _, err := b.writers.ExecContext(t.Context(), "SELECT pg_notify($1, '')", b.channel); err != nil {
		t.Fatal(err)
	}
	<-heard
}

// A pooler may refuse to listen: that is said once, and nobody tries again.
func TestListenRefused(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{TCP: true})
	real, err := url.Parse(cluster.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	refusing := serveTCP(t, func(client net.Conn) { forwardWithoutListen(client, real.Host) })
	var said bytes.Buffer
	var mu sync.Mutex
	c := mustConnect(t, changeDSN(t, real.String(), func(u *url.URL, _ url.Values) { u.Host = refusing }))
	c.log = slog.New(slog.NewTextHandler(testLogger(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(p)
	}), nil))
	l := c.startListening(func() {})
	<-l.done
	mu.Lock()
	defer mu.Unlock()
	if s := said.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "polling") ||
		strings.Contains(s, c.config.Password) {
		t.Errorf("it said %q", s)
	}
}

type testLogger func([]byte) (int, error)

func (w testLogger) Write(p []byte) (int, error) { return w(p) }

// forwardWithoutListen passes everything on to the server, with LISTEN misspelt.
func forwardWithoutListen(client net.Conn, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	go func() {
		io.Copy(client, server)
		client.Close()
	}()
	go func() {
		defer server.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := client.Read(b)
			server.Write(bytes.ReplaceAll(b[:n], []byte("LISTEN "), []byte("LISTEX ")))
			if err != nil {
				return
			}
		}
	}()
}
