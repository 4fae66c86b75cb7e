package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func openDriver(t *testing.T, dsn string) *driver.Driver {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// openEmptied opens one database again and again, each time without a row: that is quicker than
// making one.
func openEmptied(t *testing.T, open func(t *testing.T, dsn string) *driver.Driver) func(t *testing.T) *driver.Driver {
	t.Helper()
	dsn := postgrestest.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return func(t *testing.T) *driver.Driver {
		t.Helper()
		if err := deleteAllRows(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		return open(t, dsn)
	}
}

// deleteAllRows takes all rows out of a database. Who still numbers what was written holds the rows of numbers,
// and is waited for: what it writes goes with the rest.
func deleteAllRows(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(
		ctx,
		`SELECT 'DELETE FROM ' || relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
		AND relkind = 'r' AND relname NOT IN ('goose_db_version', 'migration_lock')`,
	)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(all) == 0 {
		return err
	}
	all = append([]string{"SELECT last FROM numbers ORDER BY name DESC FOR UPDATE"}, all...)
	all = append(all, "INSERT INTO numbers (name, last) VALUES ('branch', 0), ('message', 0), ('change', 0), ('probe', 0)",
		"INSERT INTO index_state VALUES (1, 0, 0, 0, 0, 0)",
		"INSERT INTO vector_state VALUES (1, '', 0, 0, 0, 0)",
		"INSERT INTO kept_filling (id, conversation_id, branch, seq, ended) VALUES (1, '', '', 0, 0)",
		"INSERT INTO message_hashing (id, conversation_id, branch, seq, ended) VALUES (1, '', '', 0, 0)")
	// The server may still be at what the last one left.
	for range 5 {
		var failed *pgconn.PgError
		if _, err = conn.Exec(ctx, strings.Join(all, "; ")); !errors.As(err, &failed) || failed.Code != "40P01" {
			break
		}
	}
	return err
}

// A database is empty for the next test, also if a server of the one before is still numbering: a
// change that stayed behind would have the number that the next test's first one gets.
func TestResetWaitsForWhoNumbers(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	ctx := t.Context()
	openDriver(t, dsn).Close()
	var conns [3]*pgx.Conn
	for i := range conns {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(ctx))
		conns[i] = conn
	}
	numbering, err := conns[0].Begin(ctx)
	if err == nil {
		_, err = numbering.Exec(ctx, `SELECT last FROM numbers WHERE name = 'message' FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- deleteAllRows(ctx, conns[1]) }()
	var waiting, left int
	for tries := 0; waiting == 0 && err == nil; tries++ {
		if tries > 20_000 {
			t.Fatal("it does not wait")
		}
		err = conns[2].QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE NOT granted AND $1 = ANY(pg_blocking_pids(pid))`,
			conns[0].PgConn().PID()).Scan(&waiting)
	}
	if err == nil {
		_, err = numbering.Exec(
			ctx,
			`INSERT INTO changes (conversation_id, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref, n)
			VALUES ('c', '', '', 1, '', '', 0, 0, '', 1); UPDATE numbers SET last = 1 WHERE name = 'change'`,
		)
	}
	if err := errors.Join(err, numbering.Commit(ctx), <-done); err != nil {
		t.Fatal(err)
	}
	if err := conns[2].QueryRow(ctx, `SELECT count(*) FROM changes`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d changes are left, %v", left, err)
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	var listening postgres.StatementLog
	empty := openEmptied(t, listening.Open)
	drivertest.Run(t, empty)
	t.Run("Portable", listening.CheckPortable)
}

func TestPostgresHashes(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	drivertest.RunHashes(t, func(t *testing.T) drivertest.Old {
		dsn := postgrestest.NewDatabase(t)
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		return drivertest.Old{Driver: openDriver(t, dsn),
			Join: func() *driver.Driver { return openDriver(t, dsn) }, Forget: func() {
				_, err := conn.Exec(t.Context(), `DROP TRIGGER IF EXISTS messages_append_only ON messages;
				UPDATE messages SET hash = ''; DELETE FROM message_hashes;
				UPDATE message_hashing SET conversation_id = '', branch = '', seq = 0, ended = 0`)
				if err != nil {
					t.Fatal(err)
				}
			}, Beside: func() (n int64) {
				err := conn.QueryRow(t.Context(), `SELECT coalesce(sum(length(hashes) / 16), 0) FROM message_hashes`).Scan(&n)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}}
	})
}

func TestPostgresReopen(t *testing.T) {
	t.Parallel()
	places := map[string]string{}
	drivertest.RunReopen(t, func(t *testing.T, dir string) *driver.Driver {
		if places[dir] == "" {
			places[dir] = postgrestest.NewDatabase(t)
		}
		return openDriver(t, places[dir])
	})
}

// One list of operations gives equal results in memory and on PostgreSQL.
func TestPostgresWalk(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	empty := openEmptied(t, openDriver)
	for seed := range uint64(5) {
		drivertest.RunWalk(t, seed, 300, oracle.New(), empty(t))
	}
}

func TestPostgresStrayThreads(t *testing.T) {
	t.Parallel()
	drivertest.RunStrayThreads(t, openDriver(t, postgrestest.NewDatabase(t)))
}
