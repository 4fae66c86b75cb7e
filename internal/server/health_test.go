package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// However many ask whether the server is ready, it finds out once a second, and once at
// a time; what was found is passed on to all of them.
func TestReadyOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		bad := errors.New("gone")
		h := &health{probe: func(context.Context) error {
			time.Sleep(100 * time.Millisecond)
			if probes.Add(1) > 1 {
				return bad
			}
			return nil
		}}
		ask := func(want error) {
			var all sync.WaitGroup
			for range 500 {
				all.Go(func() {
					if err := h.checkReady(t.Context()); !errors.Is(err, want) {
						t.Errorf("ready: %v, want %v", err, want)
					}
				})
			}
			all.Wait()
		}
		ask(nil)
		ask(nil)
		if n := probes.Load(); n != 1 {
			t.Errorf("%d probes", n)
		}
		time.Sleep(readyFor)
		ask(bad)
		if n := probes.Load(); n != 2 {
			t.Errorf("%d probes", n)
		}
	})
}

// A store that hangs does not hold up those who ask.
func TestReadyHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		h := &health{probe: func(context.Context) error { <-free; return nil }}
		begun := time.Now()
		if err := h.checkReady(t.Context()); err == nil || time.Since(begun) != readyTime {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		close(free)
		synctest.Wait()
		if err := h.checkReady(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Ids that clients send are taken only if they can do no harm.
func TestHarmless(t *testing.T) {
	for id, want := range map[string]bool{
		"": false, "a": true, "req-7_b.1": true, "a b": false, "x\r\nSet-Cookie: a": false, "日": false, `"quoted"`: false,
		"0123456789012345678901234567890123456789": false, "sk-abcdefgh12345678": false, "Bearer": true,
	} {
		if got := isSafeID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// A handler that panics before it has written anything ends as an error; afterwards its
// connection is cut, so that nobody takes half a response for a whole one.
func TestPanics(t *testing.T) {
	for begun, want := range map[bool]any{false: nil, true: http.ErrAbortHandler} {
		w := httptest.NewRecorder()
		h := wrapRequests(Options{Log: slog.New(slog.DiscardHandler)},
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if begun {
					_, _ = w.Write([]byte(`{"half":`))
				}
				panic("a fault")
			}))
		got := func() (p any) {
			defer func() { p = recover() }()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/models", nil))
			return nil
		}()
		if got != want || !begun && (w.Code != http.StatusInternalServerError ||
			!strings.Contains(w.Body.String(), `"request_id"`)) ||
			begun && w.Body.String() != `{"half":` {
			t.Errorf("begun %v: %v, %d %s", begun, got, w.Code, w.Body)
		}
	}
}

// Which data is served is told to this machine, and to nobody beyond a proxy.
func TestHealthTellsData(t *testing.T) {
	mux := http.NewServeMux()
	(&health{version: "1", data: "mark"}).mountHealth(mux)
	h := access.New(access.Options{Open: true}).Wrap(mux)
	for from, told := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "192.0.2.7:5": false,
		"127.0.0.1:6 forwarded": false} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil)
		var forwarded bool
		if r.RemoteAddr, forwarded = strings.CutSuffix(from, " forwarded"); forwarded {
			r.Header.Set("X-Forwarded-For", "192.0.2.7")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "mark") != told {
			t.Errorf("to %s it says %d %s", from, w.Code, w.Body)
		}
	}
}
