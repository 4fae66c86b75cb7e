package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// displacements are what can happen to the files of a database that is open.
var displacements = map[string]func(t *testing.T, path string){
	"file deleted":   func(t *testing.T, path string) { removeFiles(t, path) },
	"log deleted":    func(t *testing.T, path string) { removeFiles(t, path+"-wal") },
	"index deleted":  func(t *testing.T, path string) { removeFiles(t, path+"-shm") },
	"all deleted":    func(t *testing.T, path string) { removeFiles(t, path, path+"-wal", path+"-shm") },
	"folder deleted": func(t *testing.T, path string) { removeFiles(t, filepath.Dir(path)) },
	"folder moved": func(t *testing.T, path string) {
		if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+"-moved"); err != nil {
			t.Fatal(err)
		}
	},
	"file deleted, and no place for copies in its folder": func(t *testing.T, path string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), rescueFolder), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		removeFiles(t, path)
	},
	"another file in its place": func(t *testing.T, path string) {
		other := filepath.Join(t.TempDir(), "other.db")
		if err := openDB(t, other).Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
	},
	"a new database in its place": func(t *testing.T, path string) {
		removeFiles(t, path)
		addConversation(t, openDB(t, path), "another")
	},
}

func removeFiles(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

func truncateFile(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// openRescued opens the one copy that was made of a database.
func openRescued(t *testing.T, path string) *testDB {
	t.Helper()
	var found []string
	for _, folder := range []string{filepath.Join(filepath.Dir(path), rescueFolder),
		filepath.Dir(path) + "-" + rescueFolder} {
		in, err := filepath.Glob(filepath.Join(folder, "*", filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, in...)
	}
	if len(found) != 1 {
		t.Fatalf("rescued: %q", found)
	}
	return openDB(t, found[0])
}

// Whatever happens to the files, nothing is acknowledged that is not found again: what
// was said before is in the copy, and what is at the path now is left alone.
func TestDisplaced(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for name, displace := range displacements {
		for _, idle := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "data", "s.db")
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				db := openDB(t, path)
				runTurn(t, db, "c")
				for n := range 40 {
					appendOne(t, db, "c", n)
				}
				countMatches(t, db, "common") // with a connection that stays
				displace(t, path)
				before, _ := os.ReadFile(path)
				if !idle {
					wantRefusedWrite(t, db)
					if countMatches(t, db, "common") != 40 {
						t.Error("what the open file holds is not read any more")
					}
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
				if after, _ := os.ReadFile(path); string(after) != string(before) {
					t.Error("what is at the path now was written to")
				}
				if n := countMatches(t, openRescued(t, path), "common"); n != 40 {
					t.Errorf("%d messages were rescued, want 40", n)
				}
			})
		}
	}
}

func wantRefusedWrite(t *testing.T, db *testDB) {
	t.Helper()
	_, err := db.Log.AppendEntries(context.Background(), driver.Append{Conversation: "c", IfHead: -1,
		Entries: []driver.Entry{{Message: scrollback.Message{ID: "late"}}}})
	if scrollback.CodeOf(err) != scrollback.Unavailable || !errors.Is(err, scrollback.ErrDisplaced) {
		t.Errorf("a write was acknowledged, or failed with %v", err)
	}
	if err := db.Ready(t.Context()); !errors.Is(err, scrollback.ErrDisplaced) {
		t.Errorf("ready: %v", err)
	}
}

// A database that lost its end says so, to readers too, and is not written to.
func TestCutShort(t *testing.T) {
	t.Parallel()
	for _, left := range []int64{0, 40 << 10} {
		testCutShort(t, left)
	}
}

func testCutShort(t *testing.T, left int64) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	for n := range 400 {
		appendOne(t, db, "c", n)
	}
	db.writer.upkeep.copyLog()
	if err := db.Ready(t.Context()); err != nil { // the writer has seen how long the file is
		t.Fatal(err)
	}
	truncateFile(t, path, left)
	wantRefusedWrite(t, db)
	if _, err := db.Log.ReadHead(t.Context(), "c"); err != nil && !errors.Is(err, scrollback.ErrDisplaced) {
		t.Errorf("a reader is told %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != left {
		t.Errorf("the file was written to: %v, %v", info, err)
	}
}

// A log from which something was taken is noticed by the next write, however it comes: before it,
// and in the middle of it, where SQLite would write behind the hole. What is acknowledged is found
// again by the next start.
func TestLogCutShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left      func(size int64) int64
		during    bool
		restarted bool
	}{
		"emptied":                    {left: func(int64) int64 { return 0 }},
		"header left":                {left: func(int64) int64 { return logHeader }},
		"half left":                  {left: func(size int64) int64 { return size / 2 }},
		"last frame cut":             {left: func(size int64) int64 { return size - 1 }},
		"emptied in a write":         {left: func(int64) int64 { return 0 }, during: true},
		"half left in a write":       {left: func(size int64) int64 { return size / 2 }, during: true},
		"emptied, begun again":       {left: func(int64) int64 { return 0 }, restarted: true},
		"cut to little, begun again": {left: func(int64) int64 { return logHeader + 10 }, restarted: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			db := openDB(t, path)
			runTurn(t, db, "c")
			for n := range 100 {
				appendOne(t, db, "c", n)
			}
			if c.restarted {
				db.writer.upkeep.copyLog()
				appendOne(t, db, "c", 100)
			}
			info, err := os.Stat(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			left := c.left(info.Size())
			if c.during {
				err := db.writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
					truncateFile(t, path+"-wal", left)
					return tx.Queue(ctx, `UPDATE conversations SET title = 'late'`)
				})
				if !errors.Is(err, scrollback.ErrDisplaced) {
					t.Errorf("the write ends with %v", err)
				}
			} else {
				truncateFile(t, path+"-wal", left)
			}
			wantRefusedWrite(t, db)
			if _, err := db.Log.ReadHead(t.Context(), "c"); err != nil && !errors.Is(err, scrollback.ErrDisplaced) {
				t.Errorf("a reader is told %v", err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A log that was copied into the database and cut by another program, or restarted by this one, has
// lost nothing.
func TestLogCopied(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	other, err := sql.Open("sqlite", fileDSN(path, "rw", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for n := range 60 {
		appendOne(t, db, "c", n)
		switch n % 20 {
		case 5:
			_, err = other.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		case 10:
			_, err = other.Exec("PRAGMA wal_checkpoint(RESTART)")
		case 15:
			db.writer.upkeep.copyLog()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n := countMatches(t, openDB(t, path), "common"); n != 60 {
		t.Errorf("%d messages, want 60", n)
	}
}

// Another program may compact the file while it is open.
func TestVacuumed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	for n := range 300 {
		appendOne(t, db, "c", n)
	}
	other, err := sql.Open("sqlite", fileDSN(path, "rw", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, statement := range []string{"CREATE TABLE ballast AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) " +
		"SELECT i, hex(randomblob(200)) AS b FROM n", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := other.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	appendOne(t, db, "c", 300)
	long, _ := os.Stat(path)
	for _, statement := range []string{"DROP TABLE ballast", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := other.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if short, _ := os.Stat(path); short.Size() >= long.Size() {
		t.Fatalf("it was not compacted: %d, then %d bytes", long.Size(), short.Size())
	}
	appendOne(t, db, "c", 301)
	if n := countMatches(t, db, "common"); n != 302 {
		t.Errorf("%d messages, want 302", n)
	}
}

// A database without room says so, and goes on when there is room again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	appendOne(t, db, "c", 0)
	pages := func(n string) {
		if err := db.writer.conn.QueryRowContext(t.Context(), `PRAGMA max_page_count = `+n).Scan(new(int)); err != nil {
			t.Fatal(err)
		}
	}
	pages("1") // which is as many as there are
	var err error
	for n := 1; err == nil && n < 1000; n++ {
		m := scrollback.Message{ID: scrollback.MessageID("m" + string(rune(n+999))),
			Parts: scrollback.Parts{scrollback.Text{Text: "x"}}}
		_, err = db.Log.AppendEntries(t.Context(), driver.Append{Conversation: "c", IfHead: -1,
			Entries: []driver.Entry{{Message: m}}})
	}
	if scrollback.CodeOf(err) != scrollback.Unavailable || !errors.Is(err, scrollback.ErrNoRoom) {
		t.Errorf("without room: %v", err)
	}
	pages("1000000")
	appendOne(t, db, "c", 5000)
}

// A database that may only be read is read while others write to it, and after another
// was put in its place.
func TestReadOnlyFollows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	appendOne(t, db, "c", 0)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	count := func() int {
		return countMatches(t, &testDB{Driver: d}, "common")
	}
	if n := count(); n != 1 {
		t.Fatalf("%d messages, want 1", n)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	db = openDB(t, path)
	appendOne(t, db, "c", 1)
	if n := count(); n != 2 {
		t.Errorf("%d messages while another program writes, want 2", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 2 {
		t.Errorf("%d messages after it has ended, want 2", n)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if db = openDB(t, other); db.Close() != nil {
		t.Fatal("close")
	}
	for _, part := range fileSuffixes[1:] {
		removeFiles(t, path+part)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d messages in another database, want none", n)
	}
}

// A log whose database is gone is not taken for the log of the new one.
func TestStrayLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	appendOne(t, db, "c", 0)
	for _, part := range fileSuffixes[1:] {
		copyFiles(t, path+part, path+part+".kept")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	removeFiles(t, path)
	for _, part := range fileSuffixes[1:] {
		if err := os.Rename(path+part+".kept", path+part); err != nil {
			t.Fatal(err)
		}
	}
	if n := countMatches(t, openDB(t, path), "common"); n != 0 {
		t.Errorf("%d messages of the old log are in the new database", n)
	}
	if kept, err := filepath.Glob(filepath.Join(filepath.Dir(path), rescueFolder, "*", "s.db-wal")); err != nil ||
		len(kept) != 1 {
		t.Errorf("the old log is at %q, %v", kept, err)
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// A database that this user may not read is named as that, and not as one whose log is missing.
func TestDatabaseThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads every file: run this as another user")
	}
	path := filepath.Join(t.TempDir(), "scrollback.db")
	if err := os.WriteFile(path, []byte("SQLite format 3\x00"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReadOnly(t.Context(), path)
	if scrollback.CodeOf(err) != scrollback.Unavailable || !strings.Contains(err.Error(), "may not be read by this user") {
		t.Errorf("a closed file: %v", err)
	}
}
