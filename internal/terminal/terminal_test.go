package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// However a text comes in pieces, its rows are those of the whole; nothing is lost.
func TestRowsInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab cé中文,。-\n")), 0, 200, -1).Draw(t, "text")
		width := rapid.IntRange(4, 30).Draw(t, "width")
		show := func(pieces []string) []string {
			var out []string
			rest := ""
			r := &rowWriter{width: func() int { return width }, style: func(s string) string { return s },
				done: func(row string) { out = append(out, row) }, rest: func(row string) { rest = row }}
			for _, p := range pieces {
				fmt.Fprint(r, p)
			}
			return append(out, rest)
		}
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces = append(pieces, string(rest[:n]))
			rest = rest[n:]
		}
		got := show(pieces)
		squeeze := strings.NewReplacer(" ", "", "\n", "")
		if squeeze.Replace(strings.Join(got, "")) != squeeze.Replace(text) {
			t.Fatalf("%q came as %q", text, got)
		}
		for _, row := range got {
			if displaywidth.String(row) > width {
				t.Fatalf("the row %q is wider than %d", row, width)
			}
		}
	})
}

// A failure is told with what the server said, what to do and how to go on, in both
// languages; what cannot be tried again names no command.
func TestTrouble(t *testing.T) {
	e := scrollback.TurnEntry{State: scrollback.TurnFailed, Retry: true, Content: "ha\x1b[2Jlf",
		Error: &scrollback.Failure{Code: scrollback.Refused, Message: "acme refuses the key", Cause: "no \x07such key",
			Advice: scrollback.AdviceCheckKey, Setting: "ACME_KEY"}}
	for _, c := range []struct {
		texts words.Texts
		want  []string
	}{
		{words.English, []string{"failed\nha", "! acme refuses the key\n! the server said: no",
			"! what to do: check the key in ACME_KEY\n! to have it answered again: again!\n"}},
		{words.Chinese, []string{"失败", "! 服务器的说明：no", "! 怎么办：检查 ACME_KEY 中的密钥\n! 要重新回答：again!\n"}},
	} {
		var b strings.Builder
		if err := (Pages{Texts: c.texts, Again: "again!"}).writeUnanswered(&b, e); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q lacks %q", b.String(), want)
			}
		}
		if strings.ContainsAny(b.String(), "\x1b\x07") {
			t.Errorf("%q holds control characters", b.String())
		}
	}
	e.Retry = false
	e.Error.Setting = ""
	e.Error.Advice = scrollback.AdviceTopUp
	if got := words.English.Left(e); strings.Contains(got, "again") ||
		!strings.HasSuffix(got, "top up the account, or use another key)") {
		t.Errorf("without another try it says %q", got)
	}
	if got := words.Chinese.Left(scrollback.TurnEntry{State: scrollback.TurnOpen}); got != "（正在回答）" {
		t.Errorf("a running turn is %q", got)
	}
}

// Every command has its help.
func TestHelps(t *testing.T) {
	for _, c := range commands() {
		if i18n.Under("chat-help", strings.TrimPrefix(c.name, "/")) == "" {
			t.Errorf("no help for %s", c.name)
		}
	}
}

// TestZones: times of a list, of branches, refs and hits are those of one zone.
func TestZones(t *testing.T) {
	at := time.Date(2026, 3, 5, 10, 30, 0, 0, time.UTC).UnixMilli()
	for name, want := range map[string]string{"Pacific/Kiritimati": "2026-03-06 00:30",
		"America/Los_Angeles": "2026-03-05 02:30"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, show := range map[string]func(w io.Writer) error{
			"list": func(w io.Writer) error {
				return Listing{Zone: zone}.WriteConversations(w, []scrollback.Conversation{{UpdatedAt: at}}, nil)
			},
			"branches": func(w io.Writer) error { return WriteBranches(w, "", []scrollback.BranchEntry{{UpdatedAt: at}}, zone) },
			"refs": func(w io.Writer) error {
				return WriteRefs(w, words.Texts(""), []scrollback.RefEntry{{CreatedAt: at}}, zone)
			},
			"receipts": func(w io.Writer) error {
				return WriteReceipts(w, words.Texts(""), []scrollback.Receipt{{CreatedAt: at}}, zone)
			},
			"picker": func(w io.Writer) error {
				_, err := io.WriteString(w, strings.Join(pickerRows([]scrollback.Conversation{{UpdatedAt: at}}, zone), ""))
				return err
			},
		} {
			var b strings.Builder
			if err := show(&b); err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("%s in %s: %v %q, want %s", what, name, err, b.String(), want)
			}
		}
	}
}

// What a command says when it finds nothing, and what it counts, is in the person's language.
func TestNothingFoundInBothLanguages(t *testing.T) {
	for _, texts := range []words.Texts{words.English, words.Chinese} {
		for want, show := range map[string]func(w io.Writer) error{
			texts.Say(i18n.ChatNoPins): func(w io.Writer) error { return WritePinned(w, texts, nil) },
			texts.Say(i18n.ChatNoRefs): func(w io.Writer) error { return WriteRefs(w, texts, nil, time.UTC) },
			texts.Say(i18n.ChatNoHits): func(w io.Writer) error {
				return WriteHits(w, texts, scrollback.SearchResult{}, time.UTC)
			},
			(texts.Say(i18n.ChatMatch, "1")) + (texts.Say(i18n.ChatMoreUnread, "history:a")): func(w io.Writer) error {
				return WriteMatches(w, texts, scrollback.GrepResult{Total: 1, Unread: []scrollback.Ref{"history:a", "history:b"}})
			},
			(texts.Say(i18n.ChatMatches, "2,000")) + texts.Say(i18n.ChatCutShort): func(w io.Writer) error {
				return WriteMatches(w, texts, scrollback.GrepResult{Total: 2000, Partial: true})
			},
		} {
			var b strings.Builder
			if err := show(&b); err != nil || want == "" || b.String() != want+"\n" {
				t.Errorf("%s: %v %q, want %q", texts, err, b.String(), want)
			}
		}
	}
}

// An error is explained without the operations of those that it wraps.
func TestExplainNamesNoOperation(t *testing.T) {
	inner := scrollback.ParamErrorf("scrollback.Ref", "ref", "%q is not a ref", "x")
	for _, err := range []error{
		scrollback.ParamErrorf("archive.open", "ref", "%w", inner),
		fmt.Errorf("somewhere: %w", scrollback.ParamErrorf("archive.open", "ref", "%w",
			scrollback.ParamErrorf("b.Op", "ref", "%w", inner))),
	} {
		if got := ExplainError(err); got != `"x" is not a ref` {
			t.Errorf("%v is explained as %q", err, got)
		}
	}
	if got := ExplainError(scrollback.ParamErrorf("a.Op", "file", "%s: %w", "f.ipynb",
		inner)); got != `f.ipynb: "x" is not a ref` {
		t.Errorf("it is explained as %q", got)
	}
}

// The next request is described in the person's language: layers, where the window is known from, and
// why messages are not in it.
func TestContextInBothLanguages(t *testing.T) {
	m := scrollback.Manifest{Model: "acme/x", Policy: "segments", Limit: 32768, LimitFrom: scrollback.LimitAssumed,
		Budget: 1000, Tokens: 250,
		Layers:   []scrollback.ManifestLayer{{Name: scrollback.LayerMessages, Tokens: 250}},
		Excluded: []scrollback.Excluded{{FirstSeq: 2, LastSeq: 2, Reason: scrollback.ExcludedLeftOut}}}
	for _, c := range []struct {
		texts words.Texts
		want  []string
	}{
		{words.English, []string{"acme/x · policy segments · window 32,768 tokens (assumed)", "messages  250  25 %", "free",
			"#2  left out"}},
		{words.Chinese, []string{"acme/x · 策略 segments · 窗口 32,768 个 token（暂定）", "消息  250  25 %", "空闲", "#2  不再发送"}},
	} {
		var b strings.Builder
		if err := WriteContext(&b, c.texts, m); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.texts, want, b.String())
			}
		}
		if c.texts == words.Chinese && strings.Contains(b.String(), "budget") {
			t.Errorf("English in the Chinese:\n%s", b.String())
		}
	}
}

// Every layer and every way to know a window has its Chinese.
func TestContextNamesAllInChinese(t *testing.T) {
	for _, l := range scrollback.Layers() {
		if i18n.Under("window-layer", string(l)) == "" {
			t.Errorf("the layer %s has no Chinese", l)
		}
	}
}

// A command that is not known is answered with the one that was probably meant.
func TestNearestCommand(t *testing.T) {
	for typed, want := range map[string]string{"/find": "/search", "/Status": "/context", "/serach": "/search",
		"/comapct": "/compact",
		"/undo":    "/rewind", "/xyzzy": "", "/": ""} {
		if got := nearestCommand(typed); got != want {
			t.Errorf("%s is taken for %q, want %q", typed, got, want)
		}
	}
	for _, to := range commandSynonyms {
		if !slices.ContainsFunc(commands(), func(c command) bool { return c.name == to }) {
			t.Errorf("%s is not a command", to)
		}
	}
}

// The branches that a chat lists fit a terminal of the usual width, and a narrow one.
func TestBranchesFit(t *testing.T) {
	var b strings.Builder
	all := []scrollback.BranchEntry{{ID: "01a21dbb-b006-7f11-a554-67636bf73768", Current: true, HeadSeq: 1200,
		Messages:  1200,
		UpdatedAt: 1795795120246}}
	if err := numberedBranches(&b, words.English, all, time.UTC); err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(b.String(), "\n") {
		if displaywidth.String(row) > rowWidth(60) {
			t.Errorf("%q is wider than %d", row, rowWidth(60))
		}
	}
	if !strings.Contains(b.String(), "*  1    #0  #1200     1,200  2026-11-2") {
		t.Errorf("listed as\n%s", b.String())
	}
}
