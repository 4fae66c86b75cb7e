package objects

import (
	"context"
	"net/url"
	"time"
)

// Download is how a signed URL sends an object.
type Download struct {
	MediaType   string
	Disposition string // Content-Disposition
	Cache       string // Cache-Control
	For         time.Duration
}

// SignURL returns a URL that reads an object without a key, for a while; empty if the store
// cannot make one. Anybody who has the URL may read the object.
func (s *Store) SignURL(ctx context.Context, key string, d Download) (string, error) {
	if s.remote == nil || s.remote.Sign == nil {
		return "", nil
	}
	at, err := s.remote.Sign(ctx, key, d)
	return at, s.ExplainError("local.Sign", err)
}

// SignedOrigin returns where signed URLs lead, as https://host:port; empty if the store makes none.
func (s *Store) SignedOrigin(ctx context.Context) (string, error) {
	at, err := s.SignURL(ctx, probePrefix+"nothing",
		Download{MediaType: "text/plain", Disposition: "attachment", Cache: "no-store", For: time.Minute})
	if at == "" || err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}
