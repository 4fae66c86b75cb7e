package foreign_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
)

// The tool whose database is read is another process: in one process, closing a file gives
// up its locks.
func TestMain(m *testing.M) {
	if path := os.Getenv("FOREIGN_TEST_DATABASE"); path != "" {
		if err := tool(path); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// tool runs the statements that come in, one a line, and prints what each returns. "loop"
// moves an amount between two tables until its input ends.
func tool(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if in.Text() == "loop" {
			return loop(db, in)
		}
		rows, err := db.Query(in.Text())
		if err != nil {
			return err
		}
		var first any
		if rows.Next() {
			if err := rows.Scan(&first, new(any), new(any)); err != nil {
				err = rows.Scan(&first)
				if err != nil {
					return err
				}
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		fmt.Println("done", first)
	}
	return nil
}

func loop(db *sql.DB, in *bufio.Scanner) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for in.Scan() {
		}
	}()
	fmt.Println("done looping")
	for i := 0; ; i++ {
		select {
		case <-ended:
			return nil
		default:
		}
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		for _, q := range []string{
			"UPDATE a SET n = n + 1, filler = randomblob(3000)", "UPDATE b SET n = n - 1, filler = randomblob(3000)",
			"INSERT INTO rows VALUES (randomblob(2000))", "DELETE FROM rows WHERE rowid % 7 = 3",
		} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}

// running is a tool that has a database open.
type running struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, path string, statements ...string) *running {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "FOREIGN_TEST_DATABASE="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("the tool failed: %v", err)
		}
	})
	r := &running{t: t, in: in, out: bufio.NewScanner(out)}
	for _, s := range statements {
		r.run(s)
	}
	return r
}

// run runs a statement, and returns the first value of its first row.
func (r *running) run(statement string) string {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in, statement); err != nil {
		r.t.Fatal(err)
	}
	if !r.out.Scan() {
		r.t.Fatalf("%s: the tool ended", statement)
	}
	value, ok := strings.CutPrefix(r.out.Text(), "done ")
	if !ok {
		r.t.Fatalf("%s: %s", statement, r.out.Text())
	}
	return value
}

// build makes a database that nobody has open.
func build(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// folder returns what a folder holds: of each file its size, time and hash.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = fmt.Sprintf("%d %v %x", len(b), info.ModTime(), sha256.Sum256(b))
	}
	return out
}

// texts reads column x of table t.
func texts(path string) (out []string, err error) {
	err = foreign.ReadDatabase(context.Background(), path, func(db *foreign.DB) error {
		out = nil
		if err := db.RequireTable("the test", "t", "x"); err != nil {
			return err
		}
		for row, err := range db.QueryRows("SELECT x FROM t ORDER BY rowid") {
			if err != nil {
				return err
			}
			out = append(out, row.Text("x"))
		}
		return nil
	})
	return out, err
}

// untouched reads a database whose folder must not change, and wants rows.
func untouched(t *testing.T, path string, want ...string) {
	t.Helper()
	before := folder(t, filepath.Dir(path))
	got, err := texts(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows: %s", d)
	}
	if d := cmp.Diff(before, folder(t, filepath.Dir(path))); d != "" {
		t.Errorf("the folder changed: %s", d)
	}
}

var filled = []string{"CREATE TABLE t (x TEXT)", "INSERT INTO t VALUES ('one'), ('two')"}

func TestNewestRowsAreInTheLogThatAToolHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	r := start(t, path, append([]string{"PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0"}, filled...)...)
	untouched(t, path, "one", "two")
	r.run("PRAGMA wal_checkpoint(TRUNCATE)")
	untouched(t, path, "one", "two")
	r.run("INSERT INTO t VALUES ('three')")
	r.run("UPDATE t SET x = 'TWO' WHERE x = 'two'")
	untouched(t, path, "one", "TWO", "three")
	r.run("BEGIN")
	r.run("INSERT INTO t VALUES ('never')")
	untouched(t, path, "one", "TWO", "three")
	r.run("ROLLBACK")
}

func TestAToolIsNotHeldUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	r := start(t, path, append([]string{"PRAGMA journal_mode=WAL", "PRAGMA busy_timeout=0"}, filled...)...)
	calls := 0
	var got []string
	err := foreign.ReadDatabase(t.Context(), path, func(db *foreign.DB) error {
		calls += 1
		got = nil
		for row, err := range db.QueryRows("SELECT x FROM t") {
			if err != nil {
				return err
			}
			got = append(got, row.Text("x"))
			if calls == 1 && len(got) == 1 {
				// Neither would work while somebody reads with a lock.
				r.run("INSERT INTO t VALUES ('three')")
				if busy := r.run("PRAGMA wal_checkpoint(TRUNCATE)"); busy != "0" {
					t.Errorf("a checkpoint was held up: %s", busy)
				}
				r.run("PRAGMA journal_mode=DELETE")
				r.run("BEGIN EXCLUSIVE")
				r.run("COMMIT")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "two", "three"}, got); d != "" || calls != 2 {
		t.Errorf("after %d calls: %s", calls, d)
	}
}

func TestDatabasesThatNobodyHasOpen(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE", "TRUNCATE", "PERSIST"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			build(t, path, append([]string{"PRAGMA journal_mode=" + mode}, filled...)...)
			untouched(t, path, "one", "two")
		})
	}
}

func TestAFolderThatMayOnlyBeRead(t *testing.T) {
	held := t.TempDir()
	dir := t.TempDir()
	r := start(t, filepath.Join(held, "a.db"), append([]string{"PRAGMA journal_mode=WAL"}, filled...)...)
	defer r.run("SELECT 1")
	for _, part := range []string{"", "-wal"} { // without the index: a folder that was copied
		b, err := os.ReadFile(filepath.Join(held, "a.db"+part))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.db"+part), b, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	untouched(t, filepath.Join(dir, "a.db"), "one", "two")
}

func TestWhileAToolIsInTheMiddleOfAChange(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := filepath.Join(t.TempDir(), "a.db")
	r := start(t, path, "CREATE TABLE t (x TEXT)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 500) INSERT INTO t SELECT printf('%03d', i) FROM n")
	r.run("BEGIN EXCLUSIVE")
	got, err := texts(path)
	if err != nil || len(got) != 500 {
		t.Fatalf("under a lock: %d rows, %v", len(got), err)
	}
	r.run("PRAGMA cache_size=1")
	r.run("UPDATE t SET x = x || printf('%500s', 'changed')")
	before := folder(t, filepath.Dir(path))
	if _, there := before["a.db-journal"]; !there {
		t.Fatal("the change has no journal: the test shows nothing")
	}
	got, err = texts(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 500 || slices.ContainsFunc(got, func(x string) bool { return len(x) != 3 }) {
		t.Errorf("a change that is not complete shows: %d rows", len(got))
	}
	if d := cmp.Diff(before, folder(t, filepath.Dir(path))); d != "" {
		t.Errorf("the folder changed: %s", d)
	}
	r.run("COMMIT")
	if got, err = texts(path); err != nil || len(got) != 500 || len(got[0]) <= 3 {
		t.Errorf("after the change: %d rows, %v", len(got), err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("copies stay: %v, %v", left, err)
	}
}

func TestWhileAToolWrites(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			r := start(t, path, "PRAGMA journal_mode="+mode, "PRAGMA synchronous=OFF", "PRAGMA wal_autocheckpoint=20",
				"CREATE TABLE a (n INTEGER, filler BLOB)", "CREATE TABLE b (n INTEGER, filler BLOB)", "CREATE TABLE rows (x BLOB)",
				"INSERT INTO a VALUES (0, NULL)", "INSERT INTO b VALUES (0, NULL)")
			r.run("loop")
			good := 0
			var newest int64
			for tries := 0; tries < 20 && good < 5; tries++ {
				var a, b int64
				first := true
				err := foreign.ReadDatabase(t.Context(), path, func(db *foreign.DB) error {
					for row, err := range db.QueryRows("SELECT n FROM a") {
						if err != nil {
							return err
						}
						a = row.Int("n")
					}
					if first {
						first = false
						changed(path)
					}
					for _, err := range db.QueryRows("SELECT x FROM rows") {
						if err != nil {
							return err
						}
					}
					for row, err := range db.QueryRows("SELECT n FROM b") {
						if err != nil {
							return err
						}
						b = row.Int("n")
					}
					return nil
				})
				switch {
				case errors.Is(err, foreign.ErrBusy):
				case err != nil:
					t.Fatal(err)
				case a != -b:
					t.Fatalf("two states are mixed: %d and %d", a, b)
				case a < newest:
					t.Fatalf("older than before: %d after %d", a, newest)
				default:
					good += 1
					newest = a
				}
			}
			if good == 0 {
				t.Error("it was never read")
			}
			t.Logf("%d reads, %d changes meanwhile", good, newest)
		})
	}
}

// changed looks at a database until it has changed, or for so often.
func changed(path string) {
	was, err := os.Stat(path)
	for range 20000 {
		now, again := os.Stat(path)
		if err != nil || again != nil || !now.ModTime().Equal(was.ModTime()) {
			return
		}
	}
}

func TestLogsThatEndAnywhere(t *testing.T) {
	dir := t.TempDir()
	r := start(t, filepath.Join(dir, "a.db"), "PRAGMA page_size=512", "PRAGMA journal_mode=WAL",
		"PRAGMA wal_autocheckpoint=0",
		"CREATE TABLE t (x TEXT)")
	for i := range 12 {
		r.run(fmt.Sprintf("INSERT INTO t VALUES (printf('%%%dd', %d))", 1+i*100, i))
	}
	whole, err := os.ReadFile(filepath.Join(dir, "a.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(filepath.Join(dir, "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for cut := 0; cut <= len(whole); cut += 67 {
		theirs := filepath.Join(t.TempDir(), "b.db")
		ours := filepath.Join(t.TempDir(), "b.db")
		wal := slices.Clone(whole[:cut])
		if cut%2 == 1 && cut > 100 {
			wal[cut-80] ^= 0x10 // a bit is wrong
		}
		for _, path := range []string{theirs, ours} {
			if err := errors.Join(os.WriteFile(path, base, 0o600), os.WriteFile(path+"-wal", wal, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("sqlite", theirs)
		if err != nil {
			t.Fatal(err)
		}
		want := -1 // without the table
		_ = db.QueryRow("SELECT count(*) FROM t").Scan(&want)
		db.Close()
		got, err := texts(ours)
		have := len(got)
		if errors.Is(err, foreign.ErrUnknown) {
			have = -1
			err = nil
		}
		if err != nil || have != want {
			t.Fatalf("a log of %d of %d bytes: %d rows and %v, SQLite itself finds %d", cut, len(whole), have, err, want)
		}
		seen[want] = true
	}
	if len(seen) < 10 {
		t.Errorf("only %d states were seen", len(seen))
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	build(t, at("good.db"), append(filled, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 900) "+
		"INSERT INTO t SELECT printf('%300d', i) FROM n")...)
	good, err := os.ReadFile(at("good.db"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(good)
	for i := 4096; i < len(damaged)-4096; i++ {
		damaged[i] = byte(i)
	}
	newer := slices.Clone(good)
	newer[18] = 3
	newer[19] = 3
	for name, b := range map[string][]byte{
		"empty.db": nil, "text.db": []byte(strings.Repeat("not a database\n", 100)), "damaged.db": damaged, "newer.db": newer,
		"cut.db": good[:4096+100], "short.db": good[:60],
	} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build(t, at("other.db"), "CREATE TABLE u (x TEXT)")
	build(t, at("lacks.db"), "CREATE TABLE t (y TEXT)")
	build(t, at("view.db"),
		"CREATE VIEW t AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x FROM n")
	for name, want := range map[string]error{
		"missing.db": fs.ErrNotExist, "empty.db": foreign.ErrNot, "text.db": foreign.ErrNot, "short.db": foreign.ErrNot,
		".":          foreign.ErrNot,
		"damaged.db": foreign.ErrDamaged, "cut.db": foreign.ErrDamaged, "newer.db": foreign.ErrUnknown,
		"other.db": foreign.ErrUnknown,
		"lacks.db": foreign.ErrUnknown, "view.db": foreign.ErrUnknown,
	} {
		if _, err := texts(at(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	_, err = texts(at("lacks.db"))
	if want := "it has no column x in table t; known are those of the test"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("a missing column: %v", err)
	}
	if os.Getuid() > 0 {
		if err := os.Chmod(at("good.db"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := texts(at("good.db")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("without rights: %v", err)
		}
	}
}

func TestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	build(t, path, "PRAGMA user_version=17", "CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n TEXT, w DATETIME)",
		"INSERT INTO t VALUES (1764000000123, 1.5, 'äöü', x'616263ff', NULL, '2026-01-02 03:04:05')")
	err := foreign.ReadDatabase(t.Context(), path, func(db *foreign.DB) error {
		rows := 0
		for r, err := range db.QueryRows("SELECT *, "+db.ColumnOr("t", "gone", "NULL")+" FROM t WHERE s = ?", "äöü") {
			if err != nil {
				return err
			}
			rows++
			got := []any{r.Int("i"), r.Float("f"), r.Text("s"), r.Text("b"), r.IsNull("n"), r.Text("n"), r.IsNull("gone"),
				r.IsNull("other"),
				r.Float("i"), r.Text("i"), r.Int("w"), db.Version(), db.HasTable("T", "I", "gone"), db.HasTable("T", "I")}
			want := []any{int64(1764000000123), 1.5, "äöü", "abc\uFFFD", true, "", true, true,
				1764000000123.0, "1764000000123", int64(1767323045000), int64(17), false, true}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		}
		if rows != 1 {
			t.Errorf("%d rows", rows)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A row that is larger than the bound is refused without its bytes being taken into memory, its
// length can be asked for, and the rows beside it are read.
func TestLargeRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	foreigntest.RunStatements(t, path, "CREATE TABLE t (id INTEGER, data TEXT)",
		fmt.Sprintf("INSERT INTO t VALUES (1, 'small'), (2, zeroblob(%d)), (3, 'small')", foreign.MaxRow+1))
	read := func(where string) (n int, err error) {
		err = foreign.ReadDatabase(t.Context(), path, func(db *foreign.DB) error {
			n = 0
			for _, err := range db.QueryRows("SELECT id, data, octet_length(data) AS n FROM t WHERE " + where) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		return n, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := read("id = 2"); !errors.Is(err, foreign.ErrLarge) {
		t.Errorf("it is read: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > foreign.MaxRow/4 {
		t.Errorf("%d bytes were allocated for a row that is not read", used)
	}
	if n, err := read("id <> 2"); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	err := foreign.ReadDatabase(t.Context(), path, func(db *foreign.DB) error {
		for r, err := range db.QueryRows("SELECT sum(octet_length(data)) AS n FROM t") {
			if err != nil || r.Int("n") != foreign.MaxRow+11 {
				t.Errorf("%d, %v", r.Int("n"), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
