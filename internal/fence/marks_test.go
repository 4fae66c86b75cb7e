package fence

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// tag finds the mark of a block in a literal.
var tag = regexp.MustCompile(`</?[a-z_]{3,}>`)

// tags lists the marks that a file writes itself.
func tags(s source) []string {
	var out []string
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			out = append(out, tag.FindAllString(lit.Value, -1)...)
		}
		return true
	})
	return out
}

// The rooms that write blocks for a model take their marks from internal/marks, where
// each is on the list of what is escaped in all of them.
func TestMarksAreListed(t *testing.T) {
	rooms := map[string]bool{"window": true, "workspace": true, "compact": true, "intake": true, "engine": true}
	for _, s := range sources(t) {
		if !rooms[s.room] || s.test {
			continue
		}
		for _, mark := range tags(s) {
			t.Errorf("%s writes %s: a mark comes from internal/marks", s.path, mark)
		}
	}
	if got := tags(parse(t, "window/x.go", "package window\nconst a, b = \"<notes>\\n\", `x </notes>`")); len(got) != 2 {
		t.Errorf("planted marks were found as %q", got)
	}
}
