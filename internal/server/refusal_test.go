package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// An answer that was not streamed says as much of a refusal as the stream does, and a request
// without the message that is named goes.
func TestRefusalNotStreamed(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, refusing("forbidden"))
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	at := srv.URL + "/api/conversations/" + string(r.NewConversation()) + "/chat"
	resp, body := send(t, "POST", at, `{"message":"Say the forbidden word.","stream":false}`)
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"permanent":true`) || !strings.Contains(body,
		`"suspect_seq":1`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, body = send(t, "POST", at,
		`{"message":"Go on.","without":[1],"stream":false}`); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, "High water") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if _, body = send(t, "GET", strings.TrimSuffix(at, "chat")+"context", ""); !strings.Contains(body, `"left_out"`) {
		t.Errorf("the manifest: %s", body)
	}
	preview := func(body string) string {
		_, said := send(t, "POST", strings.TrimSuffix(at, "chat")+"context", body)
		return said
	}
	if said := preview(`{"message":"x","without":[]}`); strings.Contains(said, `"left_out"`) {
		t.Errorf("with all taken back: %s", said)
	}
	if said := preview(`{"without":[99]}`); !strings.Contains(said, "no message #99") {
		t.Errorf("a message that is not there: %s", said)
	}
}

// A store that fails while an answer comes is 503, and not its model's fault.
func TestStoreFailsInsideATurn(t *testing.T) {
	faulty := &drivertest.Faulty{At: 1 << 40}
	r := enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(oracle.New()), NoFolds: true},
		modeltest.Step{Reply: func(model.Request) []model.Delta {
			faulty.Down.Store(true)
			return []model.Delta{{Text: "It is said."}}
		}})
	t.Cleanup(func() { faulty.Down.Store(false) })
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	resp, body := send(t, "POST", srv.URL+"/api/conversations/"+string(r.NewConversation())+"/chat",
		`{"message":"hello","stream":false}`)
	if resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "permanent") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// An answer that is only reasoning shows its words, in place of an error or of nothing.
func TestPageOnlyReasoning(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, modeltest.Step{Deltas: []model.Delta{{Reasoning: "The tide tables say four o'clock."}}})
	id := d.conversation()
	d.do("thought", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(writing),
		chromedp.SendKeys(writing, "When is high water?\r"), chromedp.WaitVisible("#m2 .reasoning .prose"),
		chromedp.WaitNotPresent(".writing"))
	d.is("the words", `document.querySelector('#m2 .reasoning .prose').innerText`, "The tide tables say four o'clock.")
	d.is("an error", `document.querySelector('.trouble') === null`, "true")
	axe(t, d.ctx, "an answer of reasoning alone")
}

// Who has a key signs in on a server that changes nothing, which writes nothing for that: no
// other server knows the sign-in. The page reads, whatever the key may do.
func TestReadOnlySignIn(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("White."))
	r.Clock.Store(time.Now().UnixMilli()) // a browser keeps no cookie that has ended
	_, secret, err := r.Store.Keys.Add(t.Context(), scrollback.Key{Name: "ada", Role: scrollback.AccessAdmin})
	if err != nil {
		t.Fatal(err)
	}
	id := r.NewConversation()
	r.Ask(id, "Which colour has the lighthouse?")
	serve := func(readOnly bool) *httptest.Server {
		srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys,
			ReadOnly: readOnly,
			Log:      slog.New(slog.DiscardHandler)}, false))
		t.Cleanup(srv.Close)
		return srv
	}
	reads := serve(true)
	writes := serve(false)
	resp, body := send(t, "POST", reads.URL+"/api/session", `{"key":"`+secret+`"}`)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"role":"read"`) || len(resp.Cookies()) != 1 {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	for _, c := range []struct {
		method, url string
		status      int
	}{
		{"GET", reads.URL + "/api/conversations", 200}, {"POST", reads.URL + "/api/conversations", 403},
		{"GET", writes.URL + "/api/conversations", 401}, {"DELETE", reads.URL + "/api/session", 204}, {"GET",
			reads.URL + "/api/conversations", 401},
	} {
		if resp, body := send(t, c.method, c.url, map[bool]string{true: "{}"}[c.method == "POST"], "Cookie",
			cookie); resp.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.url, resp.StatusCode, body)
		}
	}
	d := &pageRig{T: t, ctx: ctx, rig: r, url: reads.URL}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	d.do("read only door", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(reads.URL+"/#"+string(id)),
		chromedp.WaitVisible(".door input"))
	d.do("read only", chromedp.SendKeys(".door input", secret+"\r"), chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".door"))
	axe(t, ctx, "a server that only reads")
	if _, err := r.Store.Keys.Revoke(context.WithoutCancel(t.Context()), "ada"); err != nil {
		t.Fatal(err)
	}
}
