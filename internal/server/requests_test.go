package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
)

// running serves a folder with a log, and closes both at the end.
func running(t *testing.T, dir string, o server.Options) (*httptest.Server, *bytes.Buffer) {
	t.Helper()
	sb, err := local.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.Version = "test"
	o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	s := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, o, true))
	t.Cleanup(func() {
		s.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, &log
}

func send(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// What fails through no fault of the client leaves one error in the log, which is
// found by the id in the response; what is the client's fault leaves none. The line holds the
// cause, and no key from anywhere.
func TestFailuresAreLogged(t *testing.T) {
	dir := t.TempDir()
	s, log := running(t, dir, server.Options{})
	const key = "sk-abcdefghijklmnop1234"
	for _, path := range []string{"/api/conversations/zz", "/api/nowhere"} {
		if resp, body := send(t, "GET", s.URL+path, ""); resp.StatusCode != http.StatusNotFound ||
			resp.Header.Get("X-Request-Id") == "" || strings.Contains(body, "request_id") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	if strings.Contains(log.String(), `"level":"ERROR"`) {
		t.Errorf("faults of clients are logged as errors: %s", log)
	}
	if err := os.Remove(filepath.Join(dir, "scrollback.db")); err != nil {
		t.Fatal(err)
	}
	for sent, path := range map[string]string{"mine-1": "/api/conversations", key: "/readyz"} {
		method := "POST"
		if path == "/readyz" {
			method = "GET"
		}
		log.Reset()
		resp, body := send(t, method, s.URL+path, "{}", "X-Request-Id", sent, "X-Api-Key", key)
		var said struct {
			Error struct {
				Code, Message string
				RequestID     string `json:"request_id"`
			}
		}
		if err := json.Unmarshal([]byte(body), &said); err != nil ||
			resp.StatusCode != http.StatusServiceUnavailable || said.Error.Code != "unavailable" ||
			!strings.Contains(said.Error.Message, "deleted") {
			t.Fatalf("%s: %d %s", path, resp.StatusCode, body)
		}
		id := resp.Header.Get("X-Request-Id")
		if id == "" || id != said.Error.RequestID || (id == sent) != (sent != key) {
			t.Errorf("sent %q, header %q, body %q", sent, id, said.Error.RequestID)
		}
		var line string
		for l := range strings.Lines(log.String()) {
			if strings.Contains(l, `"request":"`+id+`"`) && strings.Contains(l, `"level":"ERROR"`) {
				line += l
			}
		}
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"code":"unavailable"`) ||
			!strings.Contains(line, "scrollback.db was deleted") || !strings.Contains(line, `"path":"`+path+`"`) {
			t.Errorf("the log says %s", log)
		}
		if strings.Contains(log.String(), key) {
			t.Errorf("a key is in the log: %s", log)
		}
	}
}

// Everything but the page may not be kept and is what its type says, errors too.
func TestPlainHeaders(t *testing.T) {
	s, _ := running(t, t.TempDir(), server.Options{})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/conversations", ""}, {"POST", "/api/conversations", "{}"}, {"POST", "/api/conversations", "{"},
		{"GET", "/api/conversations/zz", ""}, {"GET", "/api/nowhere", ""}, {"GET", "/api/search?q=x&limit=1000", ""},
		{"GET", "/healthz", ""}, {"GET", "/readyz", ""}, {"GET", "/openapi.json", ""}, {"POST", "/mcp", "{}"},
		{"GET", "/nowhere", ""},
	} {
		resp, _ := send(t, c.method, s.URL+c.path, c.body)
		if h := resp.Header; h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %v", c.method, c.path, h)
		}
	}
	if resp, _ := send(t, "GET", s.URL+"/assets/app.js", ""); resp.Header.Get("Cache-Control") == "no-store" {
		t.Error("the page's files are not to be kept")
	}
}

// A body has to arrive at a pace, on every path; one that does is read however long it
// takes, and an answer may take longer than any body.
func TestSlowBodies(t *testing.T) {
	s, _ := running(t, t.TempDir(), server.Options{Patience: server.Patience{Silence: 200 * time.Millisecond,
		Pace: 1 << 10}})
	for _, path := range []string{"/mcp", "/api/conversations", "/api/import", "/api/artifacts?conversation=x",
		"/api/nowhere"} {
		for name, pause := range map[string]time.Duration{"silent": time.Hour, "a byte at a time": 20 * time.Millisecond} {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				dripped(t, s.Listener.Addr().String(), path, pause)
			})
		}
	}
}

// dripped sends a body that never ends and expects the server to give up.
func dripped(t *testing.T, at, path string, pause time.Duration) {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Accept: application/json, text/event-stream\r\nContent-Length: 100000\r\n\r\n{"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-over.Done():
				return
			case <-tick.C:
				if _, err := io.WriteString(conn, " "); err != nil {
					return
				}
			}
		}
	}()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open")
	}
}

// A server that only reads says why it refuses what would change something.
func TestReadOnly(t *testing.T) {
	s, _ := running(t, t.TempDir(), server.Options{ReadOnly: true})
	for _, c := range [][3]string{{"POST", "/api/conversations", "{}"},
		{"POST", "/api/import", `{"role":"user","content":"x"}`}} {
		if resp, body := send(t, c[0], s.URL+c[1], c[2]); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(body, "--read-only") || !strings.Contains(body, `"refused"`) {
			t.Errorf("%v: %d %s", c, resp.StatusCode, body)
		}
	}
	if resp, body := send(t, "GET", s.URL+"/api/conversations", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if _, body := send(t, "GET", s.URL+"/api/session", ""); !strings.Contains(body, `"read_only":true`) {
		t.Errorf("nobody has a key, and yet: %s", body)
	}
}
