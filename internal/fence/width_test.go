package fence

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line of a test file may be, in characters; a tab is one.
const maxColumns = 140

// wide lists the lines of a file that are too wide, by number. Lines of a text that
// goes over several are data: they stay as they are.
func wide(s source) []int {
	data := map[int]bool{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			for line := s.line(lit.Pos()); s.line(lit.End()) > s.line(lit.Pos()) && line <= s.line(lit.End()); line++ {
				data[line] = true
			}
		}
		return true
	})
	var out []int
	n := 0
	for line := range strings.Lines(s.text) {
		n++
		if data[n] {
			continue
		}
		if utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) > maxColumns {
			out = append(out, n)
		}
	}
	return out
}

// What is wider is read by scrolling, and reviewed by nobody.
func TestWidth(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, n := range wide(s) {
			t.Errorf("%s:%d is wider than %d characters", s.path, n, maxColumns)
		}
	}
}

func TestWidthCanFail(t *testing.T) {
	just := "// " + strings.Repeat("潮", maxColumns-3)
	text := "package x\n" + just + "\n" + just + "汐\n\n\t" + just + "\n\t" + just[:len(just)-len("潮")] + "\r\n" + just + "!"
	text += "\nvar x = `{\n" + just + "!\n}`\nvar y = `" + just + "`\n"
	if got := wide(parse(t, "x/x_test.go", text)); !slices.Equal(got, []int{3, 5, 7, 11}) {
		t.Errorf("found %v", got)
	}
}
