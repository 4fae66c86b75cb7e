package fence

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// The sizes; a ratchet, so they are only ever lowered.
const (
	medianLines    = 150 // of files that are not tests
	maxLines       = 500
	maxTestLines   = 800
	maxFuncLines   = 70
	maxParams      = 4 // beside a leading context or testing handle
	maxFilesInRoom = 15
)

// wider rooms may have more files: the words of the product, and one a noun.
var wider = map[string]int{".": 20, "cmd/scrollback": 30}

// allowed is what is over a size today: "path function", path, room or "median",
// with the most it may have and the reason.
var allowed = map[string]struct {
	most int
	why  string
}{}

// excess is one thing over a size.
type excess struct {
	key  string // as in allowed
	what string
	size int
}

func tooBig(s source) []excess {
	var out []excess
	most, name := maxLines, "lines"
	if s.test {
		most, name = maxTestLines, "lines of test"
	}
	if n := s.lines(); n > most {
		out = append(out, excess{s.path, name, n})
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			key := s.path + " " + n.Name.Name
			if n.Body != nil && !s.test {
				if lines := s.line(n.End()) - s.line(n.Pos()) + 1; lines > maxFuncLines {
					out = append(out, excess{key, "lines of function", lines})
				}
			}
			if c := params(n.Type); c > maxParams && !s.test {
				out = append(out, excess{key, "parameters", c})
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				f, ok := m.Type.(*ast.FuncType)
				if ok && params(f) > maxParams {
					out = append(out, excess{s.path + " " + m.Names[0].Name, "parameters", params(f)})
				}
			}
		}
		return true
	})
	return out
}

// params counts parameters; a leading context or testing handle is none.
func params(f *ast.FuncType) int {
	n := 0
	for i, p := range f.Params.List {
		c := max(1, len(p.Names))
		if i == 0 && isHandle(p.Type) {
			c = 0
		}
		n += c
	}
	return n
}

func isHandle(e ast.Expr) bool {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && (pkg.Name == "context" && sel.Sel.Name == "Context" || pkg.Name == "testing")
}

func TestSizes(t *testing.T) {
	used := map[string]bool{}
	judge := func(e excess) {
		a, ok := allowed[e.key]
		used[e.key] = used[e.key] || ok
		if !ok {
			t.Errorf("%s: %d %s", e.key, e.size, e.what)
		} else if e.size > a.most {
			t.Errorf("%s: %d %s, and only %d are allowed because: %s", e.key, e.size, e.what, a.most, a.why)
		}
	}
	var lengths []int
	files := map[string]int{}
	for _, s := range sources(t) {
		for _, e := range tooBig(s) {
			judge(e)
		}
		if !s.test {
			lengths = append(lengths, s.lines())
			files[s.room]++
		}
	}
	for room, n := range files {
		if n > max(maxFilesInRoom, wider[room]) {
			judge(excess{room, "files", n})
		}
	}
	slices.Sort(lengths)
	if m := lengths[len(lengths)/2]; m >= medianLines {
		judge(excess{"median", "lines in the median file", m})
	}
	for key, a := range allowed {
		if !used[key] && key != "median" { // it moves with every file
			t.Errorf("the allowance for %q (%s) is needed no more", key, a.why)
		}
	}
}

func TestSizesCanFail(t *testing.T) {
	text := "package x\n\ntype I interface{ M(a, b, c, d, e int) }\n\nfunc f(ctx context.Context, a, b, c, d int) {}\n\nfunc g(a, b, c, d, e int) {\n"
	for range maxLines {
		text += "\t_ = 0\n"
	}
	got := fmt.Sprint(tooBig(parse(t, "x/x.go", text+"}\n")))
	want := fmt.Sprint([]excess{{"x/x.go", "lines", 508}, {"x/x.go M", "parameters", 5}, {"x/x.go g", "lines of function", 502}, {"x/x.go g", "parameters", 5}})
	if got != want {
		t.Errorf("found  %s\nwanted %s", got, want)
	}
}
