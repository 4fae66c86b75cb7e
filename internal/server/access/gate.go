package access

import (
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
)

// Options say who gets in.
type Options struct {
	Keys    *keyring.Ring // nil: there are none
	Open    bool          // a request without a key is the operator's
	Local   bool          // only this machine can reach the server, and no proxy stands in front of it
	Trusted Proxies       // proxies whose forwarded headers count
	Hosts   []string      // names of this server besides those of this machine

	// ReadOnly says that everybody reads here, at most. Keys then writes nothing.
	ReadOnly bool

	Log *slog.Logger // nil: none

	// Refuse writes an error as the response to a request.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)
}

// OnlyReads is what a server says that changes nothing.
const OnlyReads = "this server was started with --read-only: it changes nothing"

// Gate lets requests in. It is safe for concurrent use.
type Gate struct {
	o     Options
	known *credentialCache
	pages *http.CrossOriginProtection
	warn  sync.Once
}

// New makes a gate.
func New(o Options) *Gate {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Gate{o: o, known: newKnown(o.Keys, o.Log), pages: http.NewCrossOriginProtection()}
}

// Wrap lets through to next only requests that name this server and, when a page sent them,
// a page of this server; and gives each its caller, if the path needs one.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := g.admitOrRefuse(w, r)
		if end == nil {
			return
		}
		defer end()
		next.ServeHTTP(w, r)
	})
}

// admitOrRefuse returns the request with its caller, and what to do when it has ended; nil where it was refused.
func (g *Gate) admitOrRefuse(w http.ResponseWriter, r *http.Request) (*http.Request, func()) {
	v := requestVisit{from: g.findOrigin(r), needed: !g.o.Open, reads: g.o.ReadOnly}
	v.here = !v.from.forwarded && !namesProxy(r) && (g.o.Local || v.from.peer.IsLoopback())
	if v.from.host != r.Host {
		r = r.WithContext(r.Context()) // a copy; the checks below compare the Host with the Origin
		r.Host = v.from.host
	}
	if err := g.checkHost(r); err != nil {
		g.o.Refuse(w, r, err)
		return r, nil
	}
	r, end, err := g.admitRequest(r, v)
	if err != nil {
		writeChallenge(w, r, err)
		g.o.Refuse(w, r, err)
		return r, nil
	}
	return r, end
}

// checkHost returns what is wrong with a request's Host or Origin.
func (g *Gate) checkHost(r *http.Request) error {
	switch {
	case g.mayBeCalled(r.Host):
	case g.o.Local:
		return scrollback.Errorf(scrollback.Refused, "access", i18n.AnswersOnlyToThisMachine)
	default:
		return scrollback.Errorf(scrollback.Refused, "access",
			i18n.DoesNotAnswerToName)
	}
	if g.pages.Check(asWriteRequest(r)) != nil {
		return scrollback.Errorf(scrollback.Refused, "access", i18n.AnotherSiteMayNotUseServer)
	}
	return nil
}

// asWriteRequest returns r as the standard check judges it: that check lets every site read, but what
// is kept here is private, so only the front page may be linked to from elsewhere.
func asWriteRequest(r *http.Request) *http.Request {
	if r.URL.Path == "/" || r.URL.Path == "/docs" {
		return r
	}
	judged := r.WithContext(r.Context())
	judged.Method = http.MethodPost
	return judged
}

// needsNoKey reports whether a request needs no key, wherever it comes from: the page's files,
// whether the server lives, sign-in and sign-out. What is not listed needs one.
func needsNoKey(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch p := r.URL.Path; {
	case p == "/healthz", p == "/livez", p == "/readyz":
		return true
	case p == "/api/session":
		return r.Method == http.MethodPost || r.Method == http.MethodDelete
	case p == "/", p == "/favicon.ico", strings.HasPrefix(p, "/assets/"):
		return reads && (p == "/" || path.Clean(p) == p)
	}
	return false
}

// admitRequest returns the request with its caller, and what to do when it has ended.
func (g *Gate) admitRequest(r *http.Request, v requestVisit) (*http.Request, func(), error) {
	none := func() {}
	if c, err := r.Cookie(cookieName); err == nil {
		v.cookie = c.Value
	}
	if needsNoKey(r) {
		return r.WithContext(context.WithValue(r.Context(), visitKey{}, v)), none, nil
	}
	ticket, err := g.readCredential(r, v.cookie)
	if IsFace(r.URL.Path) {
		queryKey := takeQueryKey(r)
		v.queryKey = queryKey != ""
		ticket, v.ownKey, err = g.readFaceCredential(r, queryKey)
		r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v)) // a refusal is in its client's form
	}
	switch {
	case err != nil:
		return r, none, err
	case ticket == nil && g.o.Open:
		g.warnOfProxy(r, v)
		v.caller = scrollback.Operator()
		return r.WithContext(context.WithValue(r.Context(), visitKey{}, v)), none, nil
	case ticket == nil:
		return r, none, asUnknownSender(scrollback.Errorf(scrollback.Refused, "access",
			i18n.RequestNeedsKey))
	}
	k, ends, err := g.known.findKey(r.Context(), *ticket)
	if err != nil && ticket.cookie && g.o.Open && scrollback.CodeOf(err) == scrollback.Refused {
		v.caller = scrollback.Operator() // an old cookie must not keep out who needs none
		return r.WithContext(context.WithValue(r.Context(), visitKey{}, v)), none, nil
	}
	if err == nil && ticket.cookie {
		err = checkPage(r)
	}
	if err != nil {
		return r, none, err
	}
	v.caller = k.Caller()
	v.ends = ends
	v.until = k.ExpiresAt
	ctx, end := g.whileValid(context.WithValue(r.Context(), visitKey{}, v), *ticket)
	return r.WithContext(ctx), end, nil
}

// readCredential returns what a request brings to be let in with; nil if it brings nothing.
func (g *Gate) readCredential(r *http.Request, cookie string) (*credential, error) {
	if sent := r.Header.Values("Authorization"); len(sent) > 0 {
		scheme, secret, _ := strings.Cut(strings.TrimSpace(sent[0]), " ")
		if len(sent) > 1 || !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(secret) == "" {
			return nil, asUnknownSender(scrollback.Errorf(scrollback.Refused, "access", i18n.SendOneKey))
		}
		return &credential{secret: strings.TrimSpace(secret)}, nil
	}
	if cookie != "" {
		return &credential{secret: cookie, cookie: true}, nil
	}
	return nil, nil
}

// warnOfProxy warns once that a proxy stands in front of a server that needs no keys: all who
// come through it are the operator.
func (g *Gate) warnOfProxy(r *http.Request, v requestVisit) {
	if v.from.forwarded || !g.o.Local {
		return
	}
	if namesProxy(r) {
		g.warn.Do(func() {
			g.o.Log.Warn("a request came through a proxy and was let in without a key; name the proxy in trusted_proxies, and keys are needed",
				"proxy", v.from.peer.String())
		})
	}
}

// checkPage returns why a request with a cookie cannot be our page's: browsers send a cookie
// regardless of who made the page, but name the page's origin.
func checkPage(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	from, err := url.Parse(r.Header.Get("Origin"))
	if r.Header.Get("Sec-Fetch-Site") != "same-origin" &&
		(err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host)) {
		return scrollback.Errorf(scrollback.Refused, "access", i18n.SignInIsForPageOnly)
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		media != "application/json" && media != "application/octet-stream" {
		return scrollback.ParamErrorf("access", "Content-Type",
			i18n.SignInSendsJSONOrFile)
	}
	return nil
}

// asUnknownSender makes why the error of a request whose sender is not known.
func asUnknownSender(why *scrollback.Error) error { return why.WithReason(scrollback.ErrNoKey) }

// writeChallenge says with a 401 how to get in.
func writeChallenge(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, scrollback.ErrNoKey) {
		return
	}
	how := `Bearer realm="scrollback"`
	if r.Header.Get("Authorization") != "" {
		how += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", how)
	w.Header().Set("Cache-Control", "no-store")
}

// recheck is how often a request that lasts is held against its key again.
const recheck = 5 * time.Second

// whileValid returns a context that ends when what let a request in does, looked up every
// [recheck]: a stream may be open for days.
func (g *Gate) whileValid(ctx context.Context, t credential) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex
	var again *time.Timer
	mu.Lock()
	defer mu.Unlock()
	again = time.AfterFunc(recheck, func() {
		_, _, err := g.known.findKey(ctx, t)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil:
		case scrollback.CodeOf(err) == scrollback.Refused:
			cancel(err)
		default:
			again.Reset(recheck)
		}
	})
	return ctx, func() {
		cancel(nil)
		mu.Lock()
		defer mu.Unlock()
		again.Stop()
	}
}
