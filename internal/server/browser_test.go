package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/scrollback-ai/scrollback/internal/testparallel"
)

// sharedBrowser is one browser for many tests: starting it takes longer than most of them.
type sharedBrowser struct {
	mutex sync.Mutex
	ctx   context.Context // of the browser; nil until a test needs it, done when it has crashed
}

var pageBrowser sharedBrowser

func TestMain(m *testing.M) {
	testparallel.Double()
	code := m.Run()
	pageBrowser.close()
	os.Exit(code)
}

// browser returns a tab that has storage, cookies and connections of its own, for two minutes.
func browser(t *testing.T) context.Context {
	t.Helper()
	return pageBrowser.openTab(t)
}

// openTab starts the browser if there is none, or if a test before has crashed it.
func (b *sharedBrowser) openTab(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	b.mutex.Lock()
	if b.ctx == nil || b.ctx.Err() != nil {
		if err := b.start(path); err != nil {
			b.mutex.Unlock()
			t.Fatal(err)
		}
	}
	shared := b.ctx
	b.mutex.Unlock()
	tab, closeTab := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	// The context ends before the cleanups: servers that close wait for what the page still reads.
	context.AfterFunc(t.Context(), closeTab)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	t.Cleanup(cancel)
	// A tab ends with the context of its first action, which may be a shorter one in the test.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func (b *sharedBrowser) start(path string) error {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en"))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return err
	}
	b.ctx = ctx
	return nil
}

// close waits until the browser has ended and its folder is gone.
func (b *sharedBrowser) close() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.ctx != nil && b.ctx.Err() == nil {
		_ = chromedp.Cancel(b.ctx)
	}
}

// What one test stores is not there in another's tab, and a crash fails only the tests that
// run at that moment.
func TestTabsAreApart(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>a page</title>"))
	}))
	defer srv.Close()
	var own sharedBrowser
	defer own.close()
	const stored = `JSON.stringify([localStorage.getItem('word'), sessionStorage.getItem('word'), document.cookie])`
	read := func(ctx context.Context) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](stored))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := own.openTab(t)
	if err := chromedp.Do(first, chromedp.Navigate(srv.URL)); err != nil {
		t.Fatal(err)
	}
	_, err := chromedp.Run(first, chromedp.Evaluate[string](`localStorage.setItem('word', 'one'), `+
		`sessionStorage.setItem('word', 'two'), document.cookie = 'word=three'`))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(first); got != `["one","two","word=three"]` {
		t.Errorf("the first tab has %s", got)
	}
	second := own.openTab(t)
	if err := chromedp.Do(second, chromedp.Navigate(srv.URL)); err != nil {
		t.Fatal(err)
	}
	if got := read(second); got != `[null,null,""]` {
		t.Errorf("the second tab has %s", got)
	}
	if err := chromedp.FromContext(first).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	<-second.Done()
	if err := chromedp.Do(own.openTab(t), chromedp.Navigate(srv.URL)); err != nil {
		t.Errorf("after a crash: %v", err)
	}
}
