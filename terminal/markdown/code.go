package markdown

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// mostHighlighted bounds the code that is read for its colors, in bytes.
const mostHighlighted = 100_000

// code is a block of code: with color set in and highlighted, else between fences. Long
// lines are cut where the row ends, and nowhere else.
func (p page) code(n ast.Node, language string, width int) []string {
	source := strings.TrimRight(p.lines(n), "\n")
	if !p.Color {
		fence := "```"
		for strings.Contains(source, fence) {
			fence += "`"
		}
		return append(append([]string{fence + columns.Plain(language)}, p.cut([]span{{text: source}}, width)...), fence)
	}
	return prefixed(p.cut(highlighted(source, language), max(width-2, leastWidth)), "  ", "  ")
}

// cut breaks lines of code into rows of a width.
func (p page) cut(spans []span, width int) []string {
	var out []string
	for _, line := range split(spans) {
		var row []span
		used := 0
		for _, s := range line {
			for _, r := range strings.ReplaceAll(columns.Plain(s.text), "\t", "    ") {
				w := columns.Width(string(r))
				if used+w > width {
					out, row, used = append(out, p.drawn(row)), nil, 0
				}
				if n := len(row); n > 0 && row[n-1].style == s.style {
					row[n-1].text += string(r)
				} else {
					row = append(row, span{string(r), s.style})
				}
				used += w
			}
		}
		out = append(out, p.drawn(row))
	}
	return out
}

// highlighted is code in the colors of its language, if the language is known.
func highlighted(source, language string) []span {
	lexer := lexers.Get(language)
	if lexer == nil || len(source) > mostHighlighted {
		return []span{{text: source}}
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, source)
	if err != nil {
		return []span{{text: source}}
	}
	var out []span
	left := source
	for t := tokens(); t != chroma.EOF; t = tokens() {
		rest, ok := strings.CutPrefix(left, t.Value)
		if !ok { // a lexer that changes what it reads, such as line ends
			break
		}
		left = rest
		out = append(out, span{t.Value, colorOf(t.Type)})
	}
	if left != "" {
		out = append(out, span{text: left})
	}
	return out
}

// colorOf is how a kind of token is set.
func colorOf(t chroma.TokenType) style {
	switch {
	case t.InCategory(chroma.Comment):
		return faint
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return purple
	case t.InSubCategory(chroma.LiteralString):
		return green
	case t.InSubCategory(chroma.LiteralNumber):
		return cyan
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameAttribute:
		return blue
	case t == chroma.NameBuiltin, t == chroma.NameDecorator, t == chroma.NameConstant:
		return yellow
	case t == chroma.GenericDeleted:
		return red
	case t == chroma.GenericInserted:
		return green
	case t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return bold
	}
	return 0
}
