package access_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// What it costs that a request has a key, in statements and bytes: against a request that
// needs none. Run with -v for the figures.
func TestCost(t *testing.T) {
	d, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := newBench(t, d, access.Options{Open: true, Local: true})
	_, secret := b.key(scrollback.Key{Name: "k", Projects: []string{"p"}})
	b.inner = b.gate.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	request := func(h headers) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/x", nil)
		for name, v := range h {
			r.Header.Set(name, v)
		}
		return r
	}
	const n = 20_000
	measure := func(r *http.Request) (bytes int64, took time.Duration, calls int64) {
		w := httptest.NewRecorder()
		b.inner.ServeHTTP(w, r)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		was := b.calls.Calls()
		begun := time.Now()
		for range n {
			b.inner.ServeHTTP(w, r)
		}
		took = time.Since(begun)
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc-before.TotalAlloc) / n, took, b.calls.Calls() - was
	}
	open, openTook, none := measure(request(nil))
	keyed, took, calls := measure(request(bearer(secret)))
	t.Logf("a request without a key: %d bytes, %v, %d calls of the store", open, openTook/n, none)
	t.Logf("a request with a key:    %d bytes, %v; %d calls of the store for %d requests in %v", keyed, took/n, calls, n,
		took)
	if most := int64(took/access.Fresh) + 3; calls > most || none != 0 {
		t.Errorf("%d calls of the store, at most %d are needed; %d without a key", calls, most, none)
	}
	if more := keyed - open; more > 3000 {
		t.Errorf("a key costs %d bytes a request", more)
	}
	begun := time.Now()
	for range 1000 {
		if _, err := b.ring.Find(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a look-up in SQLite: %v", time.Since(begun)/1000)
}
