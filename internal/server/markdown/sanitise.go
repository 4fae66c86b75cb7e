package markdown

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Attributes and the values that they may have; what is not here is taken away.
var (
	classNames = lazyregexp.New(`^(?:ref|image|host|nowhere|table|code|plain|formula|left|right|center|footnotes|footnote-ref|footnote-backref|` +
		`tok-[a-z]{1,10})$`)
	href   = lazyregexp.New(`^(?:https?://|mailto:|#|/api/artifacts/[0-9a-f]{64}(?:\?conversation=[0-9a-f-]{1,36})?$)`)
	src    = lazyregexp.New(`^(?:/api/artifacts/[0-9a-f]{64}(?:\?conversation=[0-9a-f-]{1,36})?|data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2})$`)
	id     = lazyregexp.New(`^md-[a-zA-Z0-9]*-fn(?:ref)?[0-9]*:[0-9]+$`)
	number = lazyregexp.New(`^[0-9]{1,10}$`)
)

// newPolicy returns the list of what the HTML may hold.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "dl", "dt", "dd",
		"em", "strong", "del",
		"code", "pre", "span", "div", "figure", "figcaption", "table", "thead", "tbody", "tr", "th", "td", "sup", "sub", "b",
		"i", "u", "s", "ins",
		"mark", "kbd", "samp", "var", "small", "q", "cite", "a", "img", "input")
	p.AllowAttrs("class").Matching(classNames()).Globally()
	p.AllowAttrs("id").Matching(id()).OnElements("li", "sup")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^doc-(?:noteref|backlink|endnotes)$`)).OnElements("a", "div")
	p.AllowAttrs("start").Matching(number()).OnElements("ol")

	p.AllowStandardURLs()
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireNoFollowOnLinks(false)
	p.AllowRelativeURLs(true)
	p.AllowDataURIImages()
	p.AllowAttrs("href").Matching(href()).OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^noopener noreferrer$`)).OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowAttrs("data-seq").Matching(number()).OnElements("a")
	p.AllowAttrs("src").Matching(src()).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("loading").Matching(regexp.MustCompile(`^lazy$`)).OnElements("img")

	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	return p
}
