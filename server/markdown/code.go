package markdown

import (
	"html"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// What is highlighted of one text: bytes of one piece of code, and time for all of them. What
// comes behind the bounds is shown without colours.
const (
	maxCode      = 100_000
	maxLightTime = 300 * time.Millisecond
)

// classes are what tokens are told apart by: few enough to be seen.
var classes = []struct {
	of    func(chroma.TokenType) bool
	class string
}{
	{func(t chroma.TokenType) bool { return t.InCategory(chroma.Comment) }, "tok-comment"},
	{func(t chroma.TokenType) bool { return t == chroma.KeywordType }, "tok-type"},
	{func(t chroma.TokenType) bool { return t.InCategory(chroma.Keyword) || t == chroma.OperatorWord }, "tok-keyword"},
	{func(t chroma.TokenType) bool { return t.InSubCategory(chroma.LiteralString) }, "tok-string"},
	{func(t chroma.TokenType) bool { return t.InSubCategory(chroma.LiteralNumber) || t == chroma.LiteralDate }, "tok-number"},
	{func(t chroma.TokenType) bool { return t == chroma.NameFunction || t == chroma.NameFunctionMagic }, "tok-function"},
	{func(t chroma.TokenType) bool {
		return t == chroma.NameTag || t == chroma.NameClass || t == chroma.NameNamespace
	}, "tok-name"},
	{func(t chroma.TokenType) bool {
		return t == chroma.NameBuiltin || t == chroma.NameBuiltinPseudo || t == chroma.NameConstant || t == chroma.NameAttribute
	}, "tok-builtin"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericInserted }, "tok-inserted"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericDeleted }, "tok-deleted"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericHeading || t == chroma.GenericSubheading }, "tok-comment"},
}

// classOf is the class of a token, or nothing.
func classOf(t chroma.TokenType) string {
	for _, c := range classes {
		if c.of(t) {
			return c.class
		}
	}
	return ""
}

// highlighter colours the code of one text, while it has time.
type highlighter struct{ left time.Duration }

func newHighlighter() *highlighter { return &highlighter{left: maxLightTime} }

// html is code in a language as HTML.
func (h *highlighter) html(code, language string) string {
	lexer := lexerOf(language)
	if lexer == nil || len(code) > maxCode || h.left <= 0 {
		return html.EscapeString(code)
	}
	began := time.Now()
	defer func() { h.left -= time.Since(began) }()
	next, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var b strings.Builder
	done, n := 0, 0
	for t := next(); t != chroma.EOF; t = next() {
		if !strings.HasPrefix(code[done:], t.Value) {
			break // it is not our text any more
		}
		done += len(t.Value)
		shown, class := html.EscapeString(t.Value), classOf(t.Type)
		if class != "" && strings.TrimSpace(t.Value) != "" {
			shown = `<span class="` + class + `">` + shown + "</span>"
		}
		b.WriteString(shown)
		if n++; n%32 == 0 && time.Since(began) > h.left {
			break
		}
	}
	b.WriteString(html.EscapeString(code[done:]))
	return b.String()
}

// lexerOf is the lexer of a language, or nil. Diagrams are left as they are.
func lexerOf(language string) chroma.Lexer {
	if language == "" || language == "mermaid" || language == "text" || language == "plain" {
		return nil
	}
	return lexers.Get(language)
}

var languageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+#._-]{0,30}`)

func fenced(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		language := languageName.FindString(strings.TrimLeft(string(node.(*ast.FencedCodeBlock).Language(source)), "{."))
		code(w, source, node, strings.ToLower(language))
	}
	return ast.WalkSkipChildren, nil
}

func indented(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		code(w, source, node, "")
	}
	return ast.WalkSkipChildren, nil
}

// code writes a piece of code under the name of its language.
func code(w util.BufWriter, source []byte, node ast.Node, language string) {
	shown := drawingOf(node).light.html(string(node.Lines().Value(source)), language)
	_, _ = w.WriteString(`<figure class="code"><figcaption>` + html.EscapeString(language) + `</figcaption><pre><code>` + shown + "</code></pre></figure>\n")
}
