package fence

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// readTags are tags that a file reads in what others wrote, and never writes itself.
var readTags = []string{
	"compact/summary/work.go <tool_use_error>", // how tools of other programs report that they failed
	"compact/summary/work.go <error>",
	"internal/intake/kind.go </title>", // of a page
}

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
	rooms := map[string]bool{
		"window":             true,
		"internal/workspace": true,
		"compact":            true,
		"compact/summary":    true,
		"internal/intake":    true,
		"engine":             true,
		"engine/request":     true,
	}
	read := map[string]bool{}
	for _, s := range sources(t) {
		if !rooms[s.room] || s.test {
			continue
		}
		for _, mark := range tags(s) {
			if at := s.path + " " + mark; slices.Contains(readTags, at) {
				read[at] = true
				continue
			}
			t.Errorf("%s writes %s: a mark comes from internal/marks", s.path, mark)
		}
	}
	for _, at := range readTags {
		if !read[at] {
			t.Errorf("%s is on the list of tags that are read, and is read no more", at)
		}
	}
	if got := tags(parse(t, "window/x.go", "package window\nconst a, b = \"<notes>\\n\", `x </notes>`")); len(got) != 2 {
		t.Errorf("planted marks were found as %q", got)
	}
}
