package server

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/server/access"
)

// named is a connection that comes from an address of the test's choice.
type named struct {
	net.Conn
	from string
}

func (n named) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(n.from)) }

// street is a listener whose connections come from where the test says.
type street struct {
	in   chan net.Conn
	once *sync.Once
}

func (s street) Accept() (net.Conn, error) {
	c, ok := <-s.in
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (s street) Close() error   { s.once.Do(func() { close(s.in) }); return nil }
func (s street) Addr() net.Addr { return &net.TCPAddr{} }

// connect opens a connection from an address.
func (s street) connect(from string) net.Conn {
	client, server := net.Pipe()
	s.in <- named{server, from}
	return client
}

// ask sends a request on a connection, and returns its status; 0 if the connection was closed.
func ask(t *testing.T, c net.Conn, path, header string) int {
	t.Helper()
	go func() { _, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: chat.example\r\n"+header+"\r\n") }()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// newStreet serves with a small crowd: 8 connections, 4 of an address, 2 to spare. /hold answers when the test lets it.
func newStreet(t *testing.T, trusted access.Proxies) (street, chan struct{}) {
	s, hold := street{make(chan net.Conn), &sync.Once{}}, make(chan struct{})
	c := newCrowd(8, 4, 2, trusted.Contains)
	gate := access.New(access.Options{Open: true, Trusted: trusted, Hosts: []string{"chat.example"}, Refuse: refuse})
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			select {
			case hold <- struct{}{}:
				<-r.Context().Done()
			case <-r.Context().Done():
			}
		}
	})
	keyed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "" {
			r = r.WithContext(access.With(r.Context(), scrollback.Caller{Key: "k"}))
		}
		c.fairly(mux).ServeHTTP(w, r)
	})
	srv := &http.Server{Handler: attending(gate.Wrap(keyed)), ConnContext: c.context, ConnState: c.state,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(fair{s, c}) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return s, hold
}

// TestIdleConnectionsOfAStrangerStopNobody: a stranger who opens more connections than there may be loses its own idle
// ones; health, this machine and others are answered.
func TestIdleConnectionsOfAStrangerStopNobody(t *testing.T) {
	s, _ := newStreet(t, nil)
	key := s.connect("198.51.100.9:1")
	if got := ask(t, key, "/x", "X-Key: k\r\n"); got != 200 {
		t.Fatalf("a key gets %d", got)
	}
	for i := range 5 { // strangers fill it from several addresses
		for range 10 {
			s.connect(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}).String() + ":1")
		}
	}
	for _, from := range []string{"127.0.0.1:1", "[::1]:1", "203.0.113.5:1", "192.0.2.1:1"} {
		if got := ask(t, s.connect(from), "/healthz", ""); got != 200 {
			t.Errorf("health for %s: %d", from, got)
		}
		if got := ask(t, s.connect(from), "/x", ""); got != 200 {
			t.Errorf("a request of %s: %d", from, got)
		}
	}
	if got := ask(t, key, "/x", "X-Key: k\r\n"); got != 200 {
		t.Errorf("the connection with a key was shed: %d", got)
	}
}

// TestBusyStrangersStopNoKey: when all places are taken by requests that go on, strangers are put off with 503, and keys and
// health are answered.
func TestBusyStrangersStopNoKey(t *testing.T) {
	s, hold := newStreet(t, nil)
	for i := range 8 {
		c := s.connect(netip.AddrFrom4([4]byte{192, 0, 2, byte(i / 4)}).String() + ":1")
		go func() { _, _ = io.WriteString(c, "GET /hold HTTP/1.1\r\nHost: chat.example\r\n\r\n") }()
		<-hold
	}
	if got := ask(t, s.connect("192.0.2.0:1"), "/healthz", ""); got != 0 {
		t.Errorf("an address that has used up its share gets %d", got)
	}
	for header, want := range map[string]int{"": 503, "X-Key: k\r\n": 200} {
		c := s.connect("203.0.113.5:1")
		if got := ask(t, c, "/x", header); got != want {
			t.Errorf("with %q: %d, want %d", header, got, want)
		}
		c.Close()
	}
	c := s.connect("203.0.113.5:1")
	if got := ask(t, c, "/healthz", ""); got != 200 {
		t.Errorf("health: %d", got)
	}
}

// TestShareOfAForwardedAddress: behind a trusted proxy the share is that of the address which it forwards for.
func TestShareOfAForwardedAddress(t *testing.T) {
	proxies, err := access.ParseProxies([]string{"10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowd(100, 2, 2, proxies.Contains)
	gate := access.New(access.Options{Open: true, Trusted: proxies, Hosts: []string{"chat.example"}, Refuse: refuse})
	inside, leave := make(chan struct{}), make(chan struct{})
	h := gate.Wrap(c.fairly(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			inside <- struct{}{}
			<-leave
		}
	})))
	send := func(path, from string) int {
		r := httptest.NewRequestWithContext(context.WithoutCancel(t.Context()), "GET", "http://chat.example"+path, nil)
		r.RemoteAddr = "10.0.0.1:9"
		r.Header.Set("X-Forwarded-For", from)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for range 2 {
		go send("/hold", "192.0.2.7")
		<-inside
	}
	for from, want := range map[string]int{"192.0.2.7": 503, "192.0.2.8": 200, "6.6.6.6, 192.0.2.7": 503} {
		if got := send("/x", from); got != want {
			t.Errorf("%s: %d, want %d", from, got, want)
		}
	}
	if got := send("/healthz", "192.0.2.7"); got != 200 {
		t.Errorf("health: %d", got)
	}
	close(leave)
}
