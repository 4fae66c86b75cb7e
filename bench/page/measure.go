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
func measurePage(ctx context.Context, s size) ([]row, error) {
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
	var rows []row
	for _, look := range []func(context.Context, *place, size) ([]row, error){measureOpening, measureScrolling,
		measureStreaming} {
		more, err := look(ctx, p, s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
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

// medianOf returns the middle of an odd number of numbers.
func medianOf(xs []float64) float64 { slices.Sort(xs); return xs[len(xs)/2] }

// measureOpening returns what the page weighs and when it is there, with many conversations in the list.
func measureOpening(ctx context.Context, p *place, s size) ([]row, error) {
	weight := `performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).reduce((n, r) => n + r.transferSize, 0)`
	paint := `(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: -1}).startTime`
	var painted, usable []float64
	var first, cold, again, files float64
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
			cold = painted[0]
			if files, err = scriptNumber(ctx, `performance.getEntriesByType('resource').length + 1`); err != nil {
				return nil, err
			}
		}
	}
	rowsShown, err := scriptNumber(ctx, `document.querySelectorAll('.sidebar *').length`)
	if err != nil {
		return nil, err
	}
	return []row{
		{fmt.Sprintf("bytes of the first visit, %d conversations, %.0f requests", s.conversations, files), formatKilo(first)},
		{"bytes of the next visit", formatKilo(again)},
		{"first paint of the first visit", fmt.Sprintf("%.0f ms", cold)},
		{"first paint", fmt.Sprintf("%.0f ms", medianOf(painted))},
		{"a chat that can be written in, with its list", fmt.Sprintf("%.0f ms", medianOf(usable))},
		{"elements of the list in the page", fmt.Sprintf("%.0f", rowsShown)},
	}, nil
}

func formatKilo(n float64) string { return fmt.Sprintf("%.0f KB", n/1000) }
func formatMega(n float64) string { return fmt.Sprintf("%.1f MB", n/1e6) }

const heap = `performance.memory.usedJSHeapSize`

// frameTimes returns how the frames since the last call were.
func frameTimes(ctx context.Context, what string) ([]row, error) {
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
	return []row{{what + ": frames longer than 50 ms", fmt.Sprintf("%.0f of %.0f", long, all)},
		{what + ": the longest", fmt.Sprintf("%.0f ms", worst)}}, nil
}

// measureScrolling goes through a very long conversation, by the wheel and by jumps.
func measureScrolling(ctx context.Context, p *place, s size) ([]row, error) {
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
	rows, err := frameTimes(ctx, "scrolling 180,000 px upwards")
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
	return append(rows, row{fmt.Sprintf("memory of the scripts at the end of %d messages", s.messages),
		formatMega(before)},
		row{"memory after scrolling and 20 jumps", formatMega(after)},
		row{"messages in the page after that", fmt.Sprintf("%.0f", held)}), nil
}

// measureStreaming reads a very long answer as it is written.
func measureStreaming(ctx context.Context, p *place, s size) ([]row, error) {
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
	rows, err := frameTimes(ctx, fmt.Sprintf("an answer of %d words", s.words))
	if err != nil {
		return nil, err
	}
	n, err := scriptNumber(ctx, heap)
	return append(rows, row{"memory after it", formatMega(n)}), err
}
