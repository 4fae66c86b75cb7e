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
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// newBooks returns a page in a browser, over conversations whose calls of the last 40 days are
// booked; empty books have none.
func newBooks(t *testing.T, empty bool) *pageRig {
	t.Helper()
	d := &pageRig{T: t, rig: enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))}
	for i, c := range []struct{ title, project, model, currency string }{
		{"Tide gauges · 潮位站", "harbour", "ollama/qwen3:32b", ""},
		{"Berth plan for the winter", "harbour", "provider/large", "USD"},
		{"发票核对：第三季度", "office", "provider/small", "USD"}, {"Compare two pressure sensors <b>", "lab",
			"provider/of-a-very-long-name-that-does-not-fit-anywhere", "EUR"},
	} {
		made, _, err := d.rig.Create(t.Context(), scrollback.Conversation{Title: c.title, Project: c.project})
		if err == nil && !empty {
			err = book(d, made.ID, c.model, c.currency, i)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(server.Handler(d.rig.Engine, d.rig.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	d.url = srv.URL
	d.ctx = browser(t)
	if err := chromedp.Do(d.ctx, chromedp.EmulateViewport(1360, 960)); err != nil {
		t.Fatal(err)
	}
	return d
}

// book enters a call a day and a summary a week, the larger the more recent.
func book(d *pageRig, id scrollback.ConversationID, model, currency string, nth int) error {
	begun, err := d.rig.Store.Turns.Begin(d.Context(), store.BeginRequest{Conversation: id, Owner: "o",
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: scrollback.Parts{scrollback.Text{Text: "ask"}}}}}})
	if err != nil {
		return err
	}
	var all []scrollback.UsageRecord
	price := func(x float64) float64 {
		if currency == "" {
			return 0
		}
		return x
	}
	for day := range 40 {
		at := time.Now().AddDate(0, 0, -day).UnixMilli()
		in := int64(400_000/(nth+1) - day*1000*(day%5)/(nth+1))
		all = append(all, scrollback.UsageRecord{Conversation: id, Model: model, Purpose: "turn", At: at,
			Usage: scrollback.Usage{InputTokens: in, CachedTokens: in * 4 / 5,
				OutputTokens: in / 12, ReasoningTokens: in / 50, Cost: price(0.05), Currency: currency, Estimated: nth == 2}})
		if day%7 == 3 {
			all = append(all, scrollback.UsageRecord{Conversation: id, Model: model, Purpose: "summary", At: at,
				Usage: scrollback.Usage{InputTokens: 9000, OutputTokens: 900, Cost: price(0.01), Currency: currency}})
		}
	}
	_, err = d.rig.Store.Turns.FinishStep(d.Context(),
		store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnOpen, Usage: all})
	return err
}

// The usage page adds up what was booked: totals, days, models, projects, conversations; by
// mouse, by keyboard, as a table and as CSV; and with each theme.
func TestUsage(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newBooks(t, false)
	figure := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll('.totals dd')[%d].innerText.replace(/\s+/g, ' ')`, n)
	}
	d.do("usage", chromedp.Navigate(d.url+bySources+"#:usage"), chromedp.WaitVisible(".plot canvas"))
	d.is("calls", figure(0), "136 16 of them asked for summaries")
	d.is("cost", figure(3), "€1.54 + $3.08 €0.04 + $0.08 of it for summaries")
	d.is("estimated", figure(4), "22% the rest as reported")
	d.is("the days", `document.querySelector('.head .facts').textContent.includes('days in ' + `+
		`Intl.DateTimeFormat().resolvedOptions().timeZone)`, "true")
	d.is("models",
		`[...document.querySelectorAll('.usage section:nth-of-type(2) tbody th')].map(x => x.textContent).join().slice(0, 46)`,
		"ollama/qwen3:32b,provider/large,provider/small")
	d.is("a title is text", `document.querySelector('.usage section:nth-of-type(4) tbody tr:last-child a').textContent`,
		"Compare two pressure sensors <b>")
	d.is("nothing is wider than the page", `document.documentElement.scrollWidth <= innerWidth && `+
		`document.querySelector('.place').scrollWidth <= document.querySelector('.place').clientWidth`, "true")
	d.picture("usage")
	axe(t, d.ctx, "usage")

	d.eval(`document.querySelector('.plot').focus()`)
	d.do("the last day", chromedp.SendKeys(".plot", kb.ArrowLeft))
	d.comes("its figures",
		`document.querySelector('.plot').getAttribute('aria-valuenow') + document.querySelector('.chart `+
			`.which').textContent.includes('All days')`, "30false")
	d.is("as they are said",
		`document.querySelector('.plot').getAttribute('aria-valuetext').includes('Input, cached 666,666')`, "true")
	d.picture("usage day")
	d.eval(`document.querySelector('.values summary').click()`)
	d.comes("the table", `document.querySelectorAll('.values tbody tr').length`, "30")
	d.eval(`document.querySelector('.values summary').click()`)
	d.press(`.ranges [role="radio"]:nth-child(1)`)
	d.comes("seven days", figure(0), "32 4 of them asked for summaries")
	d.press(`.ranges [role="radio"]:nth-child(3)`)
	d.comes("a year, by weeks", `document.querySelector('.chart h2').textContent + `+
		`document.querySelector('.plot').getAttribute('aria-valuemax')`, "Tokens by week53")
	d.picture("usage year")
	d.press(`.ranges [role="radio"]:nth-child(4)`)
	day := time.Now().AddDate(0, 0, -2).Format(time.DateOnly)
	d.eval(`[...document.querySelectorAll('.ranges input')].forEach(i => { i.value = '` + day +
		`'; i.dispatchEvent(new Event('input', { ` +
		`bubbles: true })); })`)
	d.press(`.ranges form button`)
	d.comes("one day", figure(0), "4 0 of them asked for summaries")
	csv := `(async () => { const { csv, sums } = await import('/assets/state/usage.js'); return csv(sums.value); })()`
	text, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](csv, chromedp.EvalAwaitPromise))
	if err != nil || !strings.Contains(text, "model,provider/large,1,") || !strings.Contains(text, "day,"+day+",") {
		t.Errorf("the CSV is %q, %v", text, err)
	}
	d.press(`.ranges [role="radio"]:nth-child(2)`)
	d.comes("thirty days", figure(0), "136 16 of them asked for summaries")
	fill := `(() => { const c = document.querySelector('.plot canvas'); if (!c || !c.width) return ''; const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = {};
		for (let i = 0; i < p.length; i += 4) if (p[i + 3] === 255) { const at = p.slice(i, i + 3).join(); seen[at] = (seen[at] || 0) + 1; }
		return (Object.entries(seen).sort((a, b) => b[1] - a[1])[0] || [''])[0]; })()` // the colour of most of the canvas
	d.eval(`import('/assets/state/theme.js').then(m => { m.theme.value = 'light'; }) && ''`)
	d.comes("drawn in the light colours", fill, "27,144,128")
	d.eval(`import('/assets/state/theme.js').then(m => { m.theme.value = 'dark'; }) && ''`)
	d.comes("drawn again in the dark ones", fill, "54,167,152")
	d.picture("usage dark")
	axe(t, d.ctx, "usage, dark")
	d.eval(`(localStorage.setItem('scrollback.lang', 'zh'), localStorage.setItem('scrollback.theme', 'light'), '')`)
	d.do("usage in Chinese", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(".plot canvas"))
	d.is("nothing is wider than the phone", `document.documentElement.scrollWidth <= innerWidth && `+
		`document.querySelector('.place').scrollWidth <= document.querySelector('.place').clientWidth`, "true")
	d.is("its figures", figure(0), "136 其中请求摘要 16 次")
	axe(t, d.ctx, "usage, phone")
}

// Books without an entry say so.
func TestUsageEmpty(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newBooks(t, true)
	d.do("empty", chromedp.Navigate(d.url+"/#:usage"), chromedp.WaitVisible(".usage .none b"))
	d.is("says so", `document.querySelector('.usage .none b').textContent`, "No model was asked in these days.")
	d.is("no CSV", `document.querySelector('.head .right button').disabled`, "true")
}
