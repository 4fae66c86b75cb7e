package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func openDriver(t *testing.T, path string) *driver.Driver {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSQLiteReopen(t *testing.T) {
	t.Parallel()
	drivertest.RunReopen(t, func(t *testing.T,
		dir string) *driver.Driver {
		return openDriver(t, filepath.Join(dir, "s.db"))
	})
}

// One list of operations gives equal answers in memory and on disk.
func TestSQLiteWalk(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose[uint64](2, 5, 5) {
		drivertest.RunWalk(t, seed, 300, oracle.New(), openDriver(t, filepath.Join(t.TempDir(), "s.db")))
	}
}

// Old changes go with the first write of a process, and no number comes twice.
func TestChangesKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	if err := openDriver(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 40000)
		INSERT INTO changes SELECT n, '', '', '', 1, '', '', 0, 0, '' FROM many`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	d := openDriver(t, path)
	c := scrollback.Conversation{ID: "0", Branch: "b", Version: 1}
	if _, _, err := d.Log.CreateConversation(t.Context(), c, scrollback.Branch{ID: "b", Conversation: "0"}); err != nil {
		t.Fatal(err)
	}
	if oldest, newest, err := d.Log.ReadChangeSpan(t.Context()); err != nil || newest != 40001 ||
		newest-oldest+1 != driver.ChangesKept {
		t.Errorf("%d to %d are kept, %v", oldest, newest, err)
	}
}

// A database in memory is like any other, and another one has nothing of it.
func TestSQLiteInMemory(t *testing.T) {
	t.Parallel()
	if testlength.Choose(true, false, false) {
		t.Skip("the same statements as over a file: that is for full length")
	}
	drivertest.Run(t, func(t *testing.T) *driver.Driver {
		db, err := sqlite.OpenMemory(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	})
}

func TestStrayThreads(t *testing.T) {
	t.Parallel()
	drivertest.RunStrayThreads(t, openDriver(t, filepath.Join(t.TempDir(), "s.db")))
}
