package fence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the import path of the root; the repository is two folders up.
const (
	module = "github.com/scrollback-ai/scrollback"
	root   = "../.."
)

// source is one Go file of the repository.
type source struct {
	path string // from the root, with slashes
	room string // its folder; "." for the root
	test bool
	text string
	tree *ast.File
	set  *token.FileSet
}

func (s source) line(p token.Pos) int { return s.set.Position(p).Line }

// imports lists what the file imports.
func (s source) imports() []string {
	var out []string
	for _, im := range s.tree.Imports {
		name, err := strconv.Unquote(im.Path.Value)
		if err == nil {
			out = append(out, name)
		}
	}
	return out
}

var parsed = sync.OnceValues(func() ([]source, error) {
	var out []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root &&
				(base == "testdata" || base == "vendor" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s := source{
			path: filepath.ToSlash(rel),
			test: strings.HasSuffix(base, "_test.go"),
			text: string(text),
			set:  token.NewFileSet(),
		}
		s.room = path.Dir(s.path)
		s.tree, err = parser.ParseFile(s.set, s.path, text, parser.SkipObjectResolution|parser.ParseComments)
		out = append(out, s)
		return err
	})
	return out, err
})

// sources returns every Go file of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: is %s the root?", len(all), root)
	}
	return all
}

// parse returns a planted file, to see that a rule can fail.
func parse(t *testing.T, name, text string) source {
	t.Helper()
	s := source{
		path: name,
		room: path.Dir(name),
		test: strings.HasSuffix(name, "_test.go"),
		text: text,
		set:  token.NewFileSet(),
	}
	var err error
	if s.tree, err = parser.ParseFile(s.set, name, text, parser.SkipObjectResolution|parser.ParseComments); err != nil {
		t.Fatal(err)
	}
	return s
}
