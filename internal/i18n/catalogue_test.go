package i18n

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// han is what a Chinese sentence has, and letter what one without words has not.
var (
	han    = regexp.MustCompile(`\p{Han}`)
	letter = regexp.MustCompile(`[A-Za-z]`)
)

// international are sentences that have no word of either language.
var international = map[ID]bool{"kind-null": true, "column-id": true, "column-mcp": true, "progress-of": true,
	"projects-setting": true, "chat-status": true}

// Both languages say everything, with the same values, each written as it is in English.
func TestBothLanguages(t *testing.T) {
	if len(declared) != len(catalogue()) || len(declared) > mostSentences {
		t.Errorf("%d sentences and %d ids, with room for %d", len(declared), len(catalogue()), mostSentences)
	}
	seen := map[ID]bool{}
	for _, s := range declared {
		id := s.id
		if seen[id] {
			t.Errorf("%s is declared twice", string(id))
		}
		seen[id] = true
		words := letter.MatchString(verb().ReplaceAllString(s.english, ""))
		if s.english == "" || words && !international[id] && !han.MatchString(s.chinese) {
			t.Errorf("%s: %q and %q", string(id), s.english, s.chinese)
		}
		english := values(s.english)
		for number, written := range values(s.chinese) {
			if english[number] != written {
				t.Errorf("%s: value %d is written %q in English and %q in Chinese", string(id), number, english[number], written)
			}
			delete(english, number)
		}
		for number := range english {
			t.Errorf("%s: value %d is not said in Chinese: %q", string(id), number, s.chinese)
		}
	}
}

// values returns the verbs of a sentence, by the number of their value.
func values(sentence string) map[int]string {
	out := map[int]string{}
	next := 0
	for _, m := range verb().FindAllStringSubmatch(sentence, -1) {
		if strings.HasSuffix(m[0], "%") {
			continue
		}
		next++
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		out[next] = strings.Replace(m[0], "["+m[1]+"]", "", 1)
	}
	return out
}

// product returns the files of the program, by their path: no tests, suites or examples.
func product(t *testing.T) map[string]*ast.File {
	const root = "../.."
	out := map[string]*ast.File{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
		if d.IsDir() {
			switch base := d.Name(); {
			case name == root:
				return nil
			case base == "testdata", base == "examples", base == "bench", base == "tools", base == "test",
				strings.HasSuffix(base, "test"), strings.HasPrefix(base, "."):
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") {
			return nil
		}
		out[at], err = parser.ParseFile(files, name, nil, 0)
		return err
	})
	if err != nil || len(out) < 300 {
		t.Fatalf("%d files: %v", len(out), err)
	}
	return out
}

var files = token.NewFileSet()

// text returns the value of a literal, also of one in pieces.
func text(e ast.Expr) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		return s, err == nil && x.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isText := text(x.X)
		right, isToo := text(x.Y)
		return left + right, isText && isToo && x.Op == token.ADD
	}
	return "", false
}

// named returns the ids that have a name in Go, by that name.
func named(t *testing.T, tree map[string]*ast.File) map[string]ID {
	out := map[string]ID{}
	for at, f := range tree {
		if filepath.Dir(at) != "internal/i18n" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || spec.Names[0].Name == "_" {
				return true
			}
			call, ok := spec.Values[0].(*ast.CallExpr)
			if !ok || len(call.Args) != 3 || spec.Names[0].Name == "declared" {
				return true
			}
			id, _ := text(call.Args[0])
			name := spec.Names[0].Name
			if want := kebab(name); id != want {
				t.Errorf("%s is called %s, want %s", name, id, want)
			}
			out[name] = ID(id)
			return true
		})
	}
	return out
}

var (
	wordEnds = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	initials = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
)

func kebab(name string) string {
	return strings.ToLower(initials.ReplaceAllString(wordEnds.ReplaceAllString(name, "$1-$2"), "$1-$2"))
}

// Every error that the program raises has a sentence here, and gives it all its values.
func TestEveryErrorHasASentence(t *testing.T) {
	tree := product(t)
	ids := named(t, tree)
	raised := 0
	for at, f := range tree {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 || !raises(call) {
				return true
			}
			raised++
			sentence, isText := text(call.Args[2])
			if sel, ok := call.Args[2].(*ast.SelectorExpr); ok && ids[sel.Sel.Name] != "" {
				sentence = ids[sel.Sel.Name].String()
				isText = true
			}
			where := fmt.Sprintf("%s:%d", at, files.Position(call.Pos()).Line)
			_, known := English.Format(ID(sentence), sentence)
			if isText && !known && letter.MatchString(verb().ReplaceAllString(sentence, "")) {
				t.Errorf("%s: the catalogue has no %q", where, sentence)
			}
			if given := len(call.Args) - 3; isText && !call.Ellipsis.IsValid() && given != len(values(sentence)) {
				t.Errorf("%s: %d values for %q", where, given, sentence)
			}
			return true
		})
	}
	if raised < 500 {
		t.Errorf("only %d errors were found", raised)
	}
}

// raises reports whether a call makes an error of the program's own.
func raises(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		from, ok := f.X.(*ast.Ident)
		return ok && from.Name == "scrollback" && (f.Sel.Name == "Errorf" || f.Sel.Name == "ParamErrorf")
	case *ast.Ident:
		return f.Name == "Errorf" || f.Name == "ParamErrorf"
	}
	return false
}

// pieces end where a value or another sentence stands.
var pieces = regexp.MustCompile(verb().String() + "|[:;(] ?")

// stored are sentences that older programs stored, and this one does not say.
var stored = map[ID]bool{"reference-not-image-model-can-be-shown": true}

// parsed are the sentences of the libraries that parse the command line and requests.
var parsed = map[ID]bool{
	"unexpected-argument-meant": true,
	"query-parameter-missing":   true,
	"regexp-wrong":              true,
	"unexpected-argument":       true,
	"unknown-command-meant":     true,
	"unknown-command":           true,
	"unknown-flag-meant-one":    true,
	"unknown-flag-meant":        true,
	"unknown-flag":              true,
	"missing-flags":             true,
	"expected-one-of":           true,
	"expected-argument":         true,
	"expected-but-got":          true,
	"expected-int-but-got":      true,
	"expected-uint-but-got":     true,
	"must-be-one-of":            true,
	"missing-value":             true,
	"missing-value-plain":       true,
}

// libraries are the beginnings of ids: what encoding/json, SQLite and the system say.
var libraries = regexp.MustCompile(`^(json|sqlite|system)-`)

// Everything in the catalogue is said somewhere: by its name, by that of its family, or, as what
// comes written out, by its English.
func TestEverySentenceIsUsed(t *testing.T) {
	tree := product(t)
	ids := named(t, tree)
	used := map[ID]bool{}
	families := map[string]bool{}
	var english strings.Builder
	for at, f := range tree {
		inside := filepath.Dir(at) == "internal/i18n"
		ast.Inspect(f, func(n ast.Node) bool {
			if inside {
				return false
			}
			switch x := n.(type) {
			case *ast.SelectorExpr:
				if from, ok := x.X.(*ast.Ident); ok && from.Name == "i18n" {
					used[ids[x.Sel.Name]] = true
				}
			case ast.Expr:
				if s, ok := text(x); ok {
					families[s] = true
					english.WriteString(s + "\n")
				}
			}
			return true
		})
	}
	all := english.String()
	for _, s := range declared {
		id := s.id
		family, _, isMember := strings.Cut(string(id), "/")
		longest := ""
		for _, piece := range pieces.Split(s.english, -1) {
			if piece = strings.TrimSpace(piece); len(piece) > len(longest) {
				longest = piece
			}
		}
		switch {
		case used[id], isMember && families[family]:
		case parsed[id], stored[id], libraries.MatchString(string(id)), s.kind != labels && strings.Contains(all, longest):
		default:
			t.Errorf("%s is said nowhere: %q", string(id), s.english)
		}
	}
}
