package server_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// bySources is where the page is by its sources, whose modules a test may import.
const bySources = "/assets/index.html"

// What somebody waits for who opens the page for the first time.
const (
	mostRequests = 25
	mostBytes    = 250_000
)

// visited is what a browser says about one opening of the page.
type visited struct {
	Requests int      `json:"requests"` // what was asked for at all, the document and the API too
	Bytes    int      `json:"bytes"`    // as they came, with their headers
	Paint    float64  `json:"paint"`    // milliseconds until something was seen
	Names    []string `json:"names"`    // the paths
}

// visit opens an address until it can be written in, and says what that took.
func visit(t *testing.T, d *pageRig, at string) visited {
	t.Helper()
	d.do("visit "+at, chromedp.Navigate("about:blank"), chromedp.Navigate(at), chromedp.WaitVisible(writing),
		chromedp.WaitVisible(".tour .strong"), until(`performance.getEntriesByName('first-contentful-paint').length > 0`))
	v, err := chromedp.Run(d.ctx, chromedp.Evaluate[visited](`(() => {
		const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
		return {
			requests: all.length, bytes: all.reduce((n, r) => n + r.transferSize, 0),
			paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
			names: all.map((r) => new URL(r.name).pathname),
		};
	})()`))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A first visit is few requests and few bytes, and a later one asks for nothing of the page but its document.
func TestPageFirstVisit(t *testing.T) {
	t.Parallel()
	d := empty(t)
	first := visit(t, d, d.url)
	t.Logf("bundle: %d requests, %d bytes, paint at %.0f ms", first.Requests, first.Bytes, first.Paint)
	if first.Requests > mostRequests || first.Bytes > mostBytes || first.Bytes < 50_000 {
		t.Errorf("a first visit is %d requests and %d bytes: %v", first.Requests, first.Bytes, first.Names)
	}
	again := visit(t, d, d.url)
	t.Logf("again: %d requests, %d bytes, paint at %.0f ms", again.Requests, again.Bytes, again.Paint)
	if again.Bytes > first.Bytes/5 {
		t.Errorf("a second visit is %d bytes, the first %d", again.Bytes, first.Bytes)
	}
	for _, name := range first.Names {
		if strings.HasPrefix(name, "/assets/") && !strings.HasPrefix(name, "/assets/bundle/") &&
			!strings.HasSuffix(name, ".svg") && !strings.HasSuffix(name, ".webmanifest") {
			t.Errorf("%s is asked for beside the bundle", name)
		}
	}
	other := empty(t) // has cached nothing
	sources := visit(t, other, other.url+bySources)
	t.Logf("sources: %d requests, %d bytes, paint at %.0f ms", sources.Requests, sources.Bytes, sources.Paint)
	if sources.Requests < 3*first.Requests {
		t.Errorf("by its sources the page is %d requests, the bundle %d", sources.Requests, first.Requests)
	}
}
