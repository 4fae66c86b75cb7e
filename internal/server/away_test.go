package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// ask sends a request, and returns the status, a header and the body.
func ask(t *testing.T, method, url, body string) (status int, h http.Header, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// A server whose database is away says so where it is asked, refuses requests in words and
// with a time, and goes on by itself when the database is back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	away := &drivertest.Faulty{At: -1}
	r := enginetest.New(t, enginetest.Options{Driver: away.Wrap(oracle.New())}, modeltest.Say("fine"))
	s := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test"}, true))
	defer s.Close()
	var c struct{ ID string }
	_, _, text := ask(t, "POST", s.URL+"/api/conversations", "{}")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&c); err != nil || c.ID == "" {
		t.Fatal(text, err)
	}
	chat := func() (int, http.Header, string) {
		return ask(t, "POST", s.URL+"/api/conversations/"+c.ID+"/chat", `{"message":"hello","stream":false}`)
	}
	for range 2 {
		away.Down.Store(true)
		eventually(t, func() bool { // what was found before is good for a second
			status, _, _ := ask(t, "GET", s.URL+"/readyz", "")
			return status == http.StatusServiceUnavailable
		})
		for _, path := range []string{"/readyz", "/api/conversations", "/api/conversations/" + c.ID} {
			status, h, text := ask(t, "GET", s.URL+path, "")
			if status != http.StatusServiceUnavailable || h.Get("Retry-After") == "" ||
				!strings.Contains(text, `"unavailable"`) ||
				strings.Contains(text, "on purpose") {
				t.Errorf("%s: %d %v %s", path, status, h, text)
			}
		}
		if status, h, text := chat(); status != http.StatusServiceUnavailable || h.Get("Retry-After") == "" {
			t.Errorf("a chat: %d %s", status, text)
		}
		for _, path := range []string{"/livez", "/healthz"} {
			if status, _, text := ask(t, "GET", s.URL+path, ""); status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		away.Down.Store(false)
		eventually(t, func() bool { status, _, _ := ask(t, "GET", s.URL+"/readyz", ""); return status == http.StatusOK })
		if status, _, text := chat(); status != http.StatusOK || !strings.Contains(text, "fine") {
			t.Errorf("a chat afterwards: %d %s", status, text)
		}
	}
}

// eventually waits for something that is bound to happen.
func eventually(t *testing.T, happened func() bool) {
	t.Helper()
	for !happened() {
		select {
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A server that is told to end says so at once where it is asked, serves what comes meanwhile
// on connections that it closes, lets a turn finish, and then is gone.
func TestGrace(t *testing.T) {
	t.Parallel()
	say := modeltest.Say("one ", "two")
	gate := make(chan struct{})
	say.Gate = gate
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, say)
	ctx, stop := context.WithCancel(t.Context())
	url := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, r.Engine, r.Transfer, server.Options{Addr: "127.0.0.1:0", Grace: 2 * time.Second,
			Log: slog.New(slog.DiscardHandler), Started: func(at string) { url <- at }})
	}()
	base := <-url
	id := r.NewConversation()
	resp, err := http.Post(base+"/api/conversations/"+string(id)+"/chat", "application/json",
		strings.NewReader(`{"message":"q"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	gate <- struct{}{}
	stop()
	eventually(t, func() bool {
		status, h, text := ask(t, "GET", base+"/readyz", "")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "shutting down") &&
			h.Get("Retry-After") != ""
	})
	status, _, text := ask(t, "GET", base+"/api/conversations/"+string(id), "")
	if status != http.StatusOK {
		t.Errorf("meanwhile: %d %s", status, text)
	}
	close(gate)
	all, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(all, []byte(`"complete"`)) || !bytes.HasSuffix(all, []byte("[DONE]\n\n")) {
		t.Errorf("the stream ends %q, %v", all, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if resp, err := http.Get(base + "/livez"); err == nil {
		resp.Body.Close()
		t.Error("it still answers")
	}
	r.WantOutline(id, "u:q", "a:one two")
}
