package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/server"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/token"
)

// Who may speak to the server: its own page and what is no page; nobody who calls
// it by a foreign name, and no page of another site, not even to read. Only the
// front page may be linked to from elsewhere.
func TestWhoMaySpeak(t *testing.T) {
	s := store.New(memdriver.New(), &store.Options{Tokens: token.Count, Image: token.Image})
	bucket := memblob.OpenBucket(nil)
	e := engine.New(s, archive.New(s, bucket, nil), engine.Options{Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	t.Cleanup(func() {
		e.Close(t.Context())
		bucket.Close()
	})
	local := server.Handler(e, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true)
	open := server.Handler(e, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, false)
	const (
		home    = "127.0.0.1:8080"
		site    = `"message":"a page of another site may not use this server"`
		machine = `"message":"this server answers only to a name of this machine"`
	)
	for _, c := range []struct {
		at           http.Handler
		method, path string
		host         string
		origin, site string
		refused      string // part of the body; empty: let through
	}{
		{local, "POST", "/api/conversations", home, "", "", ""},
		{local, "POST", "/api/conversations", home, "http://" + home, "same-origin", ""},
		{local, "POST", "/api/conversations", home, "http://" + home, "", ""},
		{local, "POST", "/api/conversations", "localhost", "http://localhost", "", ""},
		{local, "POST", "/api/conversations", "[::1]:8080", "http://[::1]:8080", "", ""},
		{local, "GET", "/api/conversations", home, "", "none", ""},
		{local, "GET", "/", home, "", "cross-site", ""},
		{local, "GET", "/", home, "", "same-site", ""},

		{local, "POST", "/api/conversations", home, "http://evil.example", "cross-site", site},
		{local, "POST", "/api/conversations", home, "http://evil.example", "", site},
		{local, "POST", "/api/conversations", home, "", "cross-site", site},
		{local, "POST", "/api/conversations", home, "", "same-site", site},
		{local, "POST", "/api/conversations", home, "http://127.0.0.1:9090", "", site},
		{local, "POST", "/api/conversations", home, "null", "", site},
		{local, "POST", "/api/conversations", home, "%", "", site},
		{local, "POST", "/", home, "http://evil.example", "", site},
		{local, "DELETE", "/api/conversations/x", home, "http://evil.example", "", site},
		{local, "GET", "/api/conversations", home, "http://evil.example", "", site},
		{local, "GET", "/api/conversations", home, "", "cross-site", site},
		{local, "HEAD", "/assets/app.js", home, "", "cross-site", site},
		{local, "OPTIONS", "/api/conversations", home, "http://evil.example", "cross-site", site},
		{local, "GET", "/healthz", home, "http://evil.example", "", site},
		{local, "POST", "/mcp", home, "http://evil.example", "", site},

		{local, "GET", "/", "evil.example", "", "", machine},
		{local, "POST", "/api/conversations", "evil.example:8080", "http://evil.example:8080", "same-origin", machine},
		{open, "POST", "/api/conversations", "any.example", "https://any.example", "same-origin", ""},
		{open, "POST", "/api/conversations", "any.example", "https://evil.example", "", site},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader("{}"))
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
		for name, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		w := httptest.NewRecorder()
		c.at.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		refused := w.Code == http.StatusForbidden
		switch {
		case refused != (c.refused != ""), refused && (!strings.Contains(string(body), c.refused) || !strings.Contains(string(body), `"code":"refused"`)):
			t.Errorf("%s %s at %s, origin %q, site %q: %d %s", c.method, c.path, c.host, c.origin, c.site, w.Code, body)
		case !refused && w.Code >= 400:
			t.Errorf("%s %s at %s, origin %q, site %q is let through and fails: %d %s",
				c.method, c.path, c.host, c.origin, c.site, w.Code, body)
		}
	}
}
