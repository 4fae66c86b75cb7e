package markdown

import (
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// leastColumn is the least a column of a table is given, as long as all of them fit.
const leastColumn = 4

// tableRows returns a table whose columns are as wide as what they hold; where they do not fit,
// the widest give way and their cells take several rows.
func (p textPage) tableRows(n *east.Table, width int) []string {
	var grid [][][]styledSpan
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		in := style(0)
		if row.Kind() == east.KindTableHeader {
			in = bold
		}
		var cells [][]styledSpan
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, p.inlineSpans(cell, in))
		}
		grid = append(grid, cells)
	}
	count := len(n.Alignments)
	widths := make([]int, count)
	for _, row := range grid {
		for i := range min(len(row), count) {
			for _, line := range p.wrapSpans(row[i], 1<<20) {
				widths[i] = max(widths[i], columns.TextWidth(columns.StripStyles(line)), 1)
			}
		}
	}
	if fitWidths(widths, width-3*(count-1)); sumWidths(widths)+3*(count-1) > width {
		return p.recordRows(grid, width)
	}
	var rows []string
	for i, row := range grid {
		rows = append(rows, p.tableRow(row, widths, n.Alignments)...)
		if i == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("─", w))
			}
			rows = append(rows, p.styleText(faint, strings.Join(rule, "─┼─")))
		}
	}
	return rows
}

// fitWidths takes columns away from the widest until all of them fit.
func fitWidths(widths []int, room int) {
	for sumWidths(widths) > room {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= leastColumn {
			return
		}
		widths[widest]--
	}
}

// recordRows returns a table that is too wide for any row: each of its rows as lines, one a column.
func (p textPage) recordRows(grid [][][]styledSpan, width int) []string {
	var out []string
	for _, row := range grid[1:] {
		if len(out) > 0 {
			out = append(out, "")
		}
		for i, cell := range row {
			if i < len(grid[0]) {
				cell = append(append(slices.Clone(grid[0][i]), styledSpan{text: ": "}), cell...)
			}
			out = append(out, p.wrapSpans(cell, width)...)
		}
	}
	if len(grid) == 1 {
		for _, cell := range grid[0] {
			out = append(out, p.wrapSpans(cell, width)...)
		}
	}
	return out
}

func sumWidths(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// tableRow returns one row of a table, as high as its highest cell.
func (p textPage) tableRow(row [][]styledSpan, widths []int, align []east.Alignment) []string {
	cells := make([][]string, len(widths))
	height := 1
	for i := range min(len(row), len(widths)) {
		cells[i] = p.wrapSpans(row[i], widths[i])
		height = max(height, len(cells[i]))
	}
	var out []string
	for h := range height {
		var line []string
		for i, w := range widths {
			cell := ""
			if h < len(cells[i]) {
				cell = cells[i][h]
			}
			free := max(w-columns.TextWidth(columns.StripStyles(cell)), 0)
			left := 0
			switch align[i] {
			case east.AlignRight:
				left = free
			case east.AlignCenter:
				left = free / 2
			}
			line = append(line, strings.Repeat(" ", left)+cell+strings.Repeat(" ", free-left))
		}
		out = append(out, strings.TrimRight(strings.Join(line, p.styleText(faint, " │ ")), " "))
	}
	return out
}
