package fence

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sqlRule is something that an engine which speaks PostgreSQL lacks, or does its own way
// without saying so. docs/SCALE.md says which.
type sqlRule struct {
	name, why string
	find      func(statement []sqlToken) []int // indexes of tokens
}

var sqlRules = []sqlRule{
	{"advisory lock", "CockroachDB takes none and says nothing; a pooler between transactions loses it. Lock a row",
		word(func(w string) bool {
			return strings.HasPrefix(w, "pg_advisory") || strings.HasPrefix(w, "pg_try_advisory")
		})},
	{
		"sequence",
		"a number from one place for all rows costs a round trip a row, or has gaps and another order than the commits; " +
			"count in a row of numbers",
		either(
			words(
				"serial",
				"bigserial",
				"smallserial",
				"serial2",
				"serial4",
				"serial8",
				"nextval",
				"currval",
				"setval",
				"lastval",
			),
			phrase("create", "sequence"),
			phrase("as", "identity"),
			phrase("default", "as", "identity"),
		),
	},
	{"deferrable", "YugabyteDB and CockroachDB have no deferred constraints",
		either(words("deferrable", "deferred"), phrase("set", "constraints"))},
	{"division", "an integer divided by an integer is a decimal number on CockroachDB, and a whole one elsewhere; " +
		"let the dialect write it, or divide in Go",
		words("/")},
	{
		"signal",
		"CockroachDB, Aurora DSQL, Spanner and poolers have no LISTEN; it may only save waiting, with polling behind it",
		either(starts("listen"), starts("unlisten"), starts("notify"), words("pg_notify")),
	},
	{"temporary table", "a pooler between transactions loses them, and Aurora DSQL has none",
		either(phrase("create", "temp"), phrase("create", "temporary"), phrase("create", "local", "temporary"))},
	{"skip locked", "Spanner and Citus across shards lack it; take the lease with a compare-and-set",
		either(phrase("skip", "locked"), words("nowait"))},
	{"trigger", "Citus, Aurora DSQL and Spanner have none on distributed tables; what is stored may not depend on one",
		unlessGuard(either(
			phrase("create", "trigger"),
			phrase("create", "or", "replace", "trigger"),
			phrase(
				"create",
				"constraint",
				"trigger",
			),
			phrase("create", "function"),
			phrase("create", "or", "replace", "function"),
			phrase("create", "procedure"),
			starts("do"),
		))},
	{
		"foreign key",
		"one between shards is refused by Citus, any by Aurora DSQL, and elsewhere it costs a read; the doctor looks for orphans",
		either(words("references"), phrase("foreign", "key")),
	},
	{
		"lock of a join",
		"a lock over several tables, groups or unions is refused, or takes locks that differ; lock one row by its key",
		lockOfJoin,
	},
	{
		"weak lock",
		"FOR SHARE and the locks of keys lock nothing on CockroachDB unless it is told to, and Aurora DSQL lacks them",
		either(phrase("for", "share"), phrase("for", "key", "share"), phrase("for", "no", "key", "update")),
	},
	{"table lock", "CockroachDB has no LOCK TABLE", phrase("lock", "table")},
	{"system column", "xmin, ctid and numbers of transactions are PostgreSQL's own",
		word(func(w string) bool {
			return slices.Contains([]string{"xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"}, w) ||
				strings.HasPrefix(w, "txid_") ||
				strings.HasPrefix(w, "pg_snapshot_") ||
				w == "pg_current_xact_id" ||
				w == "pg_current_snapshot"
		})},
	{"extension", "which extensions there are differs with each engine", phrase("create", "extension")},
	{
		"collation of a column",
		"CockroachDB and Aurora DSQL refuse one in a table, and compare by bytes as it is",
		columnCollation,
	},
	{"storage", "how a column is kept is PostgreSQL's own: YugabyteDB refused it until 2025.2", phrase("set", "storage")},
	{
		"session state",
		"a pooler between transactions hands the session to others: SET LOCAL, or a parameter of the connection",
		sessionState,
	},
	{
		"unique index on a part",
		"ON CONFLICT does not see its key without the same condition, and Spanner has no index on a part",
		partialUnique,
	},
	{
		"only SQLite",
		"this is SQLite's own",
		either(
			words(
				"json_each",
				"json_tree",
				"json_extract",
				"json_group_array",
				"pragma",
				"autoincrement",
				"rowid",
				"ifnull",
				"iif",
				"glob",
				"randomblob",
				"zeroblob",
				"group_concat",
				"instr",
				"raise",
				"typeof",
				"strftime",
				"unixepoch",
				"nocase",
			),
			phrase(
				"as",
				"blob",
			),
			phrase("without", "rowid"),
			phrase("insert", "or"),
			phrase("replace", "into"),
			phrase("update", "or"),
			phrase(
				"indexed",
				"by",
			),
			phrase("not", "indexed"),
			phrase("limit", "-", "1"),
			scalar("max"),
			scalar("min"),
			sumOfTruth,
		),
	},
}

// word finds words that hold.
func word(holds func(string) bool) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i, t := range s {
			if !t.quoted && holds(t.text) {
				out = append(out, i)
			}
		}
		return out
	}
}

func words(any ...string) func([]sqlToken) []int {
	return word(func(w string) bool { return slices.Contains(any, w) })
}

// phrase finds words one after the other.
func phrase(all ...string) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i := range s {
			if next(s, i, all...) {
				out = append(out, i)
			}
		}
		return out
	}
}

// starts finds a statement by its first word.
func starts(first string) func([]sqlToken) []int {
	return func(s []sqlToken) []int {
		if next(s, 0, first) {
			return []int{0}
		}
		return nil
	}
}

func either(any ...func([]sqlToken) []int) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for _, find := range any {
			out = append(out, find(s)...)
		}
		return out
	}
}

// unlessGuard leaves out what only refuses changes of messages, as [TestAppendOnly] wants it:
// nothing is stored by it, so that it can be left away where there are no triggers.
func unlessGuard(find func([]sqlToken) []int) func([]sqlToken) []int {
	return func(s []sqlToken) []int {
		if slices.ContainsFunc(s, func(t sqlToken) bool { return t.text == "messages_append_only" }) &&
			!slices.ContainsFunc(s, isWrite) {
			return nil
		}
		return find(s)
	}
}

func isWrite(t sqlToken) bool { return t.text == "insert" || t.text == "delete" || t.text == "set" }

// scalar finds an aggregate that is called with two values, as SQLite allows.
func scalar(name string) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i := range s {
			if !next(s, i, name, "(") {
				continue
			}
			if in, _ := inner(s, i+1); len(commas(in)) > 1 {
				out = append(out, i)
			}
		}
		return out
	}
}

// sumOfTruth finds a sum of comparisons, which only SQLite takes for numbers.
func sumOfTruth(s []sqlToken) (out []int) {
	for i := range s {
		if !next(s, i, "sum", "(") {
			continue
		}
		in, _ := inner(s, i+1)
		compared := slices.ContainsFunc(
			in,
			func(t sqlToken) bool { return !t.quoted && slices.Contains([]string{"=", "<", ">"}, t.text) },
		)
		if compared && !slices.ContainsFunc(in, func(t sqlToken) bool { return t.text == "case" }) {
			out = append(out, i)
		}
	}
	return out
}

// lockOfJoin finds rows that are locked where they come from more than one table.
func lockOfJoin(s []sqlToken) (out []int) {
	for i := range s {
		if !next(s, i, "for", "update") && !next(s, i, "for", "share") {
			continue
		}
		several := slices.ContainsFunc(s, func(t sqlToken) bool {
			return !t.quoted && slices.Contains([]string{"join", "union", "group", "distinct", "intersect", "except"}, t.text)
		})
		for n := range s {
			if next(s, n, "from") {
				from := s[n+1 : i]
				if end := slices.IndexFunc(
					from,
					func(t sqlToken) bool { return t.text == "where" || t.text == "order" },
				); end >= 0 {
					from = from[:end]
				}
				several = several || len(commas(from)) > 1
				break
			}
		}
		if several {
			out = append(out, i)
		}
	}
	return out
}

func sessionState(s []sqlToken) []int {
	if next(s, 0, "set") && !next(s, 0, "set", "local") && !next(s, 0, "set", "transaction") &&
		!next(s, 0, "set", "constraints") {
		if next(s, 2, "=") || next(s, 2, "to") || next(s, 1, "session") {
			return []int{0}
		}
	}
	if next(s, 0, "prepare") {
		return []int{0}
	}
	return phrase("with", "hold")(s)
}

func partialUnique(s []sqlToken) []int {
	if !next(s, 0, "create", "unique", "index") {
		return nil
	}
	return words("where")(s)
}

// columnCollation finds the collations of a table's columns, once for a table.
func columnCollation(s []sqlToken) []int {
	if !next(s, 0, "create", "table") && !next(s, 0, "alter", "table") {
		return nil
	}
	if found := words("collate")(s); len(found) > 0 {
		return found[:1]
	}
	return nil
}

// breaks lists what a text breaks, as the name of the rule and a piece of the text.
func breaks(text string) [][2]string {
	var out [][2]string
	for _, s := range readSQL(text) {
		for _, r := range sqlRules {
			for _, i := range r.find(s) {
				from := s[max(0, i-4)].offset
				to := s[min(len(s)-1, i+6)].offset
				out = append(out, [2]string{r.name, strings.Join(strings.Fields(text[from:to]), " ")})
			}
		}
	}
	return out
}

// allowedSQL is what breaks a rule and stays, with the reason. The key is the file, the
// function or the name (in a migration the table, or what is made) and the rule; or a folder and
// * for all that is in it. One that nothing needs is a fault, once its file is there.
var allowedSQL = map[string]string{
	"store/sqldriver/sqlrow/shape.go Shape division": "whole numbers by whole numbers: right on PostgreSQL, wrong bins on CockroachDB",

	"store/sql/postgres/listen.go once signal":            "it saves waiting; servers poll behind it",
	"store/sql/postgres/order.go settleChanges signal":    "it saves waiting; servers poll behind it",
	"store/sql/postgres/variants.go variants skip locked": "of models and tallies, whose tables are not distributed",
	"store/sql/postgres/variants.go shared weak lock":     "where it locks nothing, transactions are serializable, and one is run again",
	moveRoom +
		" Watch trigger": "only while a store is copied elsewhere; where there are none, it is refused",
	moveRoom +
		" unlessThere trigger": "only while a store is copied elsewhere; where there are none, it is refused",
	moveRoom + " onChange trigger":            "it closes a store that was moved; where there are none, it is refused",
	moveRoom + " Refuse table lock":           "whoever changes a table is waited for; see its trigger",
	moveRoom + " Watch only SQLite":           "INSERT OR UPDATE is how a trigger names its events",
	moveRoom + " Refuse only SQLite":          "INSERT OR UPDATE is how a trigger names its events",
	moveRoom + " Watch collation of a column": "what a database compares by cannot be relied on",
	portableMigrations + " * collation of a column": "what a database compares by cannot be relied on; " +
		"engines that refuse the word compare by bytes, and need it taken out",
	portableMigrations +
		"/00004_message_hashes.sql message_hashing key": "it has one row: how far a piece of work has come",
	portableMigrations +
		"/00001_first.sql index_blocks storage": "parts of a block are read, and it is compressed already",
}

// moveRoom is how a database notes what changes while it is copied elsewhere.
const moveRoom = "store/sql/postgres/pgmove/pgmove.go"

// portableMigrations are those of the dialect that many engines speak.
const portableMigrations = "store/sqldriver/migrations/postgres"

func TestPortableSQL(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, portableMigrations, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	report := func(key [2]string, line int, broken [2]string) {
		if broken[0] == "only SQLite" && len(files) == 0 {
			return // as long as there is no other dialect
		}
		for _, of := range []string{key[0] + " " + key[1], path.Dir(key[0]) + " *"} {
			if k := of + " " + broken[0]; allowedSQL[k] != "" {
				used[k] = true
				return
			}
		}
		i := slices.IndexFunc(sqlRules, func(r sqlRule) bool { return r.name == broken[0] })
		why := "a conversation's rows are found by its id: a key over all conversations cannot be distributed"
		if i >= 0 {
			why = sqlRules[i].why
		}
		allow := key[0] + " " + key[1] + " " + broken[0]
		t.Errorf("%s:%d: %s: … %s … (%s; to allow it, %q)", key[0], line, broken[0], broken[1], why, allow)
	}
	if read := readGo(t, report); read < 150 {
		t.Errorf("only %d statements were read: is this the place?", read)
	}
	made := tables{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel := portableMigrations + "/" + filepath.Base(name)
		for _, f := range made.read(string(text)) {
			report([2]string{rel, f.of}, f.line, f.broken)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(allowedSQL)) {
		file, _, _ := strings.Cut(key, " ")
		if _, err := os.Stat(filepath.Join(root, file)); err == nil && !used[key] {
			t.Errorf("%q (%s) is allowed, and nothing needs it", key, allowedSQL[key])
		}
	}
}

// readGo reports what the statements of the Go code break, and returns how many there are.
func readGo(t *testing.T, report func(key [2]string, line int, broken [2]string)) (read int) {
	of := slices.DeleteFunc(
		slices.Clone(sources(t)),
		func(s source) bool { return !within(s.room, "store/sqldriver") || s.test },
	)
	known, varied := constantsOf(of)
	for _, s := range of {
		if within(s.room, "store/sql/sqlite") || isSuite(s.room) {
			continue // its own dialect, and what is no part of the program
		}
		for _, x := range known.texts(s) {
			if varied[s.room+" "+x.in] || len(strings.Fields(x.text)) < 2 && !strings.Contains(x.text, "(") {
				continue // said in another way, or a name
			}
			if !looksLikeSQL.MatchString(x.text) && !strings.Contains(x.text, "pg_") && !strings.Contains(x.text, "json_") {
				continue
			}
			read++
			for _, b := range breaks(x.text) {
				report([2]string{s.path, x.in}, x.line, b)
			}
		}
	}
	return read
}
