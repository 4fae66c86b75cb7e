package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// With everything around the handlers that the real program has, an event reaches its
// reader while the stream goes on, and what the gate refuses is logged and counted.
func TestStreamsThroughAllWrappers(t *testing.T) {
	s, log := running(t, t.TempDir(), server.Options{Metrics: counting(t)})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != ": connected" {
		t.Fatalf("the stream begins with %q: %v", lines.Text(), lines.Err())
	}
	var made struct{ ID string }
	if _, body := send(t, "POST", s.URL+"/api/conversations", "{}"); json.Unmarshal([]byte(body), &made) != nil ||
		made.ID == "" {
		t.Fatal(body)
	}
	for !strings.Contains(lines.Text(), made.ID) {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
	}
	stop()
	if res, body := send(t, "GET", s.URL+"/api/conversations", "",
		"Authorization", "Bearer wrong"); res.StatusCode != http.StatusUnauthorized ||
		!strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer ") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if res, body := send(t, "GET", s.URL+"/api/conversations", "", "Origin",
		"https://other.example"); res.StatusCode != http.StatusForbidden {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if res, body := send(t, "GET", s.URL+"/api/conversations?limit=many", ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	_, counted := send(t, "GET", s.URL+"/metrics", "")
	for _, status := range []string{"400", "401", "403"} {
		if !strings.Contains(counted, `http_response_status_code="`+status+`"`) {
			t.Errorf("status %s is not counted", status)
		}
	}
	if strings.Contains(counted, "server_port") {
		t.Error("what clients say about the server's port is counted")
	}
	s.Close()
	for _, status := range []string{`"status":400`, `"status":401`, `"status":403`} {
		if !strings.Contains(log.String(), status) {
			t.Errorf("%s is not logged: %s", status, log)
		}
	}
}

// A failed turn in a page of messages is said in the reader's language, and
// what it was made of is not sent.
func TestFailedTurnsInChinese(t *testing.T) {
	broken := modeltest.Step{Err: scrollback.Errorf(scrollback.Refused, "test", "the message is empty")}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, broken)
	at := server.Handler(r.Engine, r.Transfer, asRun(t), true)
	here := "/api/conversations/" + string(r.NewConversation())
	ask := func(method, path, body, language string) string {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Language", language)
		w := httptest.NewRecorder()
		at.ServeHTTP(w, r)
		return w.Body.String()
	}
	ask("POST", here+"/chat", `{"message":"When?","stream":false}`, "en")
	for language, want := range map[string]string{"zh-CN": "消息为空", "en": "the message is empty"} {
		page := ask("GET", here+"/messages", "", language)
		if !strings.Contains(page, `"message":"`+want) || strings.Contains(page, `"said"`) {
			t.Errorf("%s: %s", language, page)
		}
	}
}

// What was skipped of an import is said in the language of the person who sends it.
func TestSkippedLinesInChinese(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("x"))
	at := server.Handler(r.Engine, r.Transfer, asRun(t), true)
	file := `{"role":"user","content":"one"}` + "\n" + `{"role":"user","content":"tw` + "\n" +
		`{"role":"user","content":"three"}` + "\n"
	for language, want := range map[string]string{"zh-CN": "JSON 格式错误", "en": "malformed JSON"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/api/import?name=talk.jsonl",
			strings.NewReader(file))
		r.Header.Set("Accept-Language", language)
		w := httptest.NewRecorder()
		at.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `"reason":"`+want) {
			t.Errorf("%s: %d %s", language, w.Code, w.Body)
		}
	}
}
