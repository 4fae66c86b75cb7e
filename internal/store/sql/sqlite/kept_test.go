package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"modernc.org/libc"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// recordingReaders are readers that note what they are asked.
type recordingReaders struct {
	sqlstore.Readers
	asked []askedQuery
}

type askedQuery struct {
	query string
	args  []any
}

// Query implements [sqlstore.Reader].
func (r *recordingReaders) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	r.asked = append(r.asked, askedQuery{query, args})
	return r.Readers.Query(ctx, scan, query, args...)
}

// countSteps returns how many steps SQLite's machine takes for what was asked of a database.
func countSteps(t *testing.T, path string, asked []askedQuery) (steps int) {
	t.Helper()
	conn, err := (&modernc.Driver{}).Open(fileDSN(path, "ro", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tls := libc.NewTLS()
	defer tls.Close()
	for _, q := range asked {
		s, err := prepareStatement(t.Context(), conn, q.query)
		if err != nil {
			t.Fatal(err)
		}
		err = s.queryRows(t.Context(), func(sqlstore.Row) error { return nil }, q.args)
		if err != nil {
			t.Fatal(err)
		}
		handle := uintptr(reflect.ValueOf(s.driverStatement).Elem().FieldByName("pstmt").Uint())
		steps += int(sqlite3.Xsqlite3_stmt_status(tls, handle, sqlite3.SQLITE_STMTSTATUS_VM_STEP, 0))
		if err := s.driverStatement.Close(); err != nil {
			t.Error(err)
		}
	}
	return steps
}

// keptConversation makes a database with a conversation, of some messages, of which all that are divisible by each
// have a sentence that is kept. It returns its path.
func keptConversation(t *testing.T, messages, each int) string {
	t.Helper()
	path := newEmptyFile(t)
	db := openDB(t, path)
	addConversation(t, db, "long")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", fileDSN(path, "rw", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, statement := range []string{
		fmt.Sprint("UPDATE branches SET head_seq = ", messages),
		fmt.Sprintf(`WITH RECURSIVE s (seq) AS (SELECT %d UNION ALL SELECT seq + %[1]d FROM s WHERE seq + %[1]d <= %d)
			INSERT INTO kept (conversation_id, id, change, branch, seq, message_id, role, kind, text, kept_by, said_by,
			state, created_at) SELECT 'long', 'k' || seq, '', 'branch of long', seq, 'm' || seq, 'user', 'trait',
			'I prefer tea.', 'rule', '', 'open', seq FROM s`, each, messages),
	} {
		if _, err := raw.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// The newest kept sentences of a conversation are found without a look at those before them, and those that are known
// are not read: what that takes does not grow with the conversation.
func TestNewestKept(t *testing.T) {
	t.Parallel()
	const wanted = 200
	for _, each := range []int{1, 7, 60} {
		var all, known []int // steps, by length
		for _, messages := range []int{20_000, 200_000} {
			path := keptConversation(t, messages, each)
			d, err := openDatabase(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := &recordingReaders{Readers: d.Readers}
			d.Readers = r
			db := sqlstore.New(d)
			read := func(q driver.KeptQuery) ([]scrollback.Kept, int) {
				r.asked = nil
				q.Branch = "branch of long"
				q.Limit = wanted
				rows, err := db.Log.ReadKept(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				return rows, countSteps(t, path, r.asked)
			}
			last := messages / each * each // with a sentence
			before, _ := read(driver.KeptQuery{To: int64(last - each)})
			rows, steps := read(driver.KeptQuery{To: int64(last)})
			all = append(all, steps)
			if len(rows) != wanted || rows[0].Seq != int64(last-(wanted-1)*each) || rows[wanted-1].Seq != int64(last) {
				t.Fatalf("one in %d of %d: %d rows, from #%d", each, messages, len(rows), rows[0].Seq)
			}
			same, steps := read(driver.KeptQuery{To: int64(last), Known: before})
			known = append(known, steps)
			if !slices.Equal(rows, same) {
				t.Errorf("one in %d of %d: what is known changes what is read", each, messages)
			}
			read1 := countSteps(t, path, r.asked[len(r.asked)-1:])
			if read1 > 100+30*each {
				t.Errorf("one in %d of %d: one more row takes %d steps", each, messages, read1)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, steps := range [][]int{all, known} {
			if steps[1] > steps[0]+100 {
				t.Errorf("one in %d: %d steps for a conversation that is ten times as long, and %d for the other", each,
					steps[1], steps[0])
			}
		}
		t.Log(each, all, known)
	}
}
