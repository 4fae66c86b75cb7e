package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// Evidence looks things up in passing in what is open. It is not to be closed.
func (s *Scrollback) Evidence() *evidence.Store { return s.evidence }

// NameDatabase returns what names the database of a data folder, without where it is: programs that get the same name
// have the same one. Empty for one in memory, which no two programs share, and for what is not a database.
func NameDatabase(dir, database string) string {
	if _, isURL := serverScheme(database); isURL {
		sum := sha256.Sum256([]byte(database)) // it may hold a password
		return "server " + hex.EncodeToString(sum[:])
	}
	file, err := databaseFile(dir, database)
	switch {
	case err != nil || file == "":
		return ""
	case filepath.Clean(file) == filepath.Join(dir, databaseName): // whatever the folder is called where it is mounted
		return "own"
	}
	return "file " + filepath.Clean(file)
}

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
