package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

const axeFolder = "testdata/vendor"

// flaw is what axe found: a rule that is broken, how badly, and where.
type flaw struct {
	Rule, Impact, Help string
	At                 []string
}

func (f flaw) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", f.Rule, f.Impact, f.Help, strings.Join(f.At, " | "))
}

// flaws returns the serious and critical findings of axe-core on what the browser shows.
func flaws(t *testing.T, ctx context.Context) []flaw {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(axeFolder, "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(window.axe)`))
	if err == nil && !known {
		_, err = chromedp.Run(ctx, chromedp.Evaluate[bool](string(axe)+"\n;true"))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := chromedp.Run(ctx, chromedp.Evaluate[[]flaw](`(async () => {
		const over = document.querySelector('dialog[open]'); // what lies under it cannot be reached
		const found = await axe.run(over || document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
		return found.violations.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => ({ Rule: v.id, Impact: v.impact, Help: v.help,
			At: v.nodes.slice(0, 6).map(n => n.target.join(' ') + (v.id === 'color-contrast' ? ' [' + n.any.map(c => c.data && (c.data.fgColor + ' on ' + c.data.bgColor + ' ' + c.data.contrastRatio)).join() + ']' : '')) }));
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// axe fails on every serious or critical finding; where says what the browser shows.
func axe(t *testing.T, ctx context.Context, where string) {
	t.Helper()
	for _, f := range flaws(t, ctx) {
		t.Errorf("%s: %s", where, f)
	}
}

// The check finds what it is for: on a bad page it names the rules and the elements.
func TestAxeFinds(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>bad</title><main><h1>Bad</h1><button id="nameless"></button>
			<p id="pale" style="color:#ccc;background:#fff">hardly to be read</p><img id="picture" src="data:,"></main></html>`))
	}))
	t.Cleanup(srv.Close)
	ctx := browser(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL), chromedp.WaitVisible("#pale")); err != nil {
		t.Fatal(err)
	}
	found := fmt.Sprint(flaws(t, ctx))
	for _, want := range []string{"button-name (critical)", "#nameless", "color-contrast (serious)", "#pale",
		"image-alt (critical)",
		"#picture"} {
		if !strings.Contains(found, want) {
			t.Errorf("%s is not in %s", want, found)
		}
	}
}

// The file is the one that the table describes.
func TestAxeIsTheFile(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(axeFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([\w.]+\.js) \|.*\| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(table), -1)
	files, err := filepath.Glob(filepath.Join(axeFolder, "*.js"))
	if err != nil || len(rows) != len(files) || len(files) == 0 {
		t.Fatalf("%d rows, %d files, %v", len(rows), len(files), err)
	}
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(axeFolder, row[1]))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != row[2] {
			t.Errorf("%s is not the file that README.md describes (sha256 %x)", row[1], sum)
		}
	}
}

// look is a way in which every part of the page is checked.
type look struct {
	name, theme   string
	width, height int64
}

// The page has no serious finding, in both themes and on a phone.
func TestAxe(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, l := range []look{{"light", "light", 1360, 900}, {"dark", "dark", 1360, 900}, {"phone", "dark", 390, 844}} {
		if l.name == "dark" && testlength.Choose(true, true, false) { // the phone is dark too
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			axeEverywhere(t, l)
		})
	}
}

func axeEverywhere(t *testing.T, l look) {
	h := newHarbour(t)
	h.do("the size", chromedp.EmulateViewport(l.width, l.height))
	id := h.talk("Tides · 潮汐", "harbour", 30, "When is **high water**?",
		"At 11:42, as [#1](#1) asks.\n\n```go\nx := 1\n```",
		"And the report?", "Kept with the datum.")
	if _, err := h.rig.Compact(t.Context(), id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	h.say(id, "Which datum now?", "That of 2026.")
	at := "/#" + string(id)
	parts := []struct {
		name, at, ready string
		then            func()
	}{
		{"chat", at, "#m6", nil},
		{"model view", at, "#m6", func() { h.eval(`document.querySelectorAll('.head .switch button')[1].click()`) }},
		{"palette", at, "#m6", func() {
			h.open()
			h.types("datum report")
			h.comes("hits", `document.querySelectorAll('#found .hit').length > 9`, "true")
		}},
		{"commands", at, "#m6", func() {
			h.open()
			h.types(">")
			h.comes("commands", `document.querySelectorAll('#found .command').length > 9`, "true")
		}},
		{"keys", at, "#m6", func() {
			h.eval(`dispatchEvent(new KeyboardEvent('keydown', { key: '?', shiftKey: true, bubbles: true }))`)
			h.do("keys", chromedp.WaitVisible("dialog.keys"))
		}},
		{"receipts", at, "#m6", func() { h.eval(`document.querySelector('.head [aria-label="Receipts"]').click()`) }},
		{"first page", "/", ".composer", nil},
		{"usage", "/#:usage", ".usage .none, .usage .totals", nil},
		{"settings", "/#:settings", "main", nil},
	}
	for _, part := range parts {
		h.do("leave", chromedp.Navigate(h.url+"/favicon.svg"))
		h.eval(`(localStorage.setItem('scrollback.theme', '` + l.theme + `'), '')`)
		h.do("at "+part.name, chromedp.Navigate(h.url+part.at), chromedp.WaitVisible(part.ready))
		if part.then != nil {
			part.then()
		}
		axe(t, h.ctx, part.name)
		h.picture("axe " + l.name + " " + part.name)
	}
}
