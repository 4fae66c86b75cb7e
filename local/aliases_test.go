package local_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
)

// TestAliasesNameTheirFields: go doc shows no fields of a type that is another's name, so its
// comment names them, and where to look.
func TestAliasesNameTheirFields(t *testing.T) {
	known := map[string]reflect.Type{
		"engine.PastRequest": reflect.TypeFor[engine.PastRequest](), "engine.TurnContext": reflect.TypeFor[engine.TurnContext](),
		"engine.ModelEntry":     reflect.TypeFor[engine.ModelEntry](),
		"engine.PolicySettings": reflect.TypeFor[engine.PolicySettings](),
		"engine.Overrides":      reflect.TypeFor[engine.Overrides](),
		"transfer.Copy":         reflect.TypeFor[transfer.Copy](),
		"engine.Reader":         reflect.TypeFor[engine.Reader](),
		"engine.Leaves":         reflect.TypeFor[engine.Leaves](),
		"engine.Leaf":           reflect.TypeFor[engine.Leaf](),
		"engine.SegmentList":    reflect.TypeFor[engine.SegmentList](),
		"engine.Here":           reflect.TypeFor[engine.Here](),
		"engine.Ground":         reflect.TypeFor[engine.Ground](),
		"engine.MessageLimits":  reflect.TypeFor[engine.MessageLimits](),
		"engine.Place":          reflect.TypeFor[engine.Place](),
		"engine.Completion":     reflect.TypeFor[engine.Completion](),
		"engine.Head":           reflect.TypeFor[engine.Head](),
		"local.Transfer":        reflect.TypeFor[local.Transfer](),
		"local.ImportRequest":   reflect.TypeFor[local.ImportRequest](),
		"local.ImportResult":    reflect.TypeFor[local.ImportResult](),
		"local.Imported":        reflect.TypeFor[local.Imported](),
		"local.ExportRequest":   reflect.TypeFor[local.ExportRequest](),
		"local.Survey":          reflect.TypeFor[local.Survey](),
		"local.Formats":         reflect.TypeFor[local.Formats](),
		"local.Copies":          reflect.TypeFor[local.Copies](),
		"local.Copy":            reflect.TypeFor[local.Copy](),
		"local.Session":         reflect.TypeFor[local.Session](),
		"local.FollowRequest":   reflect.TypeFor[local.FollowRequest](),
		"local.Followed":        reflect.TypeFor[local.Followed](),
		"local.OriginQuery":     reflect.TypeFor[local.OriginQuery](),
		"transfer.OriginQuery":  reflect.TypeFor[transfer.OriginQuery](),
	}
	found := 0
	for _, room := range []string{"engine", "transfer", "recall", "model", "functions", "local"} {
		for name, doc := range aliases(t, room) {
			found++
			of := known[room+"."+name]
			if of == nil {
				t.Errorf("%s.%s is an alias that this test does not know", room, name)
				continue
			}
			if link := "[" + of.String() + "]"; !strings.Contains(doc, link) {
				t.Errorf("the comment of %s.%s does not lead to %s", room, name, link)
			}
			for _, f := range reflect.VisibleFields(of) {
				if len(f.Index) > 1 || !f.IsExported() {
					continue // of a type within it
				}
				if !regexp.MustCompile(`\b` + f.Name + `\b`).MatchString(doc) {
					t.Errorf("the comment of %s.%s does not name its field %s", room, name, f.Name)
				}
			}
		}
	}
	if found != len(known) {
		t.Errorf("found %d aliases, want %d", found, len(known))
	}
}

// aliases returns the comments of a room's exported types that are other types' names.
func aliases(t *testing.T, room string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../" + room + "/*.go")
	if err == nil && len(files) == 0 {
		files, err = filepath.Glob("../internal/" + room + "/*.go")
	}
	if err != nil || len(files) == 0 {
		t.Fatal(room, files, err)
	}
	out := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				if s := s.(*ast.TypeSpec); s.Assign.IsValid() && s.Name.IsExported() {
					out[s.Name.Name] = g.Doc.Text()
				}
			}
		}
	}
	return out
}
