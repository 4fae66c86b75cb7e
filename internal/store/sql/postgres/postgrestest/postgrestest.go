// Package postgrestest gives tests a PostgreSQL: an empty database of their own on a
// server that the tests of a process share, or a cluster of their own to stop and kill.
//
// Words it adds: cluster (a PostgreSQL that is thrown away), keeper (the process that ends
// a cluster when the test's process is gone).
//
// Invariants: nothing is left when a test's process has ended, however it ended: no server
// and no folder. A server that was there before keeps only what it had.
//
// It may not know the store, or how its driver connects.
package postgrestest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The environment of the tests.
const (
	// ServerVariable is the DSN of a server on which databases may be made.
	ServerVariable = "SCROLLBACK_TEST_POSTGRES"
	// FolderVariable is the folder with PostgreSQL's programs: initdb, postgres, ….
	FolderVariable = "SCROLLBACK_POSTGRES_BIN"
	// requireVariable makes a missing PostgreSQL a failure.
	requireVariable = "SCROLLBACK_REQUIRE_SERVICES"
)

// NewDatabase returns the DSN of an empty database that is dropped when the test ends. The server
// is the one that ServerVariable names; else one that listens on 127.0.0.1:5432 and lets
// postgres in, unless FolderVariable asks for programs; else a cluster that the tests of
// the process share. Without any, the test is skipped.
func NewDatabase(t testing.TB) string {
	t.Helper()
	at, err := findServer()
	if err != nil {
		skipMissing(t, err)
	}
	return createDatabase(t, at.dsn)
}

// skipMissing skips the test, or ends it where PostgreSQL is required.
func skipMissing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(requireVariable) != "" {
		t.Fatalf("PostgreSQL is required: %v", err)
	}
	t.Skipf("PostgreSQL is missing (%v): apt-get install postgresql, or set %s", err, ServerVariable)
}

// testServer is where the tests of a process make databases. It holds the cluster: the
// collector would close its keeper's pipe.
type testServer struct {
	dsn     string
	cluster *Cluster // nil for a server that was there
}

// findServer finds the server of the process once.
var findServer = sync.OnceValues(func() (testServer, error) {
	if dsn := os.Getenv(ServerVariable); dsn != "" {
		return testServer{dsn: dsn}, nil
	}
	if local := "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=1"; os.Getenv(FolderVariable) == "" && canConnect(local) {
		return testServer{dsn: local}, nil
	}
	c, err := startCluster(Options{})
	if err != nil {
		return testServer{}, err
	}
	return testServer{c.DSN("postgres"), c}, nil // the keeper ends it with the process
})

// canConnect reports whether a server lets us in.
func canConnect(dsn string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

// createDatabase makes an empty database on the server of dsn.
func createDatabase(t testing.TB, dsn string) string {
	t.Helper()
	own, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s must be a URL, as in postgres://postgres@127.0.0.1/postgres", ServerVariable)
	}
	name := "scrollback_test_" + randomName()
	if err := runStatement(dsn, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		t.Fatalf("making a database: %v", err)
	}
	t.Cleanup(func() {
		// A cluster that the test has stopped goes with its databases.
		if err := runStatement(dsn, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Logf("dropping the database: %v", err)
		}
	})
	own.Path = "/" + name
	return own.String()
}

// runStatement runs one statement on a connection of its own.
func runStatement(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	if _, err = conn.Exec(ctx, statement); err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return errors.Join(err, conn.Close(ctx))
}

// randomName returns part of a name that nobody else has.
func randomName() string {
	b := make([]byte, 8)
	rand.Read(b) //nolint:errcheck // it never fails
	return hex.EncodeToString(b)
}
