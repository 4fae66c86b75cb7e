package server_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// The page lists what is kept, beside the conversation; a sentence is dropped, a to-do ticked off, what is selected
// is kept, and what somebody else changes is followed.
func TestPageListsWhatIsKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, modeltest.Say("Noted."))
	id := d.conversation()
	d.do("kept opened", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(writing))
	d.do("kept said", chromedp.SendKeys(writing, "Never push to main. TODO: water the plants. The gate code is 4711.\r"),
		chromedp.WaitVisible("#m2"), chromedp.WaitNotPresent(".writing"))
	d.pressItem(`.head [aria-label="More"]`, "What is kept")
	d.do("kept shown", chromedp.WaitVisible(".carried section + section li"))
	const texts = `[...document.querySelectorAll('.carried li p')].map((p) => p.innerText).join('|')`
	d.is("the list", texts, "TODO: water the plants. #1|Never push to main. #1")
	axe(t, d.ctx, "what is kept")
	d.do("kept chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"]`))
	d.press(`.sidebar [title^="主题"]`)
	d.do("kept chinese light", chromedp.WaitVisible(`html[data-theme="light"]`))
	d.press(`.sidebar [title^="主题"]`)
	d.do("kept chinese dark", chromedp.WaitVisible(`html[data-theme="dark"]`))
	d.do("kept in English", chromedp.Click(`.sidebar [lang="en"]`), chromedp.WaitVisible(`html[lang="en"]`))
	axe(t, d.ctx, "what is kept, in the dark")

	d.selects("#m1", "The gate code is 4711.")
	d.do("kept selected", chromedp.WaitVisible(".carried .acts button"))
	d.press(".carried .acts button")
	d.do("kept one more", chromedp.WaitVisible(".carried section:last-of-type li + li"),
		chromedp.WaitNotPresent(".carried .acts"))
	d.press(`.carried li input`)
	d.do("kept ticked", chromedp.WaitNotPresent(`.carried li input`))
	d.is("the list after that", texts, "Never push to main. #1|The gate code is 4711. #1")

	list, err := d.rig.Kept().List(d.Context(), id, false)
	if err != nil || len(list) != 2 {
		t.Fatalf("kept: %+v, %v", list, err)
	}
	if _, err := d.rig.Kept().SetState(d.Context(), id, list[0].ID, scrollback.KeptDropped); err != nil {
		t.Fatal(err)
	}
	d.do("kept follows", chromedp.WaitNotPresent(".carried li + li"))
	d.press(".carried li button")
	d.do("kept dropped", chromedp.WaitNotPresent(".carried li"))
	d.do("kept nothing", chromedp.WaitVisible(".carried .none"))
	d.is("nothing", `document.querySelector('.carried .none').innerText`, "Nothing is kept word for word yet.")
}

// On a phone the panel covers the conversation: what was selected before can be kept, and a link to a message shows it.
func TestPageKeepsOnAPhone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, modeltest.Say("已记下。"))
	id := d.conversation()
	d.do("kept phone opened", chromedp.EmulateViewport(390, 844), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(writing))
	d.do("kept phone said", chromedp.SendKeys(writing, "不要直接推送到 main。"+
		"待办：把港口航线表的第三版发给引航站，并在下周五之前确认潮位数据。门的密码是 4711。\r"),
		chromedp.WaitVisible("#m2"), chromedp.WaitNotPresent(".writing"))
	d.selects("#m1", "门的密码是 4711。")
	d.do("kept phone shown", chromedp.Click(`.head [aria-label="More"]`), chromedp.WaitVisible(".menu"),
		chromedp.Click(".menu button"), chromedp.WaitVisible(".carried section + section li"))
	d.do("kept phone one more", chromedp.Click(".carried .acts button"),
		chromedp.WaitVisible(".carried section:last-of-type li + li"))
	axe(t, d.ctx, "what is kept, on a phone")
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
	d.do("kept phone jumped", chromedp.Click(".carried li a"), chromedp.WaitNotPresent(".carried"))
	d.is("the place", `location.hash`, "#"+string(id)+"/1")
}

// selects selects a text of a message.
func (d *pageRig) selects(message, text string) {
	d.Helper()
	d.eval("(() => { const walk = document.createTreeWalker(document.querySelector(`" + message + "`), " +
		"NodeFilter.SHOW_TEXT); for (let n = walk.nextNode(); n; n = walk.nextNode()) { " +
		"const at = n.data.indexOf(`" + text + "`); if (at < 0) continue; " +
		"getSelection().setBaseAndExtent(n, at, n, at + `" + text + "`.length); return 1; } })()")
}
