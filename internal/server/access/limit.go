package access

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/scrollback-ai/scrollback"
)

type quotaKey struct{}

// QuotaOf returns what the sender of a request is counted in, or nil without [LimitRate]. Handlers
// hand it to what costs models' money, which counts.
func QuotaOf(ctx context.Context) *scrollback.Quota {
	q, _ := ctx.Value(quotaKey{}).(*scrollback.Quota)
	return q
}

// LimitRate gives each request its quota: the actor is the caller's key, or else the address
// that it comes from. What was counted for a request is in its response, as RateLimit-Limit,
// RateLimit-Remaining and RateLimit-Reset, in seconds; a quota that is full adds Retry-After.
func LimitRate(rate scrollback.Rate, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &scrollback.Quota{Rate: rate, Actor: actorName(r)}
		next.ServeHTTP(&countedResponse{ResponseWriter: w, quota: q},
			r.WithContext(context.WithValue(r.Context(), quotaKey{}, q)))
	})
}

// actorName names who is counted.
func actorName(r *http.Request) string {
	if key := CallerOf(r.Context()).Key; key != "" {
		return "key " + string(key)
	}
	return "peer " + NetworkOf(PeerAddress(r))
}

// subscriber is how much of an IPv6 address a network gives to one subscriber.
const subscriber = 64

// NetworkOf returns what an address is counted as: itself, or for IPv6 its network, because a subscriber
// has all addresses of one.
func NetworkOf(ip netip.Addr) string {
	if ip = ip.Unmap().WithZone(""); !ip.Is6() {
		return ip.String()
	}
	prefix, err := ip.Prefix(subscriber)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}

// countedResponse is a response that says what was counted for it.
type countedResponse struct {
	http.ResponseWriter
	quota *scrollback.Quota
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (c *countedResponse) WriteHeader(status int) {
	if !c.begun {
		c.begun = true
		c.reportCount(status)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *countedResponse) Write(b []byte) (int, error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (c *countedResponse) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *countedResponse) reportCount(status int) {
	q := c.quota
	if q.Chats <= 0 || q.LeftMS <= 0 { // there is no limit, or nothing was counted
		return
	}
	seconds := strconv.FormatInt((q.LeftMS+999)/1000, 10)
	h := c.Header()
	h.Set("RateLimit-Limit", strconv.FormatInt(q.Chats, 10))
	h.Set("RateLimit-Remaining", strconv.FormatInt(max(0, q.Chats-q.Used), 10))
	h.Set("RateLimit-Reset", seconds)
	if status == http.StatusTooManyRequests && q.Used >= q.Chats {
		h.Set("Retry-After", seconds)
	}
}
