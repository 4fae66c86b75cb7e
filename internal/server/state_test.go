package server_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback/internal/server/webui"
)

const (
	stateFolder = "webui/assets/state"
	stateTests  = "testdata/state"
)

// bare is a page that holds nothing; each file of tests runs in a worker of its own, where
// there is no document at all.
const bare = `<!doctype html><title>tests</title><script>
const run = (file) => new Promise((resolve) => {
  const w = new Worker('/test/run.js?file=' + file, { type: 'module' });
  const end = (out) => { w.terminate(); resolve(out); };
  w.onmessage = (e) => end(e.data);
  w.onerror = (e) => end({ ran: 0, faults: [e.message || 'the worker did not start'] });
});
</script>`

// ran is what came of one file of tests.
type ran struct {
	Ran    int      `json:"ran"`
	Faults []string `json:"faults"`
}

// The page's state is tested as modules, in a browser, without the page.
func TestState(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	mux := http.NewServeMux()
	mux.Handle("/assets/", webui.Handler(""))
	mux.Handle("/test/", http.StripPrefix("/test", http.FileServer(http.Dir(stateTests))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(bare)) // the browser says so if it got nothing
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL)); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, file string) ran {
		t.Helper()
		out, err := chromedp.Run(ctx, chromedp.Evaluate[ran](`run("`+file+`")`, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := run(t, "faulty.js"); got.Ran != 4 || len(got.Faults) != 3 ||
		!strings.Contains(got.Faults[0], `got {"a":1}, want {"a":2}`) {
		t.Fatalf("of four tests three fail, and the suite says %+v", got)
	}
	for name, text := range texts(t, stateTests) {
		file, ok := strings.CutSuffix(name, ".test.js")
		if !ok {
			continue
		}
		t.Run(file, func(t *testing.T) {
			got := run(t, name)
			if got.Ran == 0 || got.Ran != strings.Count(text, "\ntest(") {
				t.Errorf("%d tests ran", got.Ran)
			}
			for _, f := range got.Faults {
				t.Error(f)
			}
		})
	}
}

// texts returns the files of a folder by name.
func texts(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path.Join(folder, name))
		out[name] = string(text)
		return err
	})
	if err != nil || len(out) < 10 {
		t.Fatalf("%s has %d files, %v", folder, len(out), err)
	}
	return out
}

var (
	remarks = regexp.MustCompile(`(?ms)/\*.*?\*/|(?:^|\s)//[^\n]*`)
	quoted  = regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'`)
	dom     = regexp.MustCompile(`\b(?:document|window|self|navigator|location|history|localStorage|sessionStorage|indexedDB|matchMedia|` +
		`querySelector\w*|getElement\w*|addEventListener|requestAnimationFrame|cancelAnimationFrame|inner(?:Width|Height)|` +
		`scroll(?:To|Top|Height|IntoView)|ResizeObserver|HTML\w*Element)\b|\bhtml` + "`")
	source = regexp.MustCompile(`(?ms)^(?:import|export)\b[^'=]*?\bfrom\s*'([^'\n]+)'|^import\s*'([^'\n]+)'|\bimport\(`)
)

// touches returns the first thing of a browser's page that a module names, or that it imports
// from outside the state; empty if there is none.
func touches(text string) string {
	bare := remarks.ReplaceAllString(text, " ")
	for _, m := range source.FindAllStringSubmatch(bare, -1) {
		from := m[1] + m[2]
		within := strings.HasPrefix(from, "./") && (path.Dir(from) == "." || path.Dir(from) == "words") ||
			path.Dir(from) == "../client"
		if from != "../vendor/signals-core.mjs" && !within {
			return m[0]
		}
	}
	return dom.FindString(quoted.ReplaceAllString(bare, "''"))
}

// State knows no page: neither what is drawn nor the browser's window.
func TestStateIsPure(t *testing.T) {
	tests := strings.Builder{}
	for name, text := range texts(t, stateTests) {
		if strings.HasSuffix(name, ".test.js") {
			tests.WriteString(text)
		}
	}
	for name, text := range texts(t, stateFolder) {
		if found := touches(text); found != "" {
			t.Errorf("%s/%s uses %s", stateFolder, name, found)
		}
		if strings.HasPrefix(name, "words") { // the tables, which words.js joins
			name = "words.js"
		}
		if !strings.Contains(tests.String(), "from '/assets/state/"+name+"'") {
			t.Errorf("%s/%s has no test in %s", stateFolder, name, stateTests)
		}
	}
	for text, want := range map[string]string{
		"const x = document.title;":                 "document",
		"x = window.y":                              "window",
		"a.querySelectorAll('p')":                   "querySelectorAll",
		"localStorage.a":                            "localStorage",
		"history.back()":                            "history",
		"`${location.hash}`":                        "location",
		"html`<p>`":                                 "html`",
		"import { a } from '../view/text.js';":      "import { a } from '../view/text.js'",
		"import { signal } from '@preact/signals';": "import { signal } from '@preact/signals'",
		"import 'preact';":                          "import 'preact'",
		"await import('x')":                         "import(",
		"// the window\nconst s = 'the document';":  "",
		"import { a } from './words.js';":           "",
		"const windowed = 1; x.documents":           "",
	} {
		if got := touches(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}
