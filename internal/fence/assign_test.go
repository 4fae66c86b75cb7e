package fence

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// waiver on a line, with a reason behind it, takes a finding about the line's form back.
const waiver = "//nolint:form // "

// together lists the statements of a file that make several assignments where each could have a
// line of its own: none of the values reads what is assigned before it. A swap needs to be one.
func together(s source) []int {
	var out []int
	judge := func(list []ast.Stmt) {
		for _, st := range list {
			a, ok := st.(*ast.AssignStmt)
			if ok && len(a.Lhs) > 1 && len(a.Lhs) == len(a.Rhs) && apart(a, s.of) &&
				!strings.Contains(s.lineAt(a.Pos()), waiver) {
				out = append(out, s.line(a.Pos()))
			}
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			judge(n.List)
		case *ast.CaseClause:
			judge(n.Body)
		case *ast.CommClause:
			judge(n.Body)
		}
		return true
	})
	return out
}

// apart reports whether the parts of an assignment could follow each other.
func apart(a *ast.AssignStmt, of func(ast.Node) string) bool {
	for i, left := range a.Lhs {
		what := of(left)
		if list, ok := left.(*ast.IndexExpr); ok {
			what = of(list.X) + "["
		}
		reads := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(what)).MatchString
		for j := i + 1; j < len(a.Lhs); j++ {
			index, ok := a.Lhs[j].(*ast.IndexExpr)
			if reads(of(a.Rhs[j])) || ok && reads(of(index.Index)) {
				return false
			}
		}
	}
	return true
}

func (s source) of(n ast.Node) string {
	return s.text[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset]
}

// lineAt returns the text of the line where a position is.
func (s source) lineAt(p token.Pos) string {
	at := s.set.Position(p).Offset
	from := strings.LastIndexByte(s.text[:at], '\n') + 1
	line, _, _ := strings.Cut(s.text[from:], "\n")
	return line
}

// A reader sees one thing a line.
func TestOneAssignmentALine(t *testing.T) {
	for _, s := range sources(t) {
		for _, n := range together(s) {
			t.Errorf("%s:%d makes several assignments: give each a line", s.path, n)
		}
	}
}

func TestOneAssignmentALineCanFail(t *testing.T) {
	bad := parse(t, "x/x.go", `package x
func f() {
	a, b := 1, 2
	a, b = b, a
	l[i], l[j] = l[j], l[i]
	c.x, c.y = g(), h(1)
	n, rest := g()
	if p, q := 1, 2; p < q {
	}
	b, whole := b[:1], b
	c.x, c.y = 1, 2 `+waiver+`a pair
}`)
	if got := together(bad); !slices.Equal(got, []int{3, 6}) {
		t.Errorf("found %v", got)
	}
}
