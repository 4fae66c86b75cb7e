package backup

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// Store is the store that is backed up, or that a backup is restored to, as the settings name it.
type Store struct {
	Dir      string // the data folder
	Database string // URL; empty for the file in the data folder
	Objects  string // URL; empty for the folder in the data folder

	Keys    identity.Keys // open encrypted backups
	Encrypt bool          // new ones are encrypted

	Program string       // its version, for the head of a backup
	Log     *slog.Logger // nil discards
}

// maxTime bounds how long a snapshot of the database is held: what others write meanwhile is kept beside it.
const maxTime = 2 * time.Hour

// The databases there are, as a head names them.
const (
	onSQLite   = "sqlite"
	onPostgres = "postgres"
)

// file returns the file of an SQLite database; kind is which database it is.
func (s Store) file() (path, kind string, err error) {
	if s.Database == "" {
		return filepath.Join(s.Dir, databaseEntry), onSQLite, nil
	}
	u, err := url.Parse(s.Database)
	switch {
	case err != nil:
	case u.Scheme == "postgres" || u.Scheme == "postgresql":
		return "", onPostgres, nil
	case u.Scheme == "sqlite" && u.Host == "" && u.RawQuery == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return filepath.FromSlash(u.Path), onSQLite, nil
	case u.Scheme == "memory":
		return "", "", scrollback.Errorf(scrollback.Refused, op, i18n.BackupOfMemory)
	}
	return "", "", scrollback.ParamErrorf(op, "store", i18n.DatabaseIsURL)
}

// openObjects opens where the objects are.
func (s Store) openObjects(ctx context.Context, readOnly bool) (*objects.Store, error) {
	place, err := objects.ParsePlace(s.Dir, s.Objects, cloud.Buckets())
	if err != nil {
		return nil, err
	}
	if place.IsMemory() {
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.BackupOfMemory)
	}
	return objects.Open(ctx, place, readOnly)
}

// copyDatabase writes one snapshot of the database to a new SQLite file.
func (s Store) copyDatabase(ctx context.Context, to string) (kind string, err error) {
	path, kind, err := s.file()
	if err != nil {
		return "", err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, maxTime,
		scrollback.Errorf(scrollback.Unavailable, op, i18n.BackupTookTooLong, maxTime))
	defer cancel()
	if kind == onPostgres {
		err = s.copyPostgres(bounded, to)
	} else {
		err = s.copySQLite(bounded, path, to)
	}
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = context.Cause(bounded)
	}
	return kind, err
}

func (s Store) copySQLite(ctx context.Context, path, to string) error {
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.NoDatabaseAt, path)
	}
	d, err := sqlite.Open(ctx, path, &sqlite.Options{Log: s.log()})
	if err != nil {
		return err
	}
	return errors.Join(d.Admin.CopyDatabase(ctx, to), d.Close())
}

func (s Store) copyPostgres(ctx context.Context, to string) (err error) {
	from, err := postgres.OpenSide(ctx, s.Database, onPostgres, &postgres.Options{Log: s.log(), Existing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	copied, err := sqlite.OpenSide(ctx, to, to, &sqlite.Options{Log: s.log()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	_, err = move.CopyWhole(ctx, from, copied, nil)
	return err
}

func (s Store) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// countRows opens a copy of a database, brings it up to date, and counts what is in it.
func (s Store) countRows(ctx context.Context, path string) (conversations, messages int64, err error) {
	side, err := sqlite.OpenSide(ctx, path, path, &sqlite.Options{Log: s.log()})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, side.Close()) }()
	err = sqlstore.QueryRow(ctx, side.Readers, func(r sqlstore.Row) error { return r.Scan(&conversations, &messages) },
		`SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM messages)`)
	return conversations, messages, scrollback.Wrap(scrollback.Unavailable, op, err)
}
