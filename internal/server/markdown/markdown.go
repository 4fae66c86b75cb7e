// Package markdown turns text as people and models write it into HTML that may
// be shown as it is, once for all faces.
//
// Words it adds: block (what stands at the top level of a text: a paragraph, a
// list, a table; one is closed when nothing that follows can change it),
// mention (#123, a message of the conversation).
//
// Invariants: the HTML holds the elements and attributes of one list and no
// others, its last step is the sanitiser that keeps to it; it carries no style
// and no script, loads nothing from outside, and its ids begin with "md-", so
// that they are never those of the page. Nothing of a text disappears: what is
// not understood, HTML too, is shown as it was written. Length, depth, time and
// output are bounded; what is over a bound is shown as plain text.
//
// It knows Markdown, highlighting, and where formulas begin and end: their TeX goes out as it
// was written, and the page draws it. It does not know conversations: what a mention leads to
// is said in [Options].
package markdown

import (
	"bytes"
	"errors"
	"html"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/scrollback-ai/scrollback/internal/guarded"
	"github.com/scrollback-ai/scrollback/internal/highlight"
)

// What is rendered at most. A longer or deeper text is shown as plain text.
const (
	MaxChars  = 200_000
	maxOutput = 4 << 20 // bytes of HTML
)

// Options say where a text stands.
type Options struct {
	Conversation string // whose messages #123 are; empty: there are no mentions
	Head         int64  // the largest number that is a message
	Breaks       bool   // lines end where they were ended, as people write
	Prefix       string // tells the ids of this text from those of others on a page

	Light *highlight.Budget `json:"-"` // the time for colors that several texts share; nil: each has its own
}

// Renderer turns texts into HTML, and remembers what it made of some. It may be used by
// several goroutines at once.
type Renderer struct {
	soft, hard goldmark.Markdown
	policy     *bluemonday.Policy
	made       *htmlCache
	bound      *guarded.Bound
}

// New makes a renderer.
func New() *Renderer {
	return &Renderer{soft: newGrammar(false), hard: newGrammar(true), policy: newPolicy(), made: newCache(cacheBytes),
		bound: guarded.New(2*runtime.GOMAXPROCS(0), guarded.ReadTime)}
}

// RenderHTML returns a text as HTML.
func (r *Renderer) RenderHTML(source string, o Options) string {
	key := o.cacheKey(source)
	if out, ok := r.made.getHTML(key); ok {
		return out
	}
	out, lasting := r.renderCached(source, o, nil)
	if lasting {
		r.made.putHTML(key, out)
	}
	return out
}

// renderCached returns a text as HTML; refs are links that were defined before it. What cannot be
// read, or not in time, is shown as plain text. It is lasting unless other texts had spent
// the time for it or for its colors.
func (r *Renderer) renderCached(source string, o Options, refs []parser.Reference) (out string, lasting bool) {
	type drawn struct {
		html string
		ok   bool
	}
	d := newDrawing(o)
	got, err := guarded.Run(r.bound, func() drawn {
		html, ok := r.renderText(source, d, refs)
		return drawn{html, ok}
	})
	if err != nil || !got.ok {
		return PlainHTML(source), !errors.Is(err, guarded.ErrBusy)
	}
	return got.html, !d.light.IsStarved()
}

// renderText is rendered without a net.
func (r *Renderer) renderText(source string, o *drawState, refs []parser.Reference) (out string, ok bool) {
	if utf8.RuneCountInString(source) > MaxChars || guarded.IsTooDeep(source) {
		return "", false
	}
	md := r.soft
	if o.Breaks {
		md = r.hard
	}
	pc := parser.NewContext()
	for _, ref := range refs {
		pc.AddReference(ref)
	}
	raw := []byte(strings.ToValidUTF8(source, "�"))
	doc := md.Parser().Parse(text.NewReader(raw), parser.WithContext(pc))
	doc.OwnerDocument().AddMeta(metaKey, o)
	var b bytes.Buffer
	if md.Renderer().Render(&b, raw, doc) != nil || b.Len() > maxOutput {
		return "", false
	}
	return r.policy.SanitizeReader(&b).String(), true
}

// PlainHTML returns a text as HTML that shows it as it was written.
func PlainHTML(source string) string {
	return `<pre class="plain">` + html.EscapeString(strings.ToValidUTF8(source, "�")) + "</pre>\n"
}
