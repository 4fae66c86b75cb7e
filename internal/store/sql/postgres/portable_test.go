package postgres

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowedSQL is what breaks a rule and stays: a rule, a part of the statements or migrations, and the
// reason. One that nothing needs is a fault.
var allowedSQL = []struct{ rule, part, why string }{
	{"division", "GROUP BY floor(", "whole numbers by whole numbers: right on PostgreSQL, wrong bins on CockroachDB"},
	{"sequence", "CREATE TABLE goose_db_version", "the table of the library that migrates"},
	{"signal", "pg_notify(", "it saves waiting; servers poll behind it"},
	{"skip locked", "models_learned", "models are no distributed table"},
	{"skip locked", "tallies", "tallies are no distributed table"},
	{"weak lock", "sent_texts", "where it locks nothing, transactions are serializable, and one is run again"},
	{"weak lock", "artifacts", "where it locks nothing, transactions are serializable, and one is run again"},
	{"weak lock", "FROM numbers n", "where it locks nothing, transactions are serializable, and one is run again"},
	{"trigger", "move_", "only while a store is copied elsewhere; where there are none, it is refused"},
	{"table lock", "IN SHARE ROW EXCLUSIVE MODE", "who changes a table that is being moved is waited for"},
	{"collation of a column", "move_", "what a database compares by cannot be relied on"},
	{"collation of a column", "CREATE TABLE", "what a database compares by cannot be relied on; " +
		"engines that refuse the word compare by bytes, and need it taken out"},
	{"key", "kept_filling", "it has one row: how far a piece of work has come"},
	{"key", "message_hashing", "it has one row: how far a piece of work has come"},
	{"storage", "index_blocks", "parts of a block are read, and it is compressed already"},
}

// ownStatements returns those that no test of the contract is sure to run: what is said in its own way,
// what numbers rows, and what moves a store.
func ownStatements() []string {
	out := []string{anyPending, holdNumbers, numberMessages, numberChanges, beginInspecting, holdRun, holdNote}
	v := reflect.ValueOf(statements)
	for i := range v.NumField() {
		out = append(out, v.Field(i).String())
	}
	return slices.Concat(out, watchStatements(), refuseStatements("why"), reopenStatements(), forgetStatements())
}

// checkPortable reports statements that other engines which speak PostgreSQL's language lack or take
// otherwise; docs/SCALE.md says which.
func checkPortable(t *testing.T, heard []string) {
	used := map[int]bool{}
	report := func(where, text string, broken [2]string) {
		for i, a := range allowedSQL {
			if a.rule == broken[0] && strings.Contains(text, a.part) {
				used[i] = true
				return
			}
		}
		i := slices.IndexFunc(sqlRules, func(r sqlRule) bool { return r.name == broken[0] })
		why := "a conversation's rows are found by its id: a key over all conversations cannot be distributed"
		if i >= 0 {
			why = sqlRules[i].why
		}
		t.Errorf("%s: … %s … (%s)\nin %s", broken[0], broken[1], why, cmp.Or(where, text))
	}
	for _, text := range append(ownStatements(), heard...) {
		for _, b := range listViolations(text) {
			report("", text, b)
		}
	}
	files, err := filepath.Glob("../migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, %v", len(files), err)
	}
	made := tableColumns{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range made.readMigration(string(text)) {
			report(fmt.Sprintf("%s:%d", name, f.line), f.text, f.broken)
		}
	}
	for i, a := range allowedSQL {
		if !used[i] {
			t.Errorf("%s is allowed in %q (%s), and nothing needs it", a.rule, a.part, a.why)
		}
	}
}

// sqlRule is something that an engine which speaks PostgreSQL lacks, or does its own way
// without saying so. docs/SCALE.md says which.
type sqlRule struct {
	name, why string
	find      func(statement []sqlToken) []int // indexes of tokens
}

var sqlRules = []sqlRule{
	{"advisory lock", "CockroachDB takes none and says nothing; a pooler between transactions loses it. Lock a row",
		findWords(func(w string) bool {
			return strings.HasPrefix(w, "pg_advisory") || strings.HasPrefix(w, "pg_try_advisory")
		})},
	{
		"sequence",
		"a number from one place for all rows costs a round trip a row, or has gaps and another order than the commits; " +
			"count in a row of numbers",
		findEither(
			anyWord(
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
			findPhrase("create", "sequence"),
			findPhrase("as", "identity"),
			findPhrase("default", "as", "identity"),
		),
	},
	{"deferrable", "YugabyteDB and CockroachDB have no deferred constraints",
		findEither(anyWord("deferrable", "deferred"), findPhrase("set", "constraints"))},
	{"division", "an integer divided by an integer is a decimal number on CockroachDB, and a whole one elsewhere; " +
		"let the dialect write it, or divide in Go",
		anyWord("/")},
	{
		"signal",
		"CockroachDB, Aurora DSQL, Spanner and poolers have no LISTEN; it may only save waiting, with polling behind it",
		findEither(startsWith("listen"), startsWith("unlisten"), startsWith("notify"), anyWord("pg_notify")),
	},
	{"temporary table", "a pooler between transactions loses them, and Aurora DSQL has none",
		findEither(findPhrase("create", "temp"), findPhrase("create", "temporary"), findPhrase("create", "local", "temporary"))},
	{"skip locked", "Spanner and Citus across shards lack it; take the lease with a compare-and-set",
		findEither(findPhrase("skip", "locked"), anyWord("nowait"))},
	{"trigger", "Citus, Aurora DSQL and Spanner have none on distributed tables; what is stored may not depend on one",
		unlessGuard(findEither(
			findPhrase("create", "trigger"),
			findPhrase("create", "or", "replace", "trigger"),
			findPhrase(
				"create",
				"constraint",
				"trigger",
			),
			findPhrase("create", "function"),
			findPhrase("create", "or", "replace", "function"),
			findPhrase("create", "procedure"),
			startsWith("do"),
		))},
	{
		"foreign key",
		"one between shards is refused by Citus, any by Aurora DSQL, and elsewhere it costs a read; the doctor looks for orphans",
		findEither(anyWord("references"), findPhrase("foreign", "key")),
	},
	{
		"lock of a join",
		"a lock over several tables, groups or unions is refused, or takes locks that differ; lock one row by its key",
		lockOfJoin,
	},
	{
		"weak lock",
		"FOR SHARE and the locks of keys lock nothing on CockroachDB unless it is told to, and Aurora DSQL lacks them",
		findEither(findPhrase("for", "share"), findPhrase("for", "key", "share"), findPhrase("for", "no", "key", "update")),
	},
	{"table lock", "CockroachDB has no LOCK TABLE", findPhrase("lock", "table")},
	{"system column", "xmin, ctid and numbers of transactions are PostgreSQL's own",
		findWords(func(w string) bool {
			return slices.Contains([]string{"xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"}, w) ||
				strings.HasPrefix(w, "txid_") ||
				strings.HasPrefix(w, "pg_snapshot_") ||
				w == "pg_current_xact_id" ||
				w == "pg_current_snapshot"
		})},
	{"extension", "which extensions there are differs with each engine", findPhrase("create", "extension")},
	{
		"collation of a column",
		"CockroachDB and Aurora DSQL refuse one in a table, and compare by bytes as it is",
		columnCollation,
	},
	{"storage", "how a column is kept is PostgreSQL's own: YugabyteDB refused it until 2025.2", findPhrase("set", "storage")},
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
		findEither(
			anyWord(
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
			findPhrase(
				"as",
				"blob",
			),
			findPhrase("without", "rowid"),
			findPhrase("insert", "or"),
			findPhrase("replace", "into"),
			findPhrase("update", "or"),
			findPhrase(
				"indexed",
				"by",
			),
			findPhrase("not", "indexed"),
			findPhrase("limit", "-", "1"),
			callsScalar("max"),
			callsScalar("min"),
			sumOfTruth,
		),
	},
}

// findWords finds words that hold.
func findWords(holds func(string) bool) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i, t := range s {
			if !t.quoted && holds(t.text) {
				out = append(out, i)
			}
		}
		return out
	}
}

func anyWord(any ...string) func([]sqlToken) []int {
	return findWords(func(w string) bool { return slices.Contains(any, w) })
}

// findPhrase finds words one after the other.
func findPhrase(all ...string) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i := range s {
			if wordsStandAt(s, i, all...) {
				out = append(out, i)
			}
		}
		return out
	}
}

// startsWith finds a statement by its first word.
func startsWith(first string) func([]sqlToken) []int {
	return func(s []sqlToken) []int {
		if wordsStandAt(s, 0, first) {
			return []int{0}
		}
		return nil
	}
}

func findEither(any ...func([]sqlToken) []int) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for _, find := range any {
			out = append(out, find(s)...)
		}
		return out
	}
}

// unlessGuard leaves out what only refuses changes of messages, as the fence wants it:
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

// callsScalar finds an aggregate that is called with two values, as SQLite allows.
func callsScalar(name string) func([]sqlToken) []int {
	return func(s []sqlToken) (out []int) {
		for i := range s {
			if !wordsStandAt(s, i, name, "(") {
				continue
			}
			if in, _ := insideParentheses(s, i+1); len(splitAtCommas(in)) > 1 {
				out = append(out, i)
			}
		}
		return out
	}
}

// sumOfTruth finds a sum of comparisons, which only SQLite takes for numbers.
func sumOfTruth(s []sqlToken) (out []int) {
	for i := range s {
		if !wordsStandAt(s, i, "sum", "(") {
			continue
		}
		in, _ := insideParentheses(s, i+1)
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
	for at := range s {
		if !wordsStandAt(s, at, "for", "update") && !wordsStandAt(s, at, "for", "share") {
			continue
		}
		s := s[startOfSelect(s, at):at]
		several := slices.ContainsFunc(s, func(t sqlToken) bool {
			return !t.quoted && slices.Contains([]string{"join", "union", "group", "distinct", "intersect", "except"}, t.text)
		})
		for n := range s {
			if wordsStandAt(s, n, "from") {
				from := s[n+1:]
				if end := slices.IndexFunc(
					from,
					func(t sqlToken) bool { return t.text == "where" || t.text == "order" },
				); end >= 0 {
					from = from[:end]
				}
				several = several || len(splitAtCommas(from)) > 1
				break
			}
		}
		if several {
			out = append(out, at)
		}
	}
	return out
}

// startOfSelect returns where the query begins that goes on at i: behind the parenthesis that it stands in.
func startOfSelect(s []sqlToken, i int) int {
	for depth := 0; i > 0; i-- {
		switch t := s[i-1]; {
		case t.quoted:
		case t.text == ")":
			depth++
		case t.text == "(" && depth == 0:
			return i
		case t.text == "(":
			depth--
		}
	}
	return 0
}

func sessionState(s []sqlToken) []int {
	if wordsStandAt(s, 0, "set") && !wordsStandAt(s, 0, "set", "local") && !wordsStandAt(s, 0, "set", "transaction") &&
		!wordsStandAt(s, 0, "set", "constraints") {
		if wordsStandAt(s, 2, "=") || wordsStandAt(s, 2, "to") || wordsStandAt(s, 1, "session") {
			return []int{0}
		}
	}
	if wordsStandAt(s, 0, "prepare") {
		return []int{0}
	}
	return findPhrase("with", "hold")(s)
}

func partialUnique(s []sqlToken) []int {
	if !wordsStandAt(s, 0, "create", "unique", "index") {
		return nil
	}
	return anyWord("where")(s)
}

// columnCollation finds the collations of a table's columns, once for a table.
func columnCollation(s []sqlToken) []int {
	if !wordsStandAt(s, 0, "create", "table") && !wordsStandAt(s, 0, "alter", "table") {
		return nil
	}
	if found := anyWord("collate")(s); len(found) > 0 {
		return found[:1]
	}
	return nil
}

// listViolations lists what a text breaks, as the name of the rule and a piece of the text.
func listViolations(text string) [][2]string {
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

// wordsStandAt reports whether the words stand at i, one after the other.
func wordsStandAt(s []sqlToken, i int, words ...string) bool {
	for n, w := range words {
		if i+n >= len(s) || s[i+n].quoted || s[i+n].text != w {
			return false
		}
	}
	return true
}

// insideParentheses returns what stands in the parentheses that open at i, and where they close.
func insideParentheses(s []sqlToken, i int) (in []sqlToken, end int) {
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

// splitAtCommas cuts tokens at the commas that no parentheses surround.
func splitAtCommas(s []sqlToken) [][]sqlToken {
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

// tableColumns are the columns of each table that migrations have made so far.
type tableColumns map[string][]string

// violation is what a migration breaks.
type violation struct {
	of     string // the table, or what the statement makes
	line   int
	text   string
	broken [2]string
}

// readMigration follows one migration and lists what it breaks; its way back is not read.
func (t tableColumns) readMigration(text string) []violation {
	text, _, _ = strings.Cut(text, "-- +goose Down")
	var out []violation
	for _, s := range readSQL(text) {
		if len(s) == 0 {
			continue
		}
		line := 1 + strings.Count(text[:s[0].offset], "\n")
		of := findSubject(s)
		end := min(len(text), s[len(s)-1].offset+len(s[len(s)-1].text))
		for _, b := range listViolations(text[s[0].offset:end]) {
			out = append(out, violation{of, line, text[s[0].offset:end], b})
		}
		for _, key := range t.findUniqueKeys(s) {
			out = append(out, violation{of, line, text[s[0].offset:end], [2]string{"key", key}})
		}
	}
	return out
}

// findSubject returns what a statement makes or changes.
func findSubject(s []sqlToken) string {
	for i, t := range s {
		if slices.Contains([]string{"table", "index", "trigger", "function", "into", "update", "on"}, t.text) && !t.quoted {
			for i++; i < len(s) && slices.Contains([]string{"if", "not", "exists", "concurrently", "only"}, s[i].text); i++ {
			}
			if i < len(s) {
				return s[i].text
			}
		}
	}
	return s[0].text
}

// findUniqueKeys notes the table that a statement makes, and returns the unique keys which do not
// begin with the id of a conversation.
func (t tableColumns) findUniqueKeys(s []sqlToken) []string {
	name := findSubject(s)
	var unique [][]string
	switch {
	case wordsStandAt(s, 0, "create", "table"), wordsStandAt(s, 0, "create", "unlogged", "table"):
		open := slices.IndexFunc(s, func(t sqlToken) bool { return t.text == "(" })
		if open < 0 {
			return nil
		}
		in, _ := insideParentheses(s, open)
		t[name] = nil
		for _, item := range splitAtCommas(in) {
			unique = append(unique, t.readItem(name, item)...)
		}
	case wordsStandAt(s, 0, "alter", "table"):
		for _, part := range splitAtCommas(s) {
			for i := range part {
				if wordsStandAt(part, i, "add") {
					item := part[i+1:]
					for len(item) > 0 && slices.Contains([]string{"column", "if", "not", "exists"}, item[0].text) {
						item = item[1:]
					}
					unique = append(unique, t.readItem(name, item)...)
				}
			}
		}
	case wordsStandAt(s, 0, "create", "unique", "index"):
		on := slices.IndexFunc(s, func(t sqlToken) bool { return t.text == "on" })
		if on < 0 || on+1 >= len(s) {
			return nil
		}
		name = s[on+1].text
		open := slices.IndexFunc(s[on:], func(t sqlToken) bool { return t.text == "(" })
		if open < 0 {
			return nil
		}
		in, _ := insideParentheses(s, on+open)
		unique = append(unique, firstWords(in))
	}
	return t.globalKeys(name, unique)
}

// globalKeys returns those unique keys of a table which are over all conversations.
func (t tableColumns) globalKeys(name string, unique [][]string) []string {
	begins := ""
	if name == "conversations" {
		begins = "id"
	} else if slices.Contains(t[name], "conversation_id") {
		begins = "conversation_id"
	}
	var out []string
	for _, key := range unique {
		if begins == "" || len(key) > 0 && key[0] == begins {
			continue
		}
		out = append(out, name+"("+strings.Join(key, ", ")+")")
	}
	return out
}

// readItem returns a column or a constraint of a table: it notes the column, and returns unique keys.
func (t tableColumns) readItem(name string, item []sqlToken) [][]string {
	if len(item) == 0 {
		return nil
	}
	if wordsStandAt(item, 0, "constraint") {
		item = item[min(2, len(item)):]
	}
	for i := range item {
		isKey := wordsStandAt(item, i, "primary", "key") || wordsStandAt(item, i, "unique")
		if !isKey {
			continue
		}
		if i == 0 { // of the table
			open := slices.IndexFunc(item, func(t sqlToken) bool { return t.text == "(" })
			if open < 0 {
				return nil
			}
			in, _ := insideParentheses(item, open)
			return [][]string{firstWords(in)}
		}
		t[name] = append(t[name], item[0].text)
		return [][]string{{item[0].text}}
	}
	if !slices.Contains([]string{"check", "foreign", "exclude", "like"}, item[0].text) {
		t[name] = append(t[name], item[0].text)
	}
	return nil
}

// firstWords returns the first words of the parts of a key: its columns.
func firstWords(in []sqlToken) []string {
	var out []string
	for _, part := range splitAtCommas(in) {
		if len(part) > 0 {
			out = append(out, part[0].text)
		}
	}
	return out
}

// Each rule finds what it is there to find, and nothing in statements that are fine.
func TestPortableSQLCanFail(t *testing.T) {
	t.Parallel()
	bad := map[string][]string{
		"advisory lock": {`SELECT pg_advisory_lock($1)`, `SELECT pg_try_advisory_xact_lock(1, 2)`},
		"sequence": {`CREATE TABLE a (n BIGSERIAL PRIMARY KEY)`, `CREATE SEQUENCE s`, `INSERT INTO a VALUES (nextval('s'))`,
			`CREATE TABLE a (n bigint GENERATED ALWAYS AS IDENTITY)`,
			`CREATE TABLE a (n bigint GENERATED BY DEFAULT AS IDENTITY)`},
		"deferrable": {
			`ALTER TABLE a ADD CONSTRAINT u UNIQUE (b) DEFERRABLE INITIALLY DEFERRED`,
			`SET CONSTRAINTS ALL IMMEDIATE`,
		},
		"division":        {`SELECT at / 86400000 FROM a`, "SELECT a -- why\n/\nb FROM t"},
		"signal":          {`LISTEN changes`, `SELECT pg_notify('changes', '')`, `NOTIFY changes`},
		"temporary table": {`CREATE TEMP TABLE a (b int)`, `CREATE TEMPORARY TABLE a (b int)`},
		"skip locked":     {`SELECT id FROM a LIMIT 1 FOR UPDATE SKIP LOCKED`, `SELECT id FROM a FOR UPDATE NOWAIT`},
		"trigger": {`CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()`, `DO $$ BEGIN END $$`,
			`CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN; END $$`,
			`CREATE TRIGGER messages_append_only BEFORE UPDATE ON messages BEGIN INSERT INTO log VALUES (1)`},
		"foreign key": {`CREATE TABLE a (b TEXT REFERENCES c (id))`, `ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES c (id)`},
		"lock of a join": {
			`SELECT a.id FROM a JOIN b ON b.id = a.b FOR UPDATE`,
			`SELECT 1 FROM a, b WHERE a.id = b.id FOR UPDATE`,
			`SELECT count(*) FROM a GROUP BY b FOR UPDATE`,
			`SELECT c.id FROM (SELECT a.id FROM a JOIN b ON b.id = a.b FOR UPDATE) c`,
		},
		"weak lock":  {`SELECT 1 FROM a WHERE id = $1 FOR SHARE`, `SELECT 1 FROM a FOR NO KEY UPDATE`},
		"table lock": {`LOCK TABLE a IN EXCLUSIVE MODE`},
		"system column": {
			`SELECT xmin FROM a`,
			`SELECT pg_current_xact_id()`,
			`DELETE FROM a WHERE ctid = $1`,
			`SELECT txid_current()`,
		},
		"collation of a column": {
			`CREATE TABLE a (b TEXT COLLATE "C" NOT NULL)`,
			`ALTER TABLE a ADD COLUMN b TEXT COLLATE "C"`,
		},
		"storage":   {`ALTER TABLE a ALTER COLUMN b SET STORAGE EXTERNAL`},
		"extension": {`CREATE EXTENSION IF NOT EXISTS pg_trgm`},
		"session state": {`SET lock_timeout = 100`, `SET SESSION a TO b`, `PREPARE p AS SELECT 1`,
			`DECLARE c CURSOR WITH HOLD FOR SELECT 1`},
		"unique index on a part": {`CREATE UNIQUE INDEX u ON a (b) WHERE c > 0`},
		"only SQLite": {
			`SELECT 1 WHERE n IN (SELECT value FROM json_each($1))`,
			`PRAGMA wal_checkpoint`,
			`SELECT CAST(a AS BLOB)`,
			`CREATE TABLE a (b int) WITHOUT ROWID`,
			`INSERT OR IGNORE INTO a VALUES (1)`,
			`SELECT a FROM b LIMIT -1 OFFSET 2`,
			`SELECT max(a, b) FROM c`,
			`SELECT sum(role = 'user') FROM m`,
			`REPLACE INTO a VALUES (1)`,
		},
	}
	for _, r := range sqlRules {
		if len(bad[r.name]) == 0 {
			t.Errorf("no sample breaks %q", r.name)
		}
		for _, sql := range bad[r.name] {
			if !slices.ContainsFunc(listViolations(sql), func(b [2]string) bool { return b[0] == r.name }) {
				t.Errorf("%s was not found in %s", r.name, sql)
			}
		}
	}
	for _, sql := range []string{
		`SELECT 'a/b', "serial" FROM a -- listen, 1/2`,
		`/* pg_advisory_lock() */ SELECT max(a), min(b), greatest(c, d) FROM e WHERE f = ANY($1)`,
		`SELECT id FROM conversations WHERE id = $1 FOR UPDATE`,
		`SELECT t.id FROM (SELECT id, b FROM turns WHERE id = $1 FOR UPDATE) t LEFT JOIN b ON b.id = t.b`,
		`UPDATE a SET b = $1, c = 'x' WHERE d IN (SELECT e FROM f)`,
		`SELECT sum(CASE WHEN role = 'user' THEN 1 ELSE 0 END) FROM m`,
		`INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO UPDATE SET c = excluded.c RETURNING c`,
		`CREATE INDEX i ON a (b) WHERE c > 0`,
		`SELECT a FROM b ORDER BY c COLLATE "C"`,
		`SET LOCAL lock_timeout = '1s'`,
		`CREATE TRIGGER messages_append_only BEFORE UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION messages_append_only()`,
		`CREATE FUNCTION messages_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`,
	} {
		if got := listViolations(sql); len(got) > 0 {
			t.Errorf("%v in %s", got, sql)
		}
	}
}

func TestKeysCanFail(t *testing.T) {
	t.Parallel()
	made := tableColumns{}
	got := []string{}
	for _, f := range made.readMigration(`-- +goose Up
CREATE TABLE conversations (id TEXT PRIMARY KEY, project TEXT NOT NULL);
CREATE TABLE projects (name TEXT PRIMARY KEY);
CREATE TABLE messages (
    conversation_id TEXT NOT NULL, branch TEXT, seq BIGINT, id TEXT NOT NULL UNIQUE, -- (over all)
    PRIMARY KEY (conversation_id, branch, seq)
);
CREATE TABLE IF NOT EXISTS turns (id TEXT PRIMARY KEY, conversation_id TEXT);
CREATE TABLE steps (turn TEXT, step INT, conversation_id TEXT, CONSTRAINT k PRIMARY KEY (turn, step));
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS messages_id ON messages (id);
CREATE UNIQUE INDEX messages_fine ON messages (conversation_id, id);
CREATE INDEX messages_turn ON messages (turn);
CREATE UNIQUE INDEX conversations_title ON conversations (project, lower(title));
ALTER TABLE projects ADD COLUMN conversation_id TEXT;
ALTER TABLE projects ADD CONSTRAINT other UNIQUE (title);
CREATE TABLE runs (n BIGSERIAL, conversation_id TEXT, PRIMARY KEY (conversation_id, n));
-- +goose Down
CREATE TABLE later (id TEXT PRIMARY KEY, conversation_id TEXT);`) {
		got = append(got, fmt.Sprintf("%d %s: %s %s", f.line, f.of, f.broken[0], f.broken[1]))
	}
	want := []string{"4 messages: key messages(id)", "8 turns: key turns(id)", "9 steps: key steps(turn, step)",
		"10 messages_id: key messages(id)", "13 conversations_title: key conversations(project, lower)",
		"15 projects: key projects(title)", "16 runs: sequence TABLE runs (n BIGSERIAL, conversation_id TEXT, PRIMARY"}
	for i := range want {
		if i >= len(got) || !strings.EqualFold(got[i], want[i]) {
			t.Fatalf("found\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
}
