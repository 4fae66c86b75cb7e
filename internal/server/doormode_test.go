package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
)

// needKeys puts a server in front of a rig that lets in only who has a key, and returns what adds one.
func (d *doorRig) needKeys(o door.Options) func(scrollback.Key) []string {
	d.t.Helper()
	o.Serves = func(string) bool { return true }
	srv := httptest.NewServer(server.Handler(d.sb.Engine, d.sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), Keys: d.sb.Store.Keys, Hosts: []string{"127.0.0.1"}, DoorBytes: 1 << 20,
		Door: door.New(o)}, false))
	d.t.Cleanup(srv.Close)
	d.url = srv.URL
	return func(k scrollback.Key) []string {
		k.Role = scrollback.AccessWrite
		_, secret, err := d.sb.Store.Keys.Add(d.t.Context(), k)
		if err != nil {
			d.t.Fatal(err)
		}
		return []string{"Authorization", "Bearer " + secret}
	}
}

func (d *doorRig) setProject(name, mode string) {
	d.t.Helper()
	_, err := d.sb.Engine.As(scrollback.Operator()).Projects().Put(d.t.Context(), name, 0,
		func(p *scrollback.Project) error { p.Settings.Door = mode; return nil })
	if err != nil {
		d.t.Fatal(err)
	}
}

// forwards reports whether what the provider was sent last is the client's own request, which has a field that no
// window of ours has.
func (d *doorRig) forwards() bool {
	all := d.up.sent()
	return strings.Contains(all[len(all)-1], "odd_field")
}

// TestDoorModes goes by what is said most narrowly: the server, the project, the key, the request. A request is one of
// a turn, or one beside it.
func TestDoorModes(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	add := d.needKeys(door.Options{})
	d.setProject("ours", door.ModeWindow)
	plain := add(scrollback.Key{Name: "plain", Projects: []string{"elsewhere"}})
	inOurs := add(scrollback.Key{Name: "in ours", Projects: []string{"ours"}})
	faithful := add(scrollback.Key{Name: "faithful", Projects: []string{"ours"}, Door: door.ModeFaithful})
	window := add(scrollback.Key{Name: "window", Projects: []string{"elsewhere"}, Door: door.ModeWindow})
	for i, c := range []struct {
		what      string
		header    []string
		forwarded bool
	}{
		{"the server's", plain, true},
		{"the project's", inOurs, false},
		{"the key's before the project's", faithful, true},
		{"the key's before the server's", window, false},
		{"the request's before the key's", append([]string{door.ModeHeader, "record"}, window...), true},
		{"the request's before the server's", append([]string{door.ModeHeader, "window"}, plain...), false},
	} {
		for _, ask := range []string{fmt.Sprint("Hello ", i), "Generate a title for this conversation: " + fmt.Sprint(i)} {
			resp, answer := d.post("/v1/chat/completions", chatBody(`"odd_field":1,`, sayAs("user", ask)), c.header...)
			if resp.StatusCode != http.StatusOK || d.forwards() != c.forwarded {
				t.Errorf("%s, %q: %d %s, forwarded: %v", c.what, ask, resp.StatusCode, answer, d.forwards())
			}
		}
	}
	for _, h := range d.up.headers {
		if h.Get(door.ModeHeader) != "" {
			t.Errorf("sent on: %v", h)
		}
	}
}

// TestDoorModeUnknown refuses a mode that there is not, and names it and those that there are, on each face.
func TestDoorModeUnknown(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	for path, body := range map[string]string{
		"/v1/chat/completions":             chatBody("", sayAs("user", "Hello")),
		"/v1/responses":                    `{"model":"openai/gpt-x","input":"Hello"}`,
		"/v1/messages":                     `{"model":"openai/gpt-x","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`,
		"/v1/messages/count_tokens":        `{"model":"openai/gpt-x","messages":[{"role":"user","content":"Hello"}]}`,
		"/v1beta/models/x:generateContent": `{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}`,
		"/api/chat":                        `{"model":"x","messages":[{"role":"user","content":"Hello"}]}`,
	} {
		resp, answer := d.post(path, body, door.ModeHeader, "ajar")
		for _, want := range []string{door.ModeHeader, "ajar", "faithful, window, record"} {
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(answer, want) {
				t.Errorf("%s: %d %s", path, resp.StatusCode, answer)
			}
		}
	}
	if all := d.conversations(); len(all) > 0 || len(d.up.sent()) > 0 {
		t.Errorf("stored is %q, sent %q", all, d.up.sent())
	}
	resp, answer := d.post("/api/conversations", `{"settings":{"door":"window"}}`)
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(answer, "door") {
		t.Errorf("a conversation with a door: %d %s", resp.StatusCode, answer)
	}
}
