package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/drivertest"
	"github.com/scrollback-ai/scrollback/store/drivertest/hashtest"
	"github.com/scrollback-ai/scrollback/store/drivertest/indextest"
	"github.com/scrollback-ai/scrollback/store/drivertest/origintest"
	"github.com/scrollback-ai/scrollback/store/drivertest/projecttest"
	"github.com/scrollback-ai/scrollback/store/drivertest/shapetest"
	"github.com/scrollback-ai/scrollback/store/drivertest/sourcetest"
	"github.com/scrollback-ai/scrollback/store/drivertest/viewtest"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/postgres"
	"github.com/scrollback-ai/scrollback/store/sqldriver/postgres/postgrestest"
)

func open(t *testing.T, dsn string) *driver.Driver {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// emptied opens one database again and again, each time without a row: that is quicker than
// making one.
func emptied(t *testing.T) func(t *testing.T) *driver.Driver {
	t.Helper()
	dsn := postgrestest.New(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return func(t *testing.T) *driver.Driver {
		t.Helper()
		rows, err := conn.Query(t.Context(), `SELECT 'DELETE FROM ' || relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
			AND relkind = 'r' AND relname NOT IN ('goose_db_version', 'migration_lock')`)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if len(all) > 0 && err == nil {
			// Who still numbers holds a row of numbers, and is waited for: what it has written goes with the rest.
			all = append([]string{"SELECT last FROM numbers ORDER BY name DESC FOR UPDATE"}, all...)
			all = append(all, "INSERT INTO numbers (name, last) VALUES ('branch', 0), ('message', 0), ('change', 0), ('probe', 0)",
				"INSERT INTO index_state VALUES (1, 0, 0, 0, 0, 0)")
			// The server may still be at what the last one left.
			for range 5 {
				var failed *pgconn.PgError
				if _, err = conn.Exec(t.Context(), strings.Join(all, "; ")); !errors.As(err, &failed) || failed.Code != "40P01" {
					break
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return open(t, dsn)
	}
}

func TestPostgres(t *testing.T) {
	empty := emptied(t)
	drivertest.Run(t, empty)
	indextest.Run(t, empty)
	origintest.Run(t, empty)
	projecttest.Run(t, empty)
	shapetest.Run(t, empty)
	sourcetest.Run(t, empty)
	viewtest.Run(t, empty)
}

func TestPostgresHashes(t *testing.T) {
	hashtest.Run(t, func(t *testing.T) hashtest.Old {
		dsn := postgrestest.New(t)
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		return hashtest.Old{Driver: open(t, dsn), Join: func() *driver.Driver { return open(t, dsn) }, Forget: func() {
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
	places := map[string]string{}
	drivertest.RunReopen(t, func(t *testing.T, dir string) *driver.Driver {
		if places[dir] == "" {
			places[dir] = postgrestest.New(t)
		}
		return open(t, places[dir])
	})
}

// One list of operations gives equal results in memory and on PostgreSQL.
func TestPostgresWalk(t *testing.T) {
	empty := emptied(t)
	for seed := range uint64(5) {
		drivertest.Walk(t, seed, 300, memdriver.New(), empty(t))
	}
}
