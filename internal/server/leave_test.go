package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A page that was left lets go of its connection: browsers have six for a server, and keep
// pages for the way back. On the way back it follows again what others do.
func TestPageLetsGo(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := &pageRig{T: t, rig: enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))}
	h := server.Handler(d.rig.Engine, d.rig.Transfer, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)},
		true)
	var open, opened atomic.Int64
	changed := make(chan struct{}, 1000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/events" {
			first := &firstWrite{ResponseWriter: w, then: func() {
				opened.Add(1)
				open.Add(1)
				changed <- struct{}{}
			}}
			w = first
			defer func() {
				if first.done {
					open.Add(-1)
					changed <- struct{}{}
				}
			}()
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	d.url = srv.URL
	d.ctx = browser(t)
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 850)); err != nil {
		t.Fatal(err)
	}
	until := func(what string, n *atomic.Int64, want int64) {
		t.Helper()
		for end := time.After(30 * time.Second); n.Load() != want; {
			select {
			case <-changed:
			case <-end:
				t.Fatalf("%s: %d, want %d", what, n.Load(), want)
			}
		}
	}
	for range 3 {
		d.do("come", chromedp.Navigate(d.url+"/"), chromedp.WaitVisible(".composer"))
		until("pages that follow", &open, 1)
		d.do("leave", chromedp.Navigate(d.url+"/favicon.svg"))
		until("pages that follow from afar", &open, 0)
	}
	was := opened.Load()
	d.eval(`(setTimeout(() => history.back()), '')`) // a page that was kept does not load, for which the driver would wait
	until("pages that follow after the way back", &open, 1)
	until("connections made on the way back", &opened, was+1)
	if _, _, err := d.rig.Create(t.Context(), scrollback.Conversation{Title: "Made by somebody else"}); err != nil {
		t.Fatal(err)
	}
	d.comes("what somebody else made", `document.body.innerText.includes('Made by somebody else')`, "true")
}

// firstWrite does something before the first bytes of a response: a stream that has begun to be
// written hears of every change from there on.
type firstWrite struct {
	http.ResponseWriter
	then func()
	done bool
}

func (f *firstWrite) Write(p []byte) (int, error) {
	if !f.done {
		f.done = true
		f.then()
	}
	return f.ResponseWriter.Write(p)
}

func (f *firstWrite) Unwrap() http.ResponseWriter { return f.ResponseWriter }
