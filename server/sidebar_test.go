package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/server"
)

// hostile is what nobody should be able to do with a title or a name.
const hostile = `<img src=x onerror="window.hurt=1"><b>bold</b> & "quotes" ` + "\u202e" + `rtl`

// onShelf is a conversation in the list.
type onShelf struct {
	title, project string
	age            time.Duration
	said           int // messages
	pinned         bool
}

const day = 24 * time.Hour

var shelf = []onShelf{
	{"Compare two pressure sensors", "lab", 4 * day, 54, false},
	{"旧码头的照片与说明", "harbour", 3 * day, 264, false},
	{hostile, "default", 12 * day, 4, false},
	{strings.Repeat("A very long title that goes on ", 12), "a project with quite a long name of its own", 40 * day, 2, false},
	{"Letter to the pilots’ association", "office", day, 12, false},
	{"Go: a store that survives power loss", "lab", day, 96, false},
	{"发票核对：第三季度", "office", 2 * time.Minute, 6, false},
	{"Berth plan for the winter", "harbour", time.Minute, 8, false},
	{"Tide gauges · 潮位站", "harbour", 90 * day, 34, true},
}

// newShelf is a page with these conversations in its list, all dated from the real time.
func newShelf(t *testing.T, some []onShelf, steps ...modeltest.Step) *desk {
	t.Helper()
	var clock atomic.Int64
	now := time.Now().UnixMilli()
	r := enginetest.New(t, enginetest.Options{Clock: &clock, NoFolds: true}, steps...)
	for _, one := range some {
		clock.Store(now - one.age.Milliseconds())
		var said []scrollback.Message
		for i := range one.said {
			role := scrollback.RoleUser
			if i%2 == 1 {
				role = scrollback.RoleAssistant
			}
			said = append(said, scrollback.Message{Role: role, Parts: scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("Reading %d of the gauge", i)}}})
		}
		c := scrollback.Conversation{Title: one.title, Project: one.project, Settings: scrollback.Settings{Pinned: one.pinned}}
		if _, _, err := r.Create(t.Context(), c, said...); err != nil {
			t.Fatal(err)
		}
	}
	clock.Store(now)
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys,
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	d := &desk{T: t, ctx: browser(t), rig: r, url: srv.URL}
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 900)); err != nil {
		t.Fatal(err)
	}
	return d
}

// press clicks what a selector finds, wherever it is by now.
func (d *desk) press(sel string) {
	d.Helper()
	d.until(sel, "document.querySelector(`"+sel+"`) !== null && !document.querySelector(`"+sel+"`).disabled")
	d.eval("(document.querySelector(`" + sel + "`).click(), 1)")
}

// until waits for a script to be true.
func (d *desk) until(what, script string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](script, chromedp.WithPollingTimeout(0))); err != nil {
		d.Fatalf("%s: %v; the page shows %s", what, err, d.eval(`document.body.innerText`))
	}
}

const (
	titles = `[...document.querySelectorAll('.rows .row .title')].map(x => x.innerText).join('|')`
	groups = `[...document.querySelectorAll('.rows .group')].map(x => x.innerText.trim()).join('|')`
)

func rowOf(title string) string { return `.rows a[title="` + title + `"]` }

// The list as a person finds it: grouped, pinned first, in two languages, light and dark, wide
// and narrow, and whatever titles say is only text.
func TestSidebarLooks(t *testing.T) {
	d := newShelf(t, shelf, modeltest.Say("fine"))
	d.do("sidebar", chromedp.Navigate(d.url), chromedp.WaitVisible(rowOf("Berth plan for the winter")))
	if got := d.eval(groups); !strings.HasPrefix(got, "Pinned|Today|Yesterday|Last 7 days|Last 30 days|") {
		t.Errorf("the groups are %q", got)
	}
	d.is("the pinned one comes first", titles+`.split('|')[0]`, "Tide gauges · 潮位站")
	d.is("what a title did", `String(window.hurt) + document.querySelectorAll('.rows img, .rows b').length`, "undefined0")
	d.is("wider than the sidebar", `[...document.querySelectorAll('.rows a')].some(a => a.getBoundingClientRect().right > 256)`, "false")
	d.do("sidebar open", chromedp.Click(rowOf("Tide gauges · 潮位站")), chromedp.WaitVisible("#m34"))
	d.press(`.head [aria-label="More"]`)
	d.do("header menu", chromedp.WaitVisible(".head .menu"))
	d.do("dark", chromedp.KeyEvent(kb.Escape), chromedp.Click(`.sidebar [title^="Theme"]`), chromedp.Click(`.sidebar [title^="Theme"]`),
		chromedp.WaitVisible(`html[data-theme="dark"]`))
	d.do("chinese dark", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"]`))
	if got := d.eval(groups); !strings.HasPrefix(got, "已置顶|今天|昨天|过去 7 天|过去 30 天|") {
		t.Errorf("the groups in Chinese are %q", got)
	}
	d.do("chinese light", chromedp.Click(`.sidebar [title^="主题"]`), chromedp.Click(`.sidebar [title^="主题"]`))
	d.do("phone", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible("#m34"))
	d.press(`[aria-label="显示对话列表"]`)
	d.do("phone sidebar", chromedp.WaitVisible(".sidebar .new"))
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
}
