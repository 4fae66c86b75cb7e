package markdown

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// codeRows returns a block of code: with color set in and highlighted, else between fences. Long
// lines are cut where the row ends, and nowhere else.
func (p textPage) codeRows(n ast.Node, language string, width int) []string {
	source := strings.TrimRight(p.blockText(n), "\n")
	if !p.Color {
		fence := "```"
		for strings.Contains(source, fence) {
			fence += "`"
		}
		return append(append([]string{fence + columns.StripControls(language)},
			p.cutSpans([]styledSpan{{text: source}}, width)...), fence)
	}
	return prefixRows(p.cutSpans(p.highlightCode(source, language), max(width-2, leastWidth)), "  ", "  ")
}

// cutSpans breaks lines of code into rows of a width.
func (p textPage) cutSpans(spans []styledSpan, width int) []string {
	var out []string
	for _, line := range splitLines(spans) {
		var row []styledSpan
		used := 0
		for _, s := range line {
			for _, r := range strings.ReplaceAll(columns.StripControls(s.text), "\t", "    ") {
				w := columns.TextWidth(string(r))
				if used+w > width {
					out = append(out, p.drawSpans(row))
					row = nil
					used = 0
				}
				if n := len(row); n > 0 && row[n-1].style == s.style {
					row[n-1].text += string(r)
				} else {
					row = append(row, styledSpan{string(r), s.style})
				}
				used += w
			}
		}
		out = append(out, p.drawSpans(row))
	}
	return out
}

// highlightCode returns code in the colors of its language, if the language is known.
func (p textPage) highlightCode(source, language string) []styledSpan {
	var out []styledSpan
	for _, t := range p.light.SplitCode(source, language) {
		out = append(out, styledSpan{t.Text, tokenStyle(t.Type)})
	}
	return out
}

// tokenStyle returns how a kind of token is set.
func tokenStyle(t chroma.TokenType) style {
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
