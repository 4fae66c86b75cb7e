package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
)

// gauges is a page on a conversation that was compacted so often that its oldest cards were
// rolled up: with a pin, and a text of which only the ends are sent.
type gauges struct {
	*pageRig
	id scrollback.ConversationID
}

func newGauges(t *testing.T) *gauges {
	t.Helper()
	chromium(t)
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 16000}, enginetest.ChattyStep())
	c, _, err := r.Create(t.Context(), scrollback.Conversation{Title: "Tide gauges · 潮位站", Project: "harbour",
		Instructions: "You help the harbour office with its tide gauges. Answer in the language of the question. Give levels in metres."})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(text string) {
		t.Helper()
		r.Clock.Add(3 * 86_400_000)
		r.Ask(c.ID, text)
	}
	for i := range 72 {
		ask(fmt.Sprintf("Station %d: the datum of gauge %d moved by %d mm. Use it in every report. ", i%9, i, i*7%50) +
			strings.Repeat("Readings were taken at the north mole. ", 3))
		if i%6 == 5 {
			if _, err := r.Compact(t.Context(), c.ID, engine.CompactRequest{Force: true}); err != nil {
				t.Fatal(err)
			}
		}
		if i == 8 {
			said := r.Log(c.ID)
			for said[len(said)-1].Role != scrollback.RoleUser {
				said = said[:len(said)-1]
			}
			_, err := r.Patch(t.Context(), c.ID, 0,
				func(c *scrollback.Conversation) error { c.PinnedSeqs = []int64{int64(len(said))}; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var log strings.Builder
	for i := range 900 {
		fmt.Fprintf(&log, "2026-11-22T%02d:%02d:00Z st=07 h=2.%03d ok\n", i/60, i%60, 400+i%90)
	}
	ask("Here is the log of station 7.\n" + log.String())
	for i := range 4 {
		ask(fmt.Sprintf("Which correction do we use at station %d now, and how does the fit treat the gap in July?", i))
	}
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	d := &gauges{&pageRig{T: t, ctx: browser(t), rig: r, url: srv.URL}, c.ID}
	if err := chromedp.Do(d.ctx); err != nil {
		t.Fatal(err)
	}
	return d
}

// open shows the conversation with the model's eyes.
func (d *gauges) open() {
	d.Helper()
	d.do("open", chromedp.EmulateViewport(1360, 1000), chromedp.Navigate(d.url+bySources+"#"+string(d.id)),
		chromedp.WaitVisible(".head .switch"))
	d.wait("the thread", `document.querySelectorAll('[data-seq]').length > 0`)
	d.press(".head .switch button:nth-child(2)")
	d.wait("the request", `document.querySelector('.model .l-compacted .stand')`)
	d.settled()
}

// settled waits until the view has gone where it was to go.
func (d *gauges) settled() {
	d.Helper()
	d.wait("where it was to go", `import('/assets/state/model.js').then((m) => m.aim.value === null)`)
	d.wait("some frames", `new Promise((done) => { let n = 12;
		const next = () => (n-- ? requestAnimationFrame(next) : done(true)); next(); })`)
}

// press presses an element wherever it is.
func (d *gauges) press(sel string) {
	d.Helper()
	d.wait(sel, `document.querySelector(`+fmt.Sprintf("%q", sel)+`)`)
	d.eval(`(document.querySelector(` + fmt.Sprintf("%q", sel) + `).click(), '')`)
}

// wait waits until a script is true on the page.
func (d *gauges) wait(what, script string) {
	d.Helper()
	if _, err := chromedp.Run(d.ctx, chromedp.Poll[bool](`(async () => { try { return Boolean(await (`+script+
		`)); } catch { return false; } })()`,
		chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(40*time.Second))); err != nil {
		d.Fatalf("%s: %v\n%s", what, err, d.eval(`document.body.innerText.slice(0, 1500)`))
	}
}

// request is what is copied of a request.
type request struct {
	Items []struct {
		Kind   string
		Seq    int64
		Draft  bool
		Parts  scrollback.Parts
		Tools  []scrollback.Tool
		Tokens int64
	}
	Tokens int64
	Step   int
}

// copied returns what "Copy as JSON" puts into the clipboard.
func (d *gauges) copied() (out request) {
	d.Helper()
	d.eval(`(navigator.clipboard.writeText = async (text) => { window.copied = text; }, window.copied = '', '')`)
	d.press(".requestbar .copy")
	d.wait("the copy", `window.copied`)
	if err := json.Unmarshal([]byte(d.eval(`window.copied`)), &out); err != nil {
		d.Fatal(err)
	}
	return out
}

// textsOf returns all that parts say, one behind the other.
func textsOf(ps scrollback.Parts) string {
	var b strings.Builder
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			b.WriteString(p.Text)
		case scrollback.ToolCall:
			var args bytes.Buffer
			if err := json.Compact(&args, p.Arguments); err != nil { // as JSON it is copied with an indent
				panic(err)
			}
			b.WriteString(p.ID + p.Name + args.String())
		case scrollback.ToolResult:
			b.WriteString(p.CallID + p.Text)
		case scrollback.File:
			b.WriteString(string(p.Artifact))
		}
	}
	return b.String()
}

// same holds what the page copies against a request that the model got, byte for byte.
func (d *gauges) same(what string, sent model.Request, got request) {
	d.Helper()
	var want, is strings.Builder
	for _, it := range sent.Items {
		want.WriteString(textsOf(it.Parts))
	}
	var tools []scrollback.Tool
	for _, it := range got.Items {
		is.WriteString(textsOf(it.Parts))
		tools = append(tools, it.Tools...)
	}
	if want.String() != is.String() || want.Len() < 1000 {
		at := 0
		for at < min(want.Len(), is.Len()) && want.String()[at] == is.String()[at] {
			at++
		}
		d.Errorf("%s: the page shows %d bytes, the model got %d; they differ from %d on:\n%.200q\n%.200q", what, is.Len(),
			want.Len(), at,
			is.String()[at:], want.String()[at:])
	}
	wantTools, _ := json.Marshal(sent.Tools)
	isTools, _ := json.Marshal(tools)
	if string(wantTools) != string(isTools) {
		d.Errorf("%s: the tools are %s, sent were %s", what, isTools, wantTools)
	}
}

// The request is shown layer by layer in the order it is sent; a card opens to its leaves,
// and these to their messages, in place; what is looked for inside is counted, reached and
// marked; a text that was cut shows its whole.
func TestPageModelSees(t *testing.T) {
	t.Parallel()
	d := newGauges(t)
	d.open()
	d.is("the layers",
		`[...new Set([...document.querySelectorAll('.model .layer')].map(x => x.className.split(' ')[1]))].join(' ')`,
		"l-instructions l-tools l-summary l-compacted l-pins l-messages")
	d.is("the pin", `document.querySelector('.l-pins .at').innerText + ' ' +
		/datum of gauge 8/.test(document.querySelector('.l-pins').innerText)`,
		"#23 true")
	d.is("what a card is", `/compactions rolled up/.test(document.querySelector('.stand').innerText)`, "true")
	d.press(".stand .face")
	d.wait("its leaves", `document.querySelectorAll('.stand .leaf').length > 4`)
	d.is("what the model reads of it",
		`/^Messages #1–#\d+ .* history:/.test(document.querySelector('.stand .reads .raw').innerText)`, "true")
	d.press(".stand .leaf:nth-child(2) .opens")
	d.wait("originals", `document.querySelectorAll('.leaf:nth-child(2) .orig').length > 3`)
	d.is("the first", `document.querySelector('.leaf:nth-child(2) .orig').dataset.seq ===
		document.querySelector('.leaf:nth-child(2)').dataset.seq`,
		"true")
	d.press(".stand .leaf:nth-child(2) .opens")
	d.wait("closed", `!document.querySelector('.orig')`)

	d.do("look inside", chromedp.SendKeys(".finds input", `datum of gauge \d*7 `))
	d.wait("what was found", `document.querySelectorAll('.leaf .lines').length > 2`)
	d.is("in words", `document.querySelector('.finds [role=status]').innerText`, "3 lines in 3 of 5")
	d.do("the first match", chromedp.SendKeys(".finds input", "\r"))
	d.wait("it is marked", `/^datum of gauge 7 $/.test(document.querySelector('.orig.lit mark')?.innerText)`)
	d.press(`.finds [aria-label="Next match"]`)
	d.wait("the second", `/^datum of gauge 17 $/.test(document.querySelector('.orig.lit mark')?.innerText)`)
	d.wait("in view", `(() => { const [a, b] = [document.querySelector('.orig.lit'), document.querySelector('.model')].map(x => x.getBoundingClientRect());
		return a.top >= b.top && a.bottom <= b.bottom })()`)
	d.is("where", `document.querySelector('.finds .steps').innerText.trim()`, "2 of 3")
	n := d.eval(`document.querySelector('.leaf:has(.orig.lit)').querySelectorAll('.orig').length`)
	d.press(".leaf:has(.orig.lit) .further .link")
	d.wait("more above", `document.querySelector('.leaf:has(.orig.lit)').querySelectorAll('.orig').length > `+n)
	d.picture("model originals")
	d.do("a pattern that is none", chromedp.SendKeys(".finds input", "((("))
	d.wait("it says so", `/missing|parenthes|pattern/i.test(document.querySelector('.finds .bad')?.innerText)`)

	d.wait("the cut", `document.querySelector('.seam.dashed')`)
	d.is("in words", `/ KB not sent · the model can read it/.test(document.querySelector('.seam').textContent)`, "true")
	d.press(".seam .link")
	d.wait("the whole", `document.querySelector('.raw.whole')?.textContent.includes('2026-11-22T07:30:00Z st=07')`)
	d.picture("model whole")
	d.press(".seam .link:last-child")
	d.wait("cut again", `document.querySelector('.seam.dashed')`)

	d.is("runs", `document.querySelectorAll('.runs').length > 0`, "true")
	d.is("nothing from elsewhere",
		`performance.getEntriesByType("resource").filter(r => !r.name.startsWith(location.origin)).length`, "0")
}

// J and K go from stop to stop, O opens what has the focus, P pins it.
func TestPageModelKeys(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newGauges(t)
	d.open()
	d.eval(`(document.querySelector('.model').scrollTop = 0, document.activeElement.blur(), '')`)
	for range 5 {
		d.do("J", chromedp.KeyEvent("j"))
	}
	d.do("K", chromedp.KeyEvent("k"), chromedp.KeyEvent("j"))
	d.is("the card has the focus", `document.activeElement.className`, "face")
	d.do("O", chromedp.KeyEvent("o"))
	d.wait("open", `document.querySelectorAll('.stand .leaf').length > 4`)
	d.do("O again", chromedp.KeyEvent("o"))
	d.wait("closed", `!document.querySelector('.stand .leaf')`)
	d.eval(`([...document.querySelectorAll('.single[data-seq]')].findLast(x => /^You/.test(x.querySelector('.says').innerText)).focus(), '')`)
	seq := d.eval(`document.activeElement.dataset.seq`)
	d.do("P", chromedp.KeyEvent("p"))
	d.wait("pinned", `fetch('/api/conversations/`+string(d.id)+`').then(r => r.json()).then(c => c.pinned_seqs.includes(`+
		seq+`))`)
}

// calm says that the page shows what was asked for, and waits for nothing.
const calm = `document.querySelector('.model[aria-busy="false"]')`

// What the page shows is the request, byte for byte: the next one with the draft as it is
// typed, and what a past turn sent, at each of its steps.
func TestPageModelIsTheRequest(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newGauges(t)
	d.open()
	const draft = "Also write this up: 一页，用中文。"
	d.do("type", chromedp.SendKeys(".composer textarea", draft))
	d.wait("the draft", `document.querySelector('.l-draft .raw')?.innerText === `+fmt.Sprintf("%q", draft))
	d.wait("it is counted", `!/^0?$/.test(document.querySelector('.l-draft .weight [aria-hidden]').innerText)`)
	before := len(d.rig.Script.Requests())
	shown := d.copied()
	for range 200 { // what is laid out follows what is typed
		if textsOf(shown.Items[len(shown.Items)-1].Parts) == draft {
			break
		}
		shown = d.copied()
	}
	if last := shown.Items[len(shown.Items)-1]; !last.Draft || last.Seq != 0 || textsOf(last.Parts) != draft {
		t.Errorf("the request ends with %+v", last)
	}
	d.picture("model draft")
	d.same("the next request", func() model.Request {
		d.rig.Ask(d.id, draft) // what the page would send, and here it has ended
		return d.rig.Script.Requests()[before]
	}(), shown)

	// The turns before it, from the menu, once the page knows of the newest.
	d.wait("the newest turn",
		fmt.Sprintf(`import('/assets/state/model.js').then((m) => m.turns.value[0].parts[0].text === %q)`, draft))
	requests := d.rig.Script.Requests()
	for back := 1; back <= 3; back++ {
		d.press(".requestbar .which")
		item := fmt.Sprintf(`.menu [role="menuitemradio"]:nth-of-type(%d)`, back+1)
		d.wait("the menu", fmt.Sprintf(`document.querySelector(%q)`, item))
		seq := d.eval(fmt.Sprintf(`document.querySelector(%q + ' b').innerText`, item))
		d.press(item)
		d.wait("a past turn", `document.querySelector('.which').innerText === 'What it saw for `+seq+`' && `+calm)
		steps := 1
		if d.eval(`Boolean(document.querySelector('.requestbar .switch'))`) == "true" {
			steps = 2
		}
		for step := steps; step > 0; step-- {
			if steps > 1 {
				d.press(fmt.Sprintf(".requestbar .switch button:nth-child(%d)", step))
				d.wait("the step",
					fmt.Sprintf(`document.querySelector('.requestbar .switch button:nth-child(%d)').ariaChecked === 'true' && `,
						step)+calm)
			}
			d.same(fmt.Sprintf("turn %d back, step %d", back, step), requests[len(requests)-1], d.copied())
			requests = requests[:len(requests)-1]
		}
	}
	d.picture("model past")
	d.eval(`(import('/assets/state/model.js').then((m) => m.chooseTurn('01a20182-0000-7000-8000-000000000000')), '')`)
	d.wait("a turn that is not there", `/cannot be shown/.test(document.querySelector('.sorry')?.innerText)`)
	d.press(".sorry .plain:last-child")
	d.wait("the next request",
		`document.querySelector('.which').innerText === 'Next request' && document.querySelector('.l-compacted')`)
}

// The first message in view stays where it is when the eyes change, there and back; also one
// that was compacted.
func TestPageModelKeepsThePlace(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newGauges(t)
	d.do("open", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+bySources+"#"+string(d.id)+"/100"),
		chromedp.WaitVisible("#m100"))
	const at = `Math.round(document.querySelector('.scroll [data-seq="%d"]:not(.stand):not(.leaf)')?.getBoundingClientRect().top)`
	for _, seq := range []int{100, 222} {
		d.eval(fmt.Sprintf(`(location.hash = '#%s/%d', '')`, d.id, seq))
		d.wait("the message", fmt.Sprintf(`document.querySelector('#m%d')`, seq))
		first := fmt.Sprintf(`(document.querySelector('.scroll').scrollTop += document.querySelector('#m%d').getBoundingClientRect().top - `+
			`document.querySelector('.scroll').getBoundingClientRect().top - 60, '')`, seq)
		d.eval(first)
		was := d.eval(fmt.Sprintf(at, seq))
		d.press(".head .switch button:nth-child(2)")
		d.wait("the model's eyes", fmt.Sprintf(`Math.abs(`+at+` - %s) < 3`, seq, was))
		d.press(".head .switch button:nth-child(1)")
		d.wait("and yours again", fmt.Sprintf(`document.querySelector('#m%d') && Math.abs(`+at+` - %s) < 3`, seq, seq, was))
	}
	// What the model saw for an answer stands elsewhere; the way back leads to where one was.
	d.eval(fmt.Sprintf(`(location.hash = '#%s', '')`, d.id))
	d.wait("the last answer", `document.querySelector('.msg.last .saw')`)
	const end = `Math.round(document.querySelector('.msg.assistant:last-of-type .body')?.getBoundingClientRect().top)`
	d.settled()
	was := d.eval(end)
	d.press(".msg.last .saw")
	d.wait("what it saw", `document.querySelector('.model .single')`)
	d.press(".head .switch button:nth-child(1)")
	d.wait("the last answer again", `Math.abs(`+end+` - `+was+`) < 3`)
}

// A window of a thousand messages is drawn in a few lines, and opens page by page.
func TestPageModelLong(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	chromium(t)
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 2_000_000}, enginetest.ChattyStep())
	id := r.NewConversation()
	r.ImportMany(id, 1000)
	r.Ask(id, "and now?")
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	d := &gauges{&pageRig{T: t, ctx: browser(t), rig: r, url: srv.URL}, id}
	if err := chromedp.Do(d.ctx); err != nil {
		t.Fatal(err)
	}
	d.do("open", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+bySources+"#"+string(id)),
		chromedp.WaitVisible("#m1001"))
	d.press(".head .switch button:nth-child(2)")
	d.wait("a run", `/^9\d\d messages|^1,000 messages/.test(document.querySelector('.runs')?.innerText)`)
	few := func(most int) {
		t.Helper()
		d.is("few are drawn", fmt.Sprintf(`document.querySelectorAll('.model .single').length < %d`, most), "true")
	}
	few(80)
	if d.eval(`document.querySelector('.runs').ariaExpanded`) == "false" {
		d.press(".runs")
	}
	d.wait("some of it", `document.querySelectorAll('.model .single').length > 49`)
	few(80)
	d.press(".run .further .link")
	d.wait("more of it", `document.querySelectorAll('.model .single').length > 99`)
	few(130)
}

// The view in every light, for eyes.
func TestPageModelPictures(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	if *pictures == "" {
		t.Skip("no pictures are wanted")
	}
	d := newGauges(t)
	d.open()
	d.eval(`(document.querySelector('.model').scrollTop = 0, '')`)
	d.press(".stand .face")
	d.wait("leaves", `document.querySelectorAll('.stand .leaf').length > 1`)
	d.do("grep", chromedp.SendKeys(".finds input", `datum of gauge \d*7`))
	d.wait("lines", `document.querySelectorAll('.leaf .lines').length > 1`)
	d.do("next", chromedp.SendKeys(".finds input", "\r"))
	d.wait("a match", `document.querySelector('.orig mark')`)
	scroll := func(to int) { d.eval(fmt.Sprintf(`(document.querySelector('.model').scrollTop = %d, '')`, to)) }
	look := func(name string) {
		scroll(0)
		d.picture(name + " top")
		scroll(900)
		d.picture(name + " middle")
		scroll(100_000)
		d.picture(name + " end")
	}
	look("model light")
	d.press(".requestbar .which")
	d.wait("the menu", `document.querySelector('.menu')`)
	d.picture("model menu")
	d.press(`.menu [role="menuitemradio"]:nth-of-type(2)`)
	d.wait("a past turn", `/saw for/.test(document.querySelector('.which').innerText) && `+calm)
	d.eval(`(document.querySelector('.requestbar .switch button')?.click(), '')`)
	d.wait("calm", calm)
	d.picture("model past")
	d.press(".requestbar .which")
	d.press(`.menu [role="menuitemradio"]:nth-of-type(1)`)
	d.wait("the next", calm)
	d.eval(`(document.documentElement.dataset.theme = 'dark', '')`)
	look("model dark")
	d.eval(`(document.documentElement.dataset.theme = 'light', localStorage.setItem('scrollback.lang', 'zh'), '')`)
	d.do("zh", chromedp.Reload(), chromedp.WaitVisible(".head .switch"))
	d.wait("the thread", `document.querySelectorAll('[data-seq]').length > 0`)
	d.press(".head .switch button:nth-child(2)")
	d.wait("the request", `document.querySelector('.model .stand')`)
	d.press(".stand .face")
	d.wait("leaves", `document.querySelectorAll('.stand .leaf').length > 1`)
	look("model zh")
	d.eval(`(localStorage.setItem('scrollback.lang', 'en'), '')`)
	d.do("phone", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(".head .switch"))
	d.wait("the thread", `document.querySelectorAll('[data-seq]').length > 0`)
	d.press(".head .switch button:nth-child(2)")
	d.wait("the request", `document.querySelector('.model .stand')`)
	d.press(".stand .face")
	d.wait("leaves", `document.querySelectorAll('.stand .leaf').length > 1`)
	d.eval(`(document.querySelector('.finds input').value = 'gauge .*7 moved', ` +
		`document.querySelector('.finds input').dispatchEvent(new Event('input')), '')`)
	d.wait("lines", `document.querySelectorAll('.leaf .lines').length > 1`)
	d.press(`.finds [aria-label="Next match"]`)
	d.wait("a match", `document.querySelector('.orig mark')`)
	look("model phone")
}
