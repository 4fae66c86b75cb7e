package fence

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// sqlToken is one word, number, string, parameter or sign of a statement.
type sqlToken struct {
	text   string // a word in lower case
	offset int
	quoted bool // a string, or a name in double quotes
}

var sqlTokens = regexp.MustCompile(
	`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$|\$\d+|[A-Za-z_][\w$]*|\d[\w.]*|\s+|.`,
)

// readSQL cuts a text into its statements, each as its tokens. Comments are left out.
func readSQL(text string) [][]sqlToken {
	var out [][]sqlToken
	var now []sqlToken
	for _, at := range sqlTokens.FindAllStringIndex(text, -1) {
		t := text[at[0]:at[1]]
		switch {
		case strings.HasPrefix(t, "--"), strings.HasPrefix(t, "/*"), strings.TrimSpace(t) == "":
		case t == ";":
			out = append(out, now)
			now = nil
		case strings.HasPrefix(t, "$$"):
			now = append(now, sqlToken{"$$", at[0], true})
		case t[0] == '\'' || t[0] == '"':
			now = append(now, sqlToken{strings.Trim(t, `"`), at[0], true})
		default:
			now = append(now, sqlToken{strings.ToLower(t), at[0], false})
		}
	}
	return append(out, now)
}

// next says whether the words stand at i, one after the other.
func next(s []sqlToken, i int, words ...string) bool {
	for n, w := range words {
		if i+n >= len(s) || s[i+n].quoted || s[i+n].text != w {
			return false
		}
	}
	return true
}

// inner returns what stands in the parentheses that open at i, and where they close.
func inner(s []sqlToken, i int) (in []sqlToken, end int) {
	depth := 0
	for n := i; n < len(s); n++ {
		if s[n].text == "(" && !s[n].quoted {
			depth++
		}
		if s[n].text == ")" && !s[n].quoted {
			if depth--; depth == 0 {
				return s[i+1 : n], n
			}
		}
	}
	return nil, len(s)
}

// commas cuts tokens at the commas that no parentheses surround.
func commas(s []sqlToken) [][]sqlToken {
	var out [][]sqlToken
	depth := 0
	from := 0
	for i, t := range s {
		switch {
		case t.quoted:
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case t.text == "," && depth == 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// sqlText is one string of the Go code, with the names of constants in it put in.
type sqlText struct {
	text string
	line int
	in   string // the function or name it stands in
}

// looksLikeSQL tells statements, and pieces of them, from other texts: their keywords are
// written in capitals.
var looksLikeSQL = regexp.MustCompile(
	`\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|FROM|WHERE|AND|JOIN|GROUP BY|ORDER BY|VALUES|` +
		`LISTEN|NOTIFY|LOCK|SET|PRAGMA|WITH|IN|SAVEPOINT|CAST|CASE|LIMIT|FOR)\b`,
)

// constants are the strings that rooms have as constants.
type constants map[string]string // "room name" to text

// constantsOf reads them, with what the dialect of many engines says instead of some: varied are
// those.
func constantsOf(all []source) (known constants, varied map[string]bool) {
	known = constants{}
	for range 4 { // a constant made of others made of others
		varied = known.vary(all)
		for _, s := range all {
			for _, d := range s.tree.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.CONST {
					continue
				}
				for _, spec := range g.Specs {
					v := spec.(*ast.ValueSpec)
					for i, name := range v.Names {
						if i >= len(v.Values) {
							continue
						}
						if text, whole := known.joined(s, v.Values[i], true); whole && !varied[s.room+" "+name.Name] {
							known[s.room+" "+name.Name] = text
						}
					}
				}
			}
		}
	}
	return known, varied
}

// vary puts in what the dialect of many engines says instead of a constant, and returns which
// constants those are: what they say themselves is SQLite's.
func (c constants) vary(of []source) map[string]bool {
	varied := map[string]bool{}
	for _, s := range of {
		if !within(s.room, "store/sql/postgres") {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || len(lit.Elts) != 2 {
				return true
			}
			what, okOf := field(lit.Elts[0], "Of").(*ast.SelectorExpr)
			says := field(lit.Elts[1], "Is")
			if !okOf || says == nil {
				return true
			}
			for _, im := range s.imports() {
				if pkg, ok := what.X.(*ast.Ident); ok && within(im, module) && path.Base(im) == pkg.Name {
					name := ourRoom(im) + " " + what.Sel.Name
					varied[name] = true
					if c[name], ok = c.joined(s, says, true); !ok {
						c[name] = " $0 " // which is read where it is made
					}
				}
			}
			return true
		})
	}
	return varied
}

// field is the value of an element that has this name.
func field(e ast.Expr, name string) ast.Expr {
	kv, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return nil
	}
	if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != name {
		return nil
	}
	return kv.Value
}

// joined is the text of an expression; what is not known of it is read as a parameter.
// whole is whether anything of it is a string. Names are only looked up within a sum.
func (c constants) joined(s source, e ast.Expr, inSum bool) (text string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return c.joined(s, e.X, inSum)
	case *ast.Ident:
		text, ok := c[s.room+" "+e.Name]
		return text, ok && inSum
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok || !inSum {
			return "", false
		}
		for _, im := range s.imports() {
			if within(im, module) && path.Base(im) == pkg.Name {
				text, ok := c[ourRoom(im)+" "+e.Sel.Name]
				return text, ok
			}
		}
		return "", false
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		a, okA := c.joined(s, e.X, true)
		b, okB := c.joined(s, e.Y, true)
		if !okA {
			a = " $0 "
		}
		if !okB {
			b = " $0 "
		}
		return a + b, okA || okB
	}
	return "", false
}

// texts lists the strings of a file. Pieces that are joined with + are one.
func (c constants) texts(s source) []sqlText {
	var out []sqlText
	for _, d := range s.tree.Decls {
		in := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			in = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && in == "" {
				in = v.Names[0].Name
				defer func() { in = "" }()
				for _, value := range v.Values {
					ast.Inspect(value, c.collect(s, in, &out))
				}
				return false
			}
			return c.collect(s, in, &out)(n)
		})
	}
	return out
}

// collect is a visitor that adds the strings it meets.
func (c constants) collect(s source, in string, out *[]sqlText) func(ast.Node) bool {
	return func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, whole := c.joined(s, e, false)
		if whole {
			*out = append(*out, sqlText{text, s.line(e.Pos()), in})
		}
		return !whole
	}
}
