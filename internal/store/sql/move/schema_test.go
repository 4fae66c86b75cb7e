package move_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
)

// cuttingWriter fails writes when before does.
type cuttingWriter struct {
	sqlstore.Writer
	judge func() error
}

var errCut = errors.New("cut short")

func (c cuttingWriter) Write(ctx context.Context, fn func(ctx context.Context, tx sqlstore.Tx) error) error {
	if err := c.judge(); err != nil {
		return err
	}
	return c.Writer.Write(ctx, fn)
}

// leftColumns are the tables that are not carried, and the columns that are each database's own.
var leftColumns = []string{"changes", "claims", "digests.", "goose_db_version", "index_", "kept_filling", "met.", "message_hashing", "nodes.", "numbers", "sqlite_",
	"tallies", "thread_asked", "vector",
	"branches.n", "messages.n", "receipts.n", "usage_records.n"}

// Each column of each table is carried, or is known to be left: a migration that adds one fails here.
func TestAllIsCarried(t *testing.T) {
	t.Parallel()
	s := onSQLite(t).side(t)
	carried := move.ListCarried()
	var names []string
	mustSucceed(t, s.Readers.Query(t.Context(), func(r sqlstore.Row) error {
		names = append(names, "")
		return r.Scan(&names[len(names)-1])
	}, `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`))
	for _, name := range names {
		if !slices.Contains(carried, name) && !slices.ContainsFunc(leftColumns,
			func(l string) bool { return strings.HasPrefix(name, l) }) {
			t.Errorf("%s is not carried", name)
		}
	}
	for _, name := range carried {
		if !slices.Contains(names, name) {
			t.Errorf("%s is carried, and not there", name)
		}
	}
	if len(names) < 150 {
		t.Errorf("only %d columns: is this the schema?", len(names))
	}
}
