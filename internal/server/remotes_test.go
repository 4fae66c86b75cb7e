package server_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// The settings show admins which remotes there are, when each was last met, what waits, and what was in the way.
func TestPageRemotes(t *testing.T) {
	t.Parallel()
	all := []relay.Standing{{Remote: "/mnt/<b>stick</b>", LastMet: 1796007600000, Waiting: 3},
		{Remote: "ssh://desk", Error: "ssh cannot get to it"}}
	d := newShelf(t, shelf[:1], modeltest.Say("fine"))
	o := server.Options{Version: "test", Keys: d.rig.Store.Keys, Log: slog.New(slog.DiscardHandler),
		Remotes: func() ([]relay.Standing, error) { return all, nil }}
	h := server.Handler(d.rig.Engine, d.rig.Transfer, o, true)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	if w := sendFrom(h, "GET", "/api/session", "", "", "127.0.0.1:9", ""); !strings.Contains(w.Body.String(), `"sync":true`) {
		t.Errorf("the session says %s", w.Body)
	}
	said := `document.querySelector('.preferences .paper').innerText`
	d.do("remotes", chromedp.Navigate(srv.URL+"/#:settings/sync"), chromedp.WaitVisible(`[data-remote="ssh://desk"]`))
	for _, part := range []string{"<b>stick</b>", "3 files to come", "Never met yet", "ssh cannot get to it"} {
		d.until("the page says "+part, said+`.includes(`+jsText(part)+`)`)
	}
	axe(t, d.ctx, "remotes")
	d.picture("remotes-en-light")
	d.do("remotes in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"]`))
	d.until("in Chinese", said+`.includes('还有 3 个文件未到')`)
	d.eval(`(document.documentElement.dataset.theme = 'dark', 1)`)
	axe(t, d.ctx, "remotes in the dark")
	d.picture("remotes-zh-dark")
	all = nil
	d.do("none yet", chromedp.Reload(), chromedp.WaitVisible(`.preferences .nothing`))
}
