package server_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The reader of the API in a real browser: every operation is there with an example,
// fields open, search and keys lead to an operation, the language changes, nothing is wider
// than a phone, and nothing is asked of another host.
func TestDocs(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	url, _, _ := longTalk(t)
	d := newStrictRig(t).doc
	operations := 0
	silent := ""
	for _, item := range d.Paths {
		operations += len(item)
		for _, op := range item {
			if _, ok := op.Responses["204"]; ok && op.Responses["200"].Content == nil {
				silent += op.OperationID // it sends nothing, so there is no response to show
			}
		}
	}
	ask := func(what, script string, want any) {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[any](script))
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if err != nil || got != want {
			t.Errorf("%s: %v, not %v (%v)", what, got, want, err)
		}
	}
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatal(err)
		}
	}
	shoot := func(name string) {
		t.Helper()
		if *screenshot == "" {
			return
		}
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(strings.TrimSuffix(*screenshot, ".png")+"-"+name+".png", picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	do(chromedp.EmulateViewport(1440, 900), chromedp.Navigate(url+"/docs"), chromedp.WaitVisible(".operation"))
	ask("operations", `document.querySelectorAll('.operation').length`, operations)
	ask("operations without a request and a response", `[...document.querySelectorAll('.operation')].filter(o => `+
		`o.querySelectorAll('.sample').length < 2).map(o => o.id).join()`, silent)
	ask("what the browser refuses",
		`performance.getEntriesByType("resource").filter(r => !r.name.startsWith(location.origin)).length`, 0)
	shoot("docs")

	do(chromedp.SendKeys(".contents input", "chat streams the turn\r"))
	do(chromedp.WaitVisible(`.contents [aria-current]`))
	ask("where search leads", `location.hash`, "#chat")
	ask("what search leaves", `document.querySelectorAll('.contents li').length < 6`, true)
	do(chromedp.Click("#chat .fields .more summary"), chromedp.WaitVisible("#chat .fields .fields"))
	do(chromedp.Click("#chat .errors summary"), chromedp.WaitVisible("#chat .errors li"))
	shoot("docs-chat")
	do(chromedp.KeyEvent("\x1b"), chromedp.KeyEvent("j"))
	ask("the next operation", `location.hash !== '#chat' && !!document.querySelector(location.hash)`, true)

	do(chromedp.Click(`.contents footer [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"] .docs`),
		chromedp.Click(`.contents footer [aria-label="切换主题"]`), chromedp.Click(`.contents footer [aria-label="切换主题"]`),
		chromedp.WaitVisible(`html[data-theme="dark"] .docs`))
	ask("a heading", `document.querySelector('#chat h4').textContent`, "参数")
	shoot("docs-dark")

	do(chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(".bar"))
	ask("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, false)
	shoot("docs-phone")
	do(chromedp.Click(".bar button"), chromedp.WaitVisible(".open .contents"))
	do(chromedp.Click(`.contents a[href="#search"]`), chromedp.WaitNotPresent(".open"))
	ask("where the phone is", `location.hash`, "#search")
	shoot("docs-phone-search")
}
