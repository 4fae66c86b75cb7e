package fence

import (
	"fmt"
	"go/ast"
	"regexp"
	"testing"
)

// lazyPatterns returns what a file gives to lazyregexp.New, by line, and the lines of those that
// are no constant of literals.
func lazyPatterns(s source, constants map[string]ast.Expr) (patterns map[int]string, unknown []int) {
	patterns = map[int]string{}
	for _, sel := range selectors(s, "github.com/scrollback-ai/scrollback/internal/lazyregexp") {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || call.Fun != sel || len(call.Args) != 1 {
				return true
			}
			if text, ok := joinedConstants(call.Args[0], constants); ok {
				patterns[s.line(call.Pos())] = text
			} else {
				unknown = append(unknown, s.line(call.Pos()))
			}
			return true
		})
	}
	return patterns, unknown
}

// joinedConstants returns the text of literals and constants of the room that are joined by +.
func joinedConstants(e ast.Expr, constants map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		value, ok := constants[e.Name]
		if !ok {
			return "", false
		}
		return joinedConstants(value, constants)
	case *ast.ParenExpr:
		return joinedConstants(e.X, constants)
	case *ast.BinaryExpr:
		left, leftOK := joinedConstants(e.X, constants)
		right, rightOK := joinedConstants(e.Y, constants)
		return left + right, leftOK && rightOK
	default:
		literal, ok := e.(*ast.BasicLit)
		if !ok {
			return "", false
		}
		return joined(literal)
	}
}

// A pattern that is compiled late must not fail late.
func TestLazyPatternsCompile(t *testing.T) {
	constants := map[string]map[string]ast.Expr{} // by room
	all := sources(t)
	for _, s := range all {
		if constants[s.room] == nil {
			constants[s.room] = map[string]ast.Expr{}
		}
		for _, d := range s.tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					for i, name := range v.Names {
						constants[s.room][name.Name] = v.Values[i]
					}
				}
			}
		}
	}
	found := 0
	for _, s := range all {
		patterns, unknown := lazyPatterns(s, constants[s.room])
		for line, pattern := range patterns {
			found++
			if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s:%d: %v", s.path, line, err)
			}
		}
		for _, line := range unknown {
			t.Errorf("%s:%d: lazyregexp.New takes literals and constants of its room, so that they can be checked here",
				s.path, line)
		}
	}
	if found < 100 {
		t.Errorf("only %d patterns were found", found)
	}
}

func TestLazyPatternsCompileCanFail(t *testing.T) {
	s := parse(t, "model/remote/x.go", `package remote
import "github.com/scrollback-ai/scrollback/internal/lazyregexp"
var a = lazyregexp.New("(a" + "b")
var b = lazyregexp.New(c())
`)
	patterns, unknown := lazyPatterns(s, nil)
	if fmt.Sprint(patterns, unknown) != "map[3:(ab] [4]" {
		t.Error(patterns, unknown)
	}
}
