package server_test

import (
	"flag"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// pictures is where pictures of the page's door are written.
var pictures = flag.String("pictures", "", "write pictures of signing in to this folder")

// A page on a server with keys asks for one, says so when it is wrong, and signs in and out;
// what others say in the open conversation, and what becomes of the others, it shows without
// being asked.
func TestPageSignsIn(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	ctx := browser(t)
	var clock atomic.Int64 // a browser keeps no cookie that has ended by its own
	clock.Store(time.Now().UnixMilli())
	r := enginetest.New(t, enginetest.Options{Clock: &clock}, modeltest.Say("The lighthouse is white."))
	_, secret, err := r.Store.Keys.Add(t.Context(),
		scrollback.Key{Name: "ada", Role: scrollback.AccessWrite, Projects: []string{"notes"}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys,
		Log: slog.New(slog.DiscardHandler)}, false))
	t.Cleanup(srv.Close)
	c, _, err := r.Create(t.Context(), scrollback.Conversation{Project: "notes", Title: "Lighthouses"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Create(t.Context(), scrollback.Conversation{Project: "house", Title: "Not for Ada"}); err != nil {
		t.Fatal(err)
	}
	do := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if *pictures != "" {
			picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err == nil {
				err = os.WriteFile(filepath.Join(*pictures, strings.ReplaceAll(what, " ", "-")+".png"), picture, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	do("the door", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(srv.URL+"/#"+string(c.ID)),
		chromedp.WaitVisible(".door input"))
	do("a wrong key", chromedp.SendKeys(".door input", "sbk_wrong\r"),
		chromedp.WaitVisible(`.door input[aria-invalid="true"]`))
	do("signed in", chromedp.SendKeys(".door input", strings.Repeat("\b", 9)+secret+"\r"), chromedp.WaitVisible(".whose"),
		chromedp.WaitVisible(".composer textarea"), chromedp.WaitVisible(".rows .row"))
	list, err := chromedp.Run(ctx, chromedp.Text(".rows"))
	if err != nil || !strings.Contains(list, "Lighthouses") || strings.Contains(list, "Not for Ada") {
		t.Errorf("the list shows %q, %v", list, err)
	}
	r.Ask(c.ID, "Which colour has the lighthouse?").WantDone(t, scrollback.TurnComplete, "stop")
	do("said elsewhere", chromedp.WaitVisible(".msg.assistant"))
	rename := func(c *scrollback.Conversation) error { c.Title = "Renamed"; return nil }
	if _, err := r.Patch(t.Context(), c.ID, 0, rename); err != nil {
		t.Fatal(err)
	}
	do("renamed elsewhere", chromedp.WaitVisible(`.rows a[title="Renamed"]`),
		chromedp.WaitVisible(`.head h1[title="Renamed"]`))
	do("said here", chromedp.SendKeys(".composer textarea", "And the door?\r"), chromedp.WaitVisible("#m4"))
	do("signed out", chromedp.Click(".whose .link"), chromedp.WaitVisible(".door input"), chromedp.WaitNotPresent(".rows"))
	do("signed out for good", chromedp.Reload(), chromedp.WaitVisible(".door input"))
}
