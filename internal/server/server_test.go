package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
)

// Who may speak to the server: its own page and what is no page; nobody who calls
// it by a foreign name, and no page of another site, not even to read. Only the
// front page may be linked to from elsewhere.
func TestWhoMaySpeak(t *testing.T) {
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	here := server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)},
		true)
	open := server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler),
		Insecure: true, Hosts: []string{"any.example"}}, false)
	const (
		home    = "127.0.0.1:8080"
		site    = `"message":"a page of another site may not use this server"`
		machine = `"message":"this server answers only to a name of this machine"`
		name    = `"message":"this server does not answer to this name; its names are in the setting hosts"`
	)
	for _, c := range []struct {
		at           http.Handler
		method, path string
		host         string
		origin, site string
		refused      string // part of the body; empty: let through
	}{
		{here, "POST", "/api/conversations", home, "", "", ""},
		{here, "POST", "/api/conversations", home, "http://" + home, "same-origin", ""},
		{here, "POST", "/api/conversations", home, "http://" + home, "", ""},
		{here, "POST", "/api/conversations", "localhost", "http://localhost", "", ""},
		{here, "POST", "/api/conversations", "[::1]:8080", "http://[::1]:8080", "", ""},
		{here, "GET", "/api/conversations", home, "", "none", ""},
		{here, "GET", "/", home, "", "cross-site", ""},
		{here, "GET", "/", home, "", "same-site", ""},

		{here, "POST", "/api/conversations", home, "http://evil.example", "cross-site", site},
		{here, "POST", "/api/conversations", home, "http://evil.example", "", site},
		{here, "POST", "/api/conversations", home, "", "cross-site", site},
		{here, "POST", "/api/conversations", home, "", "same-site", site},
		{here, "POST", "/api/conversations", home, "http://127.0.0.1:9090", "", site},
		{here, "POST", "/api/conversations", home, "null", "", site},
		{here, "POST", "/api/conversations", home, "%", "", site},
		{here, "POST", "/", home, "http://evil.example", "", site},
		{here, "DELETE", "/api/conversations/x", home, "http://evil.example", "", site},
		{here, "GET", "/api/conversations", home, "http://evil.example", "", site},
		{here, "GET", "/api/conversations", home, "", "cross-site", site},
		{here, "HEAD", "/assets/app.js", home, "", "cross-site", site},
		{here, "OPTIONS", "/api/conversations", home, "http://evil.example", "cross-site", site},
		{here, "GET", "/healthz", home, "http://evil.example", "", site},
		{here, "POST", "/mcp", home, "http://evil.example", "", site},

		{here, "GET", "/", "evil.example", "", "", machine},
		{here, "POST", "/api/conversations", "evil.example:8080", "http://evil.example:8080", "same-origin", machine},
		{open, "POST", "/api/conversations", "any.example", "https://any.example", "same-origin", ""},
		{open, "POST", "/api/conversations", "any.example", "https://evil.example", "", site},
		{open, "GET", "/api/conversations", "ANY.example:80", "", "", ""},
		{open, "GET", "/api/conversations", "192.0.2.7:7077", "", "", ""},
		{open, "GET", "/api/conversations", "[2001:db8::1]", "", "", ""},
		{open, "GET", "/api/conversations", "printer", "", "", ""},
		{open, "GET", "/api/conversations", "evil.example", "", "", name},
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
		case refused != (c.refused != ""), refused && (!strings.Contains(string(body), c.refused) ||
			!strings.Contains(string(body), `"code":"refused"`)):
			t.Errorf("%s %s at %s, origin %q, site %q: %d %s", c.method, c.path, c.host, c.origin, c.site, w.Code, body)
		case !refused && w.Code >= 400:
			t.Errorf("%s %s at %s, origin %q, site %q is let through and fails: %d %s",
				c.method, c.path, c.host, c.origin, c.site, w.Code, body)
		}
	}
}
