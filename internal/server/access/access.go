// Package access turns a request into a caller.
//
// Words it adds: gate (what every request passes before a handler sees it), peer (the
// address a request came from), sign-in (a browser's cookie that stands for a key).
//
// Invariants: a request that nobody vouched for has the zero caller, who sees nothing. A
// key that has expired is refused at once, one that was revoked within [Fresh]. What a
// request says about where it came from counts only from a proxy that is trusted.
//
// It knows keys and the root's types. Faces read the caller of a request's context and
// decide nothing themselves.
package access

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/scrollback-ai/scrollback"
)

// requestVisit is what the gate found out about a request.
type requestVisit struct {
	caller scrollback.Caller
	ends   int64 // when what let the caller in expires, in Unix ms; 0: never
	until  int64 // when the caller's key expires; a sign-in may end before that
	needed bool  // requests need a key here
	reads  bool  // nobody may change anything here
	here   bool  // it was sent on this machine, as far as proxies say
	cookie string
	ownKey bool // what a client of another API sent to be let in at its provider is a key of ours
	from   requestOrigin

	queryKey bool // a client of Google's API brought a key in the address, which was taken off
}

type visitKey struct{}

func visitOf(ctx context.Context) requestVisit {
	v, _ := ctx.Value(visitKey{}).(requestVisit)
	return v
}

// WithCaller returns a context of a request by c.
func WithCaller(ctx context.Context, c scrollback.Caller) context.Context {
	v := visitOf(ctx)
	v.caller = c
	return context.WithValue(ctx, visitKey{}, v)
}

// CallerOf returns who sent the request of a context. Without one it is the zero caller, who sees
// nothing: a request that nobody vouched for reaches nothing.
func CallerOf(ctx context.Context) scrollback.Caller { return visitOf(ctx).caller }

// SentOwnKey reports whether what the sender of a context's request brings to be let in at a provider is a key of this
// server: it goes nowhere else.
func SentOwnKey(ctx context.Context) bool { return visitOf(ctx).ownKey }

// SentQueryKey reports whether the sender of a context's request brought a key in its address, as only clients of
// Google's API do. The address does not show it any more.
func SentQueryKey(ctx context.Context) bool { return visitOf(ctx).queryKey }

// WasSentHere reports whether the request of a context was sent on this machine, as far as proxies say.
func WasSentHere(ctx context.Context) bool { return visitOf(ctx).here }

// PeerAddress returns the address that a request came from: that of the connection, or what a trusted
// proxy says it is. It is the zero address if that cannot be known.
func PeerAddress(r *http.Request) netip.Addr {
	if v, ok := r.Context().Value(visitKey{}).(requestVisit); ok && v.from.peer.IsValid() {
		return v.from.peer
	}
	return remoteAddress(r)
}

// Who is what a caller may know about itself.
type Who struct {
	Name      string            `json:"name"`
	Role      scrollback.Access `json:"role"`
	Projects  []string          `json:"projects"`             // empty for all
	ExpiresAt int64             `json:"expires_at,omitempty"` // of the key or the sign-in, in Unix ms
	KeyNeeded bool              `json:"key_needed"`           // a request without a key is refused here
	ReadOnly  bool              `json:"read_only,omitempty"`  // the server changes nothing for any caller
	Agents    bool              `json:"agents,omitempty"`     // the coding agents of this machine are shown to the caller
	Backups   bool              `json:"backups,omitempty"`    // the caller has to do with backups of the store
	Sync      bool              `json:"sync,omitempty"`       // and with its remotes
}

// DescribeSender describes who sent the request of a context.
func DescribeSender(ctx context.Context) Who {
	v := visitOf(ctx)
	return v.describe()
}

func (v requestVisit) describe() Who {
	w := Who{Name: v.caller.Name, Role: v.caller.Access, Projects: []string{}, ExpiresAt: v.ends, KeyNeeded: v.needed,
		ReadOnly: v.reads}
	if !v.caller.AllProjects {
		w.Projects = append(w.Projects, v.caller.Projects...)
	}
	return w
}
