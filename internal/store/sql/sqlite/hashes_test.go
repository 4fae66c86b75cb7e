package sqlite

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// copyOlderStore returns a database that the program of schema 20 wrote: two conversations of ten messages and
// two, one of them compacted once.
func copyOlderStore(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("testdata/schema20.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// execSQL runs a statement behind the driver's back.
func execSQL(t *testing.T, db *testDB, statement string) {
	t.Helper()
	err := db.writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
		if err := tx.Queue(ctx, `DROP TRIGGER IF EXISTS messages_append_only`); err != nil {
			return err
		}
		return tx.Queue(ctx, statement)
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// countUnhashed says how many messages have no hash, and how many differ from theirs.
func countUnhashed(t *testing.T, db *testDB) (without int64, damaged []driver.DamagedMessage) {
	t.Helper()
	list, err := db.Driver.Log.ListConversations(t.Context(), driver.ListQuery{Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		v, err := db.Admin.VerifyHashes(t.Context(), driver.MessageQuery{Branch: c.Branch, From: 1, To: 1000})
		if err != nil {
			t.Fatal(err)
		}
		without += v.Without
		damaged = append(damaged, v.Damaged...)
	}
	return without, damaged
}

// What every database has to pass.
func TestSQLiteHashes(t *testing.T) {
	t.Parallel()
	drivertest.RunHashes(t, func(t *testing.T) drivertest.Old {
		path := newEmptyFile(t)
		db := openDB(t, path)
		return drivertest.Old{
			Driver: db.Driver,
			Join:   func() *driver.Driver { return openDB(t, path).Driver },
			Forget: func() {
				execSQL(t, db, `UPDATE messages SET hash = x''`)
				execSQL(t, db, `DELETE FROM message_hashes`)
				execSQL(t, db, `UPDATE message_hashing SET conversation_id = '', branch = '', seq = 0, ended = 0`)
			},
			Beside: func() (n int64) {
				err := db.read.Query(t.Context(), func(r sqlstore.Row) error { return r.Scan(&n) },
					`SELECT coalesce(sum(length(hashes) / 16), 0) FROM message_hashes`)
				if err != nil {
					t.Fatal(err)
				}
				return n
			},
		}
	})
}

// A store of the version before opens without a hash being made. They are made in steps, of which
// any may be the last one of a process, beside the rows; and then a change is noticed.
func TestOlderHashes(t *testing.T) {
	t.Parallel()
	path := copyOlderStore(t)
	db := openDB(t, path)
	if n, damaged := countUnhashed(t, db); n != 12 || damaged != nil {
		t.Fatalf("%d of 12 have no hash, %v", n, damaged)
	}
	var made, steps int64
	for done := false; !done; steps++ {
		step, err := db.Admin.FillHashes(t.Context(), 4)
		if err != nil || step.Made > 4 || steps > 20 {
			t.Fatalf("%+v after %d, %v", step, steps, err)
		}
		made += step.Made
		done = step.Done
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = openDB(t, path)
	}
	if n, damaged := countUnhashed(t, db); n != 0 || damaged != nil || made != 12 || steps < 4 {
		t.Fatalf("%d made in %d steps, %d left, %v", made, steps, n, damaged)
	}
	execSQL(t, db, `UPDATE messages SET parts = replace(parts, 'berth 3', 'berth 4') WHERE seq = 7`)
	if _, damaged := countUnhashed(t, db); len(damaged) != 1 || damaged[0].Seq != 7 {
		t.Errorf("changed: %v", damaged)
	}
	if found := findFlaws(t, db); len(found) != 1 || found[0].Kind != driver.FlawHash {
		t.Errorf("found %+v", found)
	}
}

// Of two that make hashes at once each message gets one, and what came without one later gets it.
func TestOlderHashesTwice(t *testing.T) {
	t.Parallel()
	path := copyOlderStore(t)
	one := openDB(t, path)
	other := openDB(t, path)
	steps := make(chan error)
	fill := func(db *testDB) {
		for range 50 {
			step, err := db.Admin.FillHashes(t.Context(), 3)
			if err != nil || step.Done {
				steps <- err
				return
			}
		}
		steps <- fmt.Errorf("it does not end")
	}
	go fill(one)
	go fill(other)
	for range 2 {
		if err := <-steps; err != nil {
			t.Error(err)
		}
	}
	if n, damaged := countUnhashed(t, one); n != 0 || damaged != nil {
		t.Errorf("%d left, %v", n, damaged)
	}
	execSQL(t, one, `DELETE FROM message_hashes`)
	if step, err := one.Admin.FillHashes(t.Context(), 100); err != nil || !step.Done || step.Made != 0 {
		t.Errorf("at the end: %+v, %v", step, err)
	}
	if err := one.Admin.RefillHashes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if step, err := one.Admin.FillHashes(t.Context(), 100); err != nil || step.Made != 12 {
		t.Errorf("again: %+v, %v", step, err)
	}
}

// Whatever column of a message changes is noticed.
func TestEachColumnIsHashed(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	addConversation(t, db, "c")
	var columns []string
	err := db.read.Query(t.Context(), func(r sqlstore.Row) error {
		columns = append(columns, "")
		return r.Scan(&columns[len(columns)-1])
	}, `SELECT name FROM pragma_table_info('messages') WHERE name NOT IN ('n', 'branch', 'seq')`)
	if err != nil || len(columns) < 17 {
		t.Fatalf("%v, %v", columns, err)
	}
	for _, c := range columns {
		execSQL(t, db, `CREATE TEMP TABLE kept AS SELECT * FROM messages`)
		execSQL(t, db, `UPDATE messages SET `+c+` = CASE typeof(`+c+`) WHEN 'integer' THEN `+c+` + 1 ELSE `+c+` || 'x' END`)
		v, err := db.Admin.VerifyHashes(t.Context(), driver.MessageQuery{Branch: readBranchID(t, db), From: 1, To: 9})
		if err != nil || len(v.Damaged) != 1 {
			t.Errorf("%s: %+v, %v", c, v, err)
		}
		execSQL(t, db, `DELETE FROM messages`)
		execSQL(t, db, `INSERT INTO messages SELECT * FROM kept`)
		execSQL(t, db, `DROP TABLE kept`)
	}
}

func readBranchID(t *testing.T, db *testDB) scrollback.BranchID {
	t.Helper()
	list, err := db.Driver.Log.ListConversations(t.Context(), driver.ListQuery{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	return list[0].Branch
}
