package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// testMigrations returns migrations, each of which makes a table; one that is written twice fails.
func testMigrations(t *testing.T, db *sql.DB, n int) *goose.Provider {
	t.Helper()
	files := fstest.MapFS{}
	for i := range n {
		text := fmt.Appendf(nil, "-- +goose Up\nCREATE TABLE step_%d (id int);\nSELECT pg_sleep(0.02);\n", i+1)
		files[fmt.Sprintf("%05d_step.sql", i+1)] = &fstest.MapFile{Data: text}
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func countRows(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	c := mustConnect(t, postgrestest.NewDatabase(t))
	wantError(t, checkUpToDate(t.Context(), c.readers, testMigrations(t, c.readers, 1)), scrollback.NotFound,
		"there is nothing in the database yet")
	for _, n := range []int{2, 2, 5} {
		if err := migrateDatabase(t.Context(), c.writers, testMigrations(t, c.writers, n), c.log); err != nil {
			t.Fatal(err)
		}
		if got := countRows(t, c.writers, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'step%'"); got != n {
			t.Errorf("%d of %d steps", got, n)
		}
	}
	wantError(t, checkUpToDate(t.Context(), c.readers, testMigrations(t, c.readers, 6)), scrollback.Refused,
		"written by an older scrollback (schema 5")
	if err := checkUpToDate(t.Context(), c.readers, testMigrations(t, c.readers, 5)); err != nil {
		t.Error(err)
	}
	err := migrateDatabase(t.Context(), c.writers, testMigrations(t, c.writers, 4), c.log)
	wantError(t, err, scrollback.Refused,
		"the database was written by a newer scrollback (schema 5, this program knows 4); nothing was changed")
}

func TestManyMigrateAtOnce(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range 12 {
		c := mustConnect(t, setParameter(t, dsn, "pool_max_conns", "4"))
		p := testMigrations(t, c.writers, 6)
		wait.Go(func() {
			<-start
			if err := migrateDatabase(t.Context(), c.writers, p, c.log); err != nil {
				t.Errorf("server %d: %v", i, err)
			}
		})
	}
	close(start)
	wait.Wait()
	c := mustConnect(t, dsn)
	if n := countRows(t, c.readers, "SELECT count(*) FROM goose_db_version WHERE version_id > 0"); n != 6 {
		t.Errorf("%d migrations were entered, not 6", n)
	}
}

func TestMigrationOfAnotherProgram(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for name, statement := range map[string]string{
		"tables":            "CREATE TABLE theirs (id int)",
		"tables and goose":  "CREATE TABLE theirs (id int); CREATE TABLE goose_db_version (version_id bigint, is_applied boolean)",
		"a view":            "CREATE VIEW theirs AS SELECT 1",
		"a lock of its own": "CREATE TABLE theirs (id int); CREATE TABLE migration_lock (id int)",
	} {
		t.Run(name, func(t *testing.T) {
			c := mustConnect(t, postgrestest.NewDatabase(t))
			for s := range strings.SplitSeq(statement, ";") {
				if _, err := c.writers.ExecContext(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			before := countRows(t, c.readers, "SELECT count(*) FROM pg_class")
			wantError(t, migrateDatabase(t.Context(), c.writers, testMigrations(t, c.writers, 1), c.log), scrollback.Refused,
				"this is not a scrollback database")
			if after := countRows(t, c.readers, "SELECT count(*) FROM pg_class"); after != before {
				t.Error("something was changed")
			}
		})
	}
}

func TestMigrationLock(t *testing.T) {
	t.Parallel()
	c := mustConnect(t, postgrestest.NewDatabase(t))
	var said bytes.Buffer
	dead := migrationLock{db: c.writers, holder: "dead", log: c.log}
	l := migrationLock{db: c.writers, holder: "living", log: slog.New(slog.NewTextHandler(&said, nil))}
	if err := dead.createRow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held, err := dead.tryTake(t.Context()); err != nil || !held {
		t.Fatal(held, err)
	}
	if held, err := l.tryTake(t.Context()); err != nil || held {
		t.Errorf("two have it: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*lockRetry)
	defer cancel()
	if err := l.waitToTake(ctx); classifyError(err) != scrollback.Unavailable ||
		!strings.Contains(said.String(), "waiting for it") {
		t.Errorf("waiting for it is %v, and it said %q", err, said.String())
	}
	// The holder dies, and its time ends.
	if _, err := c.writers.ExecContext(t.Context(),
		"UPDATE migration_lock SET expires_at = clock_timestamp()"); err != nil {
		t.Fatal(err)
	}
	held := false
	if err := l.runHolding(t.Context(), func(context.Context) error { held = true; return nil }); err != nil || !held {
		t.Errorf("held is %v: %v", held, err)
	}
	if n := countRows(t, c.readers, "SELECT count(*) FROM migration_lock WHERE expires_at <= clock_timestamp()"); n != 1 {
		t.Error("it was not given back")
	}
}

// Who lost the lock must not go on.
func TestMigrationLockLost(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	c := mustConnect(t, postgrestest.NewDatabase(t))
	l := migrationLock{db: c.writers, holder: "slow", log: c.log}
	if err := l.createRow(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := l.runHolding(t.Context(), func(ctx context.Context) error {
		stolen := "UPDATE migration_lock SET holder = 'other', expires_at = clock_timestamp() + interval '1 hour'"
		if _, err := c.writers.ExecContext(ctx, stolen); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	wantError(t, err, scrollback.Unavailable, "another server took over")
	if n := countRows(t, c.readers, "SELECT count(*) FROM migration_lock WHERE holder = 'other'"); n != 1 {
		t.Error("it gave back what is not its own")
	}
}

func TestMigrateWithoutRights(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{})
	dsn := cluster.DSN("postgres")
	if err := execAll(t, dsn, "CREATE ROLE guest LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); err != nil {
		t.Fatal(err)
	}
	c := mustConnect(t, strings.Replace(dsn, "//postgres@", "//guest@", 1))
	err := migrateDatabase(t.Context(), c.writers, testMigrations(t, c.writers, 1), c.log)
	wantError(t, err, scrollback.Refused, "the database's user may not make tables in it: GRANT CREATE")
}
