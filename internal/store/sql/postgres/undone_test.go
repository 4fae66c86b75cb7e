package postgres

import (
	"context"
	"errors"
	"testing"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// A write whose statement failed is not acknowledged, even if the caller ignored the error.
func TestACommitThatUndoesIsAnError(t *testing.T) {
	t.Parallel()
	c, err := openConnection(t.Context(), postgrestest.NewDatabase(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.makeDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Readers.Close()
	defer d.Writer.Close()
	err = d.Writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
		_, _ = tx.Exec(ctx, `SELECT 1 / 0`)
		return nil
	})
	if !errors.Is(err, errRolledBack) {
		t.Errorf("the write returned %v", err)
	}
}
