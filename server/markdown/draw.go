package markdown

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/highlight"
	"github.com/scrollback-ai/scrollback/internal/maths"
)

// metaKey is where a document keeps what its drawing needs.
const metaKey = "drawing"

// drawing is what is known while one text is drawn.
type drawing struct {
	Options
	light *highlight.Budget
}

func newDrawing(o Options) *drawing {
	return &drawing{Options: o, light: o.Light.Part(highlight.TextTime)}
}

func drawingOf(n ast.Node) *drawing {
	d, _ := n.OwnerDocument().Meta()[metaKey].(*drawing)
	return d
}

// idPrefix keeps the ids of footnotes from being those of anything else on a page.
func idPrefix(n ast.Node) []byte { return []byte(prefixOf(drawingOf(n).Prefix)) }

var unsafeID = regexp.MustCompile(`[^a-zA-Z0-9]+`)

func prefixOf(said string) string { return "md-" + unsafeID.ReplaceAllString(said, "") + "-" }

// drawer writes the nodes that goldmark does not, or not in our way.
type drawer struct{}

func (drawer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, link)
	reg.Register(ast.KindAutoLink, autoLink)
	reg.Register(ast.KindImage, image)
	reg.Register(ast.KindRawHTML, tag)
	reg.Register(ast.KindFencedCodeBlock, fenced)
	reg.Register(ast.KindCodeBlock, indented)
	reg.Register(tables.KindTable, table)
	reg.Register(kindMention, mentioning)
	reg.Register(maths.KindInline, inlineMath)
	reg.Register(maths.KindBlock, displayedMath)
}

// address is where something leads.
type address struct {
	href    string
	outside bool
}

var (
	artifact = regexp.MustCompile(`^(?:/api/artifacts/(?:artifact:)?|artifact:)([0-9a-f]{64})(?:\?conversation=[0-9a-f-]{8,36})?$`)
	own      = regexp.MustCompile(`^#(?:[0-9a-f]{8}[0-9a-f-]{0,28}(?:/[0-9]{1,12})?|:[a-z]{1,12}(?:/[^\s/]{1,100})?)$`)
	raster   = regexp.MustCompile(`^data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$`)
)

// follow judges an address: to other sites, by mail, and within the page.
func (d *drawing) follow(said []byte) (address, bool) {
	to := strings.TrimSpace(string(said))
	if m := artifact.FindStringSubmatch(to); m != nil {
		return address{href: d.artifact(m[1])}, true
	}
	if own.MatchString(to) {
		return address{href: to}, true
	}
	to = string(util.URLEscape([]byte(to), true))
	u, err := url.Parse(to)
	if err != nil {
		return address{}, false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return address{href: to, outside: true}, u.Host != "" && u.Opaque == ""
	case "mailto":
		return address{href: to, outside: true}, u.Opaque != ""
	}
	return address{}, false
}

// artifact is where one is fetched.
func (d *drawing) artifact(id string) string {
	if d.Conversation == "" {
		return "/api/artifacts/" + id
	}
	return "/api/artifacts/" + id + "?conversation=" + url.QueryEscape(d.Conversation)
}

// open is the beginning of a link.
func (a address) open(class string) string {
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

// inside says whether a node stands within a link.
func inside(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

// link writes one; one that leads nowhere we go shows where it would.
func link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	to, ok := drawingOf(node).follow(n.Destination)
	switch {
	case ok && entering:
		_, _ = w.WriteString(to.open(""))
	case ok:
		_, _ = w.WriteString("</a>")
	case !entering && len(n.Destination) > 0:
		_, _ = w.WriteString(` <span class="nowhere">(` + html.EscapeString(string(n.Destination)) + ")</span>")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
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
	if a, ok := drawingOf(node).follow(to); ok && len(said) > 0 && !inside(node) {
		label = a.open("") + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// image writes pictures of ours and those that stand in the text itself. All others are
// links: nothing is fetched from outside.
func image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	d := drawingOf(node)
	alt := strings.TrimSpace(textOf(n, source))
	said := strings.TrimSpace(string(n.Destination))
	at := ""
	if m := artifact.FindStringSubmatch(said); m != nil {
		at = d.artifact(m[1])
	} else if raster.MatchString(said) {
		at = said
	}
	if at != "" {
		picture := `<img src="` + html.EscapeString(at) + `" alt="` + html.EscapeString(alt) + `" loading="lazy">`
		if strings.HasPrefix(at, "/") && !inside(n) {
			picture = address{href: at, outside: true}.open("image") + picture + "</a>"
		}
		_, _ = w.WriteString(picture)
		return ast.WalkSkipChildren, nil
	}
	a, ok := d.follow(n.Destination)
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
	if ok && !inside(n) {
		shown = a.open("image") + shown + "</a>"
	}
	_, _ = w.WriteString(shown)
	return ast.WalkSkipChildren, nil
}

// textOf is the text within a node.
func textOf(n ast.Node, source []byte) string {
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
		case *mention:
			b.WriteString("#" + n.digits)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// tag writes a tag of the text: one that counts as it is, all others as text.
func tag(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	if name, ok := node.AttributeString(asTag); ok {
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

// table gives one a frame in which it can be scrolled.
func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"table\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// mentioning links a mention, where there is such a message.
func mentioning(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	digits := node.(*mention).digits
	d := drawingOf(node)
	shown := "#" + digits
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n <= d.Head && d.Conversation != "" && !inside(node) {
		shown = `<a class="ref" data-seq="` + digits + `" href="#` + html.EscapeString(d.Conversation) + "/" + digits + `">` +
			shown + "</a>"
	}
	_, _ = w.WriteString(shown)
	return ast.WalkContinue, nil
}

// inlineMath writes a formula as it was written, for a page that draws it.
func inlineMath(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		source := node.(*maths.Inline).Source
		_, _ = w.WriteString(`<code class="formula">` + html.EscapeString(source) + "</code>")
	}
	return ast.WalkContinue, nil
}

// displayedMath is inlineMath for a formula on lines of its own.
func displayedMath(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
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
