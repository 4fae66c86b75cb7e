package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
)

// TestDoorMadeIDs lets nobody reach, with a provider key that all share, what an answer to somebody else made there.
func TestDoorMadeIDs(t *testing.T) {
	for _, made := range []string{`"file_id":"file-made-here-1"`, `"container_id":"cntr_made-here-1"`,
		`"container":{"id":"container_made-here-1","expires_at":"2026"}`, `"container": { "id" : "container_made-here-2" }`} {
		d := newDoorRig(t, door.Options{})
		d.up.refuse = func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			_, err := io.WriteString(w, `data: {"id":"up","object":"chat.completion.chunk","choices":[{"index":0,"delta":`+
				`{"role":"assistant","content":"Made.","annotations":[{`+made+`}]},"finish_reason":"stop"}]}`+
				"\n\ndata: [DONE]\n\n")
			return err == nil
		}
		add := d.needKeys(door.Options{})
		ann := add(scrollback.Key{Name: "ann", Projects: []string{"shared"}})
		ben := add(scrollback.Key{Name: "ben", Projects: []string{"shared"}})
		names := func(id string) string {
			return chatBody("", fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Read %s"},`+
				`{"type":"file","file":{"file_id":"%s"}}]}`, id, id))
		}
		id := strings.Split(strings.TrimPrefix(made[strings.Index(made, `":`)+2:], `{"id":`), `"`)[1]
		if id == "id" {
			id = "container_made-here-2"
		}
		if resp, body := d.post("/v1/chat/completions", names(id), ben...); resp.StatusCode != http.StatusOK {
			t.Errorf("%s, which only the answer repeats: %d %s", id, resp.StatusCode, body)
		}
		if resp, body := d.post("/v1/chat/completions", chatBody("", sayAs("user", "Make it")), ann...); resp.StatusCode !=
			http.StatusOK || !strings.Contains(body, made) {
			t.Fatalf("made: %d %s", resp.StatusCode, body)
		}
		before := len(d.up.sent())
		resp, body := d.post("/v1/chat/completions", names(id)+" ", ben...)
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, id) || len(d.up.sent()) != before {
			t.Errorf("%s of another key: %d %s", id, resp.StatusCode, body)
		}
		count := fmt.Sprintf(`{"model":"gpt-5","input":[{"role":"user","content":[{"type":"input_file","file_id":%q}]}]}`, id)
		if resp, body := d.post("/v1/responses/input_tokens", count, ben...); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s of another key is counted: %d %s", id, resp.StatusCode, body)
		}
		if resp, body := d.post("/v1/responses/input_tokens", count, ann...); resp.StatusCode != http.StatusOK {
			t.Errorf("%s of one's own is not counted: %d %s", id, resp.StatusCode, body)
		}
		if resp, body := d.post("/v1/chat/completions", names(id), ann...); resp.StatusCode != http.StatusOK {
			t.Errorf("%s of one's own: %d %s", id, resp.StatusCode, body)
		}
		if resp, body := d.post("/v1/chat/completions", chatBody("", sayAs("user", `{"file_id":"`+id+`"}`)),
			ben...); resp.StatusCode != http.StatusOK {
			t.Errorf("%s in a text: %d %s", id, resp.StatusCode, body)
		}
	}
}
