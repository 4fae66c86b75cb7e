package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
)

// Where other machines reach the server, each address may begin 20 chats in an hour; on
// this machine there is no limit unless one is set. An address of IPv6 counts as its
// network. What was counted is in the headers, and what is refused is said in the language
// of the caller.
func TestRateLimit(t *testing.T) {
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	c, _, err := sb.Create(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	chat := func(o server.Options, local bool, peer, message string) *http.Response {
		t.Helper()
		o.Version = "test"
		o.Insecure = true
		o.Log = slog.New(slog.DiscardHandler)
		sent := strings.NewReader(`{"message":"` + message + `","stream":false}`)
		r := httptest.NewRequest(http.MethodPost, "/api/conversations/"+string(c.ID)+"/chat", sent)
		r.Host = "127.0.0.1"
		r.RemoteAddr = peer
		r.Header.Set("Accept-Language", "fr, zh;q=0.7, en;q=0.3")
		w := httptest.NewRecorder()
		server.Handler(sb.Engine, sb.Transfer, o, local).ServeHTTP(w, r)
		return w.Result()
	}
	want := func(res *http.Response, status int, limit, left string) {
		t.Helper()
		h := res.Header
		waits := h.Get("Retry-After") != ""
		if res.StatusCode != status || h.Get("RateLimit-Limit") != limit || h.Get("RateLimit-Remaining") != left ||
			waits != (status == 429) ||
			(h.Get("RateLimit-Reset") != "") != (limit != "") || waits && h.Get("Retry-After") != h.Get("RateLimit-Reset") {
			t.Errorf("status %d, %v", res.StatusCode, h)
		}
	}
	want(chat(server.Options{}, true, "127.0.0.1:9", "hello"), 200, "", "")
	want(chat(server.Options{}, false, "192.0.2.1:9", "hello"), 200, "20", "19")
	two := server.Options{Rate: scrollback.Rate{Chats: 2, PerMS: scrollback.DayMS}}
	want(chat(two, true, "[2001:db8:1:2::3]:9", "hello"), 200, "2", "1")
	want(chat(two, true, "[2001:db8:1:2:ffff::9]:7", "hello"), 200, "2", "0")
	over := chat(two, true, "[2001:db8:1:2::3]:8", "hello")
	want(over, 429, "2", "0")
	if said := text(t, over); !strings.Contains(said, `"code":"rate_limited"`) ||
		!strings.Contains(said, "已达到 2/d 次对话的上限") ||
		over.Header.Get("Content-Language") != "zh-CN" {
		t.Errorf("%s %v", said, over.Header)
	}
	want(chat(two, true, "[2001:db8:1:3::3]:8", "hello"), 200, "2", "1")
	want(chat(two, true, "[::ffff:192.0.2.7]:8", "hello"), 200, "2", "1")
	want(chat(two, true, "192.0.2.7:8", "hello"), 200, "2", "0")
	off := server.Options{Rate: scrollback.Rate{Chats: scrollback.Unlimited}}
	want(chat(off, false, "192.0.2.1:9", "hello"), 200, "", "")
	bad := chat(two, true, "192.0.2.8:8", "")
	want(bad, 400, "2", "2")
	if said := text(t, bad); !strings.Contains(said, "消息为空") || bad.Header.Get("Content-Language") != "zh-CN" {
		t.Errorf("%s %v", said, bad.Header)
	}
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
