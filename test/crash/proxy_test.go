package crash_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// newProxy shares requests out to the servers of a site that say they are ready, and returns
// where it listens.
func newProxy(t *testing.T, s *site) func() string {
	var next atomic.Int64
	ready := make([]atomic.Bool, len(s.servers))
	look := time.NewTicker(50 * time.Millisecond)
	over := make(chan struct{})
	t.Cleanup(func() { look.Stop(); close(over) })
	ask := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		for {
			for i := range ready {
				resp, err := ask.Get(s.server(i).url + "/readyz")
				ready[i].Store(err == nil && resp.StatusCode == http.StatusOK)
				if err == nil {
					resp.Body.Close()
				}
			}
			select {
			case <-look.C:
			case <-over:
				return
			}
		}
	}()
	p := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		for range len(ready) {
			if i := int(next.Add(1)) % len(ready); ready[i].Load() {
				if to, err := url.Parse(s.server(i).url); err == nil {
					r.SetURL(to)
				}
				return
			}
		}
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	t.Cleanup(p.Close)
	return func() string { return p.URL }
}
