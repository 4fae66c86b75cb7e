// Package postgres opens the store's database on a PostgreSQL server, and holds what sqlstore
// does not share with other databases.
//
// Words it adds: lane (one of the rows that the sums of a day are spread over).
//
// Invariants: nothing waits for another conversation's transaction, but for bounded blocks of
// numbers; whatever a server holds in memory another may change, so that rows are read and
// locked in the transaction that judges by them; a transaction is repeated only when it is
// certain that it was not committed.
//
// It may not know HTTP, models, budgets, or any product rule.
package postgres

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
)

// Options tune a database; the zero value is right for the product.
type Options struct {
	Log      *slog.Logger // nil discards
	Existing bool         // nothing is made in a database that has nothing
}

// Open opens the database that a URL names, postgres://USER:PASSWORD@HOST:PORT/DATABASE with
// the options of libpq and pgx, and makes its tables if there are none. It is refused if the
// database is another program's, or newer than this program.
func Open(ctx context.Context, dsn string, o *Options) (*driver.Driver, error) {
	d, err := openDatabase(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	out := sqlstore.New(d)
	if err := sqlstore.CheckNode(ctx, d); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// OpenSide opens a database as [Open] does, to be copied from or to. Name is what people are told
// it is. With [Options].Existing one without anything is not_found.
func OpenSide(ctx context.Context, dsn, name string, o *Options) (*move.Side, error) {
	d, err := openDatabase(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	return &move.Side{Database: d, Name: name, Watch: watchStatements(), Refuse: refuseStatements,
		Reopen: reopenStatements(), Forget: forgetStatements(),
		HoldRun: holdRun, HoldNote: holdNote,
		Usage: "usage_records", Insert: insertMessages, Numbers: true}, nil
}

// openDatabase opens what a driver runs on.
func openDatabase(ctx context.Context, dsn string, o *Options) (sqlstore.Database, error) {
	log := slog.New(slog.DiscardHandler)
	if o != nil && o.Log != nil {
		log = o.Log
	}
	c, err := openConnection(ctx, dsn, log)
	if err != nil {
		return sqlstore.Database{}, err
	}
	if o != nil && o.Existing {
		if err := c.checkExists(ctx); err != nil {
			return sqlstore.Database{}, errors.Join(err, c.closePools())
		}
	}
	return c.makeDatabase(ctx)
}

// makeDatabase returns what a driver runs on, with its tables made; it closes c if that fails.
func (c *connection) makeDatabase(ctx context.Context) (sqlstore.Database, error) {
	log := c.log
	migrations, err := sqlstore.NewMigrations("postgres", goose.DialectPostgres, c.writers)
	if err == nil {
		err = migrateDatabase(ctx, c.writers, migrations, log)
	}
	var clock *clock
	if err == nil {
		clock, err = newClock(ctx, readClock(c.writers), log)
	}
	if err != nil {
		return sqlstore.Database{}, errors.Join(err, c.closePools())
	}
	// Beside the pool of those who write: they wait for what it does.
	config := c.config.Copy()
	closeWhenReadOnly(config)
	numbering := stdlib.OpenDB(*config)
	numbering.SetMaxOpenConns(2)
	order := newCommitOrder(numbering, c.channel, log)
	listener := c.startListening(func() { signalOnce(order.news) })
	w := &writer{db: c.writers, stop: func() error {
		listener.Close()
		clock.stopMeasuring()
		order.Close()
		return errors.Join(numbering.Close(), c.closePools())
	}}
	d := dialect
	d.BranchNumber = (&branchNumbers{db: numbering}).nextNumber
	return sqlstore.Database{Dialect: d, Readers: &readers{c.readers}, Writer: w, Copy: copyNothing,
		Clock: clock.Now, Order: order, Place: c.findPlace}, nil
}

// findPlace says where a database is: in which cluster, and which of its databases. Servers of one database are in one
// place. What a server does not tell is left out.
func (c *connection) findPlace(ctx context.Context) (string, error) {
	var cluster, database string
	err := c.writers.QueryRowContext(ctx, `SELECT system_identifier::text FROM pg_control_system()`).Scan(&cluster)
	if err != nil && sqlStateOf(err) == "" { // it was not the server that refused
		return "", err
	}
	err = c.writers.QueryRowContext(ctx, `SELECT oid::text FROM pg_database WHERE datname = current_database()`).Scan(&database)
	if err != nil && sqlStateOf(err) == "" {
		return "", err
	}
	return cluster + " " + database, nil
}

// dialect is what PostgreSQL does its own way.
var dialect = sqlstore.Dialect{
	Statements: statements,
	Classify:   classifyError,
	Moving:     findMoveTarget,
	SetProbe: func(n int64) string {
		return `UPDATE numbers SET last = ` + strconv.FormatInt(n, 10) + ` WHERE name = 'probe'`
	},
	Full:      isDiskFull,
	Taken:     isKeyTaken,
	Damaged:   func(err error) bool { return sqlStateOf(err) == codeDamaged || sqlStateOf(err) == codeIndexDamaged },
	AddsUsage: true,
}

// copyNothing implements [driver.Admin]'s Copy: PostgreSQL has better means.
func copyNothing(context.Context, string) error {
	return scrollback.Errorf(scrollback.Refused, "postgres.Copy",
		i18n.PostgreSQLNotCopiedIntoFile)
}
