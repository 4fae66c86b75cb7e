package postgres

import (
	"context"
	"database/sql"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// readers are the connections that read. What was not read because its connection was lost is read again:
// connections of the pool, when the database was started again, and one after the other is found to
// be of no use. It implements [sqlstore.Readers].
type readers struct{ db *sql.DB }

// queryer is what a query runs on: a pool, a connection, a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryOn runs a query and hands on its rows as they were given.
func queryOn(ctx context.Context, on queryer, scan func(sqlstore.Row) error, query string, args []any) error {
	bound, err := bindArgs(args)
	if err != nil {
		return err
	}
	rows, err := on.QueryContext(ctx, query, bound...) //nolint:rowserrcheck // EachRow asks
	if err != nil {
		return err
	}
	return sqlstore.EachRow(rows, unescapeRow, scan)
}

// Query implements [sqlstore.Reader].
func (r *readers) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	return queryOn(ctx, retryingQueryer{r.db}, scan, query, args)
}

// retryingQueryer repeats a query that lost its connection.
type retryingQueryer struct{ *sql.DB }

// QueryContext implements [queryer].
func (s retryingQueryer) QueryContext(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	err = retryIdempotent(ctx, func(ctx context.Context) error {
		rows, err = s.DB.QueryContext(ctx, query, args...) //nolint:rowserrcheck,sqlclosecheck // the caller's
		return err
	})
	return rows, err
}

// txReader reads within a transaction.
type txReader struct{ tx queryer }

// Query implements [sqlstore.Reader].
func (r txReader) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	return queryOn(ctx, r.tx, scan, query, args)
}

// Snapshot implements [sqlstore.Readers].
func (r *readers) Snapshot(ctx context.Context, fn func(sqlstore.Reader) error) error {
	var tx *sql.Tx
	err := retryIdempotent(ctx, func(ctx context.Context) (err error) {
		tx, err = r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	return fn(txReader{tx})
}

// beginInspecting begins a transaction that sees the database as it is at one moment. What is done
// between two reads may take longer than a transaction may stand idle.
const beginInspecting = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0`

// Inspect implements [sqlstore.Readers].
func (r *readers) Inspect(ctx context.Context, fn func(sqlstore.Reader) error) (failed, closed error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return err, nil
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, beginInspecting); err != nil {
		return err, nil
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	return fn(txReader{conn}), nil
}

// Close implements [sqlstore.Readers].
func (r *readers) Close() error { return r.db.Close() }
