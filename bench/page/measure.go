//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// watcher runs in the page before anything else: it notes when the page can be used, and how
// long the time between two frames was.
const watcher = `
window.bench = { frames: [], usable: 0 };
(function tick(last) {
  requestAnimationFrame((now) => {
    if (last) bench.frames.push(now - last);
    const box = document.querySelector('.composer textarea');
    if (!bench.usable && box && !box.disabled && document.querySelector('.sidebar a[href^="#"]')) bench.usable = performance.now();
    tick(now);
  });
})(0);`

// measurePage fills a server and looks at it in a browser.
func measurePage(ctx context.Context, s size) ([]measured.Number, error) {
	p, err := fillServer(ctx, s)
	if err != nil {
		return nil, err
	}
	defer p.end()
	path, err := exec.LookPath("chromium")
	if err != nil { // the one without windows draws the same
		path, err = exec.LookPath("chromium-headless-shell")
	}
	if err != nil {
		return nil, fmt.Errorf("no chromium: apt-get install chromium: %w", err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("enable-precise-memory-info", true), chromedp.Flag("lang", "en"))
	ctx, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	err = chromedp.Do(ctx, chromedp.EmulateViewport(1360, 900),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
				page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
			return err
		}))
	if err != nil {
		return nil, err
	}
	var all []measured.Number
	for _, look := range []func(context.Context, *place, size) ([]measured.Number, error){measureOpening, measureScrolling,
		measureStreaming} {
		more, err := look(ctx, p, s)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// scriptNumber returns what a script comes to.
func scriptNumber(ctx context.Context, script string) (float64, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[float64](script))
}

// waitUntil waits until a script is true, for at most a while.
func waitUntil(ctx context.Context, script string, most time.Duration) error {
	return chromedp.Do(ctx, chromedp.Poll[chromedp.Void](script, chromedp.WithPollingTimeout(most)))
}

const rounds = 5

// oneNumber returns a number of one round.
func oneNumber(what string, value float64, unit string) measured.Number {
	return measured.Number{What: what, Value: value, Unit: unit}
}

// measureOpening returns what the page weighs and when it is there, with many conversations in the list.
func measureOpening(ctx context.Context, p *place, s size) ([]measured.Number, error) {
	weight := `performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).reduce((n, r) => n + r.transferSize, 0)`
	paint := `(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: -1}).startTime`
	var painted, usable []float64
	var first, again, files float64
	for i := range rounds {
		err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(p.url))
		if err == nil {
			err = waitUntil(ctx, `window.bench && bench.usable > 0 && `+paint+` > 0`, time.Minute)
		}
		if err != nil {
			return nil, fmt.Errorf("opening: %w", err)
		}
		for script, to := range map[string]*[]float64{paint: &painted, `bench.usable`: &usable} {
			n, err := scriptNumber(ctx, script)
			if err != nil {
				return nil, err
			}
			*to = append(*to, n)
		}
		if again, err = scriptNumber(ctx, weight); err != nil {
			return nil, err
		}
		if i == 0 {
			first = again
			if files, err = scriptNumber(ctx, `performance.getEntriesByType('resource').length + 1`); err != nil {
				return nil, err
			}
		}
	}
	elements, err := scriptNumber(ctx, `document.querySelectorAll('.sidebar *').length`)
	if err != nil {
		return nil, err
	}
	out := []measured.Number{
		oneNumber("bytes of the first visit", first/1000, "KB"),
		oneNumber("requests of the first visit", files, ""),
		oneNumber("bytes of the next visit", again/1000, "KB"),
		oneNumber("first paint of the first visit", painted[0], "ms"),
	}
	for i := range rounds {
		out = append(out, measured.Number{What: "first paint", Round: i, Value: painted[i], Unit: "ms"},
			measured.Number{What: "a chat that can be written in, with its list", Round: i, Value: usable[i], Unit: "ms"})
	}
	return append(out, oneNumber("elements of the list in the page", elements, "")), nil
}

const heap = `performance.memory.usedJSHeapSize`

// frameTimes returns how the frames since the last call were.
func frameTimes(ctx context.Context, what string) ([]measured.Number, error) {
	long, err := scriptNumber(ctx, `bench.frames.filter((x) => x > 50).length`)
	if err != nil {
		return nil, err
	}
	all, err := scriptNumber(ctx, `bench.frames.length`)
	if err != nil {
		return nil, err
	}
	worst, err := scriptNumber(ctx, `Math.max(0, ...bench.frames)`)
	if err != nil {
		return nil, err
	}
	return []measured.Number{oneNumber(what+": frames longer than 50 ms, of a thousand", 1000*long/max(all, 1), ""),
		oneNumber(what+": the longest frame", worst, "ms")}, nil
}

// measureScrolling goes through a very long conversation, by the wheel and by jumps.
func measureScrolling(ctx context.Context, p *place, s size) ([]measured.Number, error) {
	err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(p.addressOf(p.long)))
	if err == nil {
		err = waitUntil(ctx, fmt.Sprintf(`document.querySelector('[data-seq="%d"]')`, s.messages), time.Minute)
	}
	if err != nil {
		return nil, fmt.Errorf("a long conversation: %w", err)
	}
	before, err := scriptNumber(ctx, heap)
	if err != nil {
		return nil, err
	}
	up := `bench.frames.length = 0; bench.left = 600; (function up() { const b = document.querySelector('main .scroll'); b.scrollTop -= 300; if (--bench.left > 0) requestAnimationFrame(up); })()`
	if err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](up)); err == nil {
		err = waitUntil(ctx, `bench.left <= 0`, 2*time.Minute)
	}
	if err != nil {
		return nil, fmt.Errorf("scrolling: %w", err)
	}
	out, err := frameTimes(ctx, "scrolling 180,000 px upwards")
	if err != nil {
		return nil, err
	}
	for i := range 20 {
		seq := max(1, s.messages*(19-i)/20)
		jump := fmt.Sprintf(`location.hash = location.hash.split('/')[0] + '/%d'`, seq)
		if err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](jump)); err == nil {
			err = waitUntil(ctx, fmt.Sprintf(`document.querySelector('[data-seq="%d"]')`, seq), time.Minute)
		}
		if err != nil {
			return nil, fmt.Errorf("a jump to %d: %w", seq, err)
		}
	}
	after, err := scriptNumber(ctx, heap)
	if err != nil {
		return nil, err
	}
	held, err := scriptNumber(ctx, `document.querySelectorAll('main [data-seq]:not(a)').length`)
	if err != nil {
		return nil, err
	}
	return append(out, oneNumber(fmt.Sprintf("memory of the scripts at the end of %d messages", s.messages), before/1e6,
		"MB"), oneNumber("memory after scrolling and 20 jumps", after/1e6, "MB"),
		oneNumber("messages in the page after that", held, "")), nil
}

// measureStreaming reads a very long answer as it is written.
func measureStreaming(ctx context.Context, p *place, s size) ([]measured.Number, error) {
	err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(p.addressOf(p.talk)),
		chromedp.WaitVisible(".composer textarea"),
		chromedp.Evaluate[chromedp.Void](`bench.frames.length = 0`),
		chromedp.SendKeys(".composer textarea", "Talk, please.\r"))
	if err == nil {
		err = waitUntil(ctx, `document.querySelector('[data-seq="2"]')`, 5*time.Minute)
	}
	if err != nil {
		return nil, fmt.Errorf("a long answer: %w", err)
	}
	out, err := frameTimes(ctx, fmt.Sprintf("an answer of %d words", s.words))
	if err != nil {
		return nil, err
	}
	n, err := scriptNumber(ctx, heap)
	return append(out, oneNumber("memory after it", n/1e6, "MB")), err
}
