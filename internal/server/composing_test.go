package server_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// longDesk returns a page on a conversation of 600 messages in a window of 8,000 tokens.
func longDesk(t *testing.T) (*pageRig, scrollback.ConversationID) {
	t.Helper()
	url, id, _ := longTalk(t)
	d := &pageRig{T: t, ctx: browser(t), url: url}
	return d, id
}

// typing sets the text of the composer as typing does.
func typing(text string) string {
	return fmt.Sprintf(`(() => { const x = document.querySelector('.box textarea');
		Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(x, %q);
		x.dispatchEvent(new InputEvent('input', { bubbles: true })); return 1; })()`, text)
}

const (
	sumTotal   = `document.querySelector('.sums b').innerText`
	sumLeft    = `document.querySelector('.sums .left').innerText`
	drafted    = `document.querySelector('.box textarea').value`
	pressEnter = `document.querySelector('.box textarea').dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ` +
		`cancelable: true, key: 'Enter' }))`
)

// The figures of the next request follow what is typed, say what sending it compacts, and
// what sending then does is that; a request over its budget says so in words.
func TestPageNext(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id := longDesk(t)
	d.do("next open", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(d.url+bySources+"#"+string(id)),
		chromedp.WaitVisible(".gauge .seg.messages"))
	bottom := `Math.round(document.querySelector('.desk').getBoundingClientRect().bottom)`
	was := d.eval(sumTotal)
	at := d.eval(bottom)
	d.eval(typing("When was the gate opened? " + strings.Repeat("Look at every station. ", 20)))
	d.do("next typed", chromedp.WaitVisible(".gauge .seg.draft"), chromedp.WaitVisible(".weight"))
	if now := d.eval(sumTotal); now == was {
		t.Errorf("the total is %s with and without a draft", now)
	}
	paste := func(n int) {
		t.Helper()
		for range n {
			d.eval(pasting(strings.Repeat("Look at every station of the harbour. ", 120)))
		}
	}
	d.eval(typing(""))
	paste(4)
	d.do("next over", chromedp.WaitVisible(".foreseen"),
		until(`document.querySelectorAll('.attached .slip').length === 4 && `+
			`document.querySelector('.sums .left.over') !== null && document.querySelector('.gauge .overflow') !== null`))
	if got := d.eval(sumLeft); !strings.HasSuffix(got, " over") {
		t.Errorf("over the budget it says %q", got)
	}
	d.is("the bottom over the budget", bottom, at)
	d.is("the legend over the budget", `document.querySelector('.budget .tally').innerText.includes('Over')`, "true")
	d.eval(`document.querySelector('.attached .slip:last-of-type .ghost, .attached li:nth-last-child(2) .ghost').click()`)
	d.do("next compacts",
		until(`document.querySelector('.sums .left.over') === null && document.querySelectorAll('.attached `+
			`.slip').length === 3`),
		chromedp.WaitVisible(".foreseen"))
	d.eval(`document.querySelector('.budget').dispatchEvent(new PointerEvent('pointerenter'))`)
	d.do("next legend", chromedp.WaitVisible(".floats .tally"))
	d.eval(`document.querySelector('.budget').dispatchEvent(new PointerEvent('pointerleave'))`)
	d.is("the bottom of the composer", bottom, at)
	foreseen := d.eval(`document.querySelector('.foreseen').innerText.replaceAll('\n', ' ')`)
	if !strings.Contains(foreseen, "Sending compacts #") || !strings.Contains(foreseen, "The originals stay.") {
		t.Errorf("before sending it says %q", foreseen)
	}
	ranged, _, _ := strings.Cut(strings.TrimPrefix(foreseen, "Sending compacts "), ". ")
	d.eval(pressEnter)
	d.do("next sent", until(`[...document.querySelectorAll('.crease')].some(x => x.innerText.includes(`+"`"+ranged+"`"+
		`))`),
		chromedp.WaitVisible("#m602"),
		chromedp.WaitNotPresent(".writing"))
	d.eval(typing("Also write this up for the harbour office: one page, in Chinese, with the table."))
	model := chromedp.Click(`.switch [role="radio"]:nth-child(2)`)
	d.do("next model view", model, chromedp.WaitVisible(".composer.small .budget .tally"),
		chromedp.WaitVisible(".gauge .seg.draft"))
	d.is("what stays of the composer", `getComputedStyle(document.querySelector('.composer div.tools')).display + `+
		`document.querySelector('.desk').getBoundingClientRect().bottom.toFixed(0)`, "none"+at)
	d.is("the colour of the tools in the bar and in its legend", `[".seg.tools", ".swatch.tools"].map(x => `+
		`document.querySelector(".composer " + x)?.getBoundingClientRect().width > 0).join()`, "true,true")
	wide := `document.documentElement.scrollWidth > innerWidth || [...document.querySelectorAll('.composer *')].some(x => ` +
		`x.getBoundingClientRect().right > innerWidth)`
	d.eval(`Promise.all([import('/assets/state/theme.js').then(m => { m.theme.value = 'dark'; }), ` +
		`import('/assets/state/words.js').then(m => m.setLang('zh')), ` +
		`import('/assets/state/sees.js').then(m => m.look('you')), import('/assets/state/panels.js').then(m => m.toggleSidebar(false))])`)
	d.do("next dark Chinese", chromedp.WaitVisible(`html[lang="zh-CN"][data-theme="dark"] .composer div.tools`))
	d.do("next phone", chromedp.EmulateViewport(390, 844), until(`innerWidth === 390`))
	d.is("wider than a phone", wide, "false")
	d.eval(`import('/assets/state/sees.js').then(m => m.look('model'))`)
	d.do("next phone model view", chromedp.WaitVisible(".composer.small"), chromedp.WaitNotVisible(".box"))
	d.is("wider than a phone in the model's view", wide, "false")
}

// pasting pastes a text into the composer.
func pasting(text string) string {
	return fmt.Sprintf(`(() => { const t = new DataTransfer(); t.setData('text/plain', %q);
		document.querySelector('.box textarea').dispatchEvent(`+pasted+`); return 1; })()`, text)
}

// scripted returns a desk on a server that can be taken away, with a conversation; the script's
// steps may wait at a gate.
func scripted(t *testing.T, steps ...modeltest.Step) (*pageRig, scrollback.ConversationID, func(up bool)) {
	t.Helper()
	r := enginetest.New(t, enginetest.Options{}, steps...)
	ctx := browser(t)
	handler := server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)},
		true)
	srv := httptest.NewServer(handler)
	at := srv.Listener.Addr().String()
	t.Cleanup(func() { srv.Close() })
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1360, 850)); err != nil {
		t.Fatal(err)
	}
	line := func(up bool) {
		t.Helper()
		if !up {
			srv.CloseClientConnections()
			srv.Close()
			return
		}
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		srv = &httptest.Server{Listener: l, Config: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}}
		srv.Start()
	}
	return &pageRig{T: t, ctx: ctx, rig: r, url: "http://" + at}, r.NewConversation(), line
}

const queued = `[...document.querySelectorAll('.waiting li p')].map(x => x.innerText.trim()).join('|')`

// While an answer comes Enter lets a message wait, which an input method's Enter does not;
// it is edited, taken out, and sent when the answer ends. Stop keeps it.
func TestPageQueues(t *testing.T) {
	t.Parallel()
	first := make(chan struct{})
	second := make(chan struct{})
	gated := func(gate chan struct{}, text string) modeltest.Step {
		s := modeltest.Say(text)
		s.Gate = gate
		return s
	}
	d, id, _ := scripted(t, gated(first, "The first answer."), gated(second, "The second answer."),
		modeltest.Say("The third answer."))
	send := func(text string) {
		t.Helper()
		d.eval(typing(text))
		d.eval(pressEnter)
	}
	d.do("queue open", chromedp.Navigate(d.url+"/#"+string(id)), chromedp.WaitVisible(".gauge"))
	d.eval(typing("你好"))
	for _, event := range []string{`isComposing: true`, `keyCode: 229`} {
		d.eval(`document.querySelector('.box textarea').dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ` +
			`cancelable: true, key: 'Enter', ` + event + ` }))`)
	}
	d.is("what an input method wrote", drafted+` + document.querySelectorAll('.msg').length`, "你好0")
	send("Begin.")
	d.do("queue running", chromedp.WaitVisible("#m1"), chromedp.WaitVisible(".composer .stop"))
	send("And then?")
	send("And at the end?")
	d.do("queue two", until(`document.querySelectorAll('.waiting li').length === 2`))
	d.is("what waits", queued, "Next, when this answer ends: And then?|Next, when this answer ends: And at the end?")
	d.do("queue edited", chromedp.Click(`.waiting li:nth-child(2) [aria-label="Edit it"]`),
		until(`document.querySelectorAll('.waiting li').length === 1`))
	d.is("what is edited", drafted, "And at the end?")
	close(first)
	d.do("queue sent", chromedp.WaitVisible("#m3"),
		until(`document.querySelector('#m3').innerText.includes('And then?') && document.querySelectorAll('.waiting li').length === 0`))
	d.is("the draft stays", drafted, "And at the end?")
	d.eval(pressEnter)
	d.do("queue reloaded", until(`document.querySelectorAll('.waiting li').length === 1`), chromedp.Reload(),
		chromedp.WaitVisible(".waiting li"),
		chromedp.WaitVisible(".composer .stop:not(:disabled)"), chromedp.KeyEvent(kb.Escape),
		chromedp.WaitVisible(".waiting .held"))
	d.is("after Stop", queued, "Not sent yet: And at the end?")
	d.do("queue by hand", chromedp.Click(".waiting .held .link"),
		until(`[...document.querySelectorAll('.msg.assistant')].pop().innerText.includes('The third answer.')`))
	d.is("nothing waits", `document.querySelectorAll('.waiting li').length`, "0")
}

// A draft, what is attached to it and what a conversation begins with live through a reload,
// each where it was written.
func TestPageKeepsDrafts(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id, _ := scripted(t, modeltest.Say("Fine."))
	d.do("draft open", chromedp.Navigate(d.url), chromedp.WaitVisible(".instruct"), chromedp.Click(".instruct"),
		chromedp.WaitVisible(".instructing textarea"),
		chromedp.SendKeys(".instructing textarea", "Answer in one word."))
	d.eval(typing("a new one"))
	d.do("draft new", chromedp.Reload(),
		until(drafted+` === 'a new one' && document.querySelector('.instructing textarea').value === 'Answer in one word.'`))
	d.do("draft other", chromedp.Navigate(d.url+"/#"+string(id)), chromedp.WaitVisible(".gauge"))
	d.is("in another conversation", drafted, "")
	d.eval(typing("half a thought"))
	d.eval(pasting(strings.Repeat("a long log ", 500)))
	d.do("draft kept", chromedp.WaitVisible(".attached .slip"), chromedp.Reload(), chromedp.WaitVisible(".attached .slip"))
	d.is("after a reload", drafted+` + '|' + document.querySelector('.attached b').innerText`,
		"half a thought|Pasted text")
	d.do("draft inline", chromedp.Click(".attached .why .link"), chromedp.WaitNotPresent(".attached"))
	d.is("put inline", drafted+`.length`, fmt.Sprint(len("half a thought\n\n")+len(strings.Repeat("a long log ", 500))))
	d.do("draft begun", chromedp.Navigate(d.url+"/#"), chromedp.WaitVisible(".instructing"),
		until(drafted+` === 'a new one'`))
	d.eval(pressEnter)
	d.do("draft sent", chromedp.WaitVisible("#m2"), until(`location.hash.length > 30`),
		chromedp.WaitNotPresent(".instructing"))
	made := d.eval(`location.hash.slice(1)`)
	c, err := d.rig.Get(t.Context(), scrollback.ConversationID(made))
	if err != nil || c.Instructions != "Answer in one word." {
		t.Errorf("it begins with %q, %v", c.Instructions, err)
	}
}

// Without a server what is written stays and says so at its place; with the server back it is
// sent, without a reload.
func TestPageOffline(t *testing.T) {
	t.Parallel()
	d, id, line := scripted(t, modeltest.Say("Here again."))
	d.do("line open", chromedp.Navigate(d.url+"/#"+string(id)), chromedp.WaitVisible(".gauge"))
	line(false)
	d.do("line down", chromedp.WaitVisible(".unsent"))
	d.is("without a server", `document.querySelector('.unsent').innerText.trim()`,
		"The server is not responding. What you write is kept here.")
	d.eval(typing("Are you there?"))
	d.eval(pressEnter)
	d.do("line unsent", chromedp.WaitVisible(".unsent[role=alert]"))
	d.is("what was not sent", drafted, "Are you there?")
	line(true)
	d.eval(`(document.querySelector('.unsent .link')?.click(), 1)`) // unless the page was first
	d.do("line back", chromedp.WaitVisible("#m2"), chromedp.WaitNotPresent(".unsent"), chromedp.WaitNotPresent(".banner"))
	d.is("what was sent", `['#m1', '#m2'].map(x => document.querySelector(x + ' .body').innerText.trim()).join('')`,
		"Are you there?Here again.")
}

// Where another tab was first, a message waits for the answer there.
func TestPageConflict(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	held := modeltest.Say("The other's answer.")
	held.Gate = gate
	d, id, _ := scripted(t, held, modeltest.Say("Yours."))
	d.do("conflict open", chromedp.Navigate(d.url+"/#"+string(id)), chromedp.WaitVisible(".gauge"))
	// What this tab sends leaves it when the other's turn has begun, of which it cannot know before.
	other := `(() => { const send = window.fetch; const begun = send('/api/conversations/` + string(id) + `/chat', ` +
		`{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"message":"from elsewhere"}' }); ` +
		`window.fetch = async (...sent) => { await begun; return send(...sent); }; })(), `
	d.eval(typing("mine"))
	d.eval(`(` + other + pressEnter + `)`)
	d.do("conflict waits", chromedp.WaitVisible(".waiting li, #m1"))
	close(gate)
	d.do("conflict over", until(`document.querySelectorAll('.msg.user').length === 2 && `+
		`[...document.querySelectorAll('.msg.assistant')].length === 2`))
	d.is("both are asked", `[...document.querySelectorAll('.msg.user .body')].map(x => `+
		`x.innerText.trim()).sort().join()`, "from elsewhere,mine")
	d.is("and nothing waits",
		`document.querySelectorAll('.waiting li').length + (document.querySelector('.unsent') ? 'unsent' `+
			`: '')`, "0")
}

// The model is chosen by keys: found by its name, with windows and prices, taken with Enter.
func TestPagePicksModel(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id, _ := scripted(t, modeltest.Say("Fine."))
	d.do("model open", chromedp.Navigate(d.url+bySources+"#"+string(id)), chromedp.WaitVisible(".pill.model"))
	d.eval(`import('/assets/state/models.js').then((m) => { m.models.value = [...m.models.value,
		{ name: 'openai/large', provider: 'openai', limit: 200000,
			price: { input: 3, output: 15, currency: 'USD' }, efforts: ['low', 'high'] },
		{ name: 'openai/small', provider: 'openai', limit: 128000, price: { input: 0.3, output: 1.2, currency: 'USD' }, efforts: [] },
		{ name: 'offline', offline: true, here: true, limit: 8192, efforts: [] }]; })`)
	d.do("model list", chromedp.Click(".pill.model"), chromedp.WaitVisible(".picker li:nth-child(4)"))
	d.is("the list",
		`[...document.querySelectorAll('.picker li')].map(x => x.innerText.replace(/\s+/g, ' ').trim()).join('|')`,
		"script 8k|large openai 200k $3 in · $15 out|small openai 128k $0.30 in · $1.20 out|offline built in 8k no cost")
	d.is("the one in use", `document.querySelector('.picker [aria-checked="true"] b').innerText`, "script")
	d.do("model found", chromedp.SendKeys(".picker input", "openai"),
		until(`document.querySelectorAll('.picker li').length === 2`),
		chromedp.KeyEvent(kb.ArrowDown),
		until(`document.querySelector('.picker [aria-selected="true"] b').innerText === 'small'`))
	d.is("for a screen reader", `document.getElementById(document.activeElement`+
		`.getAttribute('aria-activedescendant')).innerText.includes('small')`, "true")
	d.do("model left", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".picker"))
	d.is("the focus", `document.activeElement.classList.contains('model')`, "true")
}
