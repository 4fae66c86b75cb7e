package postgres

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// The sessions of the pool that reads are read only, whatever is asked of the server.
func TestServersAreChosen(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	for _, which := range []string{"any", "read-write", "primary"} {
		t.Run(which, func(t *testing.T) {
			d, err := Open(context.Background(), dsn+"&target_session_attrs="+which, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if err := d.Ready(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A store that is written to reads from the server that takes the writes, whichever is named first.
func TestSeveralServersMeanThePrimary(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]bool{"postgres://x@a,b/d": true, "postgres://x@a/d?sslmode=prefer": false} {
		config, err := parseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		requirePrimary(config.ConnConfig)
		if got := configurePool(config, false).ConnConfig.ValidateConnect != nil; got != want {
			t.Errorf("%s: a reader's server is judged: %v, want %v", dsn, got, want)
		}
	}
}
