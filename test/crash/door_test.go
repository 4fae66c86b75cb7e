package crash_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// TestDoorKill kills the server in the middle of an answer to a client that keeps its history itself: what the client
// sends once more finds one message of its own, and gets one answer.
func TestDoorKill(t *testing.T) {
	for path, last := range map[string]string{
		"/v1/chat/completions": "data: [DONE]",
		"/api/chat":            `"done":true`,
	} {
		t.Run(strings.ReplaceAll(path[1:], "/", "_"), func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, fact)
			s := serve(t, data, append(leased(), slow...))
			resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for said := 0; said < 6 && lines.Scan(); {
				if strings.Contains(lines.Text(), `"content"`) {
					said++
				}
			}
			of := scrollback.ConversationID(resp.Header.Get("X-Scrollback-Conversation"))
			s.kill()

			s = serve(t, data, leased())
			again, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer again.Body.Close()
			answer, err := io.ReadAll(again.Body)
			if err != nil || again.StatusCode != http.StatusOK || !strings.Contains(string(answer), last) {
				t.Fatalf("the retry gets %d %v\n%s", again.StatusCode, err, answer)
			}
			if at := scrollback.ConversationID(again.Header.Get("X-Scrollback-Conversation")); at != of {
				t.Errorf("the retry is in %s, and the first try was in %s", at, of)
			}
			var page struct{ Messages []scrollback.Message }
			s.do(http.MethodGet, "/api/conversations/"+string(of)+"/messages", nil, &page)
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
