package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

const (
	// readyFor is how long an answer about being ready is good for: however many ask, the
	// database is written once in that time.
	readyFor = time.Second

	// readyTime is how long finding out may take.
	readyTime = 5 * time.Second
)

// health says how the server is.
type health struct {
	probe   func(ctx context.Context) error
	version string
	data    string          // says which data this is, to those who have it; may be empty
	ending  <-chan struct{} // closed when the server was told to end; nil: never

	mu    sync.Mutex
	found error
	until time.Time     // found is good until then
	busy  chan struct{} // open while the probe runs
}

// mountHealth adds /healthz and /livez, which say that the process serves requests, and /readyz,
// which says that it can keep what it is given, and goes on doing so.
func (h *health) mountHealth(mux *http.ServeMux) {
	lives := func(w http.ResponseWriter, r *http.Request) {
		said := spec.Health{OK: true, Version: h.version}
		if access.IsFromHere(r) {
			said.Data = h.data
		}
		writeJSON(w, http.StatusOK, said)
	}
	mux.HandleFunc("GET /healthz", lives)
	mux.HandleFunc("GET /livez", lives)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := h.checkReady(r.Context()); err != nil {
			refuseRequest(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"ok": true})
	})
}

// checkReady probes, or returns what was found a moment ago. Those who ask while a probe runs
// wait for the same one.
func (h *health) checkReady(ctx context.Context) error {
	select {
	case <-h.ending:
		return scrollback.Errorf(scrollback.Unavailable, "server.Ready",
			i18n.ServerToldToEnd).WithReason(scrollback.ErrClosing)
	default:
	}
	h.mu.Lock()
	if time.Now().Before(h.until) {
		defer h.mu.Unlock()
		return h.found
	}
	if h.busy == nil {
		h.busy = make(chan struct{})
		go h.probeReady(h.busy)
	}
	done := h.busy
	h.mu.Unlock()
	late := time.NewTimer(readyTime)
	defer late.Stop()
	select {
	case <-done:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.found
	case <-ctx.Done():
		return scrollback.Wrap(scrollback.Canceled, "server.Ready", ctx.Err())
	case <-late.C:
		return scrollback.Errorf(scrollback.Unavailable, "server.Ready", i18n.StoreTookTooLong, readyTime)
	}
}

// probeReady probes. A database that breaks off what hangs is tried again after that, on another
// connection; where a write is not broken off, one that hangs holds up only itself.
func (h *health) probeReady(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	err := h.probe(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = err
	h.until = time.Now().Add(readyFor)
	h.busy = nil
	close(done)
}
