package server_test

import (
	"context"
	"time"

	"github.com/chromedp/chromedp"
)

// press clicks what a selector finds, wherever it is by now.
func (d *pageRig) press(sel string) {
	d.Helper()
	d.until(sel, "document.querySelector(`"+sel+"`) !== null && !document.querySelector(`"+sel+"`).disabled")
	d.eval("(document.querySelector(`" + sel + "`).click(), 1)")
}

// until waits for a script to be true.
func (d *pageRig) until(what, script string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, time.Minute)
	defer cancel()
	look := `new Promise((done) => { const look = () => { let yes = false; try { yes = Boolean(` + script + `); } catch { /* not there yet */ }
		if (yes) done('yes'); else setTimeout(look, 30); }; look(); })`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); err != nil {
		d.Fatalf("%s: %v; the page shows %.900s", what, err, d.eval(`location.hash + document.body.innerText`))
	}
}
