package crash_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// face is an API of somebody else's, as one of its clients asks for a stream in it.
type face struct {
	path string
	body string // with %q for the text
	says string // in each piece of an answer
	ends string // in its last piece
	// socket says that the request goes on a connection.
	socket bool
}

var faces = map[string]face{
	"chat": {path: "/v1/chat/completions", says: `"content"`, ends: "data: [DONE]",
		body: `{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`},
	"responses": {path: "/v1/responses", says: `"type":"response.output_text.delta"`, ends: "event: response.completed",
		body: `{"model":"m","stream":true,"input":%q}`},
	"socket": {path: "/v1/responses", says: `"type":"response.output_text.delta"`, ends: `"type":"response.completed"`,
		body: `{"type":"response.create","model":"m","input":%q}`, socket: true},
	"messages": {path: "/v1/messages", says: `"text_delta"`, ends: "event: message_stop",
		body: `{"model":"m","max_tokens":999,"stream":true,"messages":[{"role":"user","content":%q}]}`},
	"gemini": {path: "/v1beta/models/m:streamGenerateContent?alt=sse", says: `"text"`, ends: `"finishReason":"STOP"`,
		body: `{"contents":[{"role":"user","parts":[{"text":%q}]}]}`},
	"ollama": {path: "/api/chat", says: `"content"`, ends: `"done":true`,
		body: `{"model":"m","messages":[{"role":"user","content":%q}]}`},
}

// ask asks a face, and has each line of the answer read until one is enough.
func (f face) ask(t *testing.T, s *served, text string, enough func(line string) bool) {
	t.Helper()
	body := fmt.Sprintf(f.body, text)
	if f.socket {
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+f.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.CloseNow() }) // the server may be gone
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(body)); err != nil {
			t.Fatal(err)
		}
		for {
			_, b, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if enough(string(b)) {
				return
			}
		}
	}
	resp, err := http.Post(s.url+f.path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if enough(line) {
			return
		}
		if err != nil {
			t.Fatalf("%d %v behind %q", resp.StatusCode, err, line)
		}
	}
}

// TestDoorKill kills the server in the middle of an answer to a client that keeps its history itself: what the client
// sends once more finds one message of its own, and gets one answer.
func TestDoorKill(t *testing.T) {
	for name, f := range faces {
		t.Run(name, func(t *testing.T) {
			if name != "chat" && name != "socket" {
				testlength.SkipShort(t)
			}
			t.Parallel()
			data := t.TempDir()
			s := serve(t, data, append(leased(), slow...))
			said := 0
			f.ask(t, s, fact, func(line string) bool {
				if strings.Contains(line, f.says) {
					said++
				}
				return said == 6
			})
			s.kill()

			s = serve(t, data, leased())
			f.ask(t, s, fact, func(line string) bool { return strings.Contains(line, f.ends) })
			var list struct{ Conversations []scrollback.Conversation }
			s.do(http.MethodGet, "/api/conversations", nil, &list)
			if len(list.Conversations) != 1 {
				t.Fatalf("there are %d conversations", len(list.Conversations))
			}
			var page struct{ Messages []scrollback.Message }
			s.do(http.MethodGet, "/api/conversations/"+string(list.Conversations[0].ID)+"/messages", nil, &page)
			var roles []string
			for _, m := range page.Messages {
				roles = append(roles, fmt.Sprint(m.Role, " ", m.Status))
			}
			if got := strings.Join(roles, ", "); got != "user complete, assistant complete" {
				t.Errorf("stored is %s", got)
			}
			s.stop()
			if code, c := checkup(t, data); code != 0 {
				t.Errorf("the doctor finds %+v", c.Problems)
			}
		})
	}
}
