package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/drivertest"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlite"
)

func open(t *testing.T, path string) *driver.Driver {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSQLiteReopen(t *testing.T) {
	drivertest.RunReopen(t, func(t *testing.T, dir string) *driver.Driver { return open(t, filepath.Join(dir, "s.db")) })
}

// One list of operations gives equal answers in memory and on disk.
func TestSQLiteWalk(t *testing.T) {
	for seed := range uint64(5) {
		drivertest.Walk(t, seed, 300, memdriver.New(), open(t, filepath.Join(t.TempDir(), "s.db")))
	}
}
