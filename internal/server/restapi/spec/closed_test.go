package spec

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// The root's kinds of event and part, and the values of its texts that are one of a few,
// are described, all of them: what is added there has to be added here.
func TestKindsAreClosed(t *testing.T) {
	markers := map[string][]string{}
	values := map[string][]string{}
	names, err := filepath.Glob("../../../../*.go")
	if err != nil || len(names) < 10 {
		t.Fatalf("the root has the files %v, %v", names, err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && (n.Name.Name == "eventType" || n.Name.Name == "partType") {
					markers[n.Name.Name] = append(markers[n.Name.Name], n.Recv.List[0].Type.(*ast.Ident).Name)
				}
			case *ast.ValueSpec:
				kind, ok := n.Type.(*ast.Ident)
				if ok && len(n.Values) == 1 {
					if text, ok := n.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
						values[kind.Name] = append(values[kind.Name], text.Value)
					}
				}
			}
			return true
		})
	}
	known := map[string][]string{}
	for _, e := range events {
		known["eventType"] = append(known["eventType"], reflect.TypeOf(e).Name())
	}
	for _, p := range parts {
		known["partType"] = append(known["partType"], reflect.TypeOf(p).Name())
	}
	for of, names := range known {
		slices.Sort(names)
		slices.Sort(markers[of])
		if !slices.Equal(names, markers[of]) {
			t.Errorf("%s: the root has %v, the description %v", of, markers[of], names)
		}
	}
	for kind, described := range enums {
		var want []string
		for _, v := range described {
			want = append(want, strconv.Quote(reflect.ValueOf(v).String()))
		}
		got := slices.DeleteFunc(values[kind.Name()], func(v string) bool { return v == `""` })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the root has %v, the description %v", kind.Name(), got, want)
		}
	}
}

// A value is found in what another example's response holds; one that is not there is said.
func TestReferences(t *testing.T) {
	e := Example{Path: map[string]string{"id": "$chat.0.turn_id"}, Body: []byte(`{"a":["$fork.id"]}`),
		After: []string{"compact"}}
	if got := e.ListReferences(); !slices.Equal(got, []string{"compact", "chat", "fork"}) {
		t.Errorf("it names %v", got)
	}
	held := map[string]string{"chat": `[{"turn_id":"t"}]`, "fork": `{"id":7}`}
	got, err := e.FillReferences(func(name string) json.RawMessage { return []byte(held[name]) })
	if err != nil || got.Path["id"] != "t" || string(got.Body) != `{"a":[7]}` {
		t.Errorf("filled: %+v, %v", got, err)
	}
	held["fork"] = `{}`
	if _, err := e.FillReferences(func(name string) json.RawMessage { return []byte(held[name]) }); err == nil {
		t.Error("a value that is not there is not said")
	}
}

// A sheet that was just written has no response yet; an empty one is a response.
func TestRecorded(t *testing.T) {
	if (&Example{Response: []byte("null")}).HasResponse() || !(&Example{Response: []byte(`""`)}).HasResponse() {
		t.Error("null counts as a response, or a text does not")
	}
}
