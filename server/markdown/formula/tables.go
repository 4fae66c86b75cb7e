package formula

import (
	"errors"
	"fmt"
	"strings"
)

// layout is how an environment sets its rows.
type layout struct {
	open, close string // delimiters
	class       string // of the table
	display     bool
	columns     bool // it says how its columns stand
}

var layouts = map[string]layout{
	"matrix": {class: "matrix"}, "pmatrix": {"(", ")", "matrix", false, false},
	"bmatrix": {"[", "]", "matrix", false, false},
	"Bmatrix": {"{", "}", "matrix", false, false}, "vmatrix": {"|", "|", "matrix", false, false},
	"Vmatrix":     {"‖", "‖", "matrix", false, false},
	"smallmatrix": {class: "matrix"}, "array": {class: "matrix", columns: true},
	"subarray": {class: "matrix", columns: true},
	"cases":    {open: "{", class: "cases"}, "dcases": {open: "{", class: "cases", display: true},
	"rcases":  {close: "}", class: "cases"},
	"aligned": {class: "aligned", display: true}, "align": {class: "aligned", display: true},
	"split":     {class: "aligned", display: true},
	"alignedat": {class: "aligned", display: true, columns: true},
	"alignat":   {class: "aligned", display: true, columns: true},
	"eqnarray":  {class: "equations", display: true}, "gathered": {class: "gathered", display: true},
	"gather":   {class: "gathered", display: true},
	"multline": {class: "gathered", display: true}, "equation": {class: "gathered", display: true},
	"math":        {class: "gathered"},
	"displaymath": {class: "gathered", display: true},
}

// maxCells bounds the cells of a table.
const maxCells = 2000

// environment reads what stands between \begin and \end.
func environment(p *parser) (atom, error) {
	name, err := p.braced()
	if err != nil {
		return atom{}, err
	}
	how, ok := layouts[strings.TrimSuffix(name, "*")]
	if !ok {
		return atom{}, fmt.Errorf("the environment %q is not known", name)
	}
	var columns []string
	if how.columns {
		said, err := p.braced()
		if err != nil {
			return atom{}, err
		}
		columns = sides(said)
	} else if strings.HasSuffix(name, "*") && strings.HasSuffix(name, "matrix*") {
		if _, _, err := p.optional(); err != nil {
			return atom{}, err
		}
	}
	rows, err := p.rows(how.display)
	if err != nil {
		return atom{}, err
	}
	if !p.nextIs(`\end`) {
		return atom{}, fmt.Errorf(`\begin{%s} has no \end`, name)
	}
	p.at += len(`\end`)
	if end, err := p.braced(); err != nil || end != name {
		return atom{}, errors.Join(err, fmt.Errorf(`\begin{%s} is closed by \end{%s}`, name, end))
	}
	return atom{xml: group(fence(how.open) + table(how, rows, columns) + fence(how.close))}, nil
}

// sides says how the columns of an array stand, by their letters.
func sides(said string) []string {
	var out []string
	for _, r := range said {
		switch r {
		case 'l':
			out = append(out, "left")
		case 'r':
			out = append(out, "right")
		case 'c':
			out = append(out, "")
		}
	}
	return out
}

// rows reads cells until a table ends.
func (p *parser) rows(display bool) ([][]string, error) {
	was := p.display
	p.display = display
	defer func() { p.display = was }()
	rows := [][]string{{}}
	cells := 0
	for {
		cell, err := p.row(atCell)
		if err != nil {
			return nil, err
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], cell)
		if cells++; cells > maxCells {
			return nil, fmt.Errorf("more than %d cells", maxCells)
		}
		switch {
		case p.accept('&'):
		case p.nextIs(`\\`) || p.nextIs(`\cr`):
			if _, err := p.name(); err != nil {
				return nil, err
			}
			p.accept('*')
			if at := p.at; p.accept('[') { // the space between two rows
				if i := strings.IndexByte(p.src[p.at:], ']'); i >= 0 &&
					strings.Trim(p.src[p.at:p.at+i], "-+.0123456789 emptxcin") == "" {
					p.at += i + 1
				} else {
					p.at = at
				}
			}
			rows = append(rows, []string{})
		default:
			if n := len(rows); n > 1 && len(rows[n-1]) == 1 && rows[n-1][0] == "" {
				rows = rows[:n-1] // the last row ended like the others
			}
			return rows, nil
		}
	}
}

// table is rows as MathML; how cells stand is said by classes.
func table(how layout, rows [][]string, columns []string) string {
	var b strings.Builder
	b.WriteString(`<mtable class="` + how.class + `"`)
	if how.display {
		b.WriteString(` displaystyle="true"`)
	}
	b.WriteString(">")
	for _, row := range rows {
		b.WriteString("<mtr>")
		for i, cell := range row {
			side := ""
			switch {
			case i < len(columns):
				side = columns[i]
			case how.class == "aligned" || how.class == "equations":
				side = [2]string{"right", "left"}[i%2]
			case how.class == "cases":
				side = "left"
			}
			if how.class == "equations" {
				side = [3]string{"right", "", "left"}[i%3]
			}
			if side != "" {
				side = ` class="` + side + `"`
			}
			b.WriteString("<mtd" + side + ">" + group(cell) + "</mtd>")
		}
		b.WriteString("</mtr>")
	}
	b.WriteString("</mtable>")
	return b.String()
}

// substack reads lines under each other.
func substack(p *parser) (atom, error) {
	if !p.accept('{') {
		return atom{}, errors.New(`\substack has no braces`)
	}
	rows, err := p.rows(false)
	if err == nil && !p.accept('}') {
		err = errors.New("a brace is not closed")
	}
	return atom{xml: table(layout{class: "substack"}, rows, nil)}, err
}
