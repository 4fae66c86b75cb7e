package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"maps"
	"slices"
	"sync"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// readers are the connections that read, with statements that are prepared once. It implements
// [sqlstore.Readers].
type readers struct {
	db *sql.DB

	mu         sync.Mutex
	statements map[string]*sql.Stmt
}

func newReaders(db *sql.DB) *readers { return &readers{db: db, statements: map[string]*sql.Stmt{}} }

// Query implements [sqlstore.Reader].
func (r *readers) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	s, err := r.prepareOnce(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...) //nolint:rowserrcheck // EachRow asks
	if err != nil {
		return err
	}
	return sqlstore.EachRow(rows, nil, scan)
}

// prepareOnce returns a prepared statement, and prepares it if it is new. Nobody waits while another prepares: the pool
// may wait for somebody who has a connection, and wants another statement.
func (r *readers) prepareOnce(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := r.findPrepared(query); s != nil {
		return s, nil
	}
	s, err := r.db.PrepareContext(ctx, keepPlan(query))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.statements[query]; first != nil {
		return first, s.Close()
	}
	r.statements[query] = s
	return s, nil
}

func (r *readers) findPrepared(query string) *sql.Stmt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statements[query]
}

// Snapshot implements [sqlstore.Readers]. Inside it no second connection is taken: the pool may
// have no other. Statements that are new are prepared for the next ones when it has ended.
func (r *readers) Snapshot(ctx context.Context, fn func(sqlstore.Reader) error) error {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	in := &snapshot{readers: r, tx: tx}
	err = fn(in)
	_ = tx.Rollback() // it wrote nothing
	for _, query := range in.unprepared {
		if err == nil {
			_, err = r.prepareOnce(ctx, query)
		}
	}
	return err
}

// snapshot is one transaction of the pool.
type snapshot struct {
	readers    *readers
	tx         *sql.Tx
	unprepared []string
}

// Query implements [sqlstore.Reader].
func (s *snapshot) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	var rows *sql.Rows
	var err error
	if st := s.readers.findPrepared(query); st != nil {
		in := s.tx.StmtContext(ctx, st)           //nolint:sqlclosecheck // it ends with the transaction
		rows, err = in.QueryContext(ctx, args...) //nolint:rowserrcheck // EachRow asks
	} else {
		s.unprepared = append(s.unprepared, query)
		rows, err = s.tx.QueryContext(ctx, query, args...) //nolint:rowserrcheck // EachRow asks
	}
	if err != nil {
		return err
	}
	return sqlstore.EachRow(rows, nil, scan)
}

// Inspect implements [sqlstore.Readers]: on a connection of its own, whose statements nobody else
// needs.
func (r *readers) Inspect(ctx context.Context, fn func(sqlstore.Reader) error) (failed, closed error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return err, nil
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, beginReading); err != nil {
		return err, nil
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	in := &inspection{conn: conn, statements: map[string]*sql.Stmt{}}
	failed = fn(in)
	return failed, closeAll(in.statements)
}

// inspection is one connection.
type inspection struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// Query implements [sqlstore.Reader].
func (i *inspection) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	s := i.statements[query]
	if s == nil {
		var err error
		if s, err = i.conn.PrepareContext(ctx, keepPlan(query)); err != nil {
			return err
		}
		i.statements[query] = s
	}
	rows, err := s.QueryContext(ctx, args...) //nolint:rowserrcheck // EachRow asks
	if err != nil {
		return err
	}
	return sqlstore.EachRow(rows, nil, scan)
}

// Close implements [sqlstore.Readers].
func (r *readers) Close() error {
	r.mu.Lock()
	statements := maps.Clone(r.statements)
	clear(r.statements)
	r.mu.Unlock()
	return errors.Join(closeAll(statements), r.db.Close())
}

func closeAll(statements map[string]*sql.Stmt) error {
	var errs []error
	for _, query := range slices.Sorted(maps.Keys(statements)) {
		if err := statements[query].Close(); err != nil && !errors.Is(err, driver.ErrBadConn) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
