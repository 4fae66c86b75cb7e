package server_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// clientRig is a server for clients of other APIs, and what it stored.
type clientRig struct {
	*testing.T
	sb  *local.Scrollback
	url string
}

// newClientRig serves with a model of the test's own, by the name "own/m", as the default one; env are variables of
// providers. It may be nil.
func newClientRig(t *testing.T, own model.Model, env map[string]string, d door.Options) *clientRig {
	t.Helper()
	o := local.Options{Database: "memory:", Env: func(name string) string { return env[name] },
		Engine: engine.Options{NoTitleCalls: true}}
	if own != nil {
		o.Models = map[string]model.Model{"own/m": own}
		o.Model = "own/m"
	}
	sb, err := local.Open(t.Context(), t.TempDir(), &o)
	if err != nil {
		t.Fatal(err)
	}
	d.Serves = func(provider string) bool { return sb.CheckModel(provider+"/x") == nil }
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), Door: door.New(d), DoorBytes: 1 << 20}, true))
	t.Cleanup(func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &clientRig{T: t, sb: sb, url: srv.URL}
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request, with "name: value" headers.
func (c *clientRig) send(method, path, body string, headers ...string) reply {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	headers = slices.DeleteFunc(headers, func(h string) bool { return h == "" })
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(b)}
}

// get reads from our own API.
func (c *clientRig) get(path string, into any) {
	c.Helper()
	r := c.send("GET", path, "")
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		c.Fatalf("%s: %s: %v", path, r.body, err)
	}
}

// holds fails unless exactly one conversation is stored, whose messages are these: the role, then what each part says.
func (c *clientRig) holds(want ...string) {
	c.Helper()
	all, _, err := c.sb.List(c.Context(), scrollback.ListQuery{})
	if err != nil || len(all) != 1 {
		c.Fatalf("%d conversations are stored, want 1: %v", len(all), err)
	}
	var path struct {
		Messages []scrollback.Message `json:"messages"`
	}
	c.get("/api/conversations/"+string(all[0].ID)+"/messages", &path)
	var got []string
	for _, m := range path.Messages {
		says := string(m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case scrollback.Text:
				says += " " + p.Text
			case scrollback.Reasoning:
				says += " (" + p.Text + ")"
			case scrollback.ToolCall:
				says += " " + p.Name + string(p.Arguments)
			case scrollback.ToolResult:
				says += " -> " + p.Text
			}
		}
		got = append(got, says)
	}
	if !slices.Equal(got, want) {
		c.Errorf("stored is\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// upstream is a model's server that answers each request with the next of what it was given, and the last one again.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	paths  []string
}

func newUpstream(t *testing.T, answers ...http.HandlerFunc) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || err != nil { // what is known of the model
			w.WriteHeader(http.StatusNotFound)
			return
		}
		u.mu.Lock()
		n := len(u.bodies)
		u.bodies = append(u.bodies, string(body))
		u.paths = append(u.paths, r.URL.RequestURI())
		u.mu.Unlock()
		answers[min(n, len(answers)-1)](w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

// asked returns the bodies and the paths of the requests so far.
func (u *upstream) asked() (bodies, paths []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.bodies), slices.Clone(u.paths)
}

// answerWith answers with a body.
func answerWith(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Request-Id", "req_up")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}

// cutAfter answers with the beginning of a stream, and cuts it.
func cutAfter(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body) // the client may be gone
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
