package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// Bounds on the connections that are open at once. Each costs some 10 to 20 KB. Those that say
// nothing end after the time for headers, or earlier when others need their place.
const (
	maxConnections   = 4096 // from everywhere
	connectionsShare = 256  // from one address that nobody vouches for
	connectionsSpare = 64   // beyond maxConnections, for finding out what a connection wants; half of it for health alone
)

// maxKnocking is how many connections an address has beyond its share, for each that spare has: without
// them, who has a key could not be told from the strangers who share its address.
const maxKnocking = 8

// connectionCrowd is the open connections of a server. Nobody waits in front of it: who comes when it is full
// takes the place of a connection that does nothing, first of a stranger's, then of a key's.
type connectionCrowd struct {
	max, share, spare int
	trusted           func(netip.Addr) bool // proxies: their connections are many people's

	mu   sync.Mutex
	all  map[*crowdMember]struct{}
	from map[string]int // open connections by address
}

func newCrowd(max, share, spare int, trusted func(netip.Addr) bool) *connectionCrowd {
	return &connectionCrowd{max: max, share: share, spare: spare, trusted: trusted, all: map[*crowdMember]struct{}{},
		from: map[string]int{}}
}

// crowdMember is an open connection.
type crowdMember struct {
	net.Conn
	of      *connectionCrowd
	address string // what its share is counted for; empty for this machine and trusted proxies
	once    sync.Once

	// Guarded by of.mu.
	busy  bool // a request is being answered
	keyed bool // it has sent a key that is good
	since time.Time
}

// Close implements [net.Conn].
func (m *crowdMember) Close() error {
	m.once.Do(func() {
		m.of.mu.Lock()
		defer m.of.mu.Unlock()
		m.of.removeMember(m)
	})
	return m.Conn.Close()
}

func (c *connectionCrowd) removeMember(m *crowdMember) {
	if _, in := c.all[m]; !in {
		return
	}
	delete(c.all, m)
	c.releasePlace(m.address)
}

// releasePlace gives back a place of an address.
func (c *connectionCrowd) releasePlace(address string) {
	if address == "" {
		return
	}
	if c.from[address]--; c.from[address] <= 0 {
		delete(c.from, address)
	}
}

// crowdListener is a listener whose connections are members of a crowd.
type crowdListener struct {
	net.Listener
	crowd *connectionCrowd
}

// Accept implements [net.Listener]. A connection for which there is no room is closed, and the next
// one is taken.
func (l crowdListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if m := l.crowd.admitConnection(c); m != nil {
			return m, nil
		}
		_ = c.Close()
	}
}

// admitConnection takes a connection in, or returns nil. A share that is full gives up its own idle connection;
// a server that is full, that of the address which has most.
func (c *connectionCrowd) admitConnection(conn net.Conn) *crowdMember {
	m := &crowdMember{Conn: conn, of: c, since: time.Now()}
	if at, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		if ip := at.Addr().Unmap().WithZone(""); !ip.IsLoopback() && !c.trusted(ip) {
			m.address = access.NetworkOf(ip)
		}
	}
	c.mu.Lock()
	var out *crowdMember
	full := false
	switch {
	case m.address != "" && c.from[m.address] >= c.share:
		out = c.idlestMember(func(o *crowdMember) bool { return o.address == m.address })
		full = out == nil && (c.from[m.address] >= c.share+max(1, c.spare/maxKnocking) || len(c.all) >= c.max+c.spare)
	case len(c.all) >= c.max:
		out = c.idlestMember(func(*crowdMember) bool { return true })
		full = out == nil && len(c.all) >= c.max+c.spare
	}
	if out != nil {
		c.removeMember(out)
	}
	if !full {
		c.all[m] = struct{}{}
		if m.address != "" {
			c.from[m.address]++
		}
	}
	c.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
	if full {
		return nil
	}
	return m
}

// idlestMember returns the connection that is missed least among some: one on which nothing is answered, without
// a key before with one, of the address that has most, and the one that has been still for longest.
func (c *connectionCrowd) idlestMember(among func(*crowdMember) bool) (out *crowdMember) {
	before := func(a, b *crowdMember) bool {
		switch an, bn := c.from[a.address], c.from[b.address]; {
		case a.keyed != b.keyed:
			return b.keyed
		case an != bn:
			return an > bn
		}
		return a.since.Before(b.since)
	}
	for m := range c.all {
		if !m.busy && among(m) && (out == nil || before(m, out)) {
			out = m
		}
	}
	return out
}

type memberKey struct{}

// connectionContext returns that of the requests of a connection.
func (c *connectionCrowd) connectionContext(ctx context.Context, conn net.Conn) context.Context {
	m, _ := conn.(*crowdMember)
	return context.WithValue(ctx, memberKey{}, m)
}

// trackState follows what a connection does.
func (c *connectionCrowd) trackState(conn net.Conn, s http.ConnState) {
	m, ok := conn.(*crowdMember)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, in := c.all[m]; !in {
		return
	}
	// A connection is active from the first byte of a request on: only one whose headers have come
	// is busy, which [markBusy] sees.
	if s == http.StateIdle {
		m.busy = false
		m.since = time.Now()
	}
}

// markBusy marks the connection of each request as busy.
func markBusy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m, _ := r.Context().Value(memberKey{}).(*crowdMember); m != nil {
			m.of.mu.Lock()
			m.busy = true
			m.of.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// isSpared reports whether a request that is answered needs its connection no more: places are short, and
// the server would wait for the rest of a body that nobody reads, which may never come. The answer is
// sent, and the connection is the first to give way.
func (c *connectionCrowd) isSpared(r *http.Request, b *pacedBody) bool {
	m, _ := r.Context().Value(memberKey{}).(*crowdMember)
	if c == nil || m == nil || b.isOver() {
		return false
	}
	c.mu.Lock()
	pressed := len(c.all) > c.max || m.address != "" && c.from[m.address] > c.share
	c.mu.Unlock()
	if !pressed {
		return false
	}
	_ = b.rc.SetReadDeadline(time.Now())
	_ = b.rc.Flush()
	c.mu.Lock()
	m.busy = false
	m.since = time.Time{}
	c.mu.Unlock()
	return true
}

// limitRequests answers a request if there is room for it. A connection that has sent a good key counts for no
// address from then on. Strangers are put off while the server is crowded, whether they come directly or
// through a proxy, and one whom a proxy forwards for has a share of what is answered at a time; whether
// the server lives is always said.
func (c *connectionCrowd) limitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isHealthPath(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		address, ok := c.admitRequest(r)
		if !ok {
			w.Header().Set("Connection", "close")
			refuseRequest(w, r, scrollback.Errorf(scrollback.Unavailable, "server", i18n.TooMuchIsOpen))
			return
		}
		defer c.leaveRequest(address)
		next.ServeHTTP(w, r)
	})
}

// admitRequest reports whether a request is answered, and by which address it counts.
func (c *connectionCrowd) admitRequest(r *http.Request) (address string, ok bool) {
	m, _ := r.Context().Value(memberKey{}).(*crowdMember)
	keyed := access.CallerOf(r.Context()).Key != ""
	if ip := access.PeerAddress(r); !keyed && access.IsForwarded(r) && ip.IsValid() && !ip.IsLoopback() &&
		!c.trusted(ip) {
		address = "forwarded " + access.NetworkOf(ip)
	}
	if keyed {
		c.vouchMember(m)
	}
	return address, c.enterRequest(m, keyed, address)
}

// isHealthPath reports whether a path says how the server is.
func isHealthPath(path string) bool {
	return path == "/healthz" || path == "/livez" || path == "/readyz"
}

// vouchMember takes a connection out of the share of its address.
func (c *connectionCrowd) vouchMember(m *crowdMember) {
	if m == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.keyed {
		return
	}
	m.keyed = true
	if _, in := c.all[m]; in {
		c.releasePlace(m.address)
	}
	m.address = ""
}

// enterRequest counts a request, if there is room for it: keys have half of what is to spare, strangers
// nothing of it, nor beyond the share of their address; this machine has no share.
func (c *connectionCrowd) enterRequest(m *crowdMember, keyed bool, address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	direct := m != nil && m.address != ""
	switch {
	case keyed && m != nil && len(c.all) > c.max+c.spare/2,
		!keyed && (direct || address != "") && len(c.all) > c.max,
		direct && c.from[m.address] > c.share,
		address != "" && c.from[address] >= c.share:
		return false
	}
	if address != "" {
		c.from[address]++
	}
	return true
}

// leaveRequest ends what enter counted.
func (c *connectionCrowd) leaveRequest(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releasePlace(address)
}
