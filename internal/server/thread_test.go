package server_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// The facts that the gauges' conversation states once, by the number of their message.
var facts = map[int]string{
	5:  "Station 7 moved to the new datum: add +0.184 m from 12 May.",
	41: "Residual at station 7 is 2.4 cm after the correction of the datum.",
	77: "No readings 9–14 July at station 7; leave the hours out, do not fill them.",
	95: "7 号站的基准改过了，改正 +0.184 米。",
}

// compactedTalk returns a desk whose conversation of 240 messages in a window of 8,000 tokens is
// compacted.
func compactedTalk(t *testing.T, o enginetest.Options, steps ...modeltest.Step) (*pageRig, scrollback.ConversationID) {
	t.Helper()
	r := enginetest.New(t, o, steps...)
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	var file strings.Builder
	file.WriteString(`{"conversation":{"title":"Tide gauges · 潮位站"}}` + "\n")
	at := time.UnixMilli(r.Clock.Load()).Add(-200 * 24 * time.Hour)
	for i := 1; i <= 240; i++ {
		at = at.Add(19 * time.Hour)
		role := "user"
		text := fmt.Sprintf("Reading %d of the north mole, please, and how it compares with the forecast of yesterday.", i)
		if i%2 == 0 {
			role = "assistant"
			text = fmt.Sprintf("Reading %d is %d.%02d m, within two centimetres of the forecast. The ferry pier agrees.", i-1,
				i%4, i%100)
		}
		if fact, ok := facts[i]; ok {
			text = fact
		}
		fmt.Fprintf(&file, `{"role":%q,"content":%q,"created_at":%d}`+"\n", role, text, at.UnixMilli())
	}
	out, err := r.ImportText(file.String())
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversations[0].ID
	for _, force := range []bool{false, true} { // what is not due yet, the first one leaves as it is, and says so
		if _, err := r.Compact(t.Context(), id, engine.CompactRequest{Force: force}); err != nil {
			t.Fatal(err)
		}
	}
	ctx := browser(t) // ends first, and with it the streams that it reads
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &pageRig{T: t, ctx: ctx, rig: r, url: srv.URL}, id
}

// lookedUp returns an answer that thinks, looks something up, and refers to what it found.
func lookedUp() []modeltest.Step {
	call := enginetest.Call("look-1", "context_search", `{"query":"station 7 datum correction","limit":5}`)
	return []modeltest.Step{
		{Deltas: []model.Delta{{Reasoning: "The datum of station 7 was moved once; I had better look it up."},
			{Call: &call}}},
		modeltest.Say("Station 7 uses +0.184 m, because its datum was moved on 12 May #5. ",
			"The July gap is not filled #77. You asked in #241."),
	}
}

// presses presses the first element of a selector wherever it is by now.
func (d *pageRig) presses(what, sel string) {
	d.Helper()
	d.do(what, chromedp.WaitReady(sel))
	d.eval(`(document.querySelector(` + fmt.Sprintf("%q", sel) + `).click(), 1)`)
}

// A look-up of the model stands in the conversation with what it searched and found; pointing
// at a find lights its original, and going there lights it up.
func TestPageTrace(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, lookedUp()...)
	d.do("trace asked", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible("#m240"),
		chromedp.SendKeys(writing, "Which correction do we use at station 7 now?\r"), chromedp.WaitVisible("#m244"),
		chromedp.WaitNotPresent(".writing"),
		chromedp.WaitVisible(".trace .hit"))
	d.is("what was looked up", `document.querySelector('.trace .title `+
		`b').innerText`, "Looked up “station 7 datum correction”")
	d.is("its numbers", `document.querySelector('.trace .seqs').innerText`, "#242–#243")
	d.is("the marks", `[...document.querySelectorAll('.trace .hit:has(b)')].flatMap(x => `+
		`[...x.querySelectorAll('mark')].map(m => m.innerText.toLowerCase())).includes('station 7')`, "true")
	d.is("what is shown of it first", `document.querySelectorAll('.trace .hit').length`, "3")
	d.is("the state of the finds", `[...new Set([...document.querySelectorAll('.trace .where')].map(x => `+
		`x.innerText.split(' · ').pop()))].join()`, "compacted")
	d.is("the result as a message of its own", `document.querySelector('#m243').offsetHeight`, "0")

	d.eval(`(document.querySelector('.trace a.hit').focus(), 1)`)
	d.do("trace pointed", chromedp.WaitVisible(".trace .hit.pointed"))
	d.presses("trace followed", ".trace a.hit")
	d.do("trace original", chromedp.WaitVisible("#m41.lit"))
	d.is("the address", `location.hash.split('/')[1]`, "41")
	d.until("trace faded", `!document.querySelector('.msg.lit')`)
	d.do("trace back", chromedp.NavigateBack(), chromedp.WaitVisible("#m244"))
	d.presses("trace folded", ".trace .toggle")
	d.do("trace closed", chromedp.WaitNotPresent(".trace .hit"))
	d.presses("trace unfolded", ".trace .toggle")
	d.do("trace in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.WaitVisible(`html[lang="zh-CN"][data-theme="dark"] .trace .hit`))
	d.is("what was looked up, in Chinese", `document.querySelector('.trace `+
		`.title').textContent`, "查阅了“station 7 datum correction”180 条已压缩消息 · 找到 5 条")
	d.do("trace narrow", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(".trace .hit"))
	d.is("wider than the page", `document.documentElement.scrollWidth > innerWidth || `+
		`document.querySelector('#thread').scrollWidth > document.querySelector('#thread').clientWidth`, "false")
}

// A compaction tells what it cost and what stands for it, and leads to the originals. Undoing
// and redoing say what they come to before they are done; as either can be taken back, what was
// asked for has the focus.
func TestPageReceipt(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, modeltest.Say("Noted."))
	d.do("receipt crease", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)+"/180"),
		chromedp.WaitVisible(".crease .link"))
	d.presses("receipt open", ".crease .link")
	d.do("receipt panel", chromedp.WaitVisible(".receipt.open .trade"), chromedp.WaitVisible(".receipt .kept li"))
	d.is("what was traded", `/180 messages, [\d,]+ → [\d,]+ tokens/.test(document.querySelector('.receipt `+
		`.trade').getAttribute('aria-label'))`, "true")
	d.is("what came to nothing", `document.querySelector('.receipt.nothing').innerText.includes('would not have `+
		`made the request smaller')`, "true")

	d.presses("receipt undo", ".receipt.open > .inside > .acts button")
	d.do("receipt trial", chromedp.WaitVisible(".receipt .trial"))
	d.is("what was asked for has the focus", `document.activeElement.innerText`, "Undo it")
	d.is("what undoing comes to", `/^Next request [\d,]+ → [\d,]+ tokens\./.test(document.querySelector('.trial `+
		`p').innerText)`, "true")
	d.presses("receipt kept", ".trial .acts button:nth-child(2)")
	d.do("receipt as it was", chromedp.WaitNotPresent(".trial"), chromedp.WaitVisible("#m176.compacted"))
	d.presses("receipt undo again", ".receipt.open > .inside > .acts button")
	d.do("receipt trial again", chromedp.WaitVisible(".receipt .trial"))
	d.presses("receipt undo it", ".trial .strong")
	d.do("receipt undone", chromedp.WaitVisible(".receipt.undone"), chromedp.WaitVisible("#m176:not(.compacted)"),
		chromedp.WaitNotPresent(".crease"))

	d.presses("receipt redo", ".receipt.undone > .inside > .acts button")
	d.do("receipt redo trial", chromedp.WaitVisible(".receipt.undone .trial"))
	d.presses("receipt redo done", ".trial .strong")
	d.do("receipt redone", chromedp.WaitVisible("#m176.compacted"), chromedp.WaitVisible(".crease"))

	d.presses("receipt afresh", ".afresh button")
	d.do("receipt confirm", chromedp.WaitVisible(".afresh.trial"))
	d.presses("receipt all", ".afresh .strong")
	d.do("receipt all done", chromedp.WaitVisible("#m240.compacted, #m180.compacted"))
	d.do("receipt dark", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.WaitVisible(`html[lang="zh-CN"][data-theme="dark"] .receipt`))
	d.do("receipt narrow", chromedp.EmulateViewport(390, 844))
	d.is("wider than its panel", `[...document.querySelectorAll('.panel .sections, .receipt')].some(x => `+
		`x.scrollWidth > x.clientWidth + 1)`, "false")
}

// A link to a message that the current version lacks says so, shows it, and leads to the version
// that has it; one to no message says where the conversation ends.
func TestPageAstray(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, modeltest.Say("Another answer."))
	branches, err := d.rig.Branches().List(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	d.do("astray nowhere", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)+"/999"),
		chromedp.WaitVisible(".astray"), chromedp.WaitVisible("#m240"))
	d.is("what it says", `document.querySelector('.astray').innerText`,
		"There is no message #999 here; the conversation ends at #240.")
	d.presses("astray again", `#m240 [aria-label="Answer again"]`)
	d.do("astray answered", chromedp.WaitNotPresent(".writing"), chromedp.WaitVisible("#m240 .versions"),
		chromedp.WaitNotPresent(".astray"))
	first := fmt.Sprintf("%s/#%s/240/%s", d.url, id, branches[0].ID)
	d.do("astray elsewhere", chromedp.Navigate(first), chromedp.Reload(), chromedp.WaitVisible(".astray"),
		chromedp.WaitVisible("#m240"))
	d.is("what it says of a version", `document.querySelector('.astray span').innerText`,
		"#240 is in another version of this conversation.")
	d.is("what is current", `document.querySelector('#m240').innerText.includes('Another answer.')`, "true")
	d.presses("astray read", ".astray .link")
	d.until("the other version's words",
		`[...document.querySelectorAll('dialog, .reader')].some(x => x.innerText.includes('Reading 239 is'))`)
	d.do("astray closed", chromedp.KeyEvent(kb.Escape))
	d.presses("astray shown", ".astray .link ~ .link")
	d.do("astray gone to", chromedp.WaitNotPresent(".astray"), chromedp.WaitVisible("#m240"))
	d.until("it is current now", `document.querySelector('#m240').innerText.includes('Reading 239 is')`)
}

// A turn that failed before a word stands at its place, with what to do.
func TestPageTroubled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	busy := scrollback.Errorf(scrollback.Refused, "test", "acme has too many requests").WithAdvice(scrollback.AdviceWait,
		"")
	busy.Cause = "429 Too Many Requests"
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, modeltest.Step{Err: busy},
		modeltest.Step{Deltas: []model.Delta{{Text: "Ask the workshop for"}}, Err: busy},
		modeltest.Say("Go at low water."))
	d.do("trouble", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible("#m240"),
		chromedp.SendKeys(writing, "List what is to do at the north mole, in order.\r"),
		chromedp.WaitVisible("#m241 + .unanswered .trouble"))
	d.presses("trouble again", ".unanswered .strong")
	d.do("trouble twice", chromedp.WaitVisible("#m242 + .unanswered .trouble"))
	d.do("trouble narrow", chromedp.EmulateViewport(390, 844), chromedp.Reload(),
		chromedp.WaitVisible("#m242 + .unanswered .trouble"))
}

// Keys go from message to message and to a number, and pin; numbers in answers show what they
// name; what a search looked for stays marked until Esc.
func TestPageThreadKeys(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, lookedUp()...)
	d.do("keys asked", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+bySources+"#"+string(id)),
		chromedp.WaitVisible("#m240"),
		chromedp.SendKeys(writing, "Which correction do we use at station 7 now?\r"),
		chromedp.WaitVisible("#m244 a.ref"), chromedp.WaitNotPresent(".writing"))
	d.until("keys colours", `[...document.querySelectorAll('#m244 a.ref')].map(x => `+
		`x.classList.contains('compacted')).join() === 'true,true,false'`)
	d.eval(`(document.querySelector('#m244 a.ref[data-seq="241"]').focus(), 1)`)
	d.do("keys pointed", chromedp.WaitVisible("#m241.pointed"), chromedp.WaitVisible(`a.ref.lit[data-seq="241"]`))
	d.eval(`(document.activeElement.blur(), 1)`)
	d.do("keys not pointed", chromedp.WaitNotPresent(".msg.pointed"))

	key := func(key string) {
		d.eval(`(document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '` + key + `', bubbles: true })), 1)`)
	}
	d.presses("keys at", "#m239")
	key("j")
	d.until("keys next", `document.activeElement.id === 'm240'`)
	key("p")
	d.do("keys pinned", chromedp.WaitVisible("#m240 .gutter .pinned"))
	key("k")
	d.until("keys previous", `document.activeElement.id === 'm239'`)
	key("g")
	d.do("keys number", chromedp.WaitVisible("dialog.goto input"), chromedp.SendKeys("dialog.goto input", "77\r"),
		chromedp.WaitVisible("#m77.lit"))
	d.is("where that is", `location.hash.split('/')[1]`, "77")

	d.eval(`(import('/assets/state/context.js').then(c => { c.manifest.value = { ...c.manifest.value, compacts: ` +
		`{ first_seq: 60, last_seq: 80, messages: 21 } }; }), 1)`)
	d.do("keys cut", chromedp.WaitVisible("#m80 + #cut"))
	d.is("what would be compacted", `document.querySelectorAll('.going').length`, "21")

	d.eval(`(import('/assets/state/marks.js').then(m => { m.marks.value = { conversation: '` + string(id) + `', ` +
		`words: ['station', '7'], seqs: [77] }; }), 1)`)
	d.until("keys marks", `CSS.highlights.has('found') && [...CSS.highlights.get('found')].map(r => `+
		`r.toString()).join() === 'station 7'`)
	key("Escape")
	d.until("keys no marks", `!CSS.highlights.has('found') || CSS.highlights.get('found').size === 0`)
}

// While something is read, nothing moves: neither when others speak nor when there is less room;
// a reply that is being written is read on after a reload, and in another tab.
func TestPageThreadStays(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	gate := make(chan struct{})
	long := modeltest.Step{Gate: gate}
	for i := range 6 {
		long.Deltas = append(long.Deltas, model.Delta{Text: fmt.Sprintf("Step %d of the answer, at some length.\n\n", i+1)})
	}
	d, id := compactedTalk(t, enginetest.Options{NoFolds: true}, long)
	d.do("stays", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)+"/120"),
		chromedp.WaitVisible("#m120"))
	const top = `Math.round(document.querySelector('#m120').getBoundingClientRect().top)`
	d.until("stays still", `!document.querySelector('.msg.lit') && (window.tops = [...(window.tops ?? []), `+top+`].slice(-8)).length === 8 &&
		new Set(window.tops).size === 1`)
	before := d.eval(top)
	d.presses("stays panel", `.head button[aria-label="Receipts"]`)
	d.do("stays with the panel", chromedp.WaitVisible(".receipt"))
	d.presses("stays without", `.panel .top [aria-label^="Close"]`)
	d.until("stays as it was", top+` === `+before)

	d.presses("stays latest", ".tolatest")
	d.do("stays at the end", chromedp.WaitVisible("#m240"), chromedp.SendKeys(writing, "Go on.\r"),
		chromedp.WaitVisible(".writing"))
	gate <- struct{}{}
	gate <- struct{}{}
	d.until("stays writing", `document.querySelector('.writing')?.innerText.includes('Step 2')`)
	d.do("stays reloaded", chromedp.Reload(), chromedp.WaitVisible(".writing"))
	d.until("stays on", `document.querySelector('.writing')?.innerText.includes('Step 2')`)
	close(gate)
	d.do("stays ended", chromedp.WaitVisible("#m242"), chromedp.WaitNotPresent(".writing"))
	d.is("the answer, once", `document.querySelector('.column').innerText.split('Step 1 of the answer').length - `+
		`1`, "1")
}
