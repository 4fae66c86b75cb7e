package server_test

import (
	"bufio"
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/gemini"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// TestStoredBeforeTold has a client go on as soon as it is told that an answer has ended, while the model's server has
// not ended its response: the answer is stored then, and what the client sends finds it.
func TestStoredBeforeTold(t *testing.T) {
	testlength.SkipShort(t) // it waits for what the server may still say
	for _, f := range faceCases {
		last, ok := map[string]string{"chat stream": "data: [DONE]", "messages stream": "event: message_stop",
			"responses stream": "event: response.completed", "ollama stream": `"done":true`}[f.name]
		if !ok {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c, u := newFaultRig(t, door.ModeFaithful)
			u.failWith(func(w http.ResponseWriter, api upstreamAPI, streamed bool) {
				u.write(w, api, streamed, len(api.frames))
				linger(w)
			})
			resp, err := http.Post(c.url+f.path, "application/json", strings.NewReader(f.bodyOf("Hello")))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); !strings.Contains(lines.Text(), last); {
				if !lines.Scan() {
					t.Fatalf("it ends with %q, %v", lines.Text(), lines.Err())
				}
			}
			if got := c.talks(); len(got) != 1 || got[0] != "user: Hello\nassistant: Hello there" {
				t.Errorf("stored are %q", got)
			}
		})
	}
}

// linger waits until whoever asked goes away.
func linger(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // it is read
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = conn.Read(make([]byte, 1)) // it ends
		_ = conn.Close()
	}
}

// TestSilentUpstream has a model's server say the beginning of an answer and then nothing: no byte comes to the client
// meanwhile, and when the server is given up, the client is told so in a form that it survives.
func TestSilentUpstream(t *testing.T) {
	u := newFaultyServer(t)
	u.failWith(func(w http.ResponseWriter, api upstreamAPI, streamed bool) {
		u.write(w, api, streamed, len(api.frames)/2)
		linger(w)
	})
	at := func(name string) remote.Endpoint {
		_, id, _ := strings.Cut(name, "/")
		return remote.Endpoint{Name: name, Model: id, BaseURL: u.URL, Options: remote.Options{Provider: "test",
			Silence: 200 * time.Millisecond}}
	}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Models: map[string]model.Model{
		"anthropic/claude-x": anthropic.New(at("anthropic/claude-x")),
		"gemini/gemini-x":    gemini.New(at("gemini/gemini-x"))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
			Log: slog.New(slog.DiscardHandler), DoorBytes: 1 << 20,
			Door: door.New(door.Options{Mode: mode, Serves: func(string) bool { return true }})}, true))
		t.Cleanup(srv.Close)
		c := &clientRig{T: t, sb: sb, url: srv.URL}
		for _, f := range faceCases {
			if f.api != "messages" && f.api != "gemini" {
				continue // what bounds the silence is the same for all
			}
			r := f.ask(c, mode+" "+f.name)
			if r.status == 200 && f.check(r.body) != nil || r.status != 200 && f.refusal(r.body) == "" {
				t.Errorf("%s %s: %d %s", mode, f.name, r.status, r.body)
			}
			if bytes.Contains([]byte(r.body), []byte("\n:")) || strings.HasPrefix(r.body, ":") {
				t.Errorf("%s %s: a comment in %s", mode, f.name, r.body)
			}
		}
	}
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
}
