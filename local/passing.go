package local

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// OpenInPassing opens the database of a data folder for who looks something up and must not wait: for reading only,
// nothing is made or brought up to date, and what another program has locked is unavailable at once. Only SQLite
// files are opened so; others are refused.
func OpenInPassing(ctx context.Context, dir, database string) (*evidence.Store, error) {
	const op = "local.OpenInPassing"
	if _, isURL := serverScheme(database); isURL {
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.NoClientForPostgreSQL)
	}
	file, err := databaseFile(dir, database)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return nil, scrollback.ParamErrorf(op, "database", i18n.MemoryDatabaseIsEmpty)
	}
	d, err := sqlite.OpenReadOnlyAtOnce(ctx, file)
	if err != nil {
		return nil, err
	}
	return evidence.New(d), nil
}
