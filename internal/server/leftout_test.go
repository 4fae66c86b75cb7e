package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// refusing answers unless a word is in the request, which the rules on content are against.
func refusing(word string) modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		if strings.Contains(fmt.Sprint(r.Items), word) {
			return []model.Delta{{Finish: "content_filter"}}
		}
		return []model.Delta{{Text: "High water is at four."}}
	}}
}

// A message that is refused for good is left out from the error: the next one goes without it. It
// is marked, after a reload too, is taken back, and left out again where it is not the question.
func TestPageGoesOnWithout(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, refusing("forbidden"))
	id := d.conversation()
	stored := func() []int64 {
		page, err := d.rig.Turns().Page(d.Context(), id, scrollback.PageQuery{})
		if err != nil {
			d.Fatal(err)
		}
		return page.Without
	}
	const goOn = `.unanswered .trouble .do .strong`
	d.do("without opened", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(writing))
	d.do("without said", chromedp.SendKeys(writing, "When is high water?\r"), chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".writing"))
	d.do("without refused", chromedp.SendKeys(writing, "Say the forbidden word.\r"),
		chromedp.WaitVisible("#m3 + .unanswered "+goOn[len(".unanswered "):]))
	d.is("the button", `document.querySelector('`+goOn+`').innerText`, "Go on without this message")
	axe(t, d.ctx, "refused")
	d.eval(`(document.querySelector('` + goOn + `').focus(), 1)`)
	d.do("without by key", chromedp.KeyEvent("\r"), chromedp.WaitVisible("#m3.leftout .kind.without"),
		chromedp.WaitNotPresent(goOn))
	d.is("where one goes on", `document.activeElement.matches('`+writing+`')`, "true")
	axe(t, d.ctx, "left out")
	d.do("without in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.Reload(),
		chromedp.WaitVisible("#m3.leftout .kind.without"))
	d.is("the mark",
		`document.querySelector('#m3 .without .status').innerText + document.querySelector('#m3 .without .link').innerText`,
		"已略去恢复")
	d.do("without on a phone", chromedp.EmulateViewport(390, 844), chromedp.Reload(),
		chromedp.WaitVisible("#m3 .without .link"))
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
	axe(t, d.ctx, "left out, on a phone")
	if got := stored(); len(got) != 0 {
		t.Errorf("stored before a request went: %v", got)
	}

	d.do("without answered", chromedp.EmulateViewport(1360, 900), chromedp.SendKeys(writing, "And tomorrow?\r"),
		chromedp.WaitVisible("#m5"),
		chromedp.WaitNotPresent(".writing"), chromedp.WaitVisible("#m3.leftout"))
	if got := stored(); !slices.Equal(got, []int64{3}) {
		t.Errorf("stored: %v", got)
	}
	d.press("#m3 .without .link")
	d.do("without taken back", chromedp.WaitNotPresent("#m3.leftout"))
	d.is("where the focus is", `document.activeElement.id`, "m3")
	d.do("without refused again", chromedp.SendKeys(writing, "And on Sunday?\r"),
		chromedp.WaitVisible("#m6 + .unanswered .trouble"))
	if got := stored(); len(got) != 0 {
		t.Errorf("stored after it was taken back: %v", got)
	}
}

// A message before the question that is refused is left out, and the question is answered at once.
func TestPageAnswersWithout(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, refusing("forbidden"))
	id := d.conversation()
	d.rig.Ask(id, "Say the forbidden word.")
	d.rig.Ask(id, "When is high water?")
	d.do("without an earlier one", chromedp.EmulateViewport(390, 844), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible("#m2 + .unanswered .do .strong"))
	d.is("the button", `document.querySelector('#m2 + .unanswered .do .strong').innerText`, "Go on without #1")
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
	axe(t, d.ctx, "refused, on a phone")
	d.press("#m2 + .unanswered .do .strong")
	d.do("without an earlier one answered", chromedp.WaitVisible("#m3"), chromedp.WaitVisible("#m1.leftout"),
		chromedp.WaitNotPresent(".writing"))
	d.is("the answer", `document.querySelector('#m3 .body').innerText`, "High water is at four.")
}
