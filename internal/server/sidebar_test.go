package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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
	{strings.Repeat("A very long title that goes on ", 12), "a project with quite a long name of its own", 40 * day, 2,
		false},
	{"Letter to the pilots’ association", "office", day, 12, false},
	{"Go: a store that survives power loss", "lab", day, 96, false},
	{"发票核对：第三季度", "office", 2 * time.Minute, 6, false},
	{"Berth plan for the winter", "harbour", time.Minute, 8, false},
	{"Tide gauges · 潮位站", "harbour", 90 * day, 34, true},
}

// newShelf returns a page with these conversations in its list, all dated from the real time.
func newShelf(t *testing.T, some []onShelf, steps ...modeltest.Step) *pageRig {
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
			said = append(said, scrollback.Message{Role: role,
				Parts: scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("Reading %d of the gauge", i)}}})
		}
		c := scrollback.Conversation{Title: one.title, Project: one.project,
			Settings: scrollback.Settings{Pinned: one.pinned}}
		if _, _, err := r.Create(t.Context(), c, said...); err != nil {
			t.Fatal(err)
		}
	}
	clock.Store(now)
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys,
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	d := &pageRig{T: t, ctx: browser(t), rig: r, url: srv.URL}
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 900)); err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	titles = `[...document.querySelectorAll('.rows .row .title')].map(x => x.innerText).join('|')`
	groups = `[...document.querySelectorAll('.rows .group')].map(x => x.innerText.trim()).join('|')`
)

func rowOf(title string) string { return `.rows a[title="` + title + `"]` }

// The list as a person finds it: grouped, pinned first, in two languages, light and dark, wide
// and narrow, and whatever titles say is only text.
func TestSidebarLooks(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf, modeltest.Say("fine"))
	d.do("sidebar", chromedp.Navigate(d.url), chromedp.WaitVisible(rowOf("Berth plan for the winter")))
	if got := d.eval(groups); !strings.HasPrefix(got, "Pinned|Today|Yesterday|Last 7 days|Last 30 days|") {
		t.Errorf("the groups are %q", got)
	}
	d.is("the pinned one comes first", titles+`.split('|')[0]`, "Tide gauges · 潮位站")
	d.is("what a title did", `String(window.hurt) + document.querySelectorAll('.rows img, .rows b').length`, "undefined0")
	d.is("wider than the sidebar",
		`[...document.querySelectorAll('.rows a')].some(a => a.getBoundingClientRect().right > 256)`, "false")
	d.do("sidebar open", chromedp.Click(rowOf("Tide gauges · 潮位站")), chromedp.WaitVisible("#m34"))
	d.press(`.head [aria-label="More"]`)
	d.do("header menu", chromedp.WaitVisible(".head .menu"))
	d.do("dark", chromedp.KeyEvent(kb.Escape), chromedp.Click(`.sidebar [title^="Theme"]`),
		chromedp.Click(`.sidebar [title^="Theme"]`),
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

// pressItem opens a menu and takes the item with a text.
func (d *pageRig) pressItem(menu, item string) {
	d.Helper()
	d.press(menu)
	find := `[...document.querySelectorAll('.menu [role^="menuitem"]')].find(x => x.innerText.startsWith("` + item + `"))`
	d.until(item, find+" !== undefined")
	d.eval("(" + find + ".click(), 1)")
}

// typed puts a text into a field, as somebody who types does.
func (d *pageRig) typed(sel, text string) {
	d.Helper()
	d.eval("(() => { const x = document.querySelector(`" + sel + "`); x.focus(); x.value = `" + text +
		"`; x.dispatchEvent(new InputEvent('input', { bubbles: true })); return 1; })()")
}

// A conversation is renamed, pinned, moved, copied and put in the trash from its row, and what
// is done shows in another browser's list.
func TestSidebarActs(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf, modeltest.Say("fine"))
	menu := func(title string) string { return `.row:has(a[title="` + title + `"]) > .more` }
	const berth, letter = "Berth plan for the winter", "Letter to the pilots’ association"
	d.do("list", chromedp.Navigate(d.url+bySources), chromedp.WaitVisible(rowOf(berth)))

	d.pressItem(menu(berth), "Rename")
	d.do("renaming", chromedp.WaitVisible(".row .rename"), chromedp.SendKeys(".row .rename", "Berths · 泊位"+kb.Enter),
		chromedp.WaitVisible(rowOf("Berths · 泊位")))
	d.pressItem(menu("Berths · 泊位"), "Pin")
	d.until("two are pinned", titles+`.split('|').slice(0, 2).includes('Berths · 泊位') && `+groups+`.startsWith('Pinned|')`)
	d.do("pinned", chromedp.Reload(), chromedp.WaitVisible(rowOf("Berths · 泊位")))
	pinned, _, err := d.rig.List(t.Context(), scrollback.ListQuery{Pinned: true})
	if err != nil || len(pinned) != 2 {
		t.Fatalf("pinned are %v, %v", pinned, err)
	}
	// Somebody else unpins it.
	id := pinned[0].ID
	if pinned[0].Title != "Berths · 泊位" {
		id = pinned[1].ID
	}
	if _, err := d.rig.Patch(t.Context(), id, 0,
		func(c *scrollback.Conversation) error { c.Settings.Pinned = false; return nil }); err != nil {
		t.Fatal(err)
	}
	d.until("unpinned elsewhere", titles+`.split('|')[1] === 'Berths · 泊位' && `+groups+
		`.startsWith('Pinned|Today') && document.querySelectorAll('.group:nth-child(3)').length === 1`)

	d.pressItem(menu(letter), "Move")
	d.do("moving", chromedp.WaitVisible(".choices button"),
		chromedp.SendKeys(".ask-sheet .oneline input", "archive 2026\r"),
		chromedp.WaitNotPresent(".ask-sheet"))
	d.until("moved", `document.querySelector('`+rowOf(letter)+` .project').innerText === 'archive 2026'`)
	d.pressItem(`.sidebar .go[aria-haspopup]`, "archive 2026")
	d.until("one project", titles+` === '`+letter+`'`)
	d.do("one project")
	d.do("begun in it", chromedp.Click(".sidebar .new"), chromedp.SendKeys(writing, "When do the pilots come?\r"),
		chromedp.WaitVisible("#m2"), chromedp.WaitNotPresent(".writing"))
	d.until("seen at once", titles+`.split('|').length === 2`)
	in, _, err := d.rig.List(t.Context(), scrollback.ListQuery{Project: "archive 2026"})
	if err != nil || len(in) != 2 {
		t.Errorf("in the project are %v, %v", in, err)
	}
	d.pressItem(`.sidebar .go[aria-haspopup]`, "All projects")
	d.until("all again", titles+`.split('|').length === 10`)

	d.typed(".filter input", "潮位")
	d.until("filtered", titles+` === 'Tide gauges · 潮位站'`)
	d.do("filtered")
	d.typed(".filter input", "nothing of the kind")
	d.do("none", chromedp.WaitVisible(".none"))
	d.typed(".filter input", "")
	d.until("unfiltered", titles+`.split('|').length === 10`)

	d.pressItem(menu(letter), "Copy into")
	d.until("copied", `document.querySelector('.rows .here .title').innerText === 'copy of `+letter+
		`' && document.querySelector('.head h1').innerText.startsWith('copy of')`)
	d.do("a copy", chromedp.WaitVisible("#m12"))
	d.pressItem(`.head [aria-label="More"]`, "Move to trash")
	d.until("it is gone", titles+`.split('|').length === 10 && location.hash === ''`)
	d.do("trashed", chromedp.WaitVisible(".toast .link"))
	d.press(".toast .link")
	d.until("and back", titles+`.split('|').length === 11`)
	d.do("exports", chromedp.Click(rowOf("Tide gauges · 潮位站")), chromedp.WaitVisible("#m34"))
	d.pressItem(`.head [aria-label="More"]`, "Hand over")
	d.do("handoff", chromedp.WaitVisible("textarea.brief"),
		chromedp.SetValue(".ask-sheet select", "codex"))
	d.eval(`document.querySelector('.ask-sheet select').dispatchEvent(new Event('change', { bubbles: true }))`)
	d.until("the command", `/^scrollback handoff [0-9a-f-]{36} --to codex$/.test(document.querySelector('.ask-sheet input').value)`)
	d.is("the brief", `document.querySelector('textarea.brief').value.includes('{"conversations":[{"conversation":"')`, "true")
	d.do("handoff closed", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".ask-sheet"))
	d.pressItem(`.head [aria-label="More"]`, "Export")
	d.do("export", chromedp.WaitVisible(".forms button"))
	for form, want := range map[string]string{"bundle": "application/zstd", "whole": "application/zstd",
		"jsonl":      "application/x-ndjson",
		"gemini-cli": "application/x-ndjson", "mtm": "application/json", "ipynb": "application/x-ipynb+json"} {
		d.is("the form "+form, `document.querySelectorAll('.forms [data-form="`+form+`"]').length`, "1")
		got, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](`import('/assets/state/exports.js').then(async (x) => {
			const res = await fetch(x.href('`+string(id)+`', x.forms().find((f) => f.key === '`+form+`'))); return res.status + ' ' + res.headers.get('Content-Type'); })`, chromedp.EvalAwaitPromise))
		if err != nil || got != "200 "+want {
			t.Errorf("exported as %s it is %q, %v", form, got, err)
		}
	}
	d.do("closed", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".ask-sheet"))
}

// Several are chosen with Shift and put in the trash together; there they are restored, or
// removed for ever once that was confirmed.
func TestSidebarSeveral(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf, modeltest.Say("fine"))
	d.do("list", chromedp.Navigate(d.url), chromedp.WaitVisible(rowOf("Berth plan for the winter")))
	d.pressItem(`.row:has(a[title="Berth plan for the winter"]) > .more`, "Select")
	d.eval(`(document.querySelector('` + rowOf("Letter to the pilots’ association") +
		`').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true })), 1)`)
	d.until("four are chosen",
		`document.querySelectorAll('.rows input:checked').length === 4 && document.querySelector('.chosen `+
			`b').innerText === '4 selected'`)
	d.do("several")
	d.is("nothing was opened", "location.hash", "")
	d.press(".chosen .bad")
	d.until("they are gone", titles+`.split('|').length === 5 && !document.querySelector('.chosen')`)
	d.do("trash", chromedp.Navigate(d.url+"/#:trash"), chromedp.WaitVisible(".entries li"))
	d.is("in the trash", `document.querySelectorAll('.entries li').length`, "4")
	d.press(`[aria-label="Restore: Berth plan for the winter"]`)
	d.until("restored", `document.querySelectorAll('.entries li').length === 3 && `+titles+`.includes('Berth plan')`)
	d.press(`.entries [aria-label^="Delete for ever: Go"]`)
	d.do("a question", chromedp.WaitVisible(".ask-sheet .danger"))
	d.press(".ask-sheet .danger")
	d.until("purged", `document.querySelectorAll('.entries li').length === 2`)
	d.press(".head .bad")
	d.press(".ask-sheet .danger")
	d.do("empty", chromedp.WaitVisible(".nothing"))
	left, _, err := d.rig.List(t.Context(), scrollback.ListQuery{Trash: true})
	if err != nil || len(left) != 0 {
		t.Errorf("left in the trash: %v, %v", left, err)
	}
}

// All of it by keys: the list is one stop of the tab key, arrows move in it, and a row's menu
// opens and closes where it was.
func TestSidebarKeys(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf, modeltest.Say("fine"))
	d.do("list", chromedp.Navigate(d.url), chromedp.WaitVisible(rowOf("Berth plan for the winter")))
	d.is("stops in the list", `document.querySelectorAll('.rows [tabindex="0"], .rows button:not([tabindex]), .rows `+
		`input:not([tabindex])').length`, "1")
	focused := `document.activeElement.title`
	d.do("into the list", chromedp.Focus(".filter input"), chromedp.KeyEvent(kb.ArrowDown))
	d.until("the first", focused+` === 'Tide gauges · 潮位站'`)
	d.do("down", chromedp.KeyEvent(kb.ArrowDown))
	d.until("the second", focused+` === 'Berth plan for the winter'`)
	d.do("end", chromedp.KeyEvent(kb.End))
	d.until("the last", focused+`.startsWith('A very long title')`)
	d.do("home", chromedp.KeyEvent(kb.Home))
	d.until("the first again", focused+` === 'Tide gauges · 潮位站'`)
	d.do("menu by key", chromedp.KeyEvent(kb.ArrowDown))
	d.until("the second again", focused+` === 'Berth plan for the winter'`)
	d.do("row menu", chromedp.KeyEvent(kb.F10, chromedp.KeyModifiers(8)), chromedp.WaitVisible(".rows .menu"))
	d.do("and away", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".rows .menu"))
	d.is("where the focus went", `document.activeElement.closest('.row').querySelector('a').title`,
		"Berth plan for the winter")
	d.do("renaming by key", chromedp.Focus(rowOf("Berth plan for the winter")), chromedp.KeyEvent(kb.F2),
		chromedp.WaitVisible(".row .rename"),
		chromedp.KeyEvent("Berths"+kb.Enter), chromedp.WaitVisible(rowOf("Berths")))
	d.until("the focus is back", focused+` === 'Berths'`)
	d.do("opened", chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#m8"))
	d.do("trash by key", chromedp.Focus(rowOf("Berths")), chromedp.KeyEvent(kb.Delete),
		chromedp.WaitNotPresent(rowOf("Berths")))
}

// The address of a conversation that is not there says so, and writes nothing.
func TestPageMissing(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf[:2], modeltest.Say("fine"))
	d.do("missing", chromedp.Navigate(d.url+"/#01a204b3-0000-7000-8000-000000000000"), chromedp.WaitVisible(".missing h2"))
	d.is("a fault beside it", `document.querySelectorAll('.banner').length`, "0")
	d.until("what is stored", titles+`.split('|').length === 2`)
	d.do("begun", chromedp.Click(".missing .strong"), chromedp.WaitVisible(writing), chromedp.SendKeys(writing,
		"Is anybody here?\r"), chromedp.WaitVisible("#m2"))
	d.until("one more", titles+`.split('|').length === 3`)
}

// A conversation whose first message was refused is not left behind, and what was written is not
// lost; the map of one that was begun on this page knows each message; arrows and Esc work in the
// menu of the header.
func TestPageBegins(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	var refuse atomic.Bool
	url, _, _ := longTalkOver(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refuse.Load() && strings.HasSuffix(r.URL.Path, "/chat") {
				http.Error(w, `{"error":{"code":"invalid","message":"this message is refused"}}`, http.StatusUnprocessableEntity)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	d := &pageRig{T: t, ctx: browser(t), url: url}
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 900)); err != nil {
		t.Fatal(err)
	}
	refuse.Store(true)
	d.do("begins", chromedp.Navigate(url), chromedp.WaitVisible(".opening"),
		chromedp.WaitVisible(".row a"), chromedp.SendKeys(writing, "When is high water?\r"))
	d.until("it is a draft again",
		`document.querySelector('.composer textarea').value === 'When is high water?' && location.hash.length < 2`)
	d.until("nothing is left of it", titles+`.split('|').length === 1`)
	refuse.Store(false)
	d.do("begins again", chromedp.SendKeys(writing, "\r"), chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".writing"))
	d.do("goes on", chromedp.SendKeys(writing, "And low water?\r"), chromedp.WaitVisible(".msg.user ~ .msg.user"),
		chromedp.WaitNotPresent(".writing"))
	newest := `Math.max(...[...document.querySelectorAll('main [data-seq]:not(a)')].map(x => Number(x.dataset.seq)))`
	d.until("the map knows all", newest+
		` > 4 && Number(document.querySelector('.minimap').getAttribute('aria-valuemax')) === `+newest)

	d.press(`.head [aria-label="More"]`)
	d.do("the menu", chromedp.WaitVisible(".head .menu"))
	inMenu := `document.activeElement.closest('.menu') !== null && `
	d.is("the first item has the focus", inMenu+`document.activeElement.checkVisibility()`, "true")
	d.do("the next item", chromedp.KeyEvent(kb.ArrowDown))
	d.is("an arrow moves", inMenu+`document.activeElement.previousElementSibling !== null`, "true")
	d.do("the menu closes", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".head .menu"))
	d.is("the focus is back", `document.activeElement.getAttribute('aria-label')`, "More")
}

// A transcript that is dropped on the sidebar is imported, and its result can be read: what came,
// and which lines were skipped.
func TestPageImports(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf[:2], modeltest.Say("fine"))
	d.do("list", chromedp.Navigate(d.url), chromedp.WaitVisible(".rows .row"))
	file := `{"id":"a1","role":"user","content":"When is high water?"}\n{"id":"a2","role":"assistant","content":"At six."}\nthis ` +
		`is no JSON\n{"id":"a3","role":"user","content":"And low water?"}\n`
	drag := func(event, at string) {
		d.eval(`(() => { const t = new DataTransfer(); t.items.add(new File(['` + file + `'], 'tides.jsonl'));
			document.querySelector('` + at + `').dispatchEvent(new DragEvent('` + event + `', { bubbles: true, cancelable: true, dataTransfer: t })); return 1; })()`)
	}
	drag("dragenter", "body")
	d.do("two places to drop", chromedp.WaitVisible(".drop.import"), chromedp.WaitVisible(".drop.attach"))
	drag("drop", ".drop.import")
	d.do("imported", chromedp.WaitVisible(".job .outcome"), chromedp.WaitNotPresent(".drops"))
	d.until("what came",
		`['1 new conversation', '3 new messages', '1 line skipped', 'line 3', 'not finished'].every(x => `+
			`document.querySelector('.job').innerText.includes(x))`)
	d.do("what came")
	d.do("opened", chromedp.Click(".job .choices a"), chromedp.WaitVisible("#m3"), chromedp.WaitNotPresent(".ask-sheet"))
	d.until("in the list", titles+`.split('|').length === 3`)
	d.eval(`(() => { const t = new DataTransfer(); t.items.add(new File(['{}'], 'x.bundle')); const x = document.querySelector('.foot input[type=file]');
		x.files = t.files; x.dispatchEvent(new Event('change', { bubbles: true })); return 1; })()`)
	d.do("refused", chromedp.WaitVisible(".job .fault"))
}

// Thousands of conversations: the first paint reads a hundred, only what is in sight is drawn,
// and the rest comes as one scrolls, down to the last.
func TestSidebarOfThousands(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	all := testlength.Choose(1000, 2000, 10_000)
	some := make([]onShelf, all)
	for i := range some {
		some[i] = onShelf{title: fmt.Sprintf("Conversation %d · 对话", all-i), project: "default",
			age: time.Duration(all-i) * time.Hour}
	}
	some[7].pinned = true // which is on the last page
	d := newShelf(t, some, modeltest.Say("fine"))
	d.do("thousands", chromedp.Navigate(d.url), chromedp.WaitVisible(rowOf("Conversation 1 · 对话")))
	d.is("the pinned one comes first", titles+`.split('|')[0]`, fmt.Sprintf("Conversation %d · 对话", all-7))
	const rows = `document.querySelectorAll('.rows li').length`
	sent := `performance.getEntriesByType('resource').filter(r => r.name.includes('/api/conversations')).reduce((n, r) => n + ` +
		`r.decodedBodySize, 0)`
	t.Logf("first: %s rows drawn, %s bytes of lists read, first paint after %s ms", d.eval(rows), d.eval(sent),
		d.eval(`Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)`))
	d.is("few rows are drawn", rows+` < 60`, "true")
	d.is("little is read", sent+` < 120000`, "true")
	// Down to the end, as somebody who drags the bar: each time the list has grown a little.
	d.until("the last one", `(() => { const x = document.querySelector('.rows'); x.scrollTop = x.scrollHeight; return `+
		titles+
		fmt.Sprintf(`.includes('Conversation %d ') || `, all)+
		titles+fmt.Sprintf(`.includes('Conversation %d '); })()`, all-1))
	d.do("the end of thousands")
	d.is("few rows are drawn at the end", rows+` < 60`, "true")
	d.eval(`(() => { const x = document.querySelector('.rows'); let [i, at, all] = [0, performance.now(), []];
		const next = () => { const now = performance.now(); all.push(now - at); at = now; x.scrollTop = i * x.scrollHeight / 100; if (++i < 100) requestAnimationFrame(next);
			else window.frames100 = all.slice(1).sort((a, b) => a - b); }; next(); return 1; })()`)
	d.until("a hundred jumps", `window.frames100`)
	t.Logf("at the end: %s rows drawn; of a hundred jumps through the list the middle frame took %s ms, the longest %s ms",
		d.eval(rows),
		d.eval(`Math.round(window.frames100[49])`), d.eval(`Math.round(window.frames100.at(-1))`))
	d.typed(".filter input", fmt.Sprintf("Conversation %d ", all-223))
	d.until("found", titles+fmt.Sprintf(` === 'Conversation %d · 对话'`, all-223))
}

// A server that only reads is told of as such, and the page offers nothing that it would refuse.
// A window that is made narrow is not covered by what stood beside the conversation, and the map
// of a short conversation is short.
func TestPageReadOnly(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	url, _, _ := longTalkOver(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/session" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"name":"operator","role":"read","projects":[],"key_needed":false,"read_only":true}`))
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	d := &pageRig{T: t, ctx: browser(t), url: url}
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 900)); err != nil {
		t.Fatal(err)
	}
	d.do("read", chromedp.Navigate(url+bySources), chromedp.WaitVisible(".row a"), chromedp.Click(".row a"),
		chromedp.WaitVisible(".msg .ways .do"))
	d.is("what the composer says", `document.querySelector('.composer textarea').placeholder`,
		"This server is read-only: nothing can be written")
	d.is("what is offered of messages", `[...new Set([...document.querySelectorAll('.msg .ways .do button')]`+
		`.map(b => b.getAttribute('aria-label')))].sort().join('|')`, "Copy|More|Show the text as the model reads it")
	offered, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](`import('/assets/state/palette.js').then((m) => `+
		`m.available().map((c) => c.name).join())`, chromedp.EvalAwaitPromise))
	const want = "switch,kept,receipts,setup,latest,export,usage,settings,projects,opentrash,sidebar,theme,language,keys"
	if err != nil || offered != want {
		t.Errorf("the palette offers %s (%v), not %s", offered, err, want)
	}
	d.until("the map knows what is in view",
		`document.querySelector('.minimap').getAttribute('aria-valuetext').includes('to #600 of')`)
	d.do("narrow", chromedp.EmulateViewport(390, 844))
	d.until("nothing covers it", `innerWidth === 390 && !document.querySelector('.page.with-sidebar')`)
	d.do("wide again", chromedp.EmulateViewport(1360, 900))
	d.until("the sidebar is back", `document.querySelector('.page.with-sidebar') !== null`)
	d.do("first", chromedp.Navigate(url+bySources+"#"), chromedp.WaitVisible(".composer .instruct"))
	d.is("what can be pressed around an empty composer",
		`[...document.querySelectorAll('.composer button')].filter(b => !b.disabled)`+
			`.map(b => b.getAttribute('aria-label') || b.innerText).join('|')`, "")
}

// The list of conversations writes times and dates as the rest of the page does: as they are written
// where the browser is. Figures of four digits have their separator in Chinese too.
func TestPageTimesAlike(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newBooks(t, true)
	d.do("times", chromedp.Navigate(d.url+bySources), chromedp.WaitVisible(".sidebar .new"))
	for place, want := range map[string]string{"en-US": "03:05\u202fPM | May 30", "en-GB": "15:05 | 30 May",
		"de": "15:05 | 30 May"} {
		got := chromedp.Evaluate[string](`Promise.all([import('/assets/state/dates.js'), import('/assets/state/figures.js')]).then(([d, f]) => {
			const now = new Date(2026, 6, 9, 16, 5).getTime();
			f.begin(['`+place+`']);
			return [d.when(now - 3600e3, now), d.when(now - 40 * 86400e3, now)].join(' | ');
		})`, chromedp.EvalAwaitPromise)
		said, err := chromedp.Run(d.ctx, got)
		if err != nil || strings.ReplaceAll(said, "\u202f", " ") != strings.ReplaceAll(want, "\u202f", " ") {
			t.Errorf("in %s: %q, want %q (%v)", place, said, want, err)
		}
	}
	d.press(`.sidebar [lang="zh-CN"]`)
	d.until("chinese", `document.documentElement.lang === 'zh-CN'`)
	short := `import('/assets/state/figures.js').then((f) => f.short(3235))`
	said, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](short, chromedp.EvalAwaitPromise))
	if err != nil || said != "3,235" {
		t.Errorf("in Chinese 3235 is %q (%v)", said, err)
	}
	d.do("settings", chromedp.EmulateViewport(1360, 500), chromedp.Navigate(d.url+bySources+"#:settings/models"),
		chromedp.WaitVisible(".preferences .numbers"))
	d.is("the settings scroll at the edge of the window", `(() => { let x = document.querySelector('.preferences');
		while (x && !['auto', 'scroll'].includes(getComputedStyle(x).overflowY)) x = x.parentElement;
		return x && [Math.round(x.getBoundingClientRect().right - innerWidth), getComputedStyle(x).scrollbarWidth].join(' '); })()`, "0 thin")
}
