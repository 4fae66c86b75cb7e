package markdown

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

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
	return prefixed(p.cut(p.highlighted(source, language), max(width-2, leastWidth)), "  ", "  ")
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
					out = append(out, p.drawn(row))
					row = nil
					used = 0
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
func (p page) highlighted(source, language string) []span {
	var out []span
	for _, t := range p.light.Split(source, language) {
		out = append(out, span{t.Text, colorOf(t.Type)})
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
