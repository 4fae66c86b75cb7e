package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

const (
	lockExpires = 30 * time.Second // of the lock, unless it is renewed
	lockRenewed = 5 * time.Second
	lockRetry   = 100 * time.Millisecond // doubled up to a second
)

// migrateDatabase brings a database up to date, one server at a time. The lock is a row with an
// end: locks of a session do nothing behind some poolers and on some engines, and a row
// outlives a connection that breaks. A database that is another program's, or newer
// than this one, is refused before anything is written.
func migrateDatabase(ctx context.Context, db *sql.DB, migrations *goose.Provider, log *slog.Logger) error {
	const op = "postgres.Open"
	sources := migrations.ListSources()
	newest := sources[len(sources)-1].Version
	have, err := readMigrationState(ctx, db, newest)
	if err != nil || have == newest {
		return scrollback.Wrap(classifyError(err), op, err)
	}
	l := migrationLock{db: db, holder: newHolderName(), log: log}
	if err := l.createRow(ctx); err != nil {
		return forbiddenError(op, err)
	}
	err = l.runHolding(ctx, func(ctx context.Context) error {
		// Who held it before may have done it.
		if have, err := readMigrationState(ctx, db, newest); err != nil || have == newest {
			return err
		}
		_, err := migrations.Up(ctx)
		return err
	})
	return forbiddenError(op, err)
}

// checkExists returns an error if a database has nothing of ours.
func (c *connection) checkExists(ctx context.Context) error {
	const op = "postgres.Open"
	migrations, err := sqlstore.NewMigrations("postgres", goose.DialectPostgres, c.writers)
	if err != nil {
		return err
	}
	sources := migrations.ListSources()
	have, err := readMigrationState(ctx, c.writers, sources[len(sources)-1].Version)
	if err == nil && have == 0 {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.NothingInDatabaseYet)
	}
	return scrollback.Wrap(classifyError(err), op, err)
}

// checkUpToDate returns an error unless the database is as this program writes it.
func checkUpToDate(ctx context.Context, db *sql.DB, migrations *goose.Provider) error {
	const op = "postgres.OpenReadOnly"
	sources := migrations.ListSources()
	newest := sources[len(sources)-1].Version
	have, err := readMigrationState(ctx, db, newest)
	switch {
	case err != nil:
		return scrollback.Wrap(classifyError(err), op, err)
	case have == 0:
		return scrollback.Errorf(scrollback.NotFound, op, i18n.NothingInDatabaseYet)
	case have < newest:
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseTooOld, have, newest)
	}
	return nil
}

// forbiddenError says what rights a user lacks who may not make tables.
func forbiddenError(op string, err error) error {
	if sqlStateOf(err) == codeForbidden {
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.UserMayNotMakeTables, err)
	}
	return scrollback.Wrap(classifyError(err), op, err)
}

// readMigrationState returns how far a database is migrated; 0 for one without anything.
func readMigrationState(ctx context.Context, db *sql.DB, newest int64) (have int64, err error) {
	var marks, others int64
	err = db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE c.relname IN ('migration_lock', 'goose_db_version')),
		count(*) FILTER (WHERE c.relname <> 'migration_lock')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
		AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`).Scan(&marks, &others)
	if err != nil {
		return 0, err
	}
	ours, err := hasLockRow(ctx, db)
	switch {
	case err != nil:
		return 0, err
	case !ours && others > 0:
		return 0, scrollback.Errorf(scrollback.Refused, "postgres.Open",
			i18n.NotAScrollbackDatabase, others)
	case marks < 2:
		return 0, nil
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have)
	if err == nil && have > newest {
		err = scrollback.Errorf(scrollback.Refused, "postgres.Open",
			i18n.DatabaseTooNew, have,
			newest)
	}
	return have, err
}

// hasLockRow reports whether the lock's table is there with our row: goose's table may be
// another program's.
func hasLockRow(ctx context.Context, db *sql.DB) (bool, error) {
	var n int64
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM migration_lock WHERE name = 'scrollback'`).Scan(&n)
	if sqlStateOf(err) == codeNoTable || sqlStateOf(err) == codeNoColumn {
		return false, nil
	}
	return n > 0, err
}

// migrationLock is the row that one server holds while it migrates.
type migrationLock struct {
	db     *sql.DB
	holder string
	log    *slog.Logger
}

// newHolderName returns a name for this process, for people who look at the row.
func newHolderName() string {
	host, _ := os.Hostname() //nolint:errcheck // only to be read by people
	b := make([]byte, 8)
	rand.Read(b) //nolint:errcheck // it never fails
	return fmt.Sprintf("%s %d %s", host, os.Getpid(), hex.EncodeToString(b))
}

// createRow makes the lock's table and its row, which nobody holds. Several servers may do so at
// once: IF NOT EXISTS does not see a table that is being made.
func (l migrationLock) createRow(ctx context.Context) error {
	var err error
	for range 10 {
		_, err = l.db.ExecContext(ctx,
			`CREATE TABLE IF NOT EXISTS migration_lock (name text PRIMARY KEY, holder text NOT NULL, expires_at timestamptz NOT NULL)`)
		if !isKeyTaken(err) && sqlStateOf(err) != codeTableExists && sqlStateOf(err) != codeTypeExists && !isRetryable(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	_, err = l.db.ExecContext(ctx,
		`INSERT INTO migration_lock (name, holder, expires_at) VALUES ('scrollback', '', clock_timestamp()) ON CONFLICT (name) DO NOTHING`)
	return err
}

// tryTake tries to become the holder, until the database's clock says otherwise.
func (l migrationLock) tryTake(ctx context.Context) (bool, error) {
	return l.execChanged(ctx, `UPDATE migration_lock SET holder = $1, expires_at = clock_timestamp() + $2 * interval '1 millisecond'
		WHERE name = 'scrollback' AND (holder = $1 OR expires_at <= clock_timestamp())`, l.holder, lockExpires.Milliseconds())
}

func (l migrationLock) execChanged(ctx context.Context, statement string, args ...any) (bool, error) {
	r, err := l.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// runHolding waits for the lock, and runs fn while it is held: fn's context ends when it is lost.
func (l migrationLock) runHolding(ctx context.Context, fn func(context.Context) error) error {
	if err := l.waitToTake(ctx); err != nil {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.keepRenewing(working, cancel)
	}()
	err := fn(working)
	lost := context.Cause(working)
	cancel(nil)
	<-done
	if lost != nil && ctx.Err() == nil {
		return lost
	}
	free := context.WithoutCancel(ctx)
	_, freed := l.execChanged(free,
		`UPDATE migration_lock SET holder = '', expires_at = clock_timestamp() WHERE name = 'scrollback' AND holder = $1`,
		l.holder)
	return errors.Join(err, freed)
}

func (l migrationLock) waitToTake(ctx context.Context) error {
	began := time.Now()
	for wait, told := lockRetry, false; ; wait = min(2*wait, time.Second) {
		held, err := l.tryTake(ctx)
		if held || err != nil && !isRetryable(err) {
			return err
		}
		if !told && time.Since(began) > lockRetry {
			told = true
			l.log.Info("another server is bringing the database up to date; waiting for it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// keepRenewing keeps the lock, until ctx ends; who has lost it must stop.
func (l migrationLock) keepRenewing(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(lockRenewed)
	defer tick.Stop()
	for until := time.Now().Add(lockExpires); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		short, cancel := context.WithTimeout(ctx, lockRenewed)
		held, err := l.execChanged(short, `UPDATE migration_lock SET expires_at = clock_timestamp() + $2 * interval '1 millisecond'
			WHERE name = 'scrollback' AND holder = $1`, l.holder, lockExpires.Milliseconds())
		cancel()
		switch {
		case held:
			until = time.Now().Add(lockExpires)
		case err == nil || time.Now().After(until):
			lost(scrollback.Errorf(scrollback.Unavailable, "postgres.Open",
				i18n.AnotherServerUpgrades))
			return
		}
	}
}
