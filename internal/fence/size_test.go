package fence

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
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
	maxRoomLines   = 3000 // of files that are not tests

	maxMethods          = 30 // of a type, with those promoted from types of its room
	maxInterfaceMethods = 12 // with those of the interfaces it embeds, from any room
)

// wider rooms may have more files: the words of the product, and the commands, one file each.
var wider = map[string]int{".": 20, "cmd/scrollback": 30}

// allowed is what is over a size today, with the most it may have and the reason.
// The key is a file's path, "path function", "room Type", "room files", "room lines"
// or "median".
var allowed = map[string]allowance{
	"store/drivertest lines": {4720, "one suite that every driver passes: its parts share their readers, their walk and how they compare"},
	"bench bench":            {45, "one method a measurement, over one set of databases that they share"},
}

type allowance struct {
	most int
	why  string
}

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

// tooFull are the rooms with more files or lines than they may have.
func tooFull(all []source) []excess {
	files, lines := map[string]int{}, map[string]int{}
	for _, s := range all {
		if !s.test {
			files[s.room]++
			lines[s.room] += s.lines()
		}
	}
	var out []excess
	for _, room := range slices.Sorted(maps.Keys(files)) {
		n := files[room]
		if n > max(maxFilesInRoom, wider[room]) {
			out = append(out, excess{room + " files", "files", n})
		}
		if lines[room] > maxRoomLines {
			out = append(out, excess{room + " lines", "lines in the room", lines[room]})
		}
	}
	return out
}

// unpermitted says of each excess that it is not allowed, and of each allowance that
// it is not needed.
func unpermitted(found []excess, allowed map[string]allowance) []string {
	var out []string
	used := map[string]bool{"median": true} // it moves with every file
	for _, e := range found {
		a, ok := allowed[e.key]
		used[e.key] = true
		if !ok {
			out = append(out, fmt.Sprintf("%s: %d %s", e.key, e.size, e.what))
		} else if e.size > a.most {
			out = append(out, fmt.Sprintf("%s: %d %s, and only %d are allowed because: %s", e.key, e.size, e.what, a.most, a.why))
		}
	}
	for key, a := range allowed {
		if !used[key] {
			out = append(out, fmt.Sprintf("the allowance for %q (%s) is needed no more", key, a.why))
		}
	}
	slices.Sort(out)
	return out
}

func TestSizes(t *testing.T) {
	all := sources(t)
	found := slices.Concat(tooMany(all), tooFull(all))
	var lengths []int
	for _, s := range all {
		found = append(found, tooBig(s)...)
		if !s.test {
			lengths = append(lengths, s.lines())
		}
	}
	slices.Sort(lengths)
	if m := lengths[len(lengths)/2]; m >= medianLines {
		found = append(found, excess{"median", "lines in the median file", m})
	}
	for _, what := range unpermitted(found, allowed) {
		t.Error(what)
	}
}

func TestSizesCanFail(t *testing.T) {
	text := "package x\n\ntype I interface{ M(a, b, c, d, e int) }\n\nfunc f(ctx context.Context, a, b, c, d int) {}\n\nfunc g(a, b, c, " +
		"d, e int) {\n"
	for range maxLines {
		text += "\t_ = 0\n"
	}
	got := fmt.Sprint(tooBig(parse(t, "x/x.go", text+"}\n")))
	want := fmt.Sprint([]excess{{"x/x.go", "lines", 508}, {"x/x.go M", "parameters", 5}, {"x/x.go g", "lines of function", 502},
		{"x/x.go g", "parameters", 5}})
	if got != want {
		t.Errorf("found  %s\nwanted %s", got, want)
	}
}

func TestFullRoomsCanFail(t *testing.T) {
	var files []source
	for i := range maxFilesInRoom + 1 {
		files = append(files, parse(t, fmt.Sprintf("many/%d.go", i), "package many\n"),
			parse(t, fmt.Sprintf("many/%d_test.go", i), "package many\n"))
		if i > 0 {
			files = append(files, parse(t, fmt.Sprintf("few/%d.go", i), "package few\n"))
		}
	}
	long := "package long" + strings.Repeat("\n", maxRoomLines/2+1)
	files = append(files, parse(t, "long/a.go", long), parse(t, "long/b.go", long), parse(t, "short/a.go", long),
		parse(t, "short/b_test.go", long))
	got := fmt.Sprint(tooFull(files))
	want := fmt.Sprint([]excess{{"long lines", "lines in the room", 3002}, {"many files", "files", maxFilesInRoom + 1}})
	if got != want {
		t.Errorf("found  %s\nwanted %s", got, want)
	}
}

func TestAllowancesCanFail(t *testing.T) {
	got := unpermitted([]excess{{"a", "lines", 7}, {"b", "lines", 7}, {"c", "lines", 7}},
		map[string]allowance{"a": {7, "so it is"}, "b": {6, "so it was"}, "d": {9, "it was cut"}})
	want := []string{"b: 7 lines, and only 6 are allowed because: so it was", "c: 7 lines",
		`the allowance for "d" (it was cut) is needed no more`}
	if !slices.Equal(got, want) {
		t.Errorf("found  %q\nwanted %q", got, want)
	}
}
