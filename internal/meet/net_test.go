package meet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// network is what stands between two stores: it counts, and may cut, refuse or stop what goes through.
type network struct {
	requests int
	bytes    int64
	cutAt    int64  // bytes after which a connection ends; 0: never
	tooLarge int    // bytes of a body from which a proxy answers with 413; 0: none
	poison   string // in what is sent or answered, for which a proxy answers with a status
	status   int
	before   func(n int) // is called before each request, with its number
	mu       sync.Mutex
}

func (n *network) RoundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	n.requests++
	if n.before != nil {
		n.before(n.requests)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status := 0
	if n.tooLarge > 0 && r.ContentLength > int64(n.tooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	if n.poison != "" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), n.poison) {
			status = n.status
		}
	}
	if status != 0 {
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Request: r,
			Body: io.NopCloser(strings.NewReader("<html>proxy</html>"))}, nil
	}
	a, err := next.RoundTrip(r)
	if err != nil || n.poison == "" {
		return a, err
	}
	body, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(body), n.poison) {
		body = nil
		a.StatusCode = n.status
		a.Header.Del("Content-Length")
		a.ContentLength = 0
	}
	a.Body = io.NopCloser(strings.NewReader(string(body)))
	return a, nil
}

// tripper is a network in front of a transport.
type tripper struct {
	n    *network
	next http.RoundTripper
}

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t.n.RoundTrip(r, t.next) }

// count counts bytes of one direction, and fails from the one where the connection is cut.
func (n *network) count(b int) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cutAt > 0 && n.bytes+int64(b) >= n.cutAt {
		left := max(0, int(n.cutAt-n.bytes))
		n.bytes = n.cutAt
		return left, true
	}
	n.bytes += int64(b)
	return b, false
}

// total is how many bytes went through, in both directions.
func (n *network) total() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

func (n *network) isCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cutAt > 0 && n.bytes >= n.cutAt
}

var errTestCut = errors.New("cut by the test")

type cutConn struct {
	net.Conn
	n *network
}

func (c cutConn) Read(b []byte) (int, error) {
	k, err := c.Conn.Read(b)
	k, cut := c.n.count(k)
	if cut {
		_ = c.Conn.Close()
		return k, errTestCut
	}
	return k, err
}

func (c cutConn) Write(b []byte) (int, error) {
	k, cut := c.n.count(len(b))
	if !cut {
		return c.Conn.Write(b)
	}
	_, _ = c.Conn.Write(b[:k])
	_ = c.Conn.Close()
	return k, errTestCut
}

// overHTTP returns a store as a peer behind a server.
func (n *network) overHTTP(t testing.TB, s Peer) (Peer, func()) {
	t.Helper()
	server := httptest.NewServer(Handler(func(*http.Request) (Peer, error) { return s, nil }))
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, kind, at string) (net.Conn, error) {
		if n.isCut() {
			return nil, &net.OpError{Op: "dial", Net: kind, Err: errTestCut}
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, kind, at)
		if err != nil {
			return nil, err
		}
		return cutConn{conn, n}, nil
	}}
	p, err := Dial(&http.Client{Transport: tripper{n, transport}}, base, "key")
	if err != nil {
		t.Fatal(err)
	}
	return p, func() {
		transport.CloseIdleConnections()
		server.Close()
	}
}

// overPipes returns a store as a peer at the other end of two pipes.
func (n *network) overPipes(t testing.TB, s Peer) (Peer, func()) {
	t.Helper()
	here, there := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		h := Handler(func(*http.Request) (Peer, error) { return s, nil })
		ended <- ServePipe(context.Background(), there, there, h)
		_ = there.Close()
	}()
	conn := cutConn{here, n}
	p, err := DialPipe(conn, conn, "the other end", func() { _ = here.Close() })
	if err != nil {
		t.Fatal(err)
	}
	of := p.(*remote)
	of.client.Transport = tripper{n, of.client.Transport}
	return p, func() {
		_ = here.Close()
		<-ended
	}
}

func parse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
