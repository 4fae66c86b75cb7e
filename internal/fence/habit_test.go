package fence

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

// selectors lists the uses of an imported package in a file, however the file
// calls it.
func selectors(s source, pkg string) []*ast.SelectorExpr {
	local := ""
	for _, im := range s.tree.Imports {
		if name, err := strconv.Unquote(im.Path.Value); err == nil && name == pkg {
			local = path.Base(pkg)
			if im.Name != nil {
				local = im.Name.Name
			}
		}
	}
	var out []*ast.SelectorExpr
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && local != "" && id.Name == local {
			out = append(out, sel)
		}
		return true
	})
	return out
}

// bareSkips lists the skips of a test file that give no reason in words.
func bareSkips(s source) []int {
	var out []int
	ast.Inspect(s.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch sel.Sel.Name {
		case "SkipNow":
			out = append(out, s.line(call.Pos()))
		case "Skip", "Skipf":
			if id, ok := sel.X.(*ast.Ident); !ok || len(id.Name) > 2 && id.Name != "rt" {
				return true // not a test's
			}
			reason := len(call.Args) > 0
			if reason {
				lit, ok := call.Args[0].(*ast.BasicLit)
				reason = !ok || len(strings.Fields(lit.Value)) >= 3
			}
			if !reason {
				out = append(out, s.line(call.Pos()))
			}
		}
		return true
	})
	return out
}

// A test waits for what it waits for, never for a while; a skip says why.
func TestHabits(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && !strings.HasSuffix(s.room, "test") {
			continue
		}
		for _, at := range bareSkips(s) {
			t.Errorf("%s:%d: a skip without its reason", s.path, at)
		}
		if usesBubble(s) {
			continue // inside testing/synctest a sleep takes no time
		}
		for _, c := range calls(s, "time", "Sleep") {
			t.Errorf("%s: %s: a test does not sleep", s.path, c)
		}
	}
}

func usesBubble(s source) bool { return len(selectors(s, "testing/synctest")) > 0 }

func TestHabitsCanFail(t *testing.T) {
	bad := parse(t, "x/x_test.go", `package x
import ("testing"; "time")
func TestX(t *testing.T) {
	t.Skip()
	t.Skip("later")
	t.SkipNow()
	t.Skip("this needs a browser: install chromium")
	time.Sleep(time.Second)
}`)
	if got := bareSkips(bad); len(got) != 3 {
		t.Errorf("planted skips were found at %v", got)
	}
	if got := calls(bad, "time", "Sleep"); len(got) != 1 {
		t.Errorf("the planted sleep was found as %v", got)
	}
}
