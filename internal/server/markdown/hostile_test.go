package markdown

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scrollback-ai/scrollback/internal/guarded"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// Everything that the HTML may hold, written down a second time: the sanitiser's list must
// not vouch for itself.
var (
	plainElements = strings.Fields(`html head body p br hr h1 h2 h3 h4 h5 h6 blockquote ul ol li dl dt dd em strong del code pre span div figure
		figcaption table thead tbody tr th td sup sub b i u s ins mark kbd samp var small q cite a img input`)
	attributes = map[string]*regexp.Regexp{
		"class": regexp.MustCompile(`^[a-z-]{1,20}$`), "id": regexp.MustCompile(`^md-7-fn`),
		"role":   regexp.MustCompile(`^doc-[a-z]+$`),
		"href":   regexp.MustCompile(`^(?:https?://|mailto:|#|/api/artifacts/[0-9a-f]{64})`),
		"rel":    regexp.MustCompile(`^noopener noreferrer$`),
		"target": regexp.MustCompile(`^_blank$`), "data-seq": regexp.MustCompile(`^[0-9]+$`), "alt": regexp.MustCompile(``),
		"src":     picture(),
		"loading": regexp.MustCompile(`^lazy$`), "type": regexp.MustCompile(`^checkbox$`),
		"checked":  regexp.MustCompile(`^$`),
		"disabled": regexp.MustCompile(`^$`), "start": regexp.MustCompile(`^[0-9]+$`),
	}
	picture = lazyregexp.New(
		`^(?:/api/artifacts/[0-9a-f]{64}\?conversation=[0-9a-f-]{36}|data:image/(?:png|jpeg|gif|webp);base64,[\w+/=]+)$`)
)

// faults returns what HTML holds that it may not.
func faults(t testing.TB, source string) (out []string) {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(source),
		&html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
		case html.ElementNode:
			out = append(out, faulty(n)...)
		default:
			out = append(out, "a node of type "+n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return out
}

func faulty(n *html.Node) (out []string) {
	if n.Namespace != "" {
		out = append(out, "the namespace "+n.Namespace)
	}
	if !slices.Contains(plainElements, n.Data) {
		out = append(out, "<"+n.Namespace+":"+n.Data+">")
	}
	for _, a := range n.Attr {
		of, ok := attributes[a.Key]
		if !ok {
			out = append(out, "the attribute "+a.Key)
			continue
		}
		if a.Namespace != "" || !of.MatchString(a.Val) {
			out = append(out, a.Key+`="`+a.Val+`"`)
		}
		if a.Key != "href" {
			continue
		}
		u, err := url.Parse(a.Val)
		if err != nil || u.Scheme != "" && !slices.Contains([]string{"http", "https", "mailto"}, u.Scheme) ||
			u.Scheme == "" && u.Host != "" {
			out = append(out, "a link to "+a.Val)
		}
	}
	if n.Data == "input" && (len(n.Attr) < 2 ||
		!slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "disabled" })) {
		out = append(out, "an input that takes something")
	}
	return out
}

// settled reports whether HTML means the same when it is written and read again: what changes
// its meaning on the way is how a browser is brought to see what a sanitiser did not.
func settled(t testing.TB, source string) bool {
	t.Helper()
	again := func(s string) string {
		nodes, err := html.ParseFragment(strings.NewReader(s),
			&html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, n := range nodes {
			if err := html.Render(&b, n); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	once := again(source)
	return once == again(once)
}

// vectors returns the ways in which text becomes a program, one of each kind.
func vectors(t testing.TB) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := json.Unmarshal(raw, &out); err != nil || len(out) < 100 {
		t.Fatalf("there are %d vectors, %v", len(out), err)
	}
	return out
}

func TestVectors(t *testing.T) {
	r := New()
	all := vectors(t)
	for i, v := range all {
		next := all[(i*7+3)%len(all)]
		for _, source := range []string{v, "a " + v + " b", "> " + v, "- " + v, "|" + v + "|\n|-|\n", v + v, "**" + v + "**",
			v + next} {
			got := r.RenderHTML(source, here)
			if fs := faults(t, got); len(fs) > 0 {
				t.Errorf("%q holds %v:\n%s", source, fs, got)
			}
			if !settled(t, got) {
				t.Errorf("%q is read in another way when it is read again:\n%s", source, got)
			}
		}
	}
}

// The test above can fail.
func TestFaultsAreFound(t *testing.T) {
	for _, bad := range []string{
		"<script>x</script>", `<p onclick="x">`, `<a href="javascript:x">`, `<a href="//e.example">`, `<svg><p>`,
		"<!-- a -->",
		`<a href="data:x">`,
		`<p id="composer">`, `<p style="x">`, `<img src="https://e.example/x">`, `<math><mi>x</mi></math>`,
		`<input type="checkbox">`, `<p class="one two">`,
	} {
		if len(faults(t, bad)) == 0 {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v)
	}
	for _, source := range cases(f) {
		f.Add(source)
	}
	r := New()
	f.Fuzz(func(t *testing.T, source string) {
		for _, breaks := range []bool{false, true} {
			o := here
			o.Breaks = breaks
			got, ok := r.renderText(source, newDrawing(o), nil)
			if !ok {
				got = PlainHTML(source)
			}
			if fs := faults(t, got); len(fs) > 0 {
				t.Fatalf("%q holds %v:\n%s", source, fs, got)
			}
			if !settled(t, got) {
				t.Fatalf("%q is read in another way when it is read again:\n%s", source, got)
			}
		}
		end := 0
		for _, s := range closedSpans(source) {
			if s.At != end || s.End <= s.At {
				t.Fatalf("of %q the block %v begins elsewhere than %d", source, s, end)
			}
			end = s.End
		}
	})
}

// A block that is closed stays as it is, whatever is said afterwards.
func FuzzBlocks(f *testing.F) {
	for _, source := range cases(f) {
		f.Add(source, "\n\n: a\n===\n| a |\n|---|\n    b\n- c\n$$\n```\n> d\n")
	}
	f.Fuzz(func(t *testing.T, source, more string) {
		before := closedSpans(source)
		after := closedSpans(source + more)
		if len(before) > 0 && len(before) > len(after) {
			t.Fatalf("%q has the blocks %v, and with %q %v", source, before, more, after)
		}
		for i, s := range before {
			if after[i] != s {
				t.Fatalf("%q has the blocks %v, and with %q %v", source, before, more, after)
			}
		}
	})
}

// TestCodeThatLexersNeverEnd draws code on which lexers of chroma match nothing for ever, and code on
// which their expressions backtrack for seconds: it is shown whole, and in time.
func TestCodeThatLexersNeverEnd(t *testing.T) {
	for _, source := range []string{
		"```jsonata\n$replace(x, /\\d/, \"\")\n```\n", "```jsonata\n\\\n```\n", "```jsonata\n?\n```\n", "```jungle\n?\n```\n",
		strings.Repeat("```jsonata\n?\n```\n\n", 40),
	} {
		drawn := make(chan string, 1)
		go func() { drawn <- New().RenderHTML(source, here) }()
		select {
		case got := <-drawn:
			if n := strings.Count(got, "<figure"); n != strings.Count(source, "```\n") {
				t.Errorf("%.40q has %d pieces of code:\n%s", source, n, got)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%.40q is never drawn", source)
		}
	}
}

// A text that is not read in time is shown as it was written, whole; the next is drawn again, and
// one that only had to wait for others is not remembered so.
func TestLateTextsArePlain(t *testing.T) {
	r := New()
	source := strings.Repeat("*a* & <b> ", 100)
	end := make(chan struct{})
	ended := make(chan struct{})
	r.bound = guarded.New(1, time.Millisecond)
	began := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = guarded.Run(r.bound, func() bool { close(began); <-end; return true }) // a text that never ends
	}()
	<-began
	if got := r.RenderHTML(source, here); got != PlainHTML(source) {
		t.Fatalf("%.200s", got)
	}
	close(end)
	<-ended
	r.bound = guarded.New(1, guarded.ReadTime)
	if got := r.RenderHTML(source, here); !strings.Contains(got, "<em>a</em>") {
		t.Errorf("it stays plain: %.200s", got)
	}
}

// TestHardTextsAreDrawnInTime gives the parser what makes parsers of Markdown quadratic, as long as a text may be.
func TestHardTextsAreDrawnInTime(t *testing.T) {
	size := testlength.Choose(40_000, 40_000, MaxChars)
	for _, unit := range []string{
		"[", "![", "*a ", "**a_ ", "`", "<", "<!--", "](", "[a](", "> ", "- ", "$", "$$", "|", "|-", "&", "\\",
		"~~a ", "[^a]", "[a]: <b>\n", "a\n=\n",
		"_a*", "~", "&#", "[a]", "[a][", "<http://a", "</", "<?", "a|", "```\n", "\\(", "\u200b", "#",
		"\t", "[^a]: b\n", "<a ", "$\\frac{", "http://a.", "`` ` ", "* * ", "1. ", "- [ ] ", "|a|b|\n|-|-|\n",
	} {
		source := strings.Repeat(unit, size/len(unit))
		began := time.Now()
		got := New().RenderHTML(source, here)
		took := time.Since(began)
		t.Logf("%q: %v for %d characters, %d bytes of HTML", unit, took, size, len(got))
		if took > 20*time.Second {
			t.Errorf("%q took %v and gave %d bytes", unit, took, len(got))
		}
	}
}
