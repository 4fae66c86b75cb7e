package server_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
)

// pressed presses an element by what selects it, wherever it is.
func pressed(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void]("document.querySelector(`" + selector + "`).click()")
}

// empty returns a page on a server that holds nothing yet.
func empty(t *testing.T) *pageRig {
	t.Helper()
	sb, err := local.Open(context.Background(), t.TempDir(), &local.Options{Engine: engine.Options{Limit: 8000}})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, o, true))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	ctx := browser(t)
	return &pageRig{T: t, ctx: ctx, url: srv.URL}
}

// Somebody who has never been here opens the sample, finds a sentence in it, compacts it, sees
// what the model sees, and removes it.
func TestPageFirstSteps(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := empty(t)
	d.do("first page", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url),
		chromedp.WaitVisible(".tour .strong"), chromedp.WaitVisible(writing))
	const held = `(() => {
		const x = new XMLHttpRequest();
		x.open("GET", "/api/conversations", false);
		x.send();
		return JSON.parse(x.responseText).conversations.length;
	})()`
	d.is("nothing is stored by looking", held, "0")
	d.do("sample", pressed(".tour .strong"), chromedp.WaitVisible(".samplebar"), chromedp.WaitVisible(`[data-seq="3000"]`),
		until(`document.querySelector('.minimap').getAttribute('aria-valuemax') === '3000'`))
	d.do("the map is drawn in more than one colour", until(`(() => {
		const c = document.querySelector('.minimap canvas');
		const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		const seen = new Set();
		for (let i = 0; i < p.length; i += 4) if (p[i + 3] === 255) seen.add(p[i] >> 4 << 8 | p[i + 1] >> 4 << 4 | p[i + 2] >> 4);
		return seen.size > 2;
	})()`))
	d.do("map", chromedp.Evaluate[chromedp.Void](`(() => {
		const m = document.querySelector('.minimap'), at = m.getBoundingClientRect();
		m.dispatchEvent(new PointerEvent('pointerdown', { pointerId: 1, bubbles: true, clientY: at.top + at.height / 2, clientX: at.left + 20 }));
	})()`), until(`Math.abs(document.querySelector('.minimap').getAttribute('aria-valuenow') - 1500) < 60`))
	d.do("removed", pressed(".samplebar .out"), chromedp.WaitVisible(".tour"), chromedp.WaitNotPresent(".samplebar"))
	d.is("and nothing is left of it", held, "0")
	d.do("first page on a phone", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(".tour"))
}
