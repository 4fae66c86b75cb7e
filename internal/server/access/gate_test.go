package access_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/status"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
)

// gateRig is a gate, what came through it last, and the calls of the database.
type gateRig struct {
	*testing.T
	ring  *keyring.Ring
	gate  *access.Gate
	calls *drivertest.Faulty
	inner http.Handler

	caller scrollback.Caller
	peer   netip.Addr
	host   string
}

func newBench(t *testing.T, d *driver.Driver, o access.Options) *gateRig {
	b := &gateRig{T: t, calls: &drivertest.Faulty{At: -1}}
	if d == nil {
		d = oracle.New()
	}
	b.ring = keyring.New(b.calls.Wrap(d).Access, time.Now, uuid.NewString)
	o.Keys = b.ring
	o.Refuse = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, scrollback.PublicMessage(err), status.FromError(err))
	}
	b.gate = access.New(o)
	b.inner = b.gate.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.caller = access.CallerOf(r.Context())
		b.peer = access.PeerAddress(r)
		b.host = r.Host
	}))
	return b
}

func (b *gateRig) key(k scrollback.Key) (scrollback.Key, string) {
	b.Helper()
	k.Role = max(k.Role, scrollback.AccessRead)
	k, secret, err := b.ring.Add(b.Context(), k)
	if err != nil {
		b.Fatal(err)
	}
	return k, secret
}

// headers are those of a request, besides its Host.
type headers map[string]string

// send sends a request from an address of the network and returns its status.
func (b *gateRig) send(method, url string, h headers) int {
	b.caller = scrollback.Caller{}
	b.peer = netip.Addr{}
	b.host = ""
	r := httptest.NewRequest(method, url, nil)
	r.RemoteAddr = "198.51.100.9:4000"
	for name, v := range h {
		if name == "from" {
			r.RemoteAddr = v
			continue
		}
		for one := range strings.SplitSeq(v, "\n") {
			r.Header.Add(name, one)
		}
	}
	w := httptest.NewRecorder()
	b.inner.ServeHTTP(w, r)
	return w.Code
}

func bearer(secret string) headers { return headers{"Authorization": "Bearer " + secret} }

func proxies(t *testing.T, texts ...string) access.Proxies {
	t.Helper()
	p, err := access.ParseProxies(texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseProxies(t *testing.T) {
	for _, wrong := range []string{"", "localhost", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", "*"} {
		p, err := access.ParseProxies([]string{"127.0.0.1", wrong})
		if scrollback.CodeOf(err) != scrollback.Invalid || p != nil {
			t.Errorf("%q: %v, %v", wrong, p, err)
		}
	}
}

// Where a request came from is what a trusted proxy says, and nobody else.
func TestPeer(t *testing.T) {
	ours := proxies(t, "10.0.0.0/8", "fd00::/8")
	b := newBench(t, nil, access.Options{Open: true, Trusted: ours})
	for _, c := range []struct {
		from, forwarded, want string
	}{
		{"198.51.100.9:4000", "", "198.51.100.9"},
		{"198.51.100.9:4000", "203.0.113.1", "198.51.100.9"}, // forged
		{"198.51.100.9:4000", "127.0.0.1", "198.51.100.9"},
		{"10.1.2.3:4000", "", "10.1.2.3"},
		{"10.1.2.3:4000", "203.0.113.1", "203.0.113.1"},
		{"[::ffff:10.1.2.3]:4000", "203.0.113.1", "203.0.113.1"},
		{"[fd00::1]:4000", "2001:db8::7", "2001:db8::7"},
		{"10.1.2.3:4000", "203.0.113.1:5555", "203.0.113.1"},
		{"10.1.2.3:4000", "[2001:db8::7]:5555", "2001:db8::7"},
		{"10.1.2.3:4000", "1.1.1.1, 203.0.113.1", "203.0.113.1"}, // the client wrote the first
		{"10.1.2.3:4000", "1.1.1.1\n203.0.113.1", "203.0.113.1"},
		{"10.1.2.3:4000", "1.1.1.1, 203.0.113.1, 10.9.9.9", "203.0.113.1"}, // two proxies of ours
		{"10.1.2.3:4000", "10.8.8.8, 10.9.9.9", "10.8.8.8"},
		{"10.1.2.3:4000", "203.0.113.1, unknown", "10.1.2.3"},
		{"10.1.2.3:4000", "203.0.113.1, nonsense, 10.9.9.9", "10.9.9.9"},
		{"10.1.2.3:4000", ", ,", "10.1.2.3"},
	} {
		h := headers{"from": c.from}
		if c.forwarded != "" {
			h["X-Forwarded-For"] = c.forwarded
		}
		if code := b.send("GET", "http://192.0.2.1/api/x", h); code != 200 || b.peer != netip.MustParseAddr(c.want) {
			t.Errorf("from %s, forwarded for %q: %d, the peer is %s, want %s", c.from, c.forwarded, code, b.peer, c.want)
		}
	}
	if code := b.send("GET", "http://192.0.2.1/api/x", headers{"from": "@"}); code != 200 || b.peer.IsValid() {
		t.Errorf("without an address: %d, %s", code, b.peer)
	}
}

// The name that was asked for is also what a trusted proxy says, and nobody else.
func TestForwardedHost(t *testing.T) {
	b := newBench(t, nil, access.Options{Trusted: proxies(t, "127.0.0.1"), Hosts: []string{"chat.example"}})
	_, secret := b.key(scrollback.Key{Name: "k"})
	for _, c := range []struct {
		from, host, forwarded, origin string
		want                          int
	}{
		{"127.0.0.1:5", "127.0.0.1:7077", "chat.example", "https://chat.example", 200},
		{"127.0.0.1:5", "127.0.0.1:7077", "chat.example", "https://evil.example", 403},
		{"127.0.0.1:5", "127.0.0.1:7077", "evil.example", "", 403},
		{"198.51.100.9:5", "127.0.0.1:7077", "chat.example", "https://chat.example", 403}, // forged
		{"198.51.100.9:5", "evil.example", "chat.example", "", 403},
		{"198.51.100.9:5", "chat.example", "evil.example", "https://chat.example", 200},
		{"198.51.100.9:5", "192.0.2.1", "", "", 200},
	} {
		h := bearer(secret)
		h["from"] = c.from
		h["X-Forwarded-Host"] = c.forwarded
		h["Origin"] = c.origin
		if c.origin == "" {
			delete(h, "Origin")
		}
		if got := b.send("POST", "http://"+c.host+"/api/x", h); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Where no key is needed, one that is wrong is refused all the same; one that is right
// counts, and an old cookie does not keep anybody out.
func TestKeysOnThisMachine(t *testing.T) {
	b := newBench(t, nil, access.Options{Open: true, Local: true})
	k, secret := b.key(scrollback.Key{Name: "k", Projects: []string{"p"}})
	const url = "http://localhost/api/x"
	for _, c := range []struct {
		h    headers
		want int
		key  scrollback.KeyID
	}{
		{nil, 200, ""}, {bearer(secret), 200, k.ID}, {headers{"Authorization": "bearer  " + secret + " "}, 200, k.ID},
		{bearer(secret + "x"), 401, ""}, {bearer(""), 401, ""}, {headers{"Authorization": ""}, 401, ""},
		{headers{"Authorization": "Basic " + secret}, 401, ""}, {headers{"Authorization": secret}, 401, ""},
		{headers{"Authorization": "Bearer " + secret + "\nBearer " + secret}, 401, ""},
		{bearer(strings.Repeat("x", 1<<16)), 401, ""}, {bearer("../../etc/passwd"), 401, ""}, {bearer("sbk_\x00"), 401, ""},
		{headers{"Cookie": "scrollback_session=old"}, 200, ""},
		{headers{"X-Forwarded-For": "203.0.113.1"}, 200, ""}, // says nothing: no proxy is trusted
	} {
		got := b.send("GET", url, c.h)
		if got != c.want || b.caller.Key != c.key || got == 200 && c.key == "" && !b.caller.AllProjects {
			t.Errorf("%.80v: %d, caller %+v", c.h, got, b.caller)
		}
	}
	if got := b.send("GET", "http://chat.example/api/x", bearer(secret)); got != 403 {
		t.Errorf("called by a foreign name with a key: %d", got)
	}
}

// A cookie is for our own page: writes with it need our origin and JSON.
func TestCookies(t *testing.T) {
	b := newBench(t, nil, access.Options{Trusted: proxies(t, "10.0.0.0/8")})
	k, secret := b.key(scrollback.Key{Name: "k"})
	var cookie *http.Cookie
	enter := b.gate.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if r.Method == http.MethodDelete {
			cookie, err = b.gate.SignOut(r.Context())
		} else {
			cookie, _, err = b.gate.SignIn(r.Context(), secret)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	visit := func(method string, h headers) {
		r := httptest.NewRequest(method, "http://chat.example/api/session", nil)
		r.RemoteAddr = "10.0.0.1:5"
		for name, v := range h {
			r.Header.Set(name, v)
		}
		enter.ServeHTTP(httptest.NewRecorder(), r)
	}
	visit("POST", headers{"X-Forwarded-Proto": "https"})
	if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" ||
		cookie.Domain != "" ||
		time.Until(cookie.Expires) > keyring.SignInTime || strings.Contains(secret, cookie.Value) {
		t.Errorf("over TLS the cookie is %v", cookie)
	}
	visit("POST", nil)
	if cookie.Secure {
		t.Errorf("without TLS the cookie is %v", cookie)
	}
	with := headers{"Cookie": cookie.Name + "=" + cookie.Value}
	for _, c := range []struct {
		method, origin, site, media string
		want                        int
	}{
		{"GET", "", "", "", 200},
		{"POST", "http://chat.example", "", "application/json", 200},
		{"DELETE", "", "same-origin", "application/json; charset=utf-8", 200},
		{"POST", "", "", "application/json", 403},
		{"POST", "null", "", "application/json", 403},
		{"POST", "http://evil.example", "", "application/json", 403},
		{"GET", "http://evil.example", "", "", 403},
		{"POST", "http://chat.example", "cross-site", "application/json", 403},
		{"POST", "", "none", "application/json", 403},
		{"POST", "http://chat.example", "", "application/octet-stream", 200}, // a file that is attached or imported
		{"POST", "http://chat.example", "", "text/plain", 400},
		{"POST", "http://chat.example", "", "", 400},
	} {
		h := headers{"Cookie": with["Cookie"]}
		sent := headers{"Origin": c.origin, "Sec-Fetch-Site": c.site, "Content-Type": c.media}
		for name, v := range sent {
			if v != "" {
				h[name] = v
			}
		}
		if got := b.send(c.method, "http://chat.example/api/x", h); got != c.want || got == 200 && b.caller.Key != k.ID {
			t.Errorf("%+v: %d, caller %+v", c, got, b.caller)
		}
	}
	visit("DELETE", with)
	if got := b.send("GET", "http://chat.example/api/x", with); got != 401 || cookie.MaxAge >= 0 {
		t.Errorf("after signing out: %d, %v", got, cookie)
	}
}

// A key that expires is refused at once, also with a cookie; one that another process
// revokes within a second; a stream that is open ends soon after.
func TestKeysEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, access.Options{})
		const url = "http://chat.example/api/x"
		_, brief := b.key(scrollback.Key{Name: "brief", ExpiresAt: time.Now().Add(time.Minute).UnixMilli()})
		_, other := b.key(scrollback.Key{Name: "other"})
		is := func(secret string, want int) {
			t.Helper()
			if got := b.send("GET", url, bearer(secret)); got != want {
				t.Errorf("%d, want %d", got, want)
			}
		}
		time.Sleep(59999 * time.Millisecond)
		is(brief, 200)
		time.Sleep(time.Millisecond)
		is(brief, 401)

		is(other, 200)
		ended := make(chan time.Time, 1)
		stream := b.gate.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended <- time.Now()
		}))
		r := httptest.NewRequest(http.MethodGet, url, nil)
		r.Header.Set("Authorization", "Bearer "+other)
		go stream.ServeHTTP(httptest.NewRecorder(), r)
		time.Sleep(time.Hour)
		select {
		case <-ended:
			t.Error("a stream ended while its key was good")
		default:
		}
		is(other, 200)
		revoked := time.Now()
		if _, err := b.ring.Revoke(t.Context(), "other"); err != nil {
			t.Error(err)
		}
		time.Sleep(access.Fresh)
		is(other, 401)
		if after := (<-ended).Sub(revoked); after > 6*time.Second {
			t.Errorf("the stream ended after %v", after)
		}
	})
}

// The store is asked once a second for a key, however often it is sent, and is told that it
// was used once a minute. What fails in the store is not the key's fault.
func TestLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, access.Options{})
		const url = "http://chat.example/api/x"
		_, secret := b.key(scrollback.Key{Name: "k"})
		seconds := func(n int) int64 {
			before := b.calls.Calls()
			for range n * 10 {
				if got := b.send("GET", url, bearer(secret)); got != 200 {
					t.Errorf("%d", got)
				}
				synctest.Wait()
				time.Sleep(100 * time.Millisecond)
			}
			return b.calls.Calls() - before
		}
		if got := seconds(1); got != 2 {
			t.Errorf("10 requests in the first second made %d calls; want a look-up and a note", got)
		}
		if got := seconds(58); got != 58 {
			t.Errorf("580 requests in 58 seconds made %d calls", got)
		}
		if got := seconds(3); got != 4 {
			t.Errorf("30 requests in 3 seconds, one of them a minute after the first, made %d calls", got)
		}
		used := must(b.ring.List(t.Context()))[0].LastUsedAt
		if ago := time.Since(time.UnixMilli(used)); ago > keyring.UseEvery {
			t.Errorf("the key was used %v ago", ago)
		}
		before := b.calls.Calls()
		time.Sleep(access.Fresh)
		b.calls.At = before
		if got := b.send("GET", url, bearer(secret)); got != 503 {
			t.Errorf("while the store cannot answer: %d", got)
		}
		if got := b.send("GET", url, bearer(secret)); got != 200 {
			t.Errorf("and then: %d", got)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A context that no gate made has the zero caller.
func TestNobody(t *testing.T) {
	if c := access.CallerOf(context.Background()); c.SeesProject("") || c.AllProjects || slices.Contains(c.Projects, "") ||
		c.Key != "" {
		t.Errorf("the caller of nothing is %+v", c)
	}
}
