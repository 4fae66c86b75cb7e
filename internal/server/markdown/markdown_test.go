package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/guarded"
)

var update = flag.Bool("update", false, "write what is rendered into the golden files")

// here is where the texts of the tests stand.
var here = Options{Conversation: "01a204b3-3c59-7736-968c-8090cec2cfbc", Head: 12, Prefix: "7"}

func cases(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.md")
	if err != nil || len(names) < 8 {
		t.Fatalf("the cases are %v, %v", names, err)
	}
	out := map[string]string{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(raw)
	}
	return out
}

func TestGolden(t *testing.T) {
	r := New()
	for name, source := range cases(t) {
		got, ok := r.renderText(source, newDrawing(here), nil)
		if !ok {
			t.Errorf("%s is shown as plain text", name)
		}
		at := strings.TrimSuffix(name, ".md") + ".html"
		if *update {
			if err := os.WriteFile(at, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: it is\n%s\nand should be\n%s", name, got, want)
		}
	}
}

// Lines of what people write end where they were ended.
func TestBreaks(t *testing.T) {
	o := here
	o.Breaks = true
	if got := New().RenderHTML("one\ntwo\n\nthree", o); got != "<p>one<br>\ntwo</p>\n<p>three</p>\n" {
		t.Errorf("it is %q", got)
	}
}

// The same text elsewhere is another one, and the cache stays within its bounds.
func TestCache(t *testing.T) {
	r := New()
	long := strings.Repeat("See #12 and[^1]. ", 40) + "\n\n[^1]: x\n"
	first := r.RenderHTML(long, here)
	other := here
	other.Head = 3
	other.Prefix = "8"
	if first != r.RenderHTML(long, here) {
		t.Error("it changes")
	}
	if got := r.RenderHTML(long, other); strings.Contains(got, `class="ref"`) || !strings.Contains(got, "md-8-fn:1") {
		t.Errorf("elsewhere it is %.300s", got)
	}
	c := newCache(10_000)
	for i := range 100 {
		c.putHTML([32]byte{byte(i)}, strings.Repeat("x", 900))
	}
	if c.bytes > 10_000 || c.order.Len() != len(c.by) || len(c.by) != 11 {
		t.Errorf("it holds %d bytes of %d texts", c.bytes, len(c.by))
	}
	if _, ok := c.getHTML([32]byte{99}); !ok {
		t.Error("the newest is gone")
	}
}

// Texts over a bound are shown as they are.
func TestBounds(t *testing.T) {
	r := New()
	for name, source := range map[string]string{
		"long": strings.Repeat("字", MaxChars+1), "deep": strings.Repeat("> ", 5000) + "a",
		"deep list": strings.Repeat("- ", 2500) + "a",
		"big":       strings.Repeat("#1 \n\n", 39_999),
	} {
		got := r.RenderHTML(source, here)
		if name != "big" && got != PlainHTML(source) {
			t.Errorf("%s: it is %.200s", name, got)
		}
		if len(got) > maxOutput {
			t.Errorf("%s: it has %d bytes", name, len(got))
		}
	}
	if got := r.RenderHTML(strings.Repeat("- ", 40)+"\n", here); !strings.Contains(got, "<hr>") {
		t.Errorf("a rule is %s", got)
	}
	wide := strings.Repeat("|a", 150) + "\n" + strings.Repeat("|-", 150) + "\n" + strings.Repeat("|\n", 20_000)
	if got := r.RenderHTML(wide, here); strings.Contains(got, "<table") || strings.Count(got, "|") < 20_000 {
		t.Errorf("a table of three million cells is %.200s", got)
	}
	if got := r.RenderHTML("a\xff\x00b", here); got != "<p>a��b</p>\n" {
		t.Errorf("what is not text is %q", got)
	}
}

// Texts that are written against the renderer cost no more than others; the bound is far
// from what they take, and near to nothing of what they took without bounds of their own.
func TestHostileShapes(t *testing.T) {
	r := New()
	r.bound = guarded.New(1, time.Minute) // what is read in time does not depend on what else the machine does
	for _, piece := range []string{"*a_ ", "[a](", `\(`, "![", "`", "<a ", "~~a ", "$a", "|", "[^1]", "<!-- ", "&",
		"a**b*"} {
		source := strings.Repeat(piece, MaxChars/len(piece))
		if got := r.RenderHTML(source, here); got == "" || got == PlainHTML(source) {
			t.Errorf("%q is shown as %.100q", piece, got)
		}
	}
}

// closedSpans returns the closed blocks of a text that may go on: they join up from its beginning,
// and what follows the last of them is still open. Several that could be told apart only
// by what stands around them may be one.
func closedSpans(source string) []Span {
	s := blockSplitter{}
	var out []Span
	closed, _ := s.addText(source)
	for _, b := range closed {
		out = append(out, b.Span)
	}
	return out
}

// spans joins the characters of spans.
func covered(source string, spans []Span) string {
	runes := []rune(source)
	out := ""
	for _, s := range spans {
		out += string(runes[s.At:s.End])
	}
	return out
}

// Closed blocks join up, hold whole lines, and are not changed by anything that follows.
func TestBlocks(t *testing.T) {
	for name, source := range cases(t) {
		all := closedSpans(source + "\n\nThe end.\n")
		if got := covered(source+"\n\nThe end.\n", all); !strings.HasPrefix(got, strings.TrimRight(source, "\n")) &&
			name != "testdata/maths.md" {
			t.Errorf("%s: only %q is closed", name, got)
		}
		for n := range utf8.RuneCountInString(source) {
			part := string([]rune(source)[:n])
			for i, s := range closedSpans(part) {
				if s.At != at0(i, all) || !contains(all, s) {
					t.Fatalf("%s: after %q the block %v is closed; in the end they are %v", name, part, s, all)
				}
			}
		}
	}
}

func at0(i int, all []Span) int {
	if i >= len(all) {
		return -1
	}
	return all[i].At
}

func contains(all []Span, s Span) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// What follows may still change a block that looks complete.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		source string
		closed int // characters
	}{
		{"", 0}, {"a", 0}, {"a\n", 0}, {"a\n\n", 0}, {"a\n\nb", 0}, {"a\n\nb\n", 3}, {"a\n\n: b\n", 0}, {"- a\n\n  b\n", 0},
		{"- a\n\n- b\n", 0},
		{"- a\n\nb\n", 5}, {"```\na\n\nb\n", 0}, {"```\na\n```\nb\n", 10}, {"# a\nb\n", 4}, {"a\n# b\n", 0},
		{"a\n| b |\n|---|\n", 0},
		{"> a\n\nb\n", 5}, {"$$\na\n$$\nb\n", 8}, {"$$\na\nb\n", 0}, {"a\n\n    b\n", 3}, {"<div>\n\nb\n", 7},
		{"字。\n\n𝒳\n", 4}, {"a\r\n\r\nb\r\n", 5},
	} {
		n := 0
		for _, s := range closedSpans(c.source) {
			n = s.End
		}
		if n != c.closed {
			t.Errorf("of %q %d characters are closed, not %d", c.source, n, c.closed)
		}
	}
}

// However a text arrives, its blocks cover it from the beginning without a gap, and together
// they are the text rendered at once.
func TestStream(t *testing.T) {
	r := New()
	for name, source := range cases(t) {
		for _, size := range []int{1, 3, 7, 1000} {
			s := r.NewStream(here)
			html := ""
			end := 0
			runes := []rune(source + "\n\nThe end.\n")
			for i := 0; i < len(runes); i += size {
				for _, b := range s.AddText(string(runes[i:min(i+size, len(runes))])) {
					if b.At != end || b.End <= b.At {
						t.Fatalf("%s: block %d covers %v behind %d", name, b.Index, b.Span, end)
					}
					end = b.End
					html += b.HTML
				}
			}
			if s.CharCount() != len(runes) {
				t.Errorf("%s: it was given %d characters, not %d", name, s.CharCount(), len(runes))
			}
			if strings.Contains(source, "[^") || strings.Contains(source, "]: ") {
				continue // what is defined behind a block is not known yet
			}
			if whole := r.RenderHTML(string(runes[:end]), here); html != whole {
				t.Errorf("%s in pieces of %d: the blocks are\n%s\nand the whole is\n%s", name, size, html, whole)
			}
		}
	}
	s := r.NewStream(here)
	got := fmt.Sprint(s.AddText("[a]: https://example.com\n\n[a]\n\nb\n"))
	if !strings.Contains(got, `href="https://example.com"`) {
		t.Errorf("a link that was defined before is %s", got)
	}
}
