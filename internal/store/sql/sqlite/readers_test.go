package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// What one snapshot asks is prepared for it alone; what a second one asks again is prepared for all that follow.
func TestSnapshotsPrepareWhatIsAskedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrollback.db")
	first, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	db := sql.OpenDB(&connector{dsn: fileDSN(path, "ro", 0)})
	db.SetMaxOpenConns(1)
	r := newReaders(db)
	t.Cleanup(func() { _ = r.Close() })
	const query = `SELECT $1 + 1 LIMIT $2`
	for round, kept := range []int{0, 1, 1} {
		err := r.Snapshot(t.Context(), func(in sqlstore.Reader) error {
			for n := range 3 {
				got := 0
				if err := in.Query(context.Background(), func(row sqlstore.Row) error { return row.Scan(&got) },
					query, n, 5); err != nil || got != n+1 {
					t.Errorf("round %d: %d + 1 is %d: %v", round, n, got, err)
				}
			}
			return nil
		})
		if err != nil || len(r.statements) != kept {
			t.Errorf("round %d: %d statements are kept, not %d: %v", round, len(r.statements), kept, err)
		}
	}
}

// A file that is up to date is opened once to be written to: the connection that saw so is the writer's.
func TestCurrentFileIsOpenedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrollback.db")
	first, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	opened := 0
	db, err := prepareFile(t.Context(), path, &connector{dsn: fileDSN(path, "rw", 0),
		allow: func() error { opened++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if opened != 2 { // it is asked before and after one is opened
		t.Errorf("it was opened %d times", opened/2)
	}
}
