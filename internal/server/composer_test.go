package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// pageRig is a page in a browser, on a server whose conversations may work in a folder.
type pageRig struct {
	*testing.T
	ctx  context.Context
	rig  *enginetest.Rig
	root string
	url  string
}

// painted returns an image in one colour, as PNG.
func painted(t *testing.T, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
		if i%w < 8 || i/w < 8 {
			img.Set(i%w, i/w, color.White)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func newDesk(t *testing.T, steps ...modeltest.Step) *pageRig {
	t.Helper()
	ctx := browser(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "harbour")
	for name, text := range map[string]string{
		"docs/guide.md":      "# Guide\n\nThe gate opens at six.\n",
		"docs/潮汐 表.md":       "# 潮汐表\n\n涨潮：06:20\n",
		"docs/drafts/old.md": "old\n",
		"docs/plan.png":      string(painted(t, 320, 200, color.RGBA{15, 110, 102, 255})),
		"log.txt":            "first\nsecond\nthird\n",
	} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := enginetest.Options{Place: &workspace.Place{Roots: []string{root}, OS: "linux", Now: time.Unix(0, 0).UTC()}}
	r := enginetest.New(t, o, steps...)
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	return &pageRig{T: t, ctx: ctx, rig: r, root: root, url: srv.URL}
}

// conversation makes one that may work in the folder.
func (d *pageRig) conversation() scrollback.ConversationID {
	d.Helper()
	c, _, err := d.rig.Create(d.Context(), scrollback.Conversation{Roots: []string{d.root}, Title: "Tides · 潮汐"})
	if err != nil {
		d.Fatal(err)
	}
	return c.ID
}

func (d *pageRig) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, time.Minute) // and then there is time to ask what the page shows
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		shown := d.eval(`[document.activeElement.outerHTML.slice(0, 200), ` + written +
			`, document.body.innerText].join('\n')`)
		d.Fatalf("%s: %v\n%s", what, err, shown)
	}
	d.picture(what)
}

func (d *pageRig) picture(what string) {
	d.Helper()
	if *pictures == "" {
		return
	}
	shot, err := chromedp.Run(d.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, strings.ReplaceAll(what, " ", "-")+".png"), shot, 0o644)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// eval returns what a script comes to on the page, as text.
func (d *pageRig) eval(script string) string {
	d.Helper()
	got, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](`String(`+script+`)`))
	if err != nil {
		d.Fatalf("%s: %v", script, err)
	}
	return got
}

// is fails unless a script comes to what is wanted.
func (d *pageRig) is(what, script, want string) {
	d.Helper()
	if got := d.eval(script); got != want {
		d.Errorf("%s: %q, want %q", what, got, want)
	}
}

const (
	writing = ".composer textarea"
	// the driver's Enter also writes one
	written = `(document.querySelector('.composer textarea')?.value ?? '').replaceAll('\n', '')`
	chosen  = `document.querySelector('.offers [aria-selected="true"]').getAttribute('aria-label')`
	listed  = `[...document.querySelectorAll('.offers li')].map(x => x.getAttribute('aria-label')).join(' ')`
)

// chooses waits until a path is the one that Enter takes.
func chooses(path string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(`.offers li[aria-selected="true"][aria-label="` + path + `"]`)
}

// Paths are offered after @ and taken with keys or the mouse, folder by folder; an input
// method that is still composing is left alone.
func TestPageCompletesPaths(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, modeltest.Say("fine"))
	d.do("refs open", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(d.url+"/#"+string(d.conversation())),
		chromedp.WaitVisible(".head h1[title]"),
		chromedp.SendKeys(writing, "When is high water? See @"), chooses("docs/"))
	d.is("the paths", listed, "docs/ log.txt")
	d.is("the list for a screen reader", `[document.activeElement.getAttribute('aria-controls'), `+
		`document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).role].join()`, "offers,option")
	d.do("refs taken by key", chromedp.KeyEvent(kb.ArrowDown), chooses("log.txt"), chromedp.KeyEvent(kb.ArrowUp),
		chromedp.KeyEvent(kb.Tab),
		chooses("docs/drafts/"))
	d.is("a folder that was taken", written, "When is high water? See @[docs/]")
	d.is("what it holds", listed, "docs/drafts/ docs/guide.md docs/plan.png docs/潮汐 表.md")
	d.do("refs narrowed", chromedp.SendKeys(writing, "潮"), chooses("docs/潮汐 表.md"))
	d.do("refs taken", chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(".offers"))
	d.is("a file that was taken", written, "When is high water? See @[docs/潮汐 表.md]")
	d.do("refs by mouse", chromedp.SendKeys(writing, " and @lo"), chooses("log.txt"), chromedp.Click(".offers li"),
		chromedp.WaitNotPresent(".offers"))
	d.is("taken by mouse", written, "When is high water? See @[docs/潮汐 表.md] and @[log.txt]")
	d.do("refs closed", chromedp.SendKeys(writing, " @[do"), chooses("docs/"), chromedp.KeyEvent(kb.Escape),
		chromedp.WaitNotPresent(".offers"))
	d.do("refs of nothing", chromedp.SendKeys(writing, "\b\b\b\b @gu"), chooses("docs/guide.md"),
		chromedp.SendKeys(writing, "zzz"),
		chromedp.WaitNotPresent(".offers"))
	asked := `performance.getEntriesByType('resource').filter(r => r.name.includes('/files?')).length`
	before := d.eval(asked)
	compose := func(event string) string {
		return `(() => { const x = document.querySelector('.composer textarea');
			Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(x, '@lo'); x.setSelectionRange(3, 3);
			x.dispatchEvent(` + event + `); return 1; })()`
	}
	d.eval(compose(`new InputEvent('input', { bubbles: true, isComposing: true })`))
	d.eval(compose(`new KeyboardEvent('keydown', { bubbles: true, key: 'Enter', isComposing: true })`))
	d.is("while composing", `document.querySelectorAll('.offers').length + `+asked, before)
	d.eval(compose(`new CompositionEvent('compositionend', { bubbles: true })`))
	d.do("refs composed", chooses("log.txt"))

	other := d.rig.NewConversation()
	d.do("refs without folders", chromedp.Navigate(d.url+"/#"+string(other)), chromedp.Reload(),
		chromedp.WaitVisible(writing),
		chromedp.SendKeys(writing, "@lo and more\r"), chromedp.WaitVisible("#m2"))
	d.is("without folders", asked, "0")
}

// chipsOf returns a script for what the chips of a message say.
func chipsOf(message string) string {
	return `[...document.querySelectorAll('` + message +
		` .chip')].map(x => x.innerText.replace(/\s+/g, ' ').trim()).join('|')`
}

// What a message refers to stands below it as chips that open what was read; what was typed
// is what is edited. A mark that leads out says so.
func TestPageReferences(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, modeltest.Say("It opens at six."))
	id := d.conversation()
	d.do("chips", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(".head h1[title]"),
		chromedp.SendKeys(writing, "See @[docs/guide.md] and @[/etc/hostname]\r"), chromedp.WaitVisible("#m1 .chip.bad"),
		chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".writing"))
	d.is("what was typed", `document.querySelector('#m1 .markup').innerText`, "See @[docs/guide.md] and @[/etc/hostname]")
	d.is("the chips", chipsOf("#m1"),
		"docs/guide.md version 1|/etc/hostname refused: outside the roots")
	d.do("a chip open", chromedp.Click("#m1 button.chip"), chromedp.WaitVisible(".original"))
	d.is("what was read", `document.querySelector('.original').textContent`, "# Guide\n\nThe gate opens at six.")
	d.do("chips unchanged", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".original"),
		chromedp.SendKeys(writing, "And again @[docs/guide.md], ![the plan](docs/plan.png)\r"),
		chromedp.WaitVisible("#m3 .picture img"), chromedp.WaitVisible("#m4"),
		chromedp.WaitNotPresent(".writing"))
	d.is("the chips of an unchanged file", chipsOf("#m3"),
		"docs/guide.md version 1 unchanged")
	d.do("an unchanged chip open", chromedp.Click("#m3 button.chip"), chromedp.WaitVisible(".original"))
	d.is("what an earlier message has", `document.querySelector('.original').textContent`,
		"# Guide\n\nThe gate opens at six.")
	d.do("an image open", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".original"),
		chromedp.Click("#m3 .picture"), chromedp.WaitVisible(".large img"))
	d.do("edited", chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".large"),
		chromedp.Click(`#m3 [aria-label="Edit and ask again"]`),
		chromedp.WaitVisible(".editing"))
	d.is("what is edited", written, "And again @[docs/guide.md], ![the plan](docs/plan.png)")
	d.is("what is attached to it", `document.querySelectorAll('.attached li').length`, "0")
	d.do("far", chromedp.SendKeys(writing, " ![far](https://pictures.example/far.png)\r"),
		chromedp.WaitNotPresent(".editing"), chromedp.WaitVisible("#m3 .chip.bad"),
		chromedp.WaitVisible("#m4"), chromedp.WaitNotPresent(".writing"))
	d.is("requests of other hosts",
		`performance.getEntriesByType('resource').filter(r => !r.name.startsWith(location.origin)).length + `+
			`[...document.images].filter(x => !x.src.startsWith(location.origin)).length`, "0")
	d.do("chips in the dark", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.WaitVisible(`html[lang="zh-CN"][data-theme="dark"] #m3`))
	d.is("the refusal in Chinese", `document.querySelector('#m1 .chip.bad span').innerText`, "已拒绝：不在允许的文件夹内")
	d.do("chips narrow", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible("#m3 .chip"),
		chromedp.SendKeys(writing, "@do"), chooses("docs/"))
	d.is("wider than the page", `document.documentElement.scrollWidth > innerWidth || `+
		`[...document.querySelectorAll('.chip, .picture img, .offers')].some(x => x.getBoundingClientRect().right > innerWidth)`, "false")
}

const (
	pasted  = `new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: t })`
	dropped = `new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: t })`
)

// transferred returns a script that gives the composer or the chat files as an event brings them.
func transferred(event, at string, files map[string][]byte) string {
	out := strings.Builder{}
	out.WriteString(`(() => { const t = new DataTransfer();`)
	for name, content := range files {
		kind := "image/png"
		if strings.HasSuffix(name, ".heic") {
			kind = "image/heic"
		}
		bytes := `Uint8Array.from(atob('` + base64.StdEncoding.EncodeToString(content) + `'), c => c.charCodeAt(0))`
		out.WriteString(`t.items.add(new File([` + bytes + `], '` + name + `', { type: '` + kind + `' }));`)
	}
	out.WriteString(`document.querySelector('` + at + `').dispatchEvent(` + event + `); return 1; })()`)
	return out.String()
}

// Images and files are pasted, dropped and chosen, shown before they are sent, taken away
// again, and stand in the message; the first makes the conversation.
func TestPageAttaches(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, modeltest.Say("A gate."))
	green := painted(t, 320, 200, color.RGBA{15, 110, 102, 255})
	red := painted(t, 200, 260, color.RGBA{179, 55, 43, 255})
	d.do("attach nothing", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(d.url), chromedp.WaitVisible(".opening"),
		chromedp.SendKeys(writing, "What is this?"))
	d.eval(transferred(pasted, writing, map[string][]byte{"plan.png": green}))
	d.do("attach pasted", chromedp.WaitVisible(".attached .thumb img"))
	d.is("the draft", written, "What is this?")
	d.eval(transferred(dropped, ".chat", map[string][]byte{"second.png": red}))
	d.do("attach dropped", chromedp.WaitVisible(".attached li:nth-child(2).thumb img"))
	notes := filepath.Join(d.root, "log.txt")
	d.do("attach chosen", chromedp.SetUploadFiles(".composer input[type=file]", []string{notes}),
		chromedp.WaitVisible(".attached li:nth-child(3).slip:not(.bad)"))
	heic := append([]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1"), make([]byte, 600)...)
	d.eval(transferred(dropped, ".chat", map[string][]byte{"phone.heic": heic}))
	d.do("attach unfit", chromedp.WaitVisible(".attached .slip.warn"))
	big := filepath.Join(t.TempDir(), "film.mov")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 21<<20); err != nil {
		t.Fatal(err)
	}
	d.do("attach too much", chromedp.SetUploadFiles(".composer input[type=file]", []string{big}),
		chromedp.WaitVisible(".attached .slip.bad"))
	d.is("why", `document.querySelector('.attached .bad span').innerText`, "too large; at most 20 MB")
	d.do("attach removed", chromedp.Click(".attached .bad button"), chromedp.WaitNotPresent(".attached .bad"),
		chromedp.Click(".attached .warn button"),
		chromedp.WaitNotPresent(".attached .warn"), chromedp.Click(".attached li:nth-child(2) button"),
		chromedp.WaitNotPresent(".attached li:nth-child(3)"))
	d.do("attach sent", chromedp.SendKeys(writing, "\r"), chromedp.WaitVisible("#m1 .pictures img"),
		chromedp.WaitVisible("#m1 a.slip"), chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".attached"), chromedp.WaitNotPresent(".writing"))
	d.is("what was sent",
		`document.querySelector('#m1 .markup').innerText + document.querySelector('#m1 .pictures img').alt + `+
			`document.querySelector('#m1 a.slip').innerText.replace(/\s+/g, ' ')`, "What is this?plan.pnglog.txt 19 B")
	d.is("the image", `document.querySelector('#m1 .pictures img').naturalWidth`, "320")
	d.is("conversations made", `document.querySelectorAll('.rows .row').length`, "1")
	d.do("attach edited", chromedp.Click(`#m1 [aria-label="Edit and ask again"]`),
		chromedp.WaitVisible(".attached .thumb"))
	d.is("what is attached to the edited one", `document.querySelectorAll('.attached li').length`, "2")
	d.do("attach edited and sent", chromedp.SendKeys(writing, " Again?\r"), chromedp.WaitVisible("#m1 .versions"),
		chromedp.WaitVisible("#m1 .pictures img"), chromedp.WaitVisible("#m2"),
		chromedp.WaitNotPresent(".writing"))
	d.do("attach narrow", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible("#m1 .pictures img"),
		chromedp.WaitVisible("#m1 a.slip"))
}

// Sub-agents stand below the conversation that they work for, which they lead back to; the
// call that started one leads to it.
func TestPageAgents(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newDesk(t, modeltest.Say("fine"))
	task := `{"task":"Read the log of the harbour and say when the gate was opened.\nOne line a day."}`
	call := scrollback.ToolCall{ID: "call-1", Name: "agent", Arguments: []byte(task)}
	result := scrollback.ToolResult{CallID: "call-1", Name: "agent", Text: "At six, every day."}
	parent, _, err := d.rig.Create(t.Context(), scrollback.Conversation{Title: "The harbour · 港口"},
		scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("When was the gate opened?")},
		scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{call}},
		scrollback.Message{Role: scrollback.RoleTool, Parts: scrollback.Parts{result}},
		scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Say("At six.")})
	if err != nil {
		t.Fatal(err)
	}
	below := func(title string, of scrollback.AgentRef) scrollback.Conversation {
		t.Helper()
		c, _, err := d.rig.Store.CreateConversation(t.Context(), scrollback.Conversation{Title: title, AgentOf: &of})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	child := below("Read the log", scrollback.AgentRef{ID: parent.ID, CallID: "call-1"})
	below("Compare the tides", scrollback.AgentRef{ID: parent.ID, CallID: "call-2"})
	grandchild := below("读第一页", scrollback.AgentRef{ID: child.ID, CallID: "call-3"})
	titles := `[...document.querySelectorAll('.rows .row .title')].map(x => x.innerText).join('|')`
	d.do("agents folded", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(d.url+"/#"+string(parent.ID)),
		chromedp.WaitVisible("#m4"),
		chromedp.WaitVisible(".below .count"))
	d.is("the list", titles, "The harbour · 港口")
	d.is("the count", `document.querySelector('.below .count').innerText.trim()`, "2 sub-agents")
	d.do("agents open", chromedp.Click(".below .count"), chromedp.WaitVisible(".below + .row.d1"),
		chromedp.Click("#m2 summary"), chromedp.WaitVisible("#m2 .inside"),
		chromedp.Click("#m3 summary"), chromedp.WaitVisible("#m3 .inside"))
	d.is("the task", `document.querySelector('#m2 .inside').innerText`,
		"Read the log of the harbour and say when the gate was opened.\nOne line a day.")
	d.do("an agent", chromedp.Click("#m2 .agent"), chromedp.WaitVisible(".head .up"),
		chromedp.WaitVisible(`.row.here a[title="Read the log"]`),
		chromedp.WaitVisible(`.head .up[title="Sub-agent of “The harbour · 港口”"]`))
	d.is("the address of the agent", `location.hash`, "#"+string(child.ID))
	rename := func(c *scrollback.Conversation) error { c.Title = "Read all of the log"; return nil }
	if _, err := d.rig.Patch(t.Context(), child.ID, 0, rename); err != nil {
		t.Fatal(err)
	}
	d.do("an agent renamed", chromedp.WaitVisible(`.row.here a[title="Read all of the log"]`))
	d.do("an agent of an agent", chromedp.Navigate(d.url+"/#"+string(grandchild.ID)), chromedp.Reload(),
		chromedp.WaitVisible(`.row.here a[title="读第一页"]`),
		chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`.head .up[title="“Read all of the log”的子代理"]`))
	d.do("back to the parent", chromedp.Click(".head .up"),
		chromedp.WaitVisible(`.row.here a[title="Read all of the log"]`),
		chromedp.Click(".head .up"),
		chromedp.WaitVisible("#m4"), chromedp.WaitNotPresent(".head .up"))
	d.do("agents narrow", chromedp.Navigate(d.url+"/#"+string(child.ID)), chromedp.EmulateViewport(390, 844),
		chromedp.Reload(), chromedp.WaitVisible(".head .up"))
}
