package server_test

import (
	"context"
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
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// harbour is a page in a browser, over some conversations of a harbour office. The server
// outlives the browser, whose stream it would wait for.
type harbour struct {
	*pageRig
	gauges, berths scrollback.ConversationID
}

// talk makes a conversation whose messages were said some days ago, a minute apart.
func (h *harbour) talk(title, project string, days int, texts ...string) scrollback.ConversationID {
	h.Helper()
	h.rig.Clock.Store(time.Now().AddDate(0, 0, -days).UnixMilli())
	c, _, err := h.rig.Create(h.Context(), scrollback.Conversation{Title: title, Project: project})
	if err != nil {
		h.Fatal(err)
	}
	h.say(c.ID, texts...)
	return c.ID
}

// say appends messages, by the user and the assistant in turn; a text that begins with
// "tool:" is a result.
func (h *harbour) say(id scrollback.ConversationID, texts ...string) {
	h.Helper()
	for i, text := range texts {
		m := scrollback.Message{Role: []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2],
			Parts: scrollback.Parts{scrollback.Text{Text: text}}}
		if rest, ok := strings.CutPrefix(text, "tool:"); ok {
			m.Role = scrollback.RoleTool
			m.Parts = scrollback.Parts{scrollback.ToolResult{CallID: "c", Name: "berths.csv", Text: rest}}
		}
		head, err := h.rig.Store.ReadHead(h.Context(), id)
		if err == nil {
			h.rig.Clock.Add(60_000)
			_, err = h.rig.Store.AppendMessages(h.Context(), head, []store.IncomingMessage{{Message: m}})
		}
		if err != nil {
			h.Fatal(err)
		}
	}
}

func newHarbour(t *testing.T) *harbour {
	t.Helper()
	h := &harbour{pageRig: &pageRig{T: t, rig: enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))}}
	var log []string
	for i := range 30 {
		log = append(log, fmt.Sprintf("Reading %d of the gauge at the north mole, in metres above the datum.", i),
			fmt.Sprintf("Kept reading %d; the report has it.", i))
	}
	h.gauges = h.talk("Tide gauges · 潮位站", "harbour", 190, append(log,
		"Is the bolt on the north mole still where it was in 2019?",
		"The survey of 11 May puts the bolt 18.4 cm higher than the datum of 2019; the report of April is wrong by as much.",
		"Station 7 moved to the new datum: add +0.184 m from 12 May, in every report.",
		"Done: the three reports since 12 May are written again with the datum of 2026.", "Thank you. 站长也要一份中文的。",
		"好的，中文报告也用新的基准面。")...)
	pin := func(c *scrollback.Conversation) error { c.PinnedSeqs = []int64{63}; return nil }
	if _, err := h.rig.Patch(t.Context(), h.gauges, 0, pin); err != nil {
		t.Fatal(err)
	}
	if _, err := h.rig.Compact(t.Context(), h.gauges, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	h.rig.Clock.Store(time.Now().AddDate(0, 0, -2).UnixMilli())
	h.say(h.gauges, "Which datum do the stations use now?",
		"All three are on the 2026 datum; the report is due on the first Monday.")
	h.berths = h.talk("Berth plan for the winter", "harbour", 50, "How deep are the berths?",
		"tool:depth below datum 2026, reduced for the winter report", "Give depths below the new datum only. 旧基准不要再出现。",
		"Noted.")
	h.talk("旧码头的照片与说明", "office", 9,
		"The brass plate shows the old datum; use it in the report as a picture, not as a level.", "好的。")
	for i := range 12 {
		h.talk(fmt.Sprintf("Letter %d to the pilots", i), "office", 400+i, "A letter without any level.", "Noted.")
	}
	srv := httptest.NewServer(server.Handler(h.rig.Engine, h.rig.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	h.url = srv.URL
	h.ctx = browser(t)
	if err := chromedp.Do(h.ctx, chromedp.EmulateViewport(1360, 900)); err != nil {
		t.Fatal(err)
	}
	return h
}

// comes waits for a script to come to something. What it asks for may not be there yet.
func (d *pageRig) comes(what, script, want string) {
	d.Helper()
	end, cancel := context.WithTimeout(d.ctx, time.Minute)
	defer cancel()
	look := "new Promise((done) => { const look = () => { try { done(String(" + script +
		")); } catch (e) { done(String(e)); } }; "
	got, err := chromedp.Run(end, chromedp.Evaluate[string](look+"look(); })", chromedp.EvalAwaitPromise))
	for err == nil && got != want {
		var next string
		next, err = chromedp.Run(end, chromedp.Evaluate[string](look+"setTimeout(look, 50); })", chromedp.EvalAwaitPromise))
		if err == nil {
			got = next
		}
	}
	if err != nil {
		d.Fatalf("%s: %q, want %q: %v", what, got, want, err)
	}
}

// types writes into the palette.
func (h *harbour) types(text string) {
	h.Helper()
	h.eval(`(() => { const i = document.querySelector('.ask input'); i.value = ''; i.dispatchEvent(new Event('input', { bubbles: true ` +
		`})); i.focus(); })()`)
	h.do("type "+text, chromedp.SendKeys(".ask input", text))
}

const (
	found  = `[...document.querySelectorAll('#found .hit .seq')].map(x => x.textContent).join(' ')`
	counts = `document.querySelector('.filters .count').textContent`
)

// open opens the palette with its key, wherever the focus is.
func (h *harbour) open() {
	h.Helper()
	h.eval(`dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))`)
	h.do("open", chromedp.WaitVisible(".ask input"))
	h.comes("focus", `document.activeElement.matches('.ask input')`, "true")
}

// Everything is searched with one key; what was found says where it is and what stands around
// it; filters narrow it, and after the jump what was found stays marked.
func TestPalette(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	h := newHarbour(t)
	h.do("open the page", chromedp.Navigate(h.url+bySources+"#"+string(h.gauges)), chromedp.WaitVisible("#m68"))
	h.open()
	h.comes("recent conversations", `document.querySelectorAll('#found .hit.conversation').length`, "8")
	h.types(`"new datum"`)
	h.comes("all of it", counts, "2 messages in 2 conversations")
	h.types("station datum report")
	h.comes("the first hit", `document.querySelector('#found .hit .seq').textContent`, "#63")
	h.is("what it says of itself",
		`[...document.querySelectorAll('#found .hit em')].slice(0, 2).map(x => x.textContent).join()`,
		"compacted,pin")
	h.is("what stands around it", `[...document.querySelectorAll('.around .n')].map(x => x.textContent).join(' ')`,
		"#61 #62 #63 #64 #65")
	h.comes("where it is", `/^Compacted since .* in the card #1–#66\. The model can find it; you read the original `+
		`here\.$/.test(document.querySelector('.around .acts p').textContent)`, "true")
	h.comes("marked beside it", `document.querySelectorAll('.around li:not(.lit) mark').length > 2`, "true")
	h.is("for screen readers", `(() => { const i = document.querySelector('.ask input'); const o = document.getElementById(i.getAttribute('aria-activedescendant'));
		return [i.getAttribute('role'), o.getAttribute('role'), o.getAttribute('aria-selected'), document.querySelector('.filters .count').getAttribute('role')].join(); })()`, "combobox,option,true,status")
	h.picture("palette")

	first := h.eval(found)
	h.eval(`(() => { const s = document.getElementById('found'); s.scrollTop = s.scrollHeight; s.dispatchEvent(new Event('scroll')); })()`)
	h.comes("the next pages", `document.querySelectorAll('#found .hit').length > 20`, "true")
	if all := h.eval(found); !strings.HasPrefix(all, first) {
		t.Errorf("the next page changed the order:\n%s\n%s", first, all)
	}

	h.do("the next row", chromedp.SendKeys(".ask input", kb.ArrowDown))
	h.comes("is chosen", `document.querySelector('#found0').getAttribute('aria-selected') + `+
		`document.querySelector('#found1').getAttribute('aria-selected')`, "falsetrue")
	h.press(`.filters [aria-label="Role"]`)
	h.press(`.menu [role="menuitem"]:nth-child(3)`)
	h.comes("only tools",
		`[...document.querySelectorAll('#found .hit')].map(x => x.innerText.includes('inside a file')).join()`, "true")
	h.press(`.filters [aria-label="Remove the filter Tool"]`)
	h.press(`.filters [aria-label="Any time"]`)
	h.press(`.menu [role="menuitem"]:nth-child(1)`)
	h.comes("only of this week", found, "#68 #67")
	h.press(`.filters [aria-label^="Remove the filter"]`)
	h.comes("all again", `document.querySelector('#found .hit .seq').textContent`, "#63")

	h.eval(`import('/assets/state/words.js').then(m => m.setLang('zh')) && ''`)
	h.comes("in Chinese", counts, "3 个对话中的 68 条消息")
	h.picture("palette in Chinese")
	h.eval(`import('/assets/state/words.js').then(m => m.setLang('en')) && ''`)
	h.comes("in English", counts, "68 messages in 3 conversations")
	h.do("go there", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitNotPresent("dialog.palette"),
		chromedp.WaitVisible("#m63"))
	h.comes("the address", `location.hash`, "#"+string(h.gauges)+"/63")
	h.eval(`(import('/assets/state/marks.js').then(m => { window.marks = m.marks; }), '')`)
	h.comes("what stays marked",
		`Boolean(window.marks && window.marks.value.seqs.length > 40 && window.marks.value.words.includes('datum'))`,
		"true")
}

// The palette runs the page's commands, and goes to conversations by their titles.
func TestPaletteCommands(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	h := newHarbour(t)
	h.do("open the page", chromedp.Navigate(h.url+"/#"+string(h.gauges)), chromedp.WaitVisible("#m68"))
	h.open()
	h.types(">theme")
	h.comes("the command", `document.querySelector('#found .hit.command')?.textContent`,
		"Change theme (now same as system)")
	h.do("run", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitNotPresent("dialog.palette"))
	h.comes("the theme", `document.documentElement.dataset.theme`, "light")
	h.open()
	h.types(">")
	h.comes("all commands", `document.querySelectorAll('#found .hit.command').length > 15`, "true")
	h.picture("commands")
	h.types(">afresh")
	h.comes("one that asks", `document.querySelector('#found .hit.command').textContent`, "Start afresh")
	h.do("ask", chromedp.SendKeys(".ask input", kb.Enter))
	h.comes("whether it is meant", counts+` + document.querySelector('#found [aria-selected="true"]').textContent`,
		"Compact everything so far? The originals are kept, and you can undo this.Cancel")
	h.do("it is not", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitNotPresent("dialog.palette"))
	h.open()
	h.types(">rename")
	h.comes("rename", `document.querySelectorAll('#found .hit.command').length`, "1")
	h.do("rename", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitVisible(".head .rename"))
	h.open()
	h.types("pilots")
	h.comes("by title", `[...document.querySelectorAll('#found .hit.conversation .name')].map(x => `+
		`x.textContent.startsWith('Letter')).join()`, "true,true,true")
	h.do("go there", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitNotPresent("dialog.palette"))
	h.comes("another conversation", `document.querySelector('.head h1') && document.querySelector('.head `+
		`h1').textContent.startsWith('Letter')`, "true")
	h.open()
	h.types(">usage")
	h.comes("usage", `document.querySelectorAll('#found .hit.command').length`, "1")
	h.do("usage", chromedp.SendKeys(".ask input", kb.Enter), chromedp.WaitVisible(".place.usage"))
}

// Lines are found by a regular expression in this conversation, a hit is pinned from afar, and
// continued from in a new conversation.
func TestPaletteActs(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	h := newHarbour(t)
	h.do("open the page", chromedp.Navigate(h.url+"/#"+string(h.berths)), chromedp.WaitVisible("#m4"))
	h.open()
	h.types("brass plate")
	h.comes("one hit", counts, "1 message")
	h.press(`.around .plain[aria-pressed="false"]`)
	h.do("pinned", chromedp.WaitVisible(`.around .plain[aria-pressed="true"]`), chromedp.WaitVisible("#found em.pin"))
	h.press(`.filters [role="radio"]:nth-child(3)`)
	h.types(`depths? below`)
	h.comes("lines", counts, "2 lines")
	h.press(`.filters [role="radio"]:nth-child(1)`)
	h.types("brass plate")
	h.comes("one hit again", counts, "1 message")
	h.press(`.around .plain:last-child`)
	h.comes("the fork", `document.querySelector('.head h1') && document.querySelector('.head h1').textContent`,
		"copy of 旧码头的照片与说明")
}

// The keys are listed by one of them, as the platform spells them, and single letters can be
// switched off there.
func TestKeys(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	h := newHarbour(t)
	h.do("open the page", chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(".composer"))
	press := `dispatchEvent(new KeyboardEvent('keydown', { key: '?', shiftKey: true, bubbles: true }))`
	h.eval(press)
	h.do("the list", chromedp.WaitVisible("dialog.keys"))
	h.is("as they are spelled here", `document.querySelector('.keys dd').innerText.replace(/\s+/g, ' ').trim()`, "Ctrl K")
	h.picture("keys")
	h.press(`.keys .letters input`)
	h.do("close", chromedp.SendKeys("dialog.keys", kb.Escape), chromedp.WaitNotPresent("dialog.keys"))
	h.eval(press)
	h.is("single letters are off", `document.querySelectorAll('dialog.keys').length`, "0")
}
