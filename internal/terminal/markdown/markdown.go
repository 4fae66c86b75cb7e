// Package markdown shows Markdown in a terminal: text as models write it becomes rows, a
// block at a time, while it still comes.
//
// Words it adds: block (a paragraph, list, table … at the top level of a text), open (the
// block at the end, which may still grow), row (a line of a screen, with its styles).
//
// Invariants: no word of the text is left out, raw HTML, formulas and unknown marks stand as they
// were written; rows are at most as wide as was asked; nothing but styles (SGR) is added, and
// without color not even those: marks then stay where a style would have been. Colors are the sixteen
// of the terminal's own palette, which its owner chose for a dark or a light ground.
//
// It may not know where the text comes from or where the rows go, nor the environment.
package markdown

import (
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/guarded"
	"github.com/scrollback-ai/scrollback/internal/highlight"
	"github.com/scrollback-ai/scrollback/internal/maths"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Look is how a text is shown.
type Look struct {
	Width int  // of a row, in columns
	Color bool // styles may be used
}

// leastWidth is the least a block inside others is given.
const leastWidth = 8

var reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
	goldmark.WithParserOptions(
		parser.WithBlockParsers(util.Prioritized(maths.BlockParser{}, 450)),
		parser.WithInlineParsers(util.Prioritized(maths.InlineParser{}, 50)))).Parser()

// RenderRows returns a text as rows, without empty ones around it.
func (l Look) RenderRows(source string) []string {
	return l.renderWithin(source, highlight.NewBudget(highlight.TextTime))
}

// What is read as Markdown at most. What is longer or deeper, or is not read in time, is shown
// as it was written.
const maxBytes = 100_000

// reading bounds how texts are read.
var reading = sync.OnceValue(func() *guarded.Bound { return guarded.New(2, guarded.ReadTime) })

func (l Look) renderWithin(source string, light *highlight.Budget) []string {
	return l.renderBounded(source, light, reading())
}

func (l Look) renderBounded(source string, light *highlight.Budget, in *guarded.Bound) []string {
	p := textPage{l, []byte(source), light}
	width := max(l.Width, leastWidth)
	if len(source) <= maxBytes && !guarded.IsTooDeep(source) {
		rows, err := guarded.Run(in, func() []string {
			return p.blockRows(reader.Parse(text.NewReader(p.source)), width, true)
		})
		if err == nil {
			return rows
		}
	}
	if source = strings.Trim(source, "\r\n"); strings.TrimSpace(source) == "" {
		return nil
	}
	return p.wrapSpans([]styledSpan{{text: source}}, width)
}

// textPage is a text while it becomes rows.
type textPage struct {
	Look
	source []byte
	light  *highlight.Budget
}

// blockRows returns the children of a node; loose ones have an empty row between them.
func (p textPage) blockRows(n ast.Node, width int, loose bool) []string {
	var rows []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		more := p.renderBlock(c, width)
		if loose && len(rows) > 0 && len(more) > 0 {
			rows = append(rows, "")
		}
		rows = append(rows, more...)
	}
	return rows
}

func (p textPage) renderBlock(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		spans := p.inlineSpans(n, headingStyle(n.Level))
		if !p.Color {
			spans = append([]styledSpan{{text: strings.Repeat("#", n.Level) + " "}}, spans...)
		}
		return p.wrapSpans(spans, width)
	case *ast.FencedCodeBlock:
		return p.codeRows(n, string(n.Language(p.source)), width)
	case *ast.CodeBlock:
		return p.codeRows(n, "", width)
	case *ast.HTMLBlock:
		raw := p.blockText(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(p.source))
		}
		return p.wrapSpans([]styledSpan{{text: strings.TrimRight(raw, "\n")}}, width)
	case *ast.Blockquote:
		return prefixRows(p.blockRows(n, max(width-2, leastWidth), true), p.styleText(faint, "│")+" ",
			p.styleText(faint, "│")+" ")
	case *ast.List:
		return p.listRows(n, width)
	case *ast.ThematicBreak:
		return []string{p.styleText(faint, strings.Repeat("─", min(width, ruleWidth)))}
	case *east.Table:
		return p.tableRows(n, width)
	case *maths.Block:
		formula := n.Opening + p.blockText(n)
		if n.Ended {
			formula += n.Closing
		}
		return p.wrapSpans([]styledSpan{{text: strings.TrimRight(formula, "\n")}}, width)
	}
	return p.wrapSpans(p.inlineSpans(n, 0), width)
}

// ruleWidth is how long a line across the text is, in columns.
const ruleWidth = 40

// listRows returns a list with its marks before the items.
func (p textPage) listRows(n *ast.List, width int) []string {
	var rows []string
	number := n.Start
	marks := 2
	if n.IsOrdered() {
		marks = len(fmt.Sprint(n.Start+n.ChildCount()-1)) + 2
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%*d%c ", marks-2, number, n.Marker)
			number++
		}
		inner := p.blockRows(item, max(width-marks, leastWidth), !n.IsTight)
		if len(inner) == 0 {
			inner = []string{""}
		}
		if !n.IsTight && len(rows) > 0 {
			rows = append(rows, "")
		}
		rows = append(rows, prefixRows(inner, mark, strings.Repeat(" ", marks))...)
	}
	return rows
}

// prefixRows puts something before the first row, and before the others.
func prefixRows(rows []string, first, others string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		if out[i] = strings.TrimRight(others+row, " "); i == 0 {
			out[i] = first + row
		}
	}
	return out
}

// blockText returns those of a block, as they were written.
func (p textPage) blockText(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(p.source))
	}
	return b.String()
}

// wrapSpans cuts spans into rows.
func (p textPage) wrapSpans(spans []styledSpan, width int) []string {
	var rows []string
	for _, line := range splitLines(spans) {
		rows = append(rows, p.lineRows(line, width)...)
	}
	return rows
}

// lineRows cuts one line into rows and sets them in their styles. A row holds the characters of
// the line in order; those that are not there are spaces at its end.
func (p textPage) lineRows(line []styledSpan, width int) []string {
	var plain strings.Builder
	var styles []style
	for _, s := range line {
		t := strings.ReplaceAll(columns.StripControls(s.text), "\t", "    ")
		plain.WriteString(t)
		for range []rune(t) {
			styles = append(styles, s.style)
		}
	}
	chars := []rune(plain.String())
	at := 0
	var out []string
	for _, row := range columns.WrapLine(plain.String(), width) {
		var cut []styledSpan
		var said strings.Builder // of the span that is being cut
		var its style
		end := func() {
			if said.Len() > 0 {
				cut = append(cut, styledSpan{said.String(), its})
				said.Reset()
			}
		}
		for _, r := range strings.TrimRight(row, " ") {
			for at < len(chars) && chars[at] != r {
				at++
			}
			if at < len(styles) {
				if styles[at] != its {
					end()
					its = styles[at]
				}
				said.WriteRune(r)
			}
			at++
		}
		end()
		out = append(out, p.drawSpans(cut))
	}
	return out
}

func (p textPage) drawSpans(spans []styledSpan) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(p.styleText(s.style, s.text))
	}
	return b.String()
}
