package sqlite

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"modernc.org/libc"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/feed/feedtest"
)

// allowedScans are the only plans that may read a whole table or index: lists of conversations in
// the order of an index of a part of the table. What a subquery reads is judged by its own
// steps.
var allowedScans = []string{
	"SCAN CONSTANT ROW", "SCAN (subquery-", "SCAN listed",
	"SCAN json_each VIRTUAL TABLE", // a list that was given
	"SCAN conversations USING COVERING INDEX conversations_project",
	"SCAN conversations USING COVERING INDEX conversations_trash",
	"SCAN c USING COVERING INDEX conversations_roots", // only those that have folders of their own
	"SCAN origins USING INDEX origins_id",             // all of them, in order
	// when one is made or all are listed; how many there may be is bounded
	"SCAN keys", "SCAN k",
}

// allowedSorts are parts of the statements whose order no index has: by rank, and lists of the
// origins of a folder and what is below it, or of a place.
var allowedSorts = []string{"bm25(", "OR folder >=", "FROM origins WHERE place = $1 ORDER",
	"FROM origins WHERE place = $1 AND (tool"}

// emptyDatabase makes an empty database, as bytes: migrating each from nothing is a third of the suite.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "scrollback-empty")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "s.db")
	d, err := Open(context.Background(), path, nil)
	if err == nil {
		err = d.Close()
	}
	var file []byte
	if err == nil {
		file, err = os.ReadFile(path)
	}
	return file, errors.Join(err, os.RemoveAll(dir))
})

// newEmptyFile returns the path of an empty database of its own.
func newEmptyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	file, err := emptyDatabase()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The driver passes the suite, and of the statements that it prepared on the way
// none reads more rows than its answer takes.
func TestSQLite(t *testing.T) {
	t.Parallel()
	var seen preparedQueries
	open := func(t *testing.T) *driver.Driver {
		db := openDB(t, newEmptyFile(t))
		shut := db.Close
		db.Close = func() error {
			seen.addPrepared(db)
			return shut()
		}
		return db.Driver
	}
	drivertest.Run(t, open)
	t.Run("Feed", func(t *testing.T) { feedtest.Run(t, open) })
	t.Run("Plans", func(t *testing.T) { checkPlans(t, seen.queries) })
	t.Run("Compiled", func(t *testing.T) { checkCompiledOnce(t, seen.queries) })
	t.Run("Steps", func(t *testing.T) { checkStepPlans(t, seen.queries) })
}

// checkCompiledOnce reports statements that SQLite compiles again each time they are bound. It tells that only to who
// asks the statement itself, which the driver does not hand out.
func checkCompiledOnce(t *testing.T, queries []string) {
	path := newEmptyFile(t)
	conn, err := (&modernc.Driver{}).Open(fileDSN(path, "rwc", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if len(queries) < 100 {
		t.Fatalf("only %d statements", len(queries))
	}
	tls := libc.NewTLS()
	defer tls.Close()
	for _, query := range queries {
		if begins := strings.Fields(query)[0]; begins != "SELECT" && begins != "WITH" {
			continue
		}
		s, err := prepareStatement(t.Context(), conn, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		args := make([]any, len(s.args))
		for range 3 {
			bound, err := s.bindArgs(args)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if rows, err := s.driverStatement.QueryContext(t.Context(), bound); err == nil { // else it takes no nulls
				rows.Close()
			}
		}
		handle := uintptr(reflect.ValueOf(s.driverStatement).Elem().FieldByName("pstmt").Uint())
		n := sqlite3.Xsqlite3_stmt_status(tls, handle, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0)
		if n > 0 && !strings.Contains(query, "agent_of = $5") { // of a list that nobody asks for in a turn
			t.Errorf("compiled %d times more: %s", n, query)
		}
		if err := s.driverStatement.Close(); err != nil {
			t.Error(err)
		}
	}
}

// stepPlans are how statements find their rows that could also find them by reading
// all of a conversation or of a list: a statement is told by a part of its text.
var stepPlans = []struct{ part, step string }{
	{"receipt = $3", "SEARCH receipts USING COVERING INDEX receipts_known (conversation_id=? AND receipt=? AND branch=?)"},
	{"WHERE deleted_at = 0 AND agent_of = '' AND purged_at = 0 AND (updated_at",
		"SEARCH conversations USING INDEX conversations_newest ((updated_at,id)<(?,?))"},
	{"WHERE deleted_at = 0 AND agent_of = '' AND project = $5",
		"SEARCH conversations USING INDEX conversations_project (project=? AND (updated_at,id)<(?,?))"},
	{"WHERE deleted_at <> 0 AND purged_at = 0 AND (updated_at",
		"SEARCH conversations USING INDEX conversations_trash_newest ((updated_at,id)<(?,?))"},
	{"WHERE deleted_at <> 0 AND project = $5",
		"SEARCH conversations USING INDEX conversations_trash_project (project=? AND (updated_at,id)<(?,?))"},
	{"WHERE deleted_at = 0 AND agent_of <> '' AND agent_of = $5 AND purged_at",
		"SEARCH conversations USING INDEX conversations_agents (agent_of=? AND (updated_at,id)<(?,?))"},
	{"SELECT tool, id FROM origins WHERE conversation_id = $1", "SEARCH origins USING PRIMARY KEY (conversation_id=?)"},
}

// originPlans are how the lists of origins find theirs, by what is asked for.
var originPlans = map[string]string{
	"conversation_id = $1 ORDER":                       "SEARCH origins USING PRIMARY KEY (conversation_id=?)",
	"tool = $1 AND id = $2 ORDER":                      "SEARCH origins USING INDEX origins_id (tool=? AND id=?)",
	"tool = $1 AND root = $2 ORDER":                    "SEARCH origins USING INDEX origins_root (tool=? AND root=?)",
	"place = $1 AND name = $2 ORDER":                   "SEARCH origins USING INDEX origins_place (place=? AND name=?)",
	"place = $1 ORDER":                                 "SEARCH origins USING INDEX origins_place (place=?)",
	"folder >= $4 AND folder < $5) ORDER":              "SEARCH origins USING INDEX origins_folder (folder>? AND folder<?)",
	"tool = $1 ORDER":                                  "SEARCH origins USING INDEX origins_id (tool=?)",
	"(tool, id, conversation_id) > ($1, $2, $3) ORDER": "SEARCH origins USING INDEX origins_id ((tool,id,conversation_id)>(?,?,?))",
}

// The turns of a page are found by an index of those that did not end well: its cost does
// not grow with the conversation.
const unsuccessfulPlan = "SEARCH turns USING INDEX turns_troubled (branch=? AND last_seq>? AND last_seq<?)"

// checkStepPlans holds the statements of steps against what they must be.
func checkStepPlans(t *testing.T, queries []string) {
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	troubled := slices.IndexFunc(queries, func(q string) bool { return strings.Contains(q, "last_seq BETWEEN") })
	if troubled < 0 || !slices.Contains(explainQuery(t, db, queries[troubled]), unsuccessfulPlan) {
		t.Errorf("the turns of a page are not found by %q", unsuccessfulPlan)
	}
	for part, step := range originPlans {
		at := slices.IndexFunc(queries, func(q string) bool {
			return strings.Contains(q, "FROM origins WHERE") && strings.Contains(q, part)
		})
		if at < 0 || !slices.Contains(explainQuery(t, db, queries[at]), step) {
			t.Errorf("origins by %q are not found by %q", part, step)
			if at >= 0 {
				t.Log(explainQuery(t, db, queries[at]))
			}
		}
	}
	for _, s := range stepPlans {
		found := false
		for _, query := range queries {
			if !strings.Contains(query, s.part) {
				continue
			}
			found = true
			if got := explainQuery(t, db, query); !slices.Equal(got, []string{s.step}) {
				t.Errorf("%q, want %q\nin %s", got, s.step, query)
			}
		}
		if !found {
			t.Errorf("no statement has %q", s.part)
		}
	}
}

func checkPlans(t *testing.T, queries []string) {
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	judged := map[string]int{}
	for _, query := range queries {
		verb, _, _ := strings.Cut(query, " ")
		if judged[verb]++; !slices.Contains([]string{"SELECT", "UPDATE", "DELETE"}, verb) {
			continue
		}
		for _, step := range explainQuery(t, db, query) {
			scan := strings.HasPrefix(step, "SCAN ") &&
				!slices.ContainsFunc(allowedScans, func(p string) bool { return strings.HasPrefix(step, p) })
			sort := strings.Contains(step, "TEMP B-TREE") &&
				!slices.ContainsFunc(allowedSorts, func(part string) bool { return strings.Contains(query, part) })
			if scan || sort || strings.Contains(step, "AUTOMATIC") {
				t.Errorf("%s\nin %s", step, query)
			}
		}
	}
	if judged["SELECT"] < 20 || judged["UPDATE"] < 8 {
		t.Errorf("too few statements were judged: %v", judged)
	}
}

var parameterMark = regexp.MustCompile(`\$\d+`)

func explainQuery(t *testing.T, db *testDB, query string) []string {
	t.Helper()
	marks := parameterMark.FindAllString(query, -1)
	slices.Sort(marks)
	var out []string
	rows, err := db.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query,
		make([]any, len(slices.Compact(marks)))...)
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		out = append(out, step)
	}
	if err := rows.Err(); err != nil || len(out) == 0 && strings.HasPrefix(query, "SELECT") {
		t.Fatalf("%d steps, %v\nin %s", len(out), err, query)
	}
	return out
}

// preparedQueries collects statements.
type preparedQueries struct {
	mu      sync.Mutex
	queries []string
}

// addPrepared adds those that a database has prepared.
func (p *preparedQueries) addPrepared(db *testDB) {
	p.mu.Lock()
	defer p.mu.Unlock()
	db.read.mu.Lock()
	p.queries = slices.AppendSeq(p.queries, maps.Keys(db.read.statements))
	db.read.mu.Unlock()
	db.writer.tx.mu.Lock()
	p.queries = slices.AppendSeq(p.queries, maps.Keys(db.writer.tx.statements))
	db.writer.tx.mu.Unlock()
	slices.Sort(p.queries)
	p.queries = slices.Compact(p.queries)
}
