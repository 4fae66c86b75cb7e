package access

import (
	"context"
	"net/http"
	"time"
)

// cookieName is the cookie of a sign-in.
const cookieName = "scrollback_session"

// SignIn exchanges a key for a cookie, and says whose it is. The context is that of the
// request. A key that lets nobody in is refused.
func (g *Gate) SignIn(ctx context.Context, secret string) (*http.Cookie, Who, error) {
	v := visitOf(ctx)
	k, _, err := g.known.findKey(ctx, credential{secret: secret})
	if err != nil {
		return nil, Who{}, err
	}
	value, ends, err := g.o.Keys.SignIn(ctx, k)
	if err != nil {
		return nil, Who{}, err
	}
	v.caller = k.Caller()
	v.ends = ends
	if g.o.ReadOnly {
		v.caller = v.caller.RestrictToRead(OnlyReads)
		v.reads = true
	}
	return v.from.makeCookie(value, time.UnixMilli(ends)), v.describe(), nil
}

// SignOut ends the sign-in that the request of a context came with, if any, and returns the
// cookie that removes the browser's.
func (g *Gate) SignOut(ctx context.Context) (*http.Cookie, error) {
	v := visitOf(ctx)
	if v.cookie != "" && g.o.Keys != nil {
		if err := g.o.Keys.SignOut(ctx, v.cookie); err != nil {
			return nil, err
		}
		g.known.forgetCredential(credential{secret: v.cookie, cookie: true})
	}
	gone := v.from.makeCookie("", time.Unix(1, 0))
	gone.MaxAge = -1
	return gone, nil
}

// makeCookie returns a cookie that no script can read and no other site's page can make a browser
// send; over TLS it is never sent without.
func (o requestOrigin) makeCookie(value string, ends time.Time) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", Expires: ends, HttpOnly: true, Secure: o.https,
		SameSite: http.SameSiteStrictMode}
}
