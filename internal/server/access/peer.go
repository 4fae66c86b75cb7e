package access

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// requestOrigin is where a request came from, and how it was made there.
type requestOrigin struct {
	peer      netip.Addr
	host      string // the name of this server that was asked for
	https     bool
	forwarded bool // a trusted proxy passed it on
}

// Proxies are the addresses of proxies.
type Proxies []netip.Prefix

// ParseProxies reads addresses, and networks such as 10.0.0.0/8.
func ParseProxies(texts []string) (out Proxies, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if addr, noPrefix := netip.ParseAddr(text); noPrefix == nil {
			addr = addr.Unmap().WithZone("")
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, scrollback.ParamErrorf("access", "trusted_proxies",
				i18n.TrustedProxiesInvalid, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// remoteAddress returns the address of a request's connection.
func remoteAddress(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// findOrigin returns where a request came from. Forwarded headers count only if the connection is
// a trusted proxy's; anyone could send them.
func (g *Gate) findOrigin(r *http.Request) requestOrigin {
	from := requestOrigin{peer: remoteAddress(r), host: r.Host, https: r.TLS != nil}
	if !g.isTrusted(from.peer) {
		return from
	}
	from.forwarded = true
	// Each proxy adds the address that it was called from: the last one that is not a
	// proxy of ours is the client's. What stands before it, the client may have written.
	hops := headerValues(r, "X-Forwarded-For")
	for _, hop := range slices.Backward(hops) {
		addr, ok := parseAddress(hop)
		if !ok {
			break
		}
		if from.peer = addr; !g.isTrusted(addr) {
			break
		}
	}
	if protos := headerValues(r, "X-Forwarded-Proto"); len(protos) > 0 {
		from.https = strings.EqualFold(protos[len(protos)-1], "https")
	}
	if hosts := headerValues(r, "X-Forwarded-Host"); len(hosts) > 0 {
		from.host = hosts[len(hosts)-1]
	}
	return from
}

func (g *Gate) isTrusted(addr netip.Addr) bool {
	return g.o.Trusted.Contains(addr)
}

// Contains reports whether an address is one of the proxies'.
func (ps Proxies) Contains(addr netip.Addr) bool {
	return addr.IsValid() && slices.ContainsFunc(ps, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// IsForwarded reports whether a trusted proxy passed a request on.
func IsForwarded(r *http.Request) bool { return visitOf(r.Context()).from.forwarded }

// namesProxy reports whether a request has a header that proxies add.
func namesProxy(r *http.Request) bool {
	return slices.ContainsFunc([]string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"},
		func(header string) bool { return r.Header.Get(header) != "" })
}

// IsFromHere reports whether a request was sent on this machine, as far as proxies say.
func IsFromHere(r *http.Request) bool {
	return remoteAddress(r).IsLoopback() && !IsForwarded(r) && !namesProxy(r)
}

// headerValues returns the values of a header that may be repeated, and may hold several with commas.
func headerValues(r *http.Request, header string) (out []string) {
	for _, line := range r.Header.Values(header) {
		for v := range strings.SplitSeq(line, ",") {
			if v = strings.TrimSpace(v); v != "" {
				out = append(out, v)
			}
		}
	}
	return out
}

// parseAddress reads an address, with or without a port.
func parseAddress(s string) (netip.Addr, bool) {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}

// bareHost returns a host without its port and brackets, in lower case.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// IsLoopback reports whether a host, without a port, is a name of this machine that no
// other machine can use.
func IsLoopback(host string) bool {
	host = bareHost(host)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// mayBeCalled reports whether this server may be called by a host name. A page of a foreign
// site can give its own name our address; by an address, no page can reach us under its own.
func (g *Gate) mayBeCalled(host string) bool {
	host = bareHost(host)
	switch {
	case IsLoopback(host), slices.ContainsFunc(g.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }):
		return true
	case g.o.Local: // and not behind a proxy
		return false
	case !g.o.Open && len(g.o.Hosts) == 0: // a page under another name has neither key nor cookie
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil || g.o.Open && !strings.Contains(host, ".") // a name that only a local network knows
}
