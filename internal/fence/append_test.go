package fence

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// purge names the one function whose statements may take messages away: that of the store, and the one
// that follows it in the copy of a store that is still being made.
const purge = "deleteMessages"

// changes finds statements that change or remove rows of messages. A table's name
// may be quoted and qualified; an upsert that rewrites counts as a change.
var changes = []*regexp.Regexp{
	regexp.MustCompile(`(?is)\bUPDATE\s+(OR\s+\w+\s+)?(ONLY\s+)?` + table),
	regexp.MustCompile(`(?is)\bDELETE\s+FROM\s+(ONLY\s+)?` + table),
	regexp.MustCompile(`(?is)\b(REPLACE|INSERT\s+OR\s+REPLACE)\s+INTO\s+` + table),
	regexp.MustCompile(`(?is)\bINTO\s+` + table + `[^;]*\bON\s+CONFLICT\b[^;]*\bDO\s+UPDATE\b`),
	regexp.MustCompile(`(?is)\bTRUNCATE\s+(TABLE\s+)?[^;]*` + table),
	regexp.MustCompile(`(?is)\bMERGE\s+INTO\s+` + table),
	regexp.MustCompile(`(?is)\bDROP\s+(TABLE|TRIGGER)\s+(IF\s+EXISTS\s+)?["\w.]*messages(_append_only)?\b`),
}

const table = "[\"`\\[]?(\\w+[\"`\\]]?\\.[\"`\\[]?)?messages\\b"

func changesMessages(sql string) bool {
	sql = comment.ReplaceAllString(sql, " ")
	return slices.ContainsFunc(changes, func(r *regexp.Regexp) bool { return r.MatchString(sql) })
}

var comment = regexp.MustCompile(`--[^\n]*|/\*(?s:.*?)\*/`)

// statements lists the texts of a file with the function they stand in. Pieces
// that are joined with + are read as one, what is not text among them as a gap.
func statements(s source) map[string][]string {
	out := map[string][]string{}
	for _, d := range s.tree.Decls {
		in := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			in = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, whole := joined(e)
			if whole {
				out[in] = append(out[in], text)
			}
			return !whole
		})
	}
	return out
}

func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return joined(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		a, okA := joined(e.X)
		b, okB := joined(e.Y)
		if !okA {
			a = " ? "
		}
		if !okB {
			b = " ? "
		}
		return a + b, okA || okB
	}
	return "", false
}

// The log is append-only: no statement changes a message, and only the one named
// function takes any away.
func TestAppendOnly(t *testing.T) {
	read := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.room, "internal/store/sql") || s.test {
			continue
		}
		for in, texts := range statements(s) {
			for _, sql := range texts {
				read++
				if changesMessages(sql) && in != purge {
					t.Errorf("%s: %s changes messages:\n%s", s.path, in, sql)
				}
			}
		}
	}
	migrations, err := filepath.Glob(filepath.Join(root, "internal/store/sql/migrations/*/*.sql"))
	if err != nil || len(migrations) == 0 || read < 50 {
		t.Fatalf("read %d texts and %d migrations (%v): is this the place?", read, len(migrations), err)
	}
	for _, name := range migrations {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		if changesMessages(up) {
			t.Errorf("%s changes messages", name)
		}
		if !strings.Contains(up, "TRIGGER messages_append_only BEFORE UPDATE ON messages") &&
			strings.Contains(up, "CREATE TABLE messages") {
			t.Errorf("%s makes messages without the trigger that guards them", name)
		}
	}
}

func TestAppendOnlyCanFail(t *testing.T) {
	for sql, want := range map[string]bool{
		`UPDATE messages SET parts = $1`:                                        true,
		"update\n\t\"messages\" set parts = 1":                                  true,
		`UPDATE OR IGNORE main.messages SET seq = 1`:                            true,
		`DELETE FROM messages WHERE id = $1`:                                    true,
		`SELECT 1; delete from public."messages"`:                               true,
		`REPLACE INTO messages VALUES (1)`:                                      true,
		`INSERT OR REPLACE INTO messages (id) VALUES ($1)`:                      true,
		`INSERT INTO messages (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET`:  true,
		`TRUNCATE TABLE turns, messages`:                                        true,
		`DROP TABLE messages`:                                                   true,
		`DROP TRIGGER messages_append_only`:                                     true,
		"UPDATE -- all of them\n messages SET seq = 0":                          true,
		`INSERT INTO messages (id) VALUES ($1) ON CONFLICT DO NOTHING`:          false,
		`INSERT INTO messages (id) VALUES ($1) RETURNING n`:                     false,
		`UPDATE conversations SET messages = $2`:                                false,
		`UPDATE branches SET head_seq = (SELECT max(seq) FROM messages)`:        false,
		`SELECT * FROM messages FOR UPDATE`:                                     false,
		`DELETE FROM index_blocks WHERE segment = $1`:                           false,
		`CREATE TRIGGER messages_append_only BEFORE UPDATE ON messages`:         false,
		`INSERT INTO turns (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET a=1`: false,
	} {
		if got := changesMessages(sql); got != want {
			t.Errorf("%v for %s", got, sql)
		}
	}
	bad := parse(
		t,
		"internal/store/sql/bad.go",
		"package sqlstore\nfunc f() { run(`UPDATE `+`mess`+\"ages SET name = \"+mark(1)) }\n",
	)
	if got := statements(bad)["f"]; len(got) != 1 || !changesMessages(got[0]) {
		t.Errorf("a statement in pieces was read as %q", got)
	}
}
