package fence

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line may be, in characters; a tab is one.
const maxColumns = 120

// aText is how long the texts on one line are if it need not be broken: a sentence and its
// translation, a statement.
const aText = 40

// aligned is what gofmt puts between the columns of a table.
var aligned = regexp.MustCompile(` {2,}`)

// wide lists the lines of a file that are too wide, by number. Texts are data and stay as they
// are: one that goes over several lines, or is long on one, and what an example prints.
func wide(s source) []int {
	data := map[int]bool{}
	texts := map[int]int{} // characters, by line
	ast.Inspect(s.tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		first := s.line(lit.Pos())
		last := s.line(lit.End())
		texts[first] += utf8.RuneCountInString(lit.Value)
		for line := first; line <= last && (last > first || texts[first] >= aText); line++ {
			data[line] = true
		}
		return true
	})
	for _, group := range s.tree.Comments {
		if strings.HasPrefix(group.Text(), "Output:") {
			for line := s.line(group.Pos()); line <= s.line(group.End()); line++ {
				data[line] = true
			}
		}
	}
	var out []int
	n := 0
	for line := range strings.Lines(s.text) {
		n++
		columns := utf8.RuneCountInString(aligned.ReplaceAllString(strings.TrimRight(line, "\r\n"), " "))
		if columns > maxColumns && !data[n] && !strings.Contains(line, waiver) {
			out = append(out, n)
		}
	}
	return out
}

// What is wider is read by scrolling, and reviewed by nobody.
func TestWidth(t *testing.T) {
	for _, s := range sources(t) {
		for _, n := range wide(s) {
			t.Errorf("%s:%d is wider than %d characters", s.path, n, maxColumns)
		}
	}
}

func TestWidthCanFail(t *testing.T) {
	just := "// " + strings.Repeat("潮", maxColumns-3)
	text := "package x\n" + just + "\n" + just + "汐\n\n\t" + just + "\n\t" + just[:len(just)-len("潮")] + "\r\n" + just +
		"!"
	text += "\nvar x = `{\n" + just + "!\n}`\nvar y = `" + just + "`\n" + just + "! " + waiver + "it is drawn\n"
	text += "\n// Output:\n" + just + "!\n"
	if got := wide(parse(t, "x/x.go", text)); !slices.Equal(got, []int{3, 5, 7}) {
		t.Errorf("found %v", got)
	}
}
