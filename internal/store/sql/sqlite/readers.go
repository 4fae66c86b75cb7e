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
	once       map[string]bool // those that a snapshot has prepared for itself
}

func newReaders(db *sql.DB) *readers {
	return &readers{db: db, statements: map[string]*sql.Stmt{}, once: map[string]bool{}}
}

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

// isSecond reports whether a snapshot has prepared a query before.
func (r *readers) isSecond(query string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.once[query]
	r.once[query] = true
	return was
}

// Snapshot implements [sqlstore.Readers]. Inside it no second connection is taken: the pool may
// have no other. A statement that is new is prepared for the snapshot alone; one that a snapshot
// had before is prepared for the next ones when it has ended. So a program that asks once
// prepares once.
func (r *readers) Snapshot(ctx context.Context, fn func(sqlstore.Reader) error) error {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	in := &snapshot{readers: r, tx: tx, statements: map[string]*sql.Stmt{}}
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
	statements map[string]*sql.Stmt // of this transaction, which closes them
	unprepared []string             // what the next snapshots are to find prepared
}

// Query implements [sqlstore.Reader].
func (s *snapshot) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	in, err := s.prepareHere(ctx, query)
	if err != nil {
		return err
	}
	rows, err := in.QueryContext(ctx, args...) //nolint:rowserrcheck // EachRow asks
	if err != nil {
		return err
	}
	return sqlstore.EachRow(rows, nil, scan)
}

// prepareHere returns a statement of the transaction.
func (s *snapshot) prepareHere(ctx context.Context, query string) (*sql.Stmt, error) {
	if in := s.statements[query]; in != nil {
		return in, nil
	}
	var in *sql.Stmt
	if of := s.readers.findPrepared(query); of != nil {
		in = s.tx.StmtContext(ctx, of)
	} else {
		var err error
		if in, err = s.tx.PrepareContext(ctx, keepPlan(query)); err != nil {
			return nil, err
		}
		if s.readers.isSecond(query) {
			s.unprepared = append(s.unprepared, query)
		}
	}
	s.statements[query] = in
	return in, nil
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
