package fence

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// foreign are the methods of interfaces that are not ours and that ours embed, by
// import path and name.
var foreign = map[string]string{
	"any": "", "comparable": "", "error": "Error",
	"io.Reader": "Read", "io.Writer": "Write", "io.Closer": "Close", "io.Seeker": "Seek", "io.ReaderAt": "ReadAt",
	"io.ReadCloser": "Read Close", "io.WriteCloser": "Write Close", "io.ReadSeeker": "Read Seek", "io.ReadWriteCloser": "Read Write Close",
	"fmt.Stringer": "String", "net/http.Handler": "ServeHTTP", "context.Context": "Deadline Done Err Value",
	"database/sql/driver.Conn": "Prepare Close Begin", "database/sql/driver.ConnBeginTx": "BeginTx",
	"database/sql/driver.ConnPrepareContext": "PrepareContext", "database/sql/driver.ExecerContext": "ExecContext",
	"database/sql/driver.QueryerContext": "QueryContext", "database/sql/driver.SessionResetter": "ResetSession",
	"database/sql/driver.Validator": "IsValid",
}

// declaration is a type and the file that declares it.
type declaration struct {
	in    source
	expr  ast.Expr
	alias bool
}

// world is what the rooms declare outside their tests, by "room Type".
type world struct {
	types   map[string]declaration
	methods map[string][]string // written on the type itself
}

func newWorld(files []source) world {
	w := world{map[string]declaration{}, map[string][]string{}}
	for _, s := range files {
		if s.test {
			continue
		}
		for _, d := range s.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && len(d.Recv.List) == 1 {
					key := s.room + " " + typeName(d.Recv.List[0].Type)
					w.methods[key] = append(w.methods[key], d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						w.types[s.room+" "+t.Name.Name] = declaration{s, t.Type, t.Assign != token.NoPos}
					}
				}
			}
		}
	}
	return w
}

// typeName is the name of a type of the same room, or "".
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}

// names is a set of methods.
type names map[string]bool

func (n names) add(more ...string) {
	for _, m := range more {
		n[m] = true
	}
}

// ofType adds the methods of a type: its own, and those of what it embeds from its
// own room, so that embedding makes no type smaller.
func (w world) ofType(key string, into, seen names) {
	if seen[key] {
		return
	}
	seen.add(key)
	into.add(w.methods[key]...)
	if d, ok := w.types[key]; ok {
		w.ofExpr(d, d.expr, into, seen)
	}
}

// ofExpr adds what a type gets from the expression that it is declared as.
func (w world) ofExpr(d declaration, e ast.Expr, into, seen names) {
	switch e := e.(type) {
	case *ast.StructType:
		for _, f := range e.Fields.List {
			if name := typeName(f.Type); f.Names == nil && name != "" {
				w.ofType(d.in.room+" "+name, into, seen)
			}
		}
	case *ast.InterfaceType:
		w.ofInterface(d.in, e, into, seen)
	default:
		name := typeName(e)
		base, ok := w.types[d.in.room+" "+name]
		switch {
		case ok && d.alias:
			w.ofType(d.in.room+" "+name, into, seen)
		case ok && !seen["= "+d.in.room+" "+name]: // it takes the fields, and leaves the methods
			seen.add("= " + d.in.room + " " + name)
			w.ofExpr(base, base.expr, into, seen)
		}
	}
}

// ofInterface adds the methods of an interface and of those that it embeds, in
// whatever room. One that nobody knows is added as a name with a question mark.
func (w world) ofInterface(s source, i *ast.InterfaceType, into, seen names) {
	for _, m := range i.Methods.List {
		switch e := m.Type.(type) {
		case *ast.FuncType:
			into.add(m.Names[0].Name)
		case *ast.SelectorExpr:
			pkg, ok := e.X.(*ast.Ident)
			if !ok {
				continue
			}
			from := imported(s, pkg.Name)
			if ours, ok := strings.CutPrefix(from, module); ok {
				w.embed(path.Join(".", strings.TrimPrefix(ours, "/"))+" "+e.Sel.Name, from+"."+e.Sel.Name, into, seen)
			} else {
				w.embed("", from+"."+e.Sel.Name, into, seen)
			}
		case *ast.Ident, *ast.IndexExpr, *ast.IndexListExpr:
			name := typeName(e)
			w.embed(s.room+" "+name, name, into, seen)
		}
	}
}

func (w world) embed(key, name string, into, seen names) {
	known, ok := foreign[name]
	switch _, ours := w.types[key]; {
	case ours:
		w.ofType(key, into, seen)
	case ok:
		into.add(strings.Fields(known)...)
	default:
		into.add(name + "?")
	}
}

// imported is the path behind a package's name in a file, or the name itself.
func imported(s source, name string) string {
	for _, im := range s.tree.Imports {
		from, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		if im.Name != nil && im.Name.Name == name || im.Name == nil && path.Base(from) == name {
			return from
		}
	}
	return name
}

// tooMany are the types and interfaces with more methods than they may have.
func tooMany(files []source) []excess {
	w := newWorld(files)
	var out []excess
	judge := func(key, what string, n names, most int) {
		for name := range n {
			if strings.HasSuffix(name, "?") {
				out = append(out, excess{key, "embeds " + strings.TrimSuffix(name, "?") + ", which the table of foreign interfaces does not hold", 0})
			}
		}
		if len(n) > most {
			out = append(out, excess{key, what, len(n)})
		}
	}
	named := map[*ast.InterfaceType]bool{}
	keys := map[string]bool{}
	for key := range w.methods {
		keys[key] = true
	}
	for key := range w.types {
		keys[key] = true
	}
	for key := range keys {
		d := w.types[key]
		if d.alias {
			continue
		}
		n := names{}
		w.ofType(key, n, names{})
		if i, ok := d.expr.(*ast.InterfaceType); ok {
			named[i] = true
			judge(key, "methods of interface", n, maxInterfaceMethods)
		} else {
			judge(key, "methods", n, maxMethods)
		}
	}
	for _, s := range files {
		if s.test {
			continue
		}
		ast.Inspect(s.tree, func(node ast.Node) bool {
			if i, ok := node.(*ast.InterfaceType); ok && !named[i] {
				n := names{}
				w.ofInterface(s, i, n, names{})
				judge(s.path+" interface", "methods of interface", n, maxInterfaceMethods)
			}
			return true
		})
	}
	return out
}

func TestMethodsCanFail(t *testing.T) {
	many := func(prefix string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, prefix, i)
		}
		return b.String()
	}
	files := []source{
		parse(t, "x/a.go", "package x\n"+many("func (b *big) M%d() {}\n", maxMethods+1)),
		parse(t, "x/b.go", "package x\ntype big struct{}\ntype just struct{}\n"+many("func (just) M%d() {}\n", maxMethods)),
		parse(t, "x/c_test.go", "package x\nfunc (just) Only() {}\nfunc (just) InTests() {}\n"),
		// Cut in two and embedded, by pointer, with a type argument, through a type between.
		parse(t, "x/d.go", "package x\ntype half[T any] struct{}\n"+many("func (h *half[T]) H%d() {}\n", maxMethods-1)+
			"type between struct { *half[int] }\ntype whole struct { between; other }\ntype renamed whole\ntype same = whole\nfunc (whole) W() "+
			"{}\nfunc (renamed) R() {}\n"+
			"type other interface { O() }\n"),
		parse(t, "x/e.go", "package x\ntype shadow struct { just }\n"+many("func (shadow) M%d() {}\n", maxMethods)),
		parse(t, "y/a.go", "package y\nimport \""+module+"/x\"\ntype Y struct { *x.Big }\nfunc (Y) M() {}\n"),

		parse(t, "z/a.go", "package z\ntype Wide interface {\n"+many("M%d()\n", maxInterfaceMethods+1)+"}\ntype Just interface {\n"+
			many("M%d()\n", maxInterfaceMethods)+"}\n"),
		parse(t, "z/b.go", "package z\nimport (\"io\"; x \""+module+"/z\")\ntype There interface { x.Just; io.Closer }\n"+
			"type Here interface { Just; M1() }\ntype Known interface { Just; error }\ntype Any interface { ~int | ~string }\n"+
			"type Unknown interface { io.Strange }\nfunc f(v any) { v.(interface { Just; N() }).N() }\n"),
	}
	var got []string
	for _, e := range tooMany(files) {
		got = append(got, fmt.Sprintf("%s: %d %s", e.key, e.size, e.what))
	}
	slices.Sort(got)
	want := []string{
		"x big: 31 methods",
		"x renamed: 31 methods",
		"x whole: 31 methods",
		"z There: 13 methods of interface",
		"z Unknown: 0 embeds io.Strange, which the table of foreign interfaces does not hold",
		"z Wide: 13 methods of interface",
		"z Known: 13 methods of interface",
		"z/b.go interface: 13 methods of interface",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
