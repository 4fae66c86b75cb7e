package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
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

	mu    sync.Mutex
	found error
	until time.Time     // found is good until then
	busy  chan struct{} // open while the probe runs
}

// mount adds /healthz, which says that the process serves requests, and /readyz, which
// says that it can keep what it is given.
func (h *health) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "version": h.version})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := h.ready(r.Context()); err != nil {
			refuse(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"ok": true})
	})
}

// ready probes, or returns what was found a moment ago. Those who ask while a probe runs
// wait for the same one.
func (h *health) ready(ctx context.Context) error {
	h.mu.Lock()
	if time.Now().Before(h.until) {
		defer h.mu.Unlock()
		return h.found
	}
	if h.busy == nil {
		h.busy = make(chan struct{})
		go h.find(h.busy)
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
		return scrollback.Errorf(scrollback.Unavailable, "server.Ready", "the store took more than %v", readyTime)
	}
}

// find probes. Like any write it is not broken off: one that hangs holds up only itself.
func (h *health) find(done chan struct{}) {
	err := h.probe(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.until, h.busy = err, time.Now().Add(readyFor), nil
	close(done)
}
