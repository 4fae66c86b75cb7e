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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server/access"
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

// newStreet serves with a small crowd: 8 connections, 4 of an address, 32 to spare. /hold answers when the test lets
// it.
func newStreet(t *testing.T, trusted access.Proxies) (street, chan struct{}) {
	s := street{make(chan net.Conn), &sync.Once{}}
	hold := make(chan struct{})
	c := newCrowd(8, 4, 32, trusted.Contains)
	gate := access.New(access.Options{Open: true, Trusted: trusted, Hosts: []string{"chat.example"},
		Refuse: refuseRequest})
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
			r = r.WithContext(access.WithCaller(r.Context(), scrollback.Caller{Key: "k"}))
		}
		c.limitRequests(mux).ServeHTTP(w, r)
	})
	srv := &http.Server{Handler: markBusy(gate.Wrap(keyed)), ConnContext: c.connectionContext, ConnState: c.trackState,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(crowdListener{s, c}) }()
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

// TestBusyStrangersStopNoKey: when all places are taken by requests that go on, strangers are put off with 503, and
// keys and health are answered.
func TestBusyStrangersStopNoKey(t *testing.T) {
	s, hold := newStreet(t, nil)
	for i := range 8 {
		c := s.connect(netip.AddrFrom4([4]byte{192, 0, 2, byte(i / 4)}).String() + ":1")
		go func() { _, _ = io.WriteString(c, "GET /hold HTTP/1.1\r\nHost: chat.example\r\n\r\n") }()
		<-hold
	}
	for path, want := range map[string]int{"/healthz": 200, "/x": 503} {
		c := s.connect("192.0.2.0:1")
		if got := ask(t, c, path, ""); got != want {
			t.Errorf("an address that has used up its share gets %d from %s, want %d", got, path, want)
		}
		c.Close()
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
	gate := access.New(access.Options{Open: true, Trusted: proxies, Hosts: []string{"chat.example"},
		Refuse: refuseRequest})
	inside := make(chan struct{})
	leave := make(chan struct{})
	h := gate.Wrap(c.limitRequests(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
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

// masks is a listener on this machine whose connections seem to come from elsewhere: from 127.0.0.x, from 192.0.2.x,
// and from 127.0.0.200 on, from the proxy 10.0.0.1; from 127.0.0.1, from here.
type masks struct{ net.Listener }

func (l masks) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	at := netip.MustParseAddrPort(c.RemoteAddr().String())
	from := at.Addr().As4()
	switch {
	case from[3] >= 200:
		from = [4]byte{10, 0, 0, 1}
	case from[3] > 1:
		from = [4]byte{192, 0, 2, from[3]}
	}
	return named{c, netip.AddrPortFrom(netip.AddrFrom4(from), at.Port()).String()}, nil
}

// crowded is the whole server on a TCP listener, with a small crowd: 8 connections, 4 of an address, 32 to spare.
type crowded struct {
	t    *testing.T
	at   string
	head string // of a request with a key
}

func newCrowded(t *testing.T) crowded {
	r := enginetest.New(t, enginetest.Options{})
	proxies, err := access.ParseProxies([]string{"10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := r.Store.Keys.Add(t.Context(), scrollback.Key{Name: "k", Role: scrollback.AccessAdmin})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Version: "test", Keys: r.Store.Keys, TrustedProxies: proxies, Hosts: []string{"chat.example"},
		Log: slog.New(slog.DiscardHandler), crowd: newCrowd(8, 4, 32, proxies.Contains)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := newHTTPServer(context.WithoutCancel(t.Context()), Handler(r.Engine, r.Transfer, o, false), o)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(crowdListener{masks{l}, o.crowd}) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return crowded{t, l.Addr().String(), "Authorization: Bearer " + secret + "\r\n"}
}

// dial opens a connection from an address of this machine.
func (s crowded) dial(from byte) net.Conn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
	c, err := d.DialContext(s.t.Context(), "tcp", s.at)
	if err != nil {
		s.t.Skipf("addresses of this machine beside 127.0.0.1: %v", err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// once sends a request on a connection of its own, and waits until the server has closed it.
func (s crowded) once(from byte, path, header string) int {
	s.t.Helper()
	c := s.dial(from)
	code := ask(s.t, c, path, header+"Connection: close\r\n")
	_, _ = io.Copy(io.Discard, c)
	return code
}

// hold begins a request whose body does not come, and returns when its handler waits for that; 100 says that it does.
func (s crowded) hold(from byte, path, header string) int {
	s.t.Helper()
	c := s.dial(from)
	_, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: chat.example\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: 90\r\n"+header+"\r\n")
	if err != nil {
		return 0
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return 0
	}
	_, code, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(code[:3])
	if err != nil {
		s.t.Fatalf("%q", line)
	}
	if n != http.StatusContinue {
		_ = c.Close()
	}
	return n
}

func (s crowded) is(what string, got, want int) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %d, want %d", what, got, want)
	}
}

const (
	signIn = "/api/session"       // a stranger may send it
	begins = "/api/conversations" // needs a key
)

// TestFairOverTCP: the connections of one stranger cost others nothing, idle ones go first, keys are served where
// strangers are put off, and health is told while keys are put off too.
func TestFairOverTCP(t *testing.T) {
	s := newCrowded(t)
	var idle []net.Conn
	for range 12 {
		idle = append(idle, s.dial(2))
	}
	s.is("health of another", s.once(3, "/healthz", ""), 200)
	s.is("a key", s.once(3, begins, s.head), 200)
	for i, c := range idle[:8] { // the older ones have made room
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("idle connection %d is still there", i)
		}
	}
	s.is("the newest idle connection", ask(t, idle[11], "/healthz", "Connection: close\r\n"), 200)
	if _, err := io.Copy(io.Discard, idle[11]); err != nil {
		t.Error(err)
	}
	for range 4 { // each takes the place of an idle one
		s.is("a busy stranger", s.hold(2, signIn, ""), 100)
	}
	s.is("beyond the share of its address", s.hold(2, signIn, ""), 503)
	s.is("health for that address", s.once(2, "/healthz", ""), 200)
	s.is("a key at that address", s.once(2, begins, s.head), 200)
	for range 4 {
		got := s.hold(3, signIn, "")
		for deadline := time.Now().Add(time.Minute); got == 503 && time.Now().Before(deadline); {
			got = s.hold(3, signIn, "") // the server has not let go yet what was asked from there before
		}
		s.is("another busy stranger", got, 100)
	}
	for _, from := range []byte{3, 4} {
		s.is("a stranger, all places taken", s.hold(from, signIn, ""), 503)
		s.is("health, all places taken", s.once(from, "/healthz", ""), 200)
		s.is("a key, all places taken", s.once(from, begins, s.head), 200)
	}
	s.is("a stranger through a proxy, all places taken", s.hold(200, signIn, "X-Forwarded-For: 198.51.100.7\r\n"), 503)
	s.is("a key through a proxy, all places taken", s.once(200, begins, s.head+"X-Forwarded-For: 198.51.100.7\r\n"), 200)
	s.is("this machine, all places taken", s.once(1, "/healthz", ""), 200)
	keys := 0
	got := 100
	for ; got == 100 && keys < 40; keys++ {
		got = s.hold(5, begins, s.head)
	}
	if got != 503 || keys < 8 { // half of what is to spare, less those that the server has not let go yet
		t.Errorf("%d busy keys, and then %d", keys, got)
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		s.is(path+" at the end", s.once(7, path, ""), 200)
	}
}

// TestFairBehindAProxy: behind a trusted proxy the shares are those of whom it forwards for, and this machine has none.
func TestFairBehindAProxy(t *testing.T) {
	s := newCrowded(t)
	through := func(from string) string { return "X-Forwarded-For: " + from + "\r\n" }
	for range 4 {
		s.is("a stranger", s.hold(200, signIn, through("198.51.100.7")), 100)
	}
	s.is("beyond its share", s.hold(201, signIn, through("198.51.100.7")), 503)
	s.is("beyond its share, through an address that it made up", s.hold(201, signIn, through("203.0.113.1, 198.51.100.7")),
		503)
	s.is("its health", s.once(201, "/healthz", through("198.51.100.7")), 200)
	s.is("a key from there", s.once(201, begins, s.head+through("198.51.100.7")), 200)
	s.is("another stranger", s.hold(201, signIn, through("198.51.100.8")), 100)
}

// TestThisMachineHasNoShare: connections from this machine are bounded by all places alone.
func TestThisMachineHasNoShare(t *testing.T) {
	s := newCrowded(t)
	for range 8 {
		s.is("this machine", s.hold(1, signIn, ""), 100)
	}
	s.is("a key from elsewhere", s.once(2, begins, s.head), 200)
}
