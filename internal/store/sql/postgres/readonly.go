package postgres

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pressly/goose/v3"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// OpenReadOnly opens a database for reading only, which may be a replica. It makes nothing
// and writes nothing. A database without anything of ours is not_found; one that is another
// program's, or of another version than this program writes, is refused.
func OpenReadOnly(ctx context.Context, dsn string, o *Options) (*driver.Driver, error) {
	log := slog.New(slog.DiscardHandler)
	if o != nil && o.Log != nil {
		log = o.Log
	}
	c, err := openReadOnlyConnection(ctx, dsn, log)
	if err != nil {
		return nil, err
	}
	migrations, err := sqlstore.NewMigrations("postgres", goose.DialectPostgres, c.readers)
	if err == nil {
		err = checkUpToDate(ctx, c.readers, migrations)
	}
	if err != nil {
		return nil, errors.Join(err, c.closePools())
	}
	return sqlstore.New(sqlstore.Database{Dialect: dialect, Readers: &readers{c.readers}, Copy: copyNothing}), nil
}
