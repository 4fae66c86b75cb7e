package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
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

// What is written moves the mark of it.
func TestMarks(t *testing.T) {
	t.Parallel()
	drivertest.RunMarks(t, func(t *testing.T) *driver.Driver {
		db, err := sqlite.OpenMemory(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	})
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
		INSERT INTO changes SELECT n, '', '', '', 1, '', '', 0, 0, '', 1 FROM many`)
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

// What was written long ago is known to have been when the changes that say so are gone.
func TestDigestsOfLongAgo(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "s.db")
		d := openDriver(t, path)
		ctx := t.Context()
		create := func(id scrollback.ConversationID) {
			t.Helper()
			b := scrollback.BranchID("b" + id)
			_, _, err := d.Log.CreateConversation(ctx, scrollback.Conversation{ID: id, Branch: b, Version: 1},
				scrollback.Branch{ID: b, Conversation: id})
			if err != nil {
				t.Fatal(err)
			}
		}
		create("0")
		create("1")
		known, err := d.Log.ReadDigests(ctx)
		if err != nil || len(known.All) != 2 {
			t.Fatalf("%+v, %v", known, err)
		}
		for i := range known.All {
			known.All[i].Digest = "known"
		}
		mark, err := d.Log.ReadMark(ctx)
		if err := errors.Join(err, d.Log.StoreDigests(ctx, known, all)); err != nil {
			t.Fatal(err)
		}
		if err := d.Log.PutClocks(ctx, []stamp.Clock{{Owner: "1", Field: "f"}}); err != nil {
			t.Fatal(err)
		}
		create("2")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(`WITH RECURSIVE many (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM many WHERE n < 40000)
			INSERT INTO changes SELECT n, '9', '', '', 1, '', '', 0, 0, '', 1 FROM many`)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		d = openDriver(t, path)
		create("3")
		got, err := d.Log.ReadDigests(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := []driver.StoredDigest{{ID: "0", Digest: "known"}, {ID: "1"}, {ID: "2"}, {ID: "3"}, {ID: "9"}}
		if !slices.Equal(got.All, want) {
			t.Errorf("all: %t: %v, want %v", all, got.All, want)
		}
		if changed, err := d.Log.ReadChanged(ctx, mark); err != nil || !changed.Everything {
			t.Errorf("since a mark of long ago: %+v, %v", changed, err)
		}
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
