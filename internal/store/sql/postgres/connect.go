package postgres

import (
	"context"
	"database/sql"
	sqlfault "database/sql/driver"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// freeTimeout is how long a caller waits for a connection when all are in use.
const freeTimeout = 10 * time.Second

// connection is an open database: two pools, and what is known about it.
type connection struct {
	writers, readers *sql.DB         // writers is nil when it was opened for reading only
	config           *pgx.ConnConfig // as the DSN says, for a connection of one's own
	schema           string          // in which the tables are
	channel          string          // on which servers tell each other that they wrote
	pooled           bool            // a pooler is between: sessions have no settings
	log              *slog.Logger
}

// openConnection opens a database to read and write.
func openConnection(ctx context.Context, dsn string, log *slog.Logger) (*connection, error) {
	return openPools(ctx, dsn, true, log)
}

// openReadOnlyConnection opens a database, perhaps a replica, that nobody writes to through it.
func openReadOnlyConnection(ctx context.Context, dsn string, log *slog.Logger) (*connection, error) {
	return openPools(ctx, dsn, false, log)
}

func openPools(ctx context.Context, dsn string, writing bool, log *slog.Logger) (*connection, error) {
	const op = "postgres.Open"
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	config, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	if writing {
		requirePrimary(config.ConnConfig)
	}
	c := &connection{config: config.ConnConfig, pooled: usesPooler(config.ConnConfig), log: log}
	if c.readers, err = openPool(configurePool(config, false), "read"); err == nil && writing {
		c.writers, err = openPool(configurePool(config, true), "write")
	}
	if err == nil {
		err = c.checkServer(ctx)
	}
	if err != nil {
		return nil, explainFailure(op, c.config, errors.Join(err, c.closePools()))
	}
	return c, nil
}

// openPool opens one of the pools. The pool below keeps the connections, and database/sql none.
func openPool(config *pgxpool.Config, does string) (*sql.DB, error) {
	// It connects when it is asked to, and not before.
	p, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(&boundedConnector{Connector: stdlib.GetPoolConnector(p), pool: p, does: does, wait: freeTimeout})
	db.SetMaxIdleConns(0)
	return db, nil
}

// closePools ends what is open; it waits a moment for what is under way.
func (c *connection) closePools() error {
	var err error
	for _, db := range []*sql.DB{c.readers, c.writers} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// checkServer asks the server whether it is one for us.
func (c *connection) checkServer(ctx context.Context) error {
	const op = "postgres.Open"
	db := c.writers
	if db == nil {
		db = c.readers
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.ConnectTimeout+freeTimeout)
	defer cancel()
	var version int
	var encoding, readOnly string
	var schema sql.NullString
	var recovering bool
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		current_setting('transaction_read_only'), pg_is_in_recovery(), current_schema()::text`).Scan(&version, &encoding, &readOnly, &recovering, &schema)
	switch {
	case err != nil:
		return err
	case version < oldestVersion*10_000:
		return scrollback.Errorf(scrollback.Refused, op, i18n.PostgreSQLTooOld,
			version/10_000, oldestVersion)
	case encoding != "UTF8":
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseEncodingWrong,
			encoding)
	case c.writers != nil && recovering:
		return readOnlyError(op)
	case c.writers != nil && readOnly == "on":
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.PostgreSQLUserOnlyReads).WithReason(ErrReadOnly)
	case !schema.Valid:
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseHasNoSchemaForUser)
	}
	c.schema = schema.String
	c.channel = channelName(schema.String)
	return nil
}

// boundedConnector lets nobody wait for ever for a free connection.
type boundedConnector struct {
	sqlfault.Connector
	pool *pgxpool.Pool
	does string
	wait time.Duration
}

// Connect implements [sqlfault.Connector].
func (b *boundedConnector) Connect(ctx context.Context) (sqlfault.Conn, error) {
	short, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	conn, err := b.Connector.Connect(short)
	if err == nil || short.Err() == nil || ctx.Err() != nil {
		return conn, err
	}
	if s := b.pool.Stat(); s.AcquiredConns() >= s.MaxConns() {
		return nil, scrollback.Errorf(scrollback.Unavailable, "postgres",
			i18n.AllConnectionsInUse, s.MaxConns(),
			b.does)
	}
	return nil, err
}

// Close implements [io.Closer], for the pool of database/sql. What hangs on a server that
// no longer replies is left to the process's end.
func (b *boundedConnector) Close() error {
	closed := make(chan struct{})
	go func() {
		b.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(connectTimeout):
	}
	return nil
}
