package markdown

import (
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/highlight"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/maths"
)

// metaKey is where a document keeps what its drawing needs.
const metaKey = "drawing"

// drawState is what is known while one text is drawn.
type drawState struct {
	Options
	light *highlight.Budget
}

func newDrawing(o Options) *drawState {
	return &drawState{Options: o, light: o.Light.NewPart(highlight.TextTime)}
}

func findDrawing(n ast.Node) *drawState {
	d, _ := n.OwnerDocument().Meta()[metaKey].(*drawState)
	return d
}

// idPrefix keeps the ids of footnotes from being those of anything else on a page.
func idPrefix(n ast.Node) []byte { return []byte(idPrefixFrom(findDrawing(n).Prefix)) }

var unsafeID = lazyregexp.New(`[^a-zA-Z0-9]+`)

func idPrefixFrom(said string) string { return "md-" + unsafeID().ReplaceAllString(said, "") + "-" }

// nodeDrawer writes the nodes that goldmark does not, or not in our way.
type nodeDrawer struct{}

func (nodeDrawer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindAutoLink, renderAutoLink)
	reg.Register(ast.KindImage, renderImage)
	reg.Register(ast.KindRawHTML, renderTag)
	reg.Register(ast.KindFencedCodeBlock, renderFenced)
	reg.Register(ast.KindCodeBlock, renderIndented)
	reg.Register(tables.KindTable, renderTable)
	reg.Register(kindMention, renderMention)
	reg.Register(maths.KindInline, renderInlineMath)
	reg.Register(maths.KindBlock, renderDisplayedMath)
}

// linkTarget is where something leads.
type linkTarget struct {
	href    string
	outside bool
}

var (
	artifact = lazyregexp.New(`^(?:/api/artifacts/(?:artifact:)?|artifact:)([0-9a-f]{64})(?:\?conversation=[0-9a-f-]{8,36})?$`)
	own      = lazyregexp.New(`^#(?:[0-9a-f]{8}[0-9a-f-]{0,28}(?:/[0-9]{1,12})?|:[a-z]{1,12}(?:/[^\s/]{1,100})?)$`)
	raster   = lazyregexp.New(`^data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$`)
)

// resolveLink judges an address: to other sites, by mail, and within the page.
func (d *drawState) resolveLink(said []byte) (linkTarget, bool) {
	to := strings.TrimSpace(string(said))
	if m := artifact().FindStringSubmatch(to); m != nil {
		return linkTarget{href: d.artifactURL(m[1])}, true
	}
	if own().MatchString(to) {
		return linkTarget{href: to}, true
	}
	to = string(util.URLEscape([]byte(to), true))
	u, err := url.Parse(to)
	if err != nil {
		return linkTarget{}, false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return linkTarget{href: to, outside: true}, u.Host != "" && u.Opaque == ""
	case "mailto":
		return linkTarget{href: to, outside: true}, u.Opaque != ""
	}
	return linkTarget{}, false
}

// artifactURL returns where one is fetched.
func (d *drawState) artifactURL(id string) string {
	if d.Conversation == "" {
		return "/api/artifacts/" + id
	}
	return "/api/artifacts/" + id + "?conversation=" + url.QueryEscape(d.Conversation)
}

// openTag returns the beginning of a link.
func (a linkTarget) openTag(class string) string {
	out := `<a`
	if class != "" {
		out += ` class="` + class + `"`
	}
	out += ` href="` + html.EscapeString(a.href) + `"`
	if a.outside {
		out += ` rel="noopener noreferrer" target="_blank"`
	}
	return out + ">"
}

// isInsideLink reports whether a node stands within a link.
func isInsideLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

// renderLink writes one; one that leads nowhere we go shows where it would.
func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	to, ok := findDrawing(node).resolveLink(n.Destination)
	switch {
	case ok && entering:
		_, _ = w.WriteString(to.openTag(""))
	case ok:
		_, _ = w.WriteString("</a>")
	case !entering && len(n.Destination) > 0:
		_, _ = w.WriteString(` <span class="nowhere">(` + html.EscapeString(string(n.Destination)) + ")</span>")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.AutoLink)
	if !entering {
		return ast.WalkContinue, nil
	}
	said := n.URL(source)
	to := n.URL(source)
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(string(to)), "mailto:") {
		to = append([]byte("mailto:"), to...)
	}
	label := html.EscapeString(string(n.Label(source)))
	if a, ok := findDrawing(node).resolveLink(to); ok && len(said) > 0 && !isInsideLink(node) {
		label = a.openTag("") + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// renderImage writes pictures of ours and those that stand in the text itself. All others are
// links: nothing is fetched from outside.
func renderImage(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	d := findDrawing(node)
	alt := strings.TrimSpace(nodeText(n, source))
	said := strings.TrimSpace(string(n.Destination))
	at := ""
	if m := artifact().FindStringSubmatch(said); m != nil {
		at = d.artifactURL(m[1])
	} else if raster().MatchString(said) {
		at = said
	}
	if at != "" {
		picture := `<img src="` + html.EscapeString(at) + `" alt="` + html.EscapeString(alt) + `" loading="lazy">`
		if strings.HasPrefix(at, "/") && !isInsideLink(n) {
			picture = linkTarget{href: at, outside: true}.openTag("image") + picture + "</a>"
		}
		_, _ = w.WriteString(picture)
		return ast.WalkSkipChildren, nil
	}
	a, ok := d.resolveLink(n.Destination)
	host := ""
	if u, err := url.Parse(a.href); ok && err == nil {
		host = u.Host
	}
	if alt == "" {
		alt = host
	}
	shown := html.EscapeString(alt)
	if host != "" {
		shown += ` <span class="host">` + html.EscapeString(host) + "</span>"
	} else if !ok && said != "" && len(said) < 200 {
		shown += ` <span class="nowhere">(` + html.EscapeString(said) + ")</span>"
	}
	if ok && !isInsideLink(n) {
		shown = a.openTag("image") + shown + "</a>"
	}
	_, _ = w.WriteString(shown)
	return ast.WalkSkipChildren, nil
}

// nodeText returns the text within a node.
func nodeText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(n.Segment.Value(source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *maths.Inline:
			b.WriteString(n.Source)
		case *mentionNode:
			b.WriteString("#" + n.digits)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// renderTag writes a tag of the text: one that counts as it is, all others as text.
func renderTag(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	if name, ok := node.AttributeString(tagAttribute); ok {
		_, _ = w.WriteString("<" + name.(string) + ">")
		return ast.WalkSkipChildren, nil
	}
	segments := node.(*ast.RawHTML).Segments
	for i := range segments.Len() {
		segment := segments.At(i)
		_, _ = w.WriteString(html.EscapeString(string(segment.Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

// renderTable gives one a frame in which it can be scrolled.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"table\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// renderMention links a mention, where there is such a message.
func renderMention(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	digits := node.(*mentionNode).digits
	d := findDrawing(node)
	shown := "#" + digits
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n <= d.Head && d.Conversation != "" &&
		!isInsideLink(node) {
		shown = `<a class="ref" data-seq="` + digits + `" href="#` + html.EscapeString(d.Conversation) + "/" + digits + `">` +
			shown + "</a>"
	}
	_, _ = w.WriteString(shown)
	return ast.WalkContinue, nil
}

// renderInlineMath writes a formula as it was written, for a page that draws it.
func renderInlineMath(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		source := node.(*maths.Inline).Source
		_, _ = w.WriteString(`<code class="formula">` + html.EscapeString(source) + "</code>")
	}
	return ast.WalkContinue, nil
}

// renderDisplayedMath is renderInlineMath for a formula on lines of its own.
func renderDisplayedMath(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n := node.(*maths.Block)
	written := n.Opening + string(node.Lines().Value(source))
	if n.Ended {
		written += n.Closing
	}
	_, _ = w.WriteString(`<pre class="formula">` + html.EscapeString(written) + "</pre>\n")
	return ast.WalkSkipChildren, nil
}
