package i18n

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// unseen are errors of readers that no person sees: their callers try again, or take another way.
var unseen = map[string]bool{
	"the reader stopped":            true,
	"a patch does not fit":          true,
	"the directory is too long":     true,
	"the database is being changed": true,
	"cannot be read":                true, // its caller says what
	"codex: a %s cannot be written": true, // what it writes is its own
}

var (
	// A reason is an argument of reasonCalls, or stands in reasonFields.
	reasonCalls  = regexp.MustCompile(`^(?:errors\.New|fmt\.Errorf|.*[bB]ad|badEntry)$`)
	reasonFields = regexp.MustCompile(`^(?:[rR]eason|[bB]ad)$`)
	word         = regexp.MustCompile(`\b[a-z]{2,}\b`)
	englishWords = regexp.MustCompile(`[a-z]{2,} [a-z]+`)
	quoted       = regexp.MustCompile(`"[^"]*"`)
)

// Whatever a reader of other tools' files says about what it does not read is said in Chinese as a whole.
func TestEveryReasonHasASentence(t *testing.T) {
	found := 0
	for at, f := range product(t) {
		if !strings.HasPrefix(at, "transcript/") && at != "part.go" && at != "message.go" {
			continue
		}
		check := func(e ast.Expr) {
			for _, english := range texts(e) {
				if !word.MatchString(verb().ReplaceAllString(english, "")) || unseen[english] {
					continue
				}
				found++
				said := Chinese.Translate(writeOut(english))
				if !han.MatchString(said) || englishWords.MatchString(quoted.ReplaceAllString(said, "")) {
					t.Errorf("%s:%d: %q is in no file of internal/i18n: in Chinese it is %q", at, files.Position(e.Pos()).Line,
						english, said)
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if reasonCalls.MatchString(called(x)) {
					for _, arg := range x.Args {
						check(arg)
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := x.Key.(*ast.Ident); ok && reasonFields.MatchString(key.Name) {
					check(x.Value)
				}
			case *ast.AssignStmt:
				for i, to := range x.Lhs {
					if i < len(x.Rhs) && reasonFields.MatchString(lastName(to)) {
						check(x.Rhs[i])
					}
				}
			}
			return true
		})
	}
	if found < 80 {
		t.Errorf("only %d reasons were found", found)
	}
}

// texts returns the literals of a text: of one that is formatted or joined from several too.
func texts(e ast.Expr) []string {
	if s, ok := text(e); ok {
		return []string{s}
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		left, leftText := text(x.X)
		right, rightText := text(x.Y)
		if leftText && !rightText {
			return []string{left + "%v"}
		}
		if rightText && !leftText {
			return []string{"%v" + right}
		}
	case *ast.CallExpr:
		if called(x) == "fmt.Sprintf" {
			return texts(x.Args[0])
		}
	}
	return nil
}

// called returns the name of a function that is called, with its package.
func called(call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if from, ok := f.X.(*ast.Ident); ok {
			return from.Name + "." + f.Sel.Name
		}
	}
	return lastName(call.Fun)
}

func lastName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// writeOut puts values into a sentence: an error, a number, a name.
func writeOut(english string) string {
	return verb().ReplaceAllStringFunc(english, func(v string) string {
		switch v[len(v)-1] {
		case '%':
			return "%"
		case 'd':
			return "7"
		case 'q':
			return `"x"`
		case 's':
			return "X"
		}
		return "not JSON"
	})
}
