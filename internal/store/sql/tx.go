package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"time"
)

// Reader runs queries. Parameters are written $1, $2, … in the text of a statement.
type Reader interface {
	// Query calls scan for each row of a query. An error of scan ends it and is returned as it is.
	Query(ctx context.Context, scan func(Row) error, query string, args ...any) error
}

// Readers is a pool of connections that read, for any number of goroutines.
type Readers interface {
	Reader

	// Snapshot runs fn on the database as it is at one moment, and stays until fn returns.
	Snapshot(ctx context.Context, fn func(Reader) error) error

	// Inspect is Snapshot for a walk over everything: fn may take long between two queries.
	// The error of fn is failed, and closed is one of giving the connection back.
	Inspect(ctx context.Context, fn func(Reader) error) (failed, closed error)

	Close() error
}

// Tx is a transaction that writes. It is for one goroutine, and not to be used once the
// function that it was given to has returned.
type Tx interface {
	Reader

	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (rows int64, err error)

	// Queue runs a statement whose result nobody waits for: where the database is far away it
	// is sent with the next one, or with the commit.
	Queue(ctx context.Context, statement string, args ...any) error

	// QueueOne is Queue for a statement that changes one row; missed is the error if it changes none, or
	// refuses to.
	QueueOne(ctx context.Context, missed error, statement string, args ...any) error

	// QueueQuery is Query for rows that are scanned no later than the next Query returns: where the
	// database is far away both are one exchange. scan runs no statements.
	QueueQuery(ctx context.Context, scan func(Row) error, query string, args ...any) error

	// Cache has the rows that are known without reading them; nil where other processes write
	// at the same time. Whatever changes a row of its tables says so to it.
	Cache() *RowCache
}

// Writer runs transactions that may write.
type Writer interface {
	// Write runs fn in a transaction and returns when its work is durable, or all of it
	// undone. An error of fn is returned as it is. fn may run twice, when another that
	// commits with it fails. Once begun, a write is not cut short by ctx.
	Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error

	// Close waits for what is under way; later writes are unavailable.
	Close() error
}

// CommitOrder numbers what was committed, in one order for everybody: transactions that commit
// beside each other do not do so in the order of numbers that they would take.
type CommitOrder interface {
	// NumberCommits numbers what is committed and has no number yet.
	NumberCommits(ctx context.Context) error

	// NoteCommit is called after each commit; it does not wait.
	NoteCommit()

	// News has something when changes were numbered, here or elsewhere.
	News() <-chan struct{}
}

// Database is an open database.
type Database struct {
	Dialect Dialect
	Readers Readers // closed with the driver
	Writer  Writer  // nil: it was opened for reading only

	// Clock is the time of the database; see [driver.Driver].
	Clock func() time.Time

	// Order is where rows are numbered after they were committed; nil where they are as they
	// are written.
	Order CommitOrder

	// Place says where the database is, so that a copy of it is told from it; nil where none can be.
	Place func(ctx context.Context) (string, error)

	// Copy writes one snapshot of the database to a new file; see [driver.Admin].
	Copy func(ctx context.Context, path string) error

	// Unchanged returns an error if what was read without locks was written meanwhile; nil
	// if reading locks.
	Unchanged func() error

	// Lost is asked after an error, and returns why what is open is no longer the database
	// that others see, or nil; a nil Lost is for where that cannot happen.
	Lost func() error
}

// EachRow hands on the rows that database/sql has read, each as inward leaves it; nil leaves
// rows as they are. It closes them.
func EachRow(rows *sql.Rows, inward func(Row), scan func(Row) error) error {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row := make(Row, len(names))
	into := make([]any, len(names))
	for i := range row {
		into[i] = (*any)(&row[i]) // as the driver has it
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if inward != nil {
			inward(row)
		}
		if err := scan(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// QueryRow scans the only row of a query; sql.ErrNoRows when there is none.
func QueryRow(ctx context.Context, r Reader, scan func(Row) error, query string, args ...any) error {
	found := false
	err := r.Query(ctx, func(row Row) error { found = true; return scan(row) }, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// scanInto scans a row into these places.
func scanInto(dest ...any) func(Row) error {
	return func(r Row) error { return r.Scan(dest...) }
}

// listInto scans rows of one column, and appends each.
func listInto[T any](out *[]T) func(Row) error {
	return func(r Row) error {
		var v T
		err := r.Scan(&v)
		*out = append(*out, v)
		return err
	}
}

// lockRows runs a statement that locks rows until the transaction ends. It is empty where one
// transaction writes at a time, and then nothing is done.
func lockRows(ctx context.Context, tx Tx, statement string, args ...any) error {
	if statement == "" {
		return nil
	}
	return tx.Query(ctx, func(Row) error { return nil }, statement, args...)
}

// Row is a row as a database returned it. It is only there until the function that it is
// handed to returns.
type Row []sqldriver.Value
