package markdown

import (
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// least is the least a column of a table is given, as long as all of them fit.
const least = 4

// table is a table whose columns are as wide as what they hold; where they do not fit,
// the widest give way and their cells take several rows.
func (p page) table(n *east.Table, width int) []string {
	var grid [][][]span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		in := style(0)
		if row.Kind() == east.KindTableHeader {
			in = bold
		}
		var cells [][]span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, p.inline(cell, in))
		}
		grid = append(grid, cells)
	}
	count := len(n.Alignments)
	widths := make([]int, count)
	for _, row := range grid {
		for i := range min(len(row), count) {
			for _, line := range p.wrapped(row[i], 1<<20) {
				widths[i] = max(widths[i], columns.Width(columns.Unstyled(line)), 1)
			}
		}
	}
	if fit(widths, width-3*(count-1)); total(widths)+3*(count-1) > width {
		return p.records(grid, width)
	}
	var rows []string
	for i, row := range grid {
		rows = append(rows, p.tableRow(row, widths, n.Alignments)...)
		if i == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("─", w))
			}
			rows = append(rows, p.styled(faint, strings.Join(rule, "─┼─")))
		}
	}
	return rows
}

// fit takes columns away from the widest until all of them fit.
func fit(widths []int, room int) {
	for total(widths) > room {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= least {
			return
		}
		widths[widest]--
	}
}

// records are a table that is too wide for any row: each of its rows as lines, one a column.
func (p page) records(grid [][][]span, width int) []string {
	var out []string
	for _, row := range grid[1:] {
		if len(out) > 0 {
			out = append(out, "")
		}
		for i, cell := range row {
			if i < len(grid[0]) {
				cell = append(append(slices.Clone(grid[0][i]), span{text: ": "}), cell...)
			}
			out = append(out, p.wrapped(cell, width)...)
		}
	}
	if len(grid) == 1 {
		for _, cell := range grid[0] {
			out = append(out, p.wrapped(cell, width)...)
		}
	}
	return out
}

func total(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// tableRow is one row of a table, as high as its highest cell.
func (p page) tableRow(row [][]span, widths []int, align []east.Alignment) []string {
	cells := make([][]string, len(widths))
	height := 1
	for i := range min(len(row), len(widths)) {
		cells[i] = p.wrapped(row[i], widths[i])
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
			free := max(w-columns.Width(columns.Unstyled(cell)), 0)
			left := 0
			switch align[i] {
			case east.AlignRight:
				left = free
			case east.AlignCenter:
				left = free / 2
			}
			line = append(line, strings.Repeat(" ", left)+cell+strings.Repeat(" ", free-left))
		}
		out = append(out, strings.TrimRight(strings.Join(line, p.styled(faint, " │ ")), " "))
	}
	return out
}
