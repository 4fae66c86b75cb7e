package markdown

import (
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/highlight"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
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
	{func(t chroma.TokenType) bool { return t.InSubCategory(chroma.LiteralNumber) || t == chroma.LiteralDate },
		"tok-number"},
	{func(t chroma.TokenType) bool { return t == chroma.NameFunction || t == chroma.NameFunctionMagic }, "tok-function"},
	{func(t chroma.TokenType) bool {
		return t == chroma.NameTag || t == chroma.NameClass || t == chroma.NameNamespace
	}, "tok-name"},
	{func(t chroma.TokenType) bool {
		return t == chroma.NameBuiltin || t == chroma.NameBuiltinPseudo || t == chroma.NameConstant ||
			t == chroma.NameAttribute
	}, "tok-builtin"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericInserted }, "tok-inserted"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericDeleted }, "tok-deleted"},
	{func(t chroma.TokenType) bool { return t == chroma.GenericHeading || t == chroma.GenericSubheading }, "tok-comment"},
}

// tokenClass returns the class of a token, or nothing.
func tokenClass(t chroma.TokenType) string {
	for _, c := range classes {
		if c.of(t) {
			return c.class
		}
	}
	return ""
}

// PageLight returns the time for the colors of all texts of a page.
func PageLight() *highlight.Budget { return highlight.NewBudget(highlight.PageTime) }

// colorCode is code in a language as HTML, with a class for each token that is told apart.
func colorCode(code, language string, light *highlight.Budget) string {
	if language == "mermaid" || language == "text" || language == "plain" { // diagrams are left as they are
		language = ""
	}
	var b strings.Builder
	for _, t := range light.SplitCode(code, language) {
		shown := html.EscapeString(t.Text)
		class := tokenClass(t.Type)
		if class != "" && strings.TrimSpace(t.Text) != "" {
			shown = `<span class="` + class + `">` + shown + "</span>"
		}
		b.WriteString(shown)
	}
	return b.String()
}

var languageName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9+#._-]{0,30}`)

func renderFenced(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		language := languageName().FindString(strings.TrimLeft(string(node.(*ast.FencedCodeBlock).Language(source)), "{."))
		writeCode(w, source, node, strings.ToLower(language))
	}
	return ast.WalkSkipChildren, nil
}

func renderIndented(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeCode(w, source, node, "")
	}
	return ast.WalkSkipChildren, nil
}

// writeCode writes a piece of code under the name of its language.
func writeCode(w util.BufWriter, source []byte, node ast.Node, language string) {
	shown := colorCode(string(node.Lines().Value(source)), language, findDrawing(node).light)
	_, _ = w.WriteString(`<figure class="code"><figcaption>` + html.EscapeString(language) + `</figcaption><pre><code>` +
		shown + "</code></pre></figure>\n")
}
