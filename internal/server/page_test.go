package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// screenshot is where tests of one picture write it.
var screenshot = flag.String("screenshot", "", "write a picture of the page to this file")

// chromium finds a browser, or says what to install. The one without windows is the same
// but for them, and starts in half the time.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
		t.Fatal("no chromium, and services are required: apt-get install chromium")
	}
	t.Skip("no chromium: apt-get install chromium")
	return ""
}

// longTalk serves a compacted conversation in a window of 8,000 tokens.
func longTalk(t *testing.T) (url string, id scrollback.ConversationID, needles []sample.Needle) {
	t.Helper()
	return longTalkOver(t, func(h http.Handler) http.Handler { return h })
}

// longTalkOver is longTalk behind a network.
func longTalkOver(t *testing.T, network func(http.Handler) http.Handler) (string, scrollback.ConversationID,
	[]sample.Needle) {
	t.Helper()
	sb, err := local.Open(context.Background(), t.TempDir(),
		&local.Options{Database: "memory:", Engine: engine.Options{Limit: 8000}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(network(server.Handler(sb.Engine, sb.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)},
		true)))
	t.Cleanup(func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	var file bytes.Buffer
	_, needles, err := sample.WriteSample(&file, "Depots and stations · 仓库与车站", sample.Options{Seed: 11, Messages: 600})
	if err != nil {
		t.Fatal(err)
	}
	out, err := sb.Import(context.Background(), bytes.NewReader(file.Bytes()), transfer.ImportRequest{Summarize: true})
	if err != nil {
		t.Fatal(err)
	}
	return srv.URL, out.Conversations[0].ID, needles
}

// The page in a real browser: a compacted conversation is opened, asked about in
// Chinese, answered from a compacted message, and the original is one click away.
// Nothing is asked of another host.
func TestPage(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	url, id, needles := longTalk(t)
	n := needles[1]
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(1360, 850),
		chromedp.Navigate(url+"/#"+string(id)),
		chromedp.WaitVisible(".msg"),
		chromedp.SendKeys(".composer textarea", n.Question+"\r"),
		chromedp.WaitVisible("#m604, #m603, #m602"),
		chromedp.WaitNotPresent(".writing"),
		chromedp.Click(`.head button[aria-label="Receipts"]`),
		chromedp.WaitVisible(".receipt .facts .link"),
	)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := chromedp.Run(ctx, chromedp.Text(".msg.assistant:last-of-type"))
	if err != nil || !strings.Contains(answer, n.Code) {
		t.Errorf("asked %q, the page shows %q (%v)", n.Question, answer, err)
	}
	if err := chromedp.Do(ctx, chromedp.Click(".receipt .facts .link"), chromedp.WaitVisible(".original"),
		until(`document.querySelector('.original').innerText !== ''`)); err != nil {
		t.Fatal(err)
	}
	original, err := chromedp.Run(ctx, chromedp.Text(".original"))
	if err != nil || !strings.Contains(original, string(id)) {
		t.Errorf("the original begins %.200q (%v)", original, err)
	}
	foreign, err := chromedp.Run(ctx, chromedp.Evaluate[int](`performance.getEntriesByType("resource").filter(r => `+
		`!r.name.startsWith(location.origin)).length`))
	if err != nil || foreign != 0 {
		t.Errorf("%d requests went to another host (%v)", foreign, err)
	}
}

// A message is pinned on the page, stays in the window when all is compacted, and its pin
// is taken out again.
func TestPagePins(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	ctx := browser(t)
	url, id, _ := longTalk(t)
	pin := `#m599 .ways [aria-label^="Pin"]`
	unpin := `#m599 .ways [aria-label="Unpin"]`
	d := &pageRig{T: t, ctx: ctx, url: url}
	messages := func() int64 {
		t.Helper()
		res, err := http.Get(url + "/api/conversations/" + string(id) + "/context")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var m scrollback.Manifest
		if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
			t.Fatal(err)
		}
		for _, l := range m.Layers {
			if l.Name == scrollback.LayerMessages {
				return l.Tokens
			}
		}
		return 0
	}
	d.do("pins", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(url+"/#"+string(id)),
		chromedp.WaitVisible("#m600"))
	d.presses("pins one", pin)
	d.do("pins it", chromedp.WaitReady(unpin), chromedp.WaitVisible("#m599 .pinned"))
	d.presses("pins panel", `.head button[aria-label="Receipts"]`)
	d.presses("pins afresh", ".afresh button")
	d.presses("pins sure", ".afresh .strong")
	d.do("pins compacted", chromedp.WaitVisible("#m600.compacted"), chromedp.WaitNotPresent(".afresh.trial"))
	if messages() == 0 {
		t.Error("with a pin, compacting everything leaves no message in the window")
	}
	d.presses("pins off", unpin)
	d.do("pins gone", chromedp.WaitReady(pin), chromedp.WaitNotPresent("#m599 .pinned"))
	if n := messages(); n != 0 {
		t.Errorf("without the pin, %d tokens of messages are left", n)
	}
}

// A question is edited and asked again, its answer made again, the first version gone
// back to, and the conversation forked, on the page.
func TestPageBranches(t *testing.T) {
	t.Parallel()
	url, id, _ := longTalk(t)
	branchesOnThePage(t, url, id)
}

// The same where what the server tells of itself comes before what it replies.
func TestPageBranchesLate(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	url, id, _ := longTalkOver(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/rewind") && !strings.HasSuffix(r.URL.Path, "/messages") {
				h.ServeHTTP(w, r)
				return
			}
			reply := httptest.NewRecorder()
			h.ServeHTTP(reply, r)
			select {
			case <-time.After(time.Duration(rand.IntN(400)) * time.Millisecond):
			case <-r.Context().Done():
			}
			maps.Copy(w.Header(), reply.Header())
			w.WriteHeader(reply.Code)
			_, _ = reply.Body.WriteTo(w) // who has left needs no reply
		})
	})
	branchesOnThePage(t, url, id)
}

func branchesOnThePage(t *testing.T, url string, id scrollback.ConversationID) {
	t.Helper()
	ctx := browser(t)
	text := func(sel string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(sel))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	done := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	press := func(sel string) { // wherever it is by now: the page scrolls while it is answered
		t.Helper()
		done(chromedp.Do(ctx, chromedp.WaitReady(sel)))
		if _, err := chromedp.Run(ctx,
			chromedp.Evaluate[string]("document.querySelector('"+sel+"').click(), ''")); err != nil {
			t.Fatal(err)
		}
	}
	done(chromedp.Do(ctx,
		chromedp.EmulateViewport(1360, 850), chromedp.Navigate(url+"/#"+string(id)), chromedp.WaitVisible("#m600"),
		chromedp.SendKeys(".composer textarea", "the first question\r"), chromedp.WaitVisible("#m602"),
		chromedp.WaitNotPresent(".writing")))
	press(`#m601 [aria-label="Edit and ask again"]`)
	done(chromedp.Do(ctx, chromedp.WaitVisible(".editing"),
		chromedp.SendKeys(".composer textarea", ", edited\r"), chromedp.WaitNotPresent(".editing"),
		chromedp.WaitVisible("#m601 .versions"), chromedp.WaitVisible("#m602"), chromedp.WaitNotPresent(".writing")))
	if got := text("#m601 .body"); got != "the first question, edited" {
		t.Errorf("the edited question is %q", got)
	}
	if got := text("#m601 .versions"); got != "‹2/2›" {
		t.Errorf("its versions are %q", got)
	}
	press(`#m602 [aria-label="Answer again"]`)
	done(chromedp.Do(ctx, chromedp.WaitVisible("#m602 .versions"), chromedp.WaitNotPresent(".writing")))
	if got := text("#m602 .versions"); got != "‹2/2›" {
		t.Errorf("the versions of the answer are %q", got)
	}
	if *screenshot != "" {
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(strings.TrimSuffix(*screenshot, ".png")+"-branches.png", picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	press(`#m601 [aria-label="Previous version"]`)
	done(chromedp.Do(ctx, chromedp.WaitNotPresent("#m602 .versions"), chromedp.WaitVisible("#m602")))
	if got := text("#m601 .body"); got != "the first question" {
		t.Errorf("the earlier version is %q", got)
	}
	press(`#m601 [aria-label="Continue from here in a new conversation"]`)
	done(chromedp.Do(ctx, chromedp.WaitNotPresent("#m602"), chromedp.WaitVisible("#m601")))
	where, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.hash`))
	if err != nil || strings.Contains(where, string(id)) || len(where) < 30 {
		t.Errorf("the fork is at %q, %v", where, err)
	}
}

// A turn that failed is shown after its question, with what the server said and what to do,
// and stays there once it was answered again; a fork is in the list at once.
func TestPageFailure(t *testing.T) {
	t.Parallel()
	refused := scrollback.Errorf(scrollback.Refused, "test", "acme refuses the key").WithAdvice(scrollback.AdviceCheckKey,
		"ACME_KEY")
	refused.Cause = "no such key"
	r := enginetest.New(t, enginetest.Options{}, modeltest.Step{Err: refused}, modeltest.Say("well then"))
	id := r.NewConversation()
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	ctx := browser(t) // ends first, and with it the streams that it reads
	shows := func(what, sel string, want ...string) {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(sel))
		for _, w := range want {
			if err != nil || !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q, %v", what, got, w, err)
			}
		}
	}
	whole := []string{"No answer: acme refuses the key", "The server said: no such key", "Check the key in ACME_KEY."}
	err := chromedp.Do(ctx, chromedp.EmulateViewport(1360, 850), chromedp.Navigate(srv.URL+"/#"+string(id)),
		chromedp.WaitVisible(".composer textarea"), chromedp.SendKeys(".composer textarea", "first\r"),
		chromedp.WaitVisible("#m1 + .unanswered"))
	if err != nil {
		t.Fatal(err)
	}
	shows("after the failure", ".unanswered", whole...)
	err = chromedp.Do(ctx, chromedp.Click(".unanswered .trouble button"), chromedp.WaitVisible(".unanswered + #m2"),
		chromedp.WaitNotPresent(".writing"), chromedp.WaitNotPresent(".unanswered button"),
		chromedp.Reload(), chromedp.WaitVisible("#m1 + .unanswered"))
	if err != nil {
		t.Fatal(err)
	}
	shows("answered again", "#m2", "well then")
	shows("and read later", ".unanswered", whole...)
	fork := `document.querySelector('#m2 [aria-label="Continue from here in a new conversation"]').click(), ''`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](fork)); err != nil {
		t.Fatal(err)
	}
	err = chromedp.Do(ctx,
		chromedp.WaitVisible(".rows .row ~ .row"))
	if err != nil {
		t.Fatal(err)
	}
	shows("the fork in the list", ".rows .group + .row", "copy of first")
	shows("and what it inherits", ".unanswered", whole...)
}

// Receipts say in full why a model gave no summary, and that they are inherited or undone:
// a fork no longer lists what it undid, its parent does. A turn that failed with an answer
// begun has one head.
func TestPageReceipts(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	said := modeltest.Step{Reply: func(q model.Request) []model.Delta {
		if len(q.Tools) == 0 { // asked for a summary
			return []model.Delta{{Text: "fine"}}
		}
		return []model.Delta{{Text: strings.Repeat("It was measured at the pier. ", 30)}}
	}}
	broken := modeltest.Step{Deltas: []model.Delta{{Text: "Well, the"}},
		Err: scrollback.Errorf(scrollback.Refused, "test", "acme refuses")}
	r := enginetest.New(t, enginetest.Options{Summaries: true, NoFolds: true}, said, said, said, said, broken, said)
	id := r.NewConversation()
	for i := range 4 {
		r.Ask(id, fmt.Sprintf("When is the tide of day %d?", i))
	}
	r.Ask(id, "and tomorrow?")
	if _, err := r.Compact(t.Context(), id, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	copied, err := r.Branches().Fork(t.Context(), id, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	ctx := browser(t) // ends first, and with it the streams that it reads
	err = chromedp.Do(ctx, chromedp.EmulateViewport(1360, 850), chromedp.Navigate(srv.URL+"/#"+string(copied.ID)),
		chromedp.WaitVisible("#m10 + .unanswered .trouble"), chromedp.Click(`.head button[aria-label="Receipts"]`),
		chromedp.WaitVisible(".receipt .facts"))
	if err != nil {
		t.Fatal(err)
	}
	says := func(want ...string) {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(".receipts"))
		for _, w := range want {
			if err != nil || !strings.Contains(got, w) {
				t.Errorf("the receipts lack %q: %q, %v", w, got, err)
			}
		}
	}
	says("refused: ", "inherited")
	for what, script := range map[string]string{
		"lines of receipts are cut off": `[...document.querySelectorAll('.receipt *')].filter(s => s.scrollWidth ` +
			`> s.clientWidth + 1 && getComputedStyle(s).display !== 'inline').length`,
		"heads besides the message's": `document.querySelectorAll('#m10 + .unanswered .seq').length`,
	} {
		if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](script)); err != nil || n != 0 {
			t.Errorf("%d %s, %v", n, what, err)
		}
	}
	undo := func(then ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		err := chromedp.Do(ctx, append([]chromedp.Action[chromedp.Void]{chromedp.Click(".receipt .inside > .acts button"),
			chromedp.WaitVisible(".trial"), chromedp.Click(".trial .strong")}, then...)...)
		if err != nil {
			t.Fatal(err)
		}
	}
	undo(chromedp.WaitVisible(".none"), chromedp.Navigate(srv.URL+"/#"+string(id)),
		chromedp.WaitVisible(".receipt .facts"))
	undo(chromedp.WaitVisible(".receipt.undone .facts"))
	says("refused: ", "undone")
}

// The address and what is shown follow each other, forwards and back, and the theme and
// the language are kept by the browser.
func TestPageAddress(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	ctx := browser(t)
	url, id, _ := longTalk(t)
	at := func(want string, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		err := chromedp.Do(ctx, steps...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.hash`)); err != nil || got != want {
			t.Errorf("the address is %q, want %q (%v)", got, want, err)
		}
	}
	here := "#" + string(id)
	at("", chromedp.EmulateViewport(1360, 850), chromedp.Navigate(url), chromedp.WaitVisible(".opening"),
		chromedp.WaitVisible(".row a"))
	at(here, chromedp.Click(".row a"), chromedp.WaitVisible("#m600"))
	at(here+"/599", chromedp.Click("#m599 .seq"), chromedp.WaitVisible("#m599.lit"))
	at("", chromedp.Click(".new"), chromedp.WaitVisible(".opening"))
	at(here+"/599", chromedp.NavigateBack(), chromedp.WaitVisible("#m599.lit"))
	at(here, chromedp.NavigateBack())
	at(here+"/2", chromedp.Navigate(url+"/"+here+"/2"), chromedp.Reload(), chromedp.WaitVisible("#m2.lit"))
	at(here+"/2", chromedp.Click(`.sidebar [title="Switch to Chinese"]`), chromedp.Click(`.sidebar [title^="主题"]`),
		chromedp.Reload(),
		chromedp.WaitVisible(`html[lang="zh-CN"][data-theme="light"] #m2`))
}
